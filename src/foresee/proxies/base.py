"""What a proxy is: a small pure function from a probe to a number, with a declaration of what it needs.

    @proxy("snip", needs=Needs(labels=True, gradients=1), paper="...", equation="...", cost="1 forward + backward")
    def snip(probe: Probe) -> Tensor:
        ...

The body is the formula. It asks the probe for looks (features, gradients, ...), each computed once and shared by all
proxies of the call, and returns a scalar tensor. It never touches the network itself. When it does not apply it raises
`UnsupportedError` with the reason; the caller turns that, NaN and running out of memory into a `Score` with a status.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from foresee.errors import InputError, UnknownNameError
from foresee.grid import Bad, Column, Grid, Shown
from foresee.probes.initialise import check as check_initialisation
from foresee.probes.looks import Declared
from foresee.probes.memory import bytes_allowed, refuse, stored_at_most, stored_by
from foresee.quantities import format_seconds
from foresee.registry import Registry, tidy

if TYPE_CHECKING:
    from torch import Tensor

    from foresee.probes.probe import Probe

Status = Literal["ok", "nan", "rank_deficient", "unsupported", "partial", "out_of_memory", "failed"]
Direction = Literal["higher", "lower"]
STATUSES: tuple[str, ...] = get_args(Status)
_LATEX = re.compile(r"^\$\$\n(.*?)\n\$\$\n\n?", re.DOTALL | re.MULTILINE)


class RankDeficientError(ArithmeticError):
    """A matrix that a formula needs the determinant or inverse of is singular; a score turns it into its status.

    Any other `ArithmeticError` that a formula raises (a `FloatingPointError` with the reason) becomes the status `nan`.
    """


@dataclass(frozen=True)
class Score(Shown):
    """One number for one network, or a status with its reason. Never a magic number.

    `reason` says why there is no value; beside a value it says what has to be known of it: a part that is meant to be
    computed in float64, and was not, or that much of the network was not seen. `direction` says which way is better.
    `spread` is the standard deviation over `repeats` draws. `parts` are the numbers the value was made from, by name; where
    not all weights were seen, the share is one of them.
    """

    proxy: str
    value: float | None
    status: Status = "ok"
    reason: str = ""
    direction: Direction = "higher"
    seconds: float = 0.0
    peak_bytes: int = 0
    seed: int = 0
    repeats: int = 1
    spread: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """Share of the weights that the score saw; 1 also where the formula does not look at layers."""
        return self.parts.get("coverage", 1.0)

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status == "ok"

    @property
    def merit(self) -> float:
        """The value turned so that more is better; minus infinity where there is none."""
        if self.value is None or not math.isfinite(self.value):
            return -math.inf
        return self.value if self.direction == "higher" else -self.value

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.proxy}: {self.status} ({self.reason})"
        return f"{self.proxy} = {self.value:.6g}" + (f" ({self.reason})" if self.reason else "")

    def __repr__(self) -> str:
        return f"<Score {self}>"

    def __float__(self) -> float:
        if self.value is None:
            raise InputError(f"no number to give: {self}")
        return self.value

    @property
    def cell(self) -> str:
        """The value as it stands in a table, with its spread where it was drawn several times; else the status."""
        if self.value is None:
            return Bad(self.status)
        return f"{self.value:.6g}" + (f" ± {self.spread:.2g}" if self.spread else "")

    def _grid(self) -> Grid:
        return grid_of([self])


def grid_of(found: Iterable[Score]) -> Grid:
    """Scores as a table, one below the other: the number, which way is better, how long it took, and what is to be said."""
    columns = [Column("proxy", words=True), Column("score"), Column("better", words=True), Column("time")]
    rows = [[one.proxy, one.cell, one.direction, format_seconds(one.seconds), _remark(one)] for one in found]
    remarks = any(row[-1] for row in rows)
    return Grid(
        [*columns, *([Column("", words=True)] if remarks else [])], [row if remarks else row[:-1] for row in rows]
    )


def _remark(one: Score) -> str:
    return one.reason or (f"saw {one.coverage:.0%} of the weights" if one.coverage < 1 else "")


#: bytes that are there without asking
_SMALL = 2**28
#: runs that a proxy of "all" may take
_FEW = 8


@dataclass(frozen=True)
class Needs:
    """What a proxy asks for, so that its cost is known before it is spent.

    `batch` is the sample count the paper uses for one batch, `batches` how many of them. `looks` are the looks of the probe
    that the formula reads by default, as `pass.look` ("sample.features", "batch.gradients", "batches.gradients"): proxies of
    one call that read the same pass share it. A setting that the look has under the same name as the proxy is that of the
    proxy. A look that is not declared is still there for the asking, in one more pass.

    `each` says what a backward run is for: each batch, each "sample" or each "output" of each sample. One that needs more
    than a few runs is `expensive`: it is in "every", not in "all". `held` is the memory it takes at most: so many times what
    a forward run of its samples stores for a backward run (`foresee.probes.memory`), or a function of the probe and the
    settings that gives bytes.
    """

    labels: bool = False
    data: bool = True
    backward: bool = False
    batches: int = 1
    batch: int = 1
    looks: tuple[str, ...] = ()
    each: Literal["batch", "sample", "output"] = "batch"
    held: float | Callable[[Probe, Mapping[str, Any]], float] = 2.0

    @property
    def expensive(self) -> bool:
        """Whether it takes more than a few runs, so that it has to be asked for."""
        return self.each != "batch" or self.batches > _FEW

    def __str__(self) -> str:
        if not self.data:
            return "no data"
        size = f"{self.batches} x {self.batch}" if self.batches > 1 else f"{self.batch}"
        words = [f"{size} sample{'s' if self.batches * self.batch > 1 else ''}"]
        words += ["labels"] if self.labels else []
        words += ["backward"] if self.backward else []
        return ", ".join(words)


@dataclass(frozen=True)
class Proxy:
    """A registered proxy: the formula, its declaration and its settings (with defaults).

    Every proxy has the setting `initialise`: the weights the network is looked at with (see `foresee.probes.initialise`).
    """

    name: str
    formula: Callable[..., Tensor]
    direction: Direction
    needs: Needs
    paper: str
    equation: str
    cost: str
    settings: Mapping[str, Any]
    variants: Mapping[str, Mapping[str, Any]]
    variant: str = ""

    @property
    def full_name(self) -> str:
        """Name with variant: `dextr:reference`."""
        return f"{self.name}:{self.variant}" if self.variant else self.name

    @property
    def looks(self) -> tuple[Declared, ...]:
        """The looks it needs, for the weights it wants and with its own settings where the look has them too."""
        scheme = self.settings["initialise"]
        prefix = "" if scheme == "default" else f"{scheme}:"
        return tuple(Declared.read(f"{prefix}{look}", self.settings) for look in self.needs.looks)

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(self.formula) or "").split("\n", 1)[0]

    @property
    def text(self) -> str:
        """The docstring in words, for a terminal: formula, source, shapes, needs, cost, example."""
        return _LATEX.sub("", inspect.getdoc(self.formula) or "")

    @property
    def latex(self) -> str:
        """The formula as LaTeX, which the docstring holds in a paragraph of its own between two `$$`; "" without one."""
        found = _LATEX.search(inspect.getdoc(self.formula) or "")
        return found[1] if found else ""

    def check_room(self, probe: Probe, memory: str | float | None) -> None:
        """Raise `NoRoomError` where the value would take more memory than that; None: half of what is free."""
        held = self.needs.held
        if memory == math.inf or held == 0:
            return
        if not callable(held):
            quick = held * stored_at_most(probe, self._samples(probe))
            if quick <= (_SMALL if memory is None else bytes_allowed(memory, probe.device)):
                return
        allowed = bytes_allowed(memory, probe.device)
        if callable(held) or quick > allowed:
            refuse(self.predicted_bytes(probe), allowed)

    def predicted_bytes(self, probe: Probe) -> float:
        """What the value will take at most, beside the network and the batch; known before it is computed."""
        if callable(self.needs.held):
            return self.needs.held(probe, self.settings)
        return self.needs.held * stored_by(probe, self._samples(probe))

    def _samples(self, probe: Probe) -> int:
        """How many it looks at together."""
        largest, batches = max(map(len, probe.data)), self.needs.batches
        if batches > len(probe.data):  # the first batch is split
            return max(1, len(probe.data[0]) // batches)
        if self.needs.batch == 1 and not self.settings.get("whole_batch", False):
            return 1
        return largest

    def with_settings(self, settings: Mapping[str, Any]) -> Proxy:
        """The same proxy with other settings; an unknown one is named."""
        for key in settings:
            if key not in self.settings:
                raise UnknownNameError(f"setting of proxy {self.name}", key, self.settings)
        check_initialisation(settings.get("initialise", "default"))
        return replace(self, settings={**self.settings, **settings})

    def __call__(self, probe: Probe) -> Tensor:
        """The value, a scalar tensor."""
        settings = {key: value for key, value in self.settings.items() if key != "initialise"}
        with probe.initialised(self.settings["initialise"]) as initialised:
            return self.formula(initialised, **settings)


proxies: Registry[Proxy] = Registry("proxy", group="foresee.proxies", home="foresee.proxies")


def proxy(
    name: str,
    *,
    direction: Direction = "higher",
    needs: Needs | None = None,
    paper: str,
    equation: str = "",
    cost: str,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    initialise: str = "default",
) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Register a formula. Its keyword arguments with defaults are the proxy's settings; a variant is a set of them.

    `initialise` is the default of the setting of that name, which every proxy has and no formula sees.
    """

    def decorate(formula: Callable[..., Tensor]) -> Callable[..., Tensor]:
        settings = {
            key: parameter.default
            for key, parameter in inspect.signature(formula).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        if inspect.Parameter.empty in settings.values():
            raise InputError(f"proxy {name}: every setting needs a default")
        if "initialise" in settings:
            raise InputError(f"proxy {name}: `initialise` is a setting of every proxy; say it in the decorator")
        check_initialisation(initialise)
        settings["initialise"] = initialise
        made = Proxy(name, formula, direction, needs or Needs(), paper, equation, cost, settings, dict(variants or {}))
        for variant, changes in made.variants.items():
            made.with_settings(changes)  # a variant that names an unknown setting is our own mistake: fail at import
            if not (variant.isidentifier() or variant.isdecimal()):
                raise InputError(f"proxy {name}: variant {variant!r} is not a name")
        proxies.add(name, made)
        return formula

    return decorate


def get(reference: str | Proxy, settings: Mapping[str, Any] | None = None) -> Proxy:
    """A proxy by name or `name:variant`, with settings on top.

    >>> get("params").direction
    'higher'
    """
    if isinstance(reference, Proxy):
        return reference.with_settings(settings or {})
    name, _, variant = tidy(reference).partition(":")
    found = proxies[name]
    if variant:
        if variant not in found.variants:
            raise UnknownNameError(f"variant of proxy {name}", variant, found.variants)
        found = replace(found.with_settings(found.variants[variant]), variant=variant)
    return found.with_settings(settings or {})


def is_baseline(name: str) -> bool:
    """Whether a proxy is what every other has to beat: size, work, or chance.

    >>> is_baseline("params"), is_baseline("zico")
    (True, False)
    """
    own = name.partition(":")[0]
    return own in proxies and proxies[own].paper == "baseline"


def names_of(wanted: str | Iterable[str]) -> list[str]:
    """Names, wildcards, "all" and "every" as names, in order, each once; a variant stays as written (`dextr:reference`).

    "all" are those that take a few runs of the network, "every" (or `*`) the expensive ones too; see `Needs`.

    >>> names_of(["params", "grad_*", "dextr:reference"])
    ['params', 'grad_norm', 'dextr:reference']
    """
    names: list[str] = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if name == "all":
            names += [one for one in proxies.names() if not proxies[one].needs.expensive]
            continue
        pattern = "*" if name == "every" else tidy(name)
        if not any(sign in pattern for sign in "*?["):
            names.append(get(pattern).full_name)
            continue
        matching = proxies.names(pattern)
        if not matching:
            raise UnknownNameError("proxy", name, proxies.names())
        names += matching
    return list(dict.fromkeys(names))
