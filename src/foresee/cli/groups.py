"""Options that several commands share, declared once: a command asks for a group and gets it as one value.

    @app.command()
    @grouped
    def bench(table: Path, scoring: ScoringOptions, work: WorkOptions) -> None: ...

`grouped` puts the fields of each group in the place of its parameter, so the command line sees plain options.
"""

from __future__ import annotations

import copy
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer

from foresee.cli.options import SortedSettings, sort_settings
from foresee.scoring.settings import ScoringSettings
from foresee.task import parse_shape

#: what `--schema` takes, wherever a click log can be read
SchemaOption = Annotated[
    str | None,
    typer.Option(
        help="columns of a click log: criteo, avazu, kdd2012, or a TOML file",
        show_default="guessed, or as it was found",
    ),
]


class Group:
    """Base of all groups: dataclasses whose annotated fields are options, shown under the heading `panel`.

    An option whose default is None was not said; `usual` has the words, by field, for what is taken then.
    """

    panel: ClassVar[str] = ""
    usual: ClassVar[Mapping[str, str]] = {}


@dataclass
class LookOptions(Group):
    """How networks are looked at, whatever is asked of them."""

    panel = "How networks are looked at"
    usual: ClassVar[Mapping[str, str]] = {
        **{name: str(value) for name, value in ScoringSettings().to_json().items() if isinstance(value, int | str)},
        "batch_size": "what each proxy needs",
    }

    data: Annotated[
        str | None, typer.Option(help="digits, synthetic, a .npz file, an image folder, CIFAR files, a click log")
    ] = None
    batch_size: Annotated[int | None, typer.Option(help="samples per batch (a paper's table: at most)")] = None
    repeats: Annotated[
        int | None, typer.Option(help="looks to average over: draws of a search, initialisations of a bench")
    ] = None
    seed: Annotated[int | None, typer.Option(help="decides everything that is random")] = None
    threads: Annotated[
        int | None, typer.Option(help="torch threads per worker (rounding depends on it, so it is part of a run)")
    ] = None
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps")] = None
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="name.key=value: a setting of the space, a proxy or the searcher")
    ] = None

    def said(self) -> dict[str, Any]:
        """What was said, by the names of the settings."""
        plain = {one.name: getattr(self, one.name) for one in fields(LookOptions) if one.name != "set_"}
        return {key: value for key, value in plain.items() if value is not None}


@dataclass
class ScoringOptions(LookOptions):
    """All that a score depends on beside the architecture: `ScoringSettings`, as options."""

    usual: ClassVar[Mapping[str, str]] = {
        **LookOptions.usual,
        "proxy": ", ".join(ScoringSettings().proxies),
        "input_": "the data's own",
        "outputs": "the data's classes",
        "tokens": "numbers",
        "schema": "guessed",
        "stacked": "stacks on an accelerator, where proxy and space allow",
        "memory": "half of what is free",
        "warmup": "nothing is trained",
        "warmup_by": "supernet where the space has one",
        "warmup_recipe": "one pass of warmup; of click logs ctr_warmup, or ctr from 4 million rows on",
    }

    proxy: Annotated[
        list[str] | None,
        typer.Option(help="what foresees (`foresee proxies`), or all, or every; the first one steers a search"),
    ] = None
    input_: Annotated[str | None, typer.Option("--input", help="shape of one sample, such as 3x32x32")] = None
    outputs: Annotated[int | None, typer.Option(help="outputs of the network")] = None
    tokens: Annotated[
        int | None,
        typer.Option(help="inputs are token ids below this: --input 128 --tokens 30522 --data synthetic"),
    ] = None
    schema: SchemaOption = None
    stacked: Annotated[
        bool | None,
        typer.Option(
            "--stacked/--one-by-one", help="look at many architectures at once (an error where impossible), or not"
        ),
    ] = None
    memory: Annotated[
        str | None, typer.Option(help="memory that a look, or a stack of architectures, may take, such as 8GiB")
    ] = None
    warmup: Annotated[
        str | None, typer.Option(help="train a little before looking: a share of the training samples, such as 10%")
    ] = None
    warmup_by: Annotated[
        str | None, typer.Option(help="what is warmed up: one supernet for all, or each network by itself")
    ] = None
    warmup_recipe: Annotated[str | None, typer.Option(help="the recipe (or its file) of the warm-up")] = None

    def said(self) -> dict[str, Any]:
        """What was said, by the names of the settings."""
        inputs = list(parse_shape(self.input_)) if self.input_ else None
        plain: dict[str, Any] = {"proxies": self.proxy, "inputs": inputs}
        plain |= {"outputs": self.outputs, "tokens": self.tokens, "schema": self.schema}
        plain |= {"stacked": self.stacked, "memory": self.memory}
        plain |= {"warmup": self.warmup, "warmup_by": self.warmup_by, "warmup_recipe": self.warmup_recipe}
        return {**super().said(), **{key: value for key, value in plain.items() if value is not None}}

    def sorted(self, space: str, *, searcher: str = "", proxies: list[str]) -> SortedSettings:
        """The `--set` options by whom they are for."""
        return sort_settings(self.set_ or [], space=space, searcher=searcher, proxies=proxies)

    def settings(self, proxies: Sequence[str] = (), **defaults: Any) -> ScoringSettings:
        """The settings: what was said, on top of a command's own defaults; `proxies` as the command read them."""
        read = {"proxies": list(proxies)} if proxies else {}
        return ScoringSettings.from_json({**defaults, **self.said(), **read}, where="options")


@dataclass
class WorkOptions(Group):
    """Who works, and how it is watched; nothing here changes a result."""

    panel = "Who works"
    usual: ClassVar[Mapping[str, str]] = {"workers": "one per core"}

    engine: Annotated[str, typer.Option(help="where the work is done (`foresee engines`); the result is the same")] = (
        "processes"
    )
    workers: Annotated[int | None, typer.Option(help="processes to use")] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False

    def trainers(self, device: str) -> int:
        """How many processes train at once: so many as are said; else one per core, and on an accelerator one."""
        apart = self.engine == "processes" and device == "cpu"
        return self.workers or (os.cpu_count() or 1 if apart else 1)

    def get_ready(self) -> None:
        """Let what workers need be imported while this process imports it; to be called before anything heavy."""
        if self.engine == "processes":
            from foresee.runs.engines import get_ready

            get_ready("foresee.scoring.ready")


@dataclass
class CacheOptions(Group):
    """Where scores are kept."""

    panel = "Who works"
    usual: ClassVar[Mapping[str, str]] = {"cache": "$FORESEE_CACHE, else scores.sqlite in --out"}

    cache: Annotated[
        Path | None,
        typer.Option(help="file of scores already computed"),
    ] = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters of type `Group` are replaced by the options of that group."""
    return usually()(command)


def usually(**usual: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `grouped`, with a command's own words for what is taken where an option is not said."""
    return functools.partial(_grouped, usual=usual)


def _grouped(command: Callable[..., None], usual: Mapping[str, str]) -> Callable[..., None]:
    hints = get_type_hints(command, include_extras=True)
    plain: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and issubclass(kind, Group):
            groups[name] = kind
        else:
            plain.append(_parameter(name, parameter.default, hints[name]))
    for kind in groups.values():
        plain += _options(kind, usual)

    @functools.wraps(command)
    def called(**given: Any) -> None:
        made = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    called.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in plain}
    return called


def _options(kind: type[Any], usual: Mapping[str, str]) -> list[inspect.Parameter]:
    """The options of a group under its heading: those it adds itself before those it has from another."""
    hints = get_type_hints(kind, include_extras=True)
    found = sorted(fields(kind), key=lambda one: one.name not in vars(kind).get("__annotations__", {}))
    made = []
    for one in found:
        option = copy.copy(hints[one.name].__metadata__[0])
        option.rich_help_panel = kind.panel or None
        if one.default is None:
            option.show_default = usual.get(one.name, kind.usual.get(one.name, False))
        made.append(_parameter(one.name, one.default, Annotated[hints[one.name].__origin__, option]))
    return made


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
