"""What is decided in a mobile network: a list of decisions, and how answers and architectures translate.

`2.layers` is the number of layers of stage 2; `2.expansion`, `2.kernel` and, where it is free, `2.squeeze` hold for all of
its layers, or `2.3.expansion` for its third where each layer is decided by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foresee.errors import InputError
from foresee.spaces.mobile.architecture import Architecture, Layer, Stage
from foresee.spaces.mobile.designs import Design
from foresee.spaces.one_shot import Choice


@dataclass(frozen=True)
class Decision:
    """One decision: `what` of a stage, or of one of its layers (both from 0), and the values there are."""

    what: str
    stage: int
    layer: int | None
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """As people count, from 1."""
        return ".".join(str(part) for part in (self.stage + 1, *self._number, self.what))

    @property
    def _number(self) -> tuple[int, ...]:
        return () if self.layer is None else (self.layer + 1,)

    @property
    def choice(self) -> Choice:
        """The same with texts for its options."""
        return Choice(self.name, tuple(_text(value) for value in self.values))

    def of(self, architecture: Architecture) -> Any:
        """The value in an architecture; None for a layer that it does not have."""
        layers = architecture.stages[self.stage]
        if self.what == "layers":
            return len(layers)
        number = self.layer or 0
        return getattr(layers[number], self.what) if number < len(layers) else None


def _text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:.6g}"


def _of_a_layer(design: Design, stage: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    yield "expansion", design.expansions
    yield "kernel", design.kernels
    if design.squeeze[stage] == "free":
        yield "squeeze", (False, True)


@lru_cache(maxsize=64)
def decisions(design: Design) -> tuple[Decision, ...]:
    """All of them, stage by stage; of a layer that may be left out too."""
    found = []
    for stage in range(len(design.widths)):
        found.append(Decision("layers", stage, None, design.layers))
        numbers: Sequence[int | None] = [None] if design.each == "stage" else range(max(design.layers))
        asked = list(_of_a_layer(design, stage))
        found += [Decision(what, stage, number, values) for number in numbers for what, values in asked]
    return tuple(found)


def assembled(design: Design, picks: Sequence[int]) -> Architecture:
    """The architecture of one value, by its place, for each decision."""
    known = {
        (one.what, one.stage, one.layer): one.values[pick] for one, pick in zip(decisions(design), picks, strict=True)
    }

    def layer(stage: int, number: int) -> Layer:
        place = (stage, None if design.each == "stage" else number)
        squeeze = known.get(("squeeze", *place), design.squeeze[stage] == "yes")
        return Layer(known["expansion", *place], known["kernel", *place], squeeze)

    return Architecture(
        tuple(
            tuple(layer(stage, number) for number in range(known["layers", stage, None]))
            for stage in range(len(design.widths))
        )
    )


def picks_of(design: Design, architecture: Architecture) -> tuple[int | None, ...]:
    """Inverse of `assembled`; None for decisions about layers that are not there."""
    values = ((one, one.of(architecture)) for one in decisions(design))
    return tuple(None if value is None else one.values.index(value) for one, value in values)


def check(design: Design, architecture: Architecture, text: str) -> Architecture:
    """The architecture, where it can be decided so; an `InputError` names the stage and what is wrong."""
    if len(architecture.stages) != len(design.widths):
        raise InputError(f"network {text[:80]!r}: {len(architecture.stages)} stages, expected {len(design.widths)}")
    for stage, layers in enumerate(architecture.stages):
        where = f"network {text[:80]!r}, stage {stage + 1}"
        if len(layers) not in design.layers:
            raise InputError(f"{where}: {len(layers)} layers, expected one of {_listed(design.layers)}")
        if design.each == "stage" and len(set(layers)) > 1:
            raise InputError(
                f"{where}: layers that differ, and here a stage is decided as a whole (each=layer: by layer)"
            )
        _check_layers(design, stage, layers, where)
    return architecture


def _check_layers(design: Design, stage: int, layers: Stage, where: str) -> None:
    said = design.squeeze[stage]
    for layer in layers:
        if layer.expansion not in design.expansions:
            raise InputError(f"{where}: expansion {layer.expansion:g}, expected one of {_listed(design.expansions)}")
        if layer.kernel not in design.kernels:
            raise InputError(f"{where}: kernel {layer.kernel}, expected one of {_listed(design.kernels)}")
        if said != "free" and layer.squeeze != (said == "yes"):
            expected = "has squeeze-and-excitation: write an s" if said == "yes" else "has none: leave out the s"
            raise InputError(f"{where}: {layer}, and this stage {expected}")


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def variants(design: Design, stage: int) -> Iterator[Stage]:
    """Every stage there can be, short ones first."""
    squeezes = (False, True) if design.squeeze[stage] == "free" else (design.squeeze[stage] == "yes",)
    layers = [Layer(*one) for one in itertools.product(design.expansions, design.kernels, squeezes)]
    for depth in design.layers:
        if design.each == "stage":
            yield from ((layer,) * depth for layer in layers)
        else:
            yield from itertools.product(layers, repeat=depth)


def variant_count(design: Design, stage: int) -> int:
    """How many `variants` there are."""
    layers = len(design.expansions) * len(design.kernels) * (2 if design.squeeze[stage] == "free" else 1)
    return sum(layers if design.each == "stage" else layers**depth for depth in design.layers)
