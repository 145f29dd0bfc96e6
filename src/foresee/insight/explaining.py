"""`explain`: one network looked at from all sides that are cheap.

found = fs.explain(("nasbench201", "ResNet"))            # an architecture of a space
found = fs.explain(network, batch)                       # any module
found = fs.explain(network, batch, among="nasbench201")  # the same, beside random architectures of a space
found.save("explained.html")                             # a page, and its numbers beside it

Each part is made by itself: what goes wrong with one is its reason, and the others are there all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from foresee.batch import Batch
from foresee.checks import whole
from foresee.counting import count_macs, count_params
from foresee.data import Data
from foresee.devices import threads
from foresee.errors import ForeseeError, UnknownNameError, UnsupportedError, said
from foresee.insight.bounds import affordable, all_numbers, finite
from foresee.insight.distributions import distribution
from foresee.insight.explanation import Cell, Explanation
from foresee.insight.further import further
from foresee.insight.kernels import KernelSpectrum, kernel_spectrum
from foresee.insight.layers import layers_of
from foresee.insight.pictures import independence, output_curve
from foresee.insight.standing import Others, cheap, stand
from foresee.insight.subject import Subject, subject_of
from foresee.insight.theory.survey import Survey, survey
from foresee.insight.topology import shape_of
from foresee.insight.whole import titled
from foresee.proxies.base import names_of
from foresee.quantities import format_quantity
from foresee.runs.events import Event, Observer
from foresee.scoring.cache import Cache
from foresee.scoring.settings import ScoringSettings
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said, get
from foresee.spaces.own.boxes import Drawing
from foresee.spaces.own.drawing import drawing_of

T = TypeVar("T")

#: samples that layers are looked at with, that a kernel is made of, and that statements are measured on
LOOKED, KERNEL, STATED = 16, 8, 2
#: gradient steps of the statements that take some, and points of the circle of inputs
STEPS, POINTS = 3, 48
#: MACs of a network that kernels and curves are taken of, and of one that statements are measured on
MOST_MACS, MOST_STATED = 2e9, 200e6
#: numbers in the Jacobian that statements take
MOST_NUMBERS = 32e6
#: architectures that a place is taken among
SAMPLES = 200
#: what an explanation has beside plain facts
PARTS = ("cells", "drawing", "layers", "kernel", "output curve", "independence", "statements", "proxies")


def explain(
    what: nn.Module | Candidate | tuple[Said, Any],
    batch: Any = None,
    *,
    data: str | Data | None = None,
    proxies: str | Sequence[str] | None = None,
    among: Said | None = None,
    samples: int = SAMPLES,
    parts: Sequence[str] = PARTS,
    full_size: bool = False,
    name: str = "",
    seed: int = 0,
    device: str | None = None,
    settings: ScoringSettings | None = None,
    space_settings: Mapping[str, Any] | None = None,
    engine: str = "serial",
    workers: int | None = None,
    cache: Cache | str | Path | None = None,
    observers: Iterable[Observer] = (),
) -> Explanation:
    """All that is cheap to know of a network: pictures, shape, costs, proxies and their place, layers, kernel, statements.

    Args:
        what: a module (left as found); `(space, architecture)`, the space by name or itself, the architecture by text, by a
            published name, by its number or itself; or a `Candidate`.
        batch: what it is looked at with, as for `fs.score`; labels let more be said. By default `data`.
        data: a data set or its name, where there is no batch; digits by default.
        proxies: names; by default those that are cheap (`foresee.insight.standing.cheap`).
        among: the space whose random architectures are compared with; by default the network's own.
        samples: how many of them; 0 for none.
        parts: which of `PARTS` are made; by default all.
        full_size: compare on inputs of full size; by default images of 32 and more are halved, for all that are compared.
        name: what to call the network.
        seed: decides weights, batches and which others are drawn.
        device: where to look; by default where the network is.
        settings: whole settings in place of `data`, `proxies`, `seed` and `device`.
        space_settings: settings of a space that is called by name.
        engine: who scores the others (`foresee engines`).
        workers: processes to use.
        cache: a file in which scores are kept and looked for.
        observers: called with an `Event` for each part and each of the others.

    >>> found = explain(("mlp", "mlp(24)"), samples=5, proxies=["params", "foresee"])
    >>> found.name, found.standing("params").others, str(found.cells[0].shape)
    ('mlp(24)', 5, '1c, 2')
    """
    whole("samples", samples, 0)
    for part in parts:
        if part not in PARTS:
            raise UnknownNameError("part of an explanation", part, PARTS)
    asked = settings or ScoringSettings(
        proxies=tuple(names_of(proxies) if proxies is not None else cheap()),
        data=data if isinstance(data, str) else "digits",
        seed=seed,
        device=device or _place_of(what),
    )
    subject = subject_of(what, batch, data, asked, name=name, space_settings=space_settings)
    beside = get(among) if among is not None else subject.space
    others = Others(beside, samples, full_size, engine, workers, cache, tuple(observers))
    with threads(asked.threads):
        return _Maker(subject, asked, tuple(observers), frozenset(parts)).explained(others)


@dataclass(eq=False)
class _Maker:
    """Makes the parts one after another, and keeps what each took and why one is not there."""

    subject: Subject
    asked: ScoringSettings
    observers: tuple[Observer, ...]
    wanted: frozenset[str]
    reasons: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def explained(self, others: Others) -> Explanation:
        """All parts, while other processes score the others, where there are some; in this process the others come last."""
        with ExitStack() as stack:
            begun = self.part("proxies", lambda: stack.enter_context(stand(self.subject, self.asked, others)))
            made = self._parts()
            standing = None if begun is None else self.part("proxies", begun)
        found, others_words, looked = standing or ((), "", "")
        if standing is not None and not others_words:
            self.reasons["percentiles"] = looked
        return replace(
            made, standings=found, others=others_words, looked=looked, reasons=self.reasons, seconds=self.seconds
        )

    def _parts(self) -> Explanation:
        """All but the proxies."""
        subject, seed = self.subject, self.asked.seed
        network = subject.network
        batch = subject.data.batch(min(LOOKED, len(subject.data)), seed=seed).to(self.asked.device)
        macs = self.part("MACs", lambda: count_macs(network, batch.first(1).inputs))
        return Explanation(
            name=subject.name,
            space="" if subject.space is None else subject.space.reference,
            architecture="" if subject.architecture is None else str(subject.architecture),
            facts=self._facts(batch),
            params=count_params(network),
            macs=macs,
            cells=self.part("cells", self._cells) or (),
            drawing=self.part("drawing", lambda: self._drawing(network, batch)),
            layers=self.part("layers", lambda: layers_of(network, batch, seed=seed)),
            spectrum=self.part("kernel", lambda: self._kernel(network, batch, macs)),
            curve=self.part("output curve", lambda: output_curve(network, batch, points=POINTS, seed=seed)),
            independence=self.part("independence", lambda: independence(network, batch, seed=seed)),
            survey=self.part("statements", lambda: self._survey(network, batch, macs)),
            further=further(subject.space, subject.architecture, name=subject.name, data=self.asked.data),
        )

    def part(self, name: str, make: Callable[[], T]) -> T | None:
        """One part, or its reason; nothing where it was not asked for."""
        if name in PARTS and name not in self.wanted:
            return None
        start = time.perf_counter()
        for observer in self.observers:
            observer(Event("part", len(self.seconds), details={"doing": name}))
        try:
            return finite(make())
        except Exception as error:  # a stranger's network may raise anything; the other parts are there all the same
            ours = isinstance(error, ForeseeError | FloatingPointError)
            self.reasons[name] = str(error) if ours else said(error)
            return None
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 3)

    # -- parts ----------------------------------------------------------------------------------------------------------
    def _facts(self, batch: Batch) -> tuple[tuple[str, str], ...]:
        subject = self.subject
        shapes = " and ".join("x".join(map(str, part.shape[1:])) or "1" for part in batch.parts)
        labels = "" if batch.labels is not None else ", without labels"
        settings = {} if subject.space is None else subject.space.settings()
        return (
            *([("Space", subject.space.reference)] if subject.space is not None else []),
            *((key, str(value)) for key, value in settings.items()),
            ("One sample", shapes),
            ("Looked at with", f"{len(batch)} samples of {subject.data.name}{labels}"),
            ("Weights", "drawn by the seed" if subject.space is not None else "its own"),
            ("Seed", str(self.asked.seed)),
        )

    def _cells(self) -> tuple[Cell, ...]:
        subject = self.subject
        if subject.space is None:
            return ()
        graphs = [graph for graph in subject.space.graph(subject.architecture) if graph.nodes]
        if not graphs:
            raise UnsupportedError(f"space {subject.space.name} draws no cells")
        spread = [distribution(subject.space, cell=place, seed=self.asked.seed) for place in range(min(len(graphs), 2))]
        many = len(graphs) > len(spread)  # cells of one position each: their spreads are all alike
        return tuple(
            Cell(graph, shape_of(graph), spread[0] if many else spread[place]) for place, graph in enumerate(graphs)
        )

    def _drawing(self, network: nn.Module, batch: Batch) -> Drawing:
        was = {module: module.training for module in network.modules()}
        try:
            return titled(drawing_of(network.eval(), batch.first(2).inputs), network)
        finally:
            for module, training in was.items():
                module.training = training

    def _kernel(self, network: nn.Module, batch: Batch, macs: int | None) -> KernelSpectrum:
        affordable(macs, MOST_MACS, "a kernel takes a backward run for each sample")
        outputs = "label" if batch.labels is not None else "sum"
        return kernel_spectrum(network, batch.first(KERNEL), outputs=outputs, seed=self.asked.seed)

    def _survey(self, network: nn.Module, batch: Batch, macs: int | None) -> Survey:
        if batch.labels is None:
            raise UnsupportedError("statements are about losses, and the batch has no labels")
        affordable(macs, MOST_STATED, "statements differentiate a network many times")
        numbers = STATED * self.subject.task.outputs * count_params(network)
        if numbers > MOST_NUMBERS:
            raise UnsupportedError(
                f"the Jacobian of {STATED} samples has {format_quantity(numbers)} numbers, more than "
                f"{format_quantity(MOST_NUMBERS)}; foresee.insight.survey measures them"
            )
        found = survey(network, batch, samples=STATED, steps=STEPS, seed=self.asked.seed)
        known = tuple(one for one in found.statements if all_numbers(one.to_json()))
        lost = {one.name: "its sides are not all numbers" for one in found.statements if one not in known}
        return Survey(known, {**found.reasons, **lost})


def _place_of(what: Any) -> str:
    """The device of a module, as torch calls it; everything else is built on the CPU."""
    tensors = what.parameters() if isinstance(what, nn.Module) else iter(())
    first = next(tensors, None)
    return "cpu" if first is None else str(first.device)
