"""`foresee score`: what the proxies say about one network."""

from __future__ import annotations

import inspect
import json
from contextlib import nullcontext
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, out
from foresee.cli.groups import ScoringOptions, grouped
from foresee.errors import InputError
from foresee.quantities import format_seconds


@app.command()
@grouped
def score(
    scoring: ScoringOptions,
    space: Annotated[str, typer.Argument(help="a space, or module:function that returns a network (or takes `pick`)")],
    architecture: Annotated[
        str | None, typer.Argument(help="the architecture's text; a sample of the space without it")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="what a proxy may take, such as 8GiB; by default half of what is free")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Score one architecture of a space, or any network your code makes.

    Example: foresee score nasbench201 '|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|' --proxy dextr

    Example: foresee score mypackage.models:make_net --input 3x32x32 --proxy dextr --proxy synflow
    """
    from foresee.devices import threads
    from foresee.proxies.base import names_of
    from foresee.scoring.scorer import Scorer
    from foresee.seeds import derive

    names = names_of(scoring.proxy or ["foresee"])
    said = scoring.sorted(space, proxies=names)
    factory, text = _network_of(space, architecture, said.space)
    defaults = {"data": "digits" if factory is None else "synthetic", "proxy_settings": said.proxies}
    settings = scoring.settings(names, **defaults)
    scorer = Scorer(space, settings, space_settings=said.space)
    if factory is None:
        candidate = scorer.candidate(text)
        network, counts = candidate.build(), scorer.space.counts(candidate.architecture, scorer.task)
        facts = {"space": space, "architecture": text, "params": counts.params, "macs": counts.macs}
    else:
        network, facts = _make(factory, space, derive(settings.seed, "weights")), {"network": space}
    with threads(settings.threads) if scoring.threads else nullcontext():
        found = {one.proxy: one for one in scorer.of_network(network, memory=memory)}
    if as_json:
        plain = {name: asdict(one) for name, one in found.items()}
        print(json.dumps({**facts, "seed": settings.seed, "scores": plain}, indent=2))
    else:
        _show(facts, found)


def _network_of(space: str, architecture: str | None, settings: dict[str, Any]) -> tuple[Any, str]:
    """A factory of one network and no text, or no factory and the text of an architecture of a space."""
    from foresee.seeds import stream
    from foresee.spaces import get, load_object

    if ":" in space:
        made = load_object(space)
        if not _asks(made):
            if architecture is not None:
                raise InputError(f"{space} makes one network and has no choices: leave the architecture out")
            return made, ""
    found = get(space, **settings)
    return None, str(found.parse(architecture) if architecture else found.sample(stream(0, "sample")))


def _asks(made: Any) -> bool:
    """Whether a function wants to be handed `pick`; a factory needs nothing."""
    if not callable(made) or hasattr(made, "parameters"):
        return False
    needed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(made).parameters.values()
    return any(one.kind in needed and one.default is inspect.Parameter.empty for one in parameters)


def _make(factory: Any, reference: str, seed: int) -> Any:
    import torch
    from torch import nn

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            network = factory if isinstance(factory, nn.Module) else factory()
        except Exception as error:
            raise InputError(f"{reference} raised {type(error).__name__}: {error}") from error
    if not isinstance(network, nn.Module):
        raise InputError(f"{reference} returned {type(network).__name__}: expected a torch.nn.Module")
    return network


def _show(facts: dict[str, Any], found: dict[str, Any]) -> None:
    for key, value in facts.items():
        out.print(
            f"[bold]{key:>12}[/bold]  {escape(f'{value:,}' if isinstance(value, int) else str(value))}",
            soft_wrap=True,
            highlight=False,
        )
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("proxy", "score", "better", "time", ""):
        table.add_column(column, justify="right" if column in ("score", "time") else "left")
    for name, s in found.items():
        value = f"{s.value:.6g}" if s.ok else f"[red]{s.status}[/red]"
        if s.ok and s.spread is not None:
            value += f" ± {s.spread:.2g}"
        table.add_row(name, value, s.direction, format_seconds(s.seconds), escape(s.reason))
    out.print(table)
