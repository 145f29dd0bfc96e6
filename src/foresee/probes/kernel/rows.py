"""Gradients of outputs one by one: the general way, for any network, with samples that BatchNorm couples or without.

A row is the gradient of one direction of one sample's output by the parameters. Where samples are coupled, the batch runs
together and every row is a backward run of the whole batch: B H of them. Where they are not, each sample runs alone, and
all rows together cost what H backward runs of the batch cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foresee.probes.kernel.heads import Question, directions, selected
from foresee.probes.kernel.plan import Plan
from foresee.probes.kernel.runs import check, check_weights, combination, gradients, run
from foresee.probes.kernel.spectrum import gram, squared_lengths
from foresee.probes.subject import Subject


def by_rows(probe: Subject, question: Question, plan: Plan) -> Any:
    """The kernel (B H, B H), or the squared lengths of its rows (B H,), in float64; or the rows by name, (B H, ...)."""
    with probe.contact() as network, torch.enable_grad():
        chosen = selected(network, question.parameters)
        whole: Tensor | None = run(probe, network)
        assert whole is not None
        along = directions(probe, whole, question.outputs)
        weights = check_weights(probe, along)
        expected: list[Tensor] = []
        if plan.alone:
            # The whole batch runs once, to see that running alone makes no difference.
            expected, whole = combination(whole, along, weights, list(chosen.values())), None
        totals: list[Any] = []
        combined: list[Tensor] = []
        for group in plan.groups:
            own = {name: chosen[name] for name in group}
            store = _store(probe, question, own, along.shape[0] * along.shape[1])
            mixed = [p.new_zeros(p.numel()) for p in own.values()]
            for part in _parts(len(along), plan.alone):
                outputs = run(probe, network, part) if whole is None else whole
                for first, seeds in _seeds(along, part, plan.chunk):
                    rows = gradients(outputs.reshape(len(outputs), -1), list(own.values()), seeds)
                    store.add(first, rows)
                    if plan.alone:
                        _mix(mixed, rows, weights.flatten()[first : first + len(seeds)])
                    del rows  # before the next ones are computed
            totals.append(store.result())
            combined += mixed
        if plan.alone:
            check(combined, expected)
    if question.answer == "rows":
        return {name: rows for part in totals for name, rows in part.items()}
    return torch.stack(totals).sum(0)


def _parts(samples: int, alone: bool) -> list[slice]:
    return [slice(i, i + 1) for i in range(samples)] if alone else [slice(0, samples)]


def _seeds(along: Tensor, part: slice, chunk: int) -> Iterator[tuple[int, Tensor]]:
    """Numbers of first rows, and for each row of a block its direction at its sample, 0 at the others of the part."""
    samples, heads = part.stop - part.start, along.shape[1]
    for first in range(part.start * heads, part.stop * heads, chunk):
        rows = torch.arange(first, min(first + chunk, part.stop * heads), device=along.device)
        seeds = along.new_zeros(len(rows), samples, along.shape[2])
        seeds[torch.arange(len(rows)), rows // heads - part.start] = along[rows // heads, rows % heads]
        yield first, seeds  # one block at a time: all together are as many numbers as rows times outputs of the batch


def _mix(totals: Sequence[Tensor], rows: Sequence[Tensor | None], weights: Tensor) -> None:
    for total, part in zip(totals, rows, strict=True):
        if part is not None:
            total += weights.to(part) @ part.flatten(1)


# -- what is kept of the rows ---------------------------------------------------------------------------------------------
class _Lengths:
    """Their squared lengths."""

    def __init__(self, rows: int, device: torch.device) -> None:
        self._found = torch.zeros(rows, dtype=torch.float64, device=device)

    def add(self, first: int, rows: Sequence[Tensor | None]) -> None:
        for part in rows:
            if part is not None:
                self._found[first : first + len(part)] += squared_lengths(part.flatten(1))

    def result(self) -> Tensor:
        return self._found


class _All:
    """All of it, in the network's type; products in float64."""

    def __init__(self, parameters: dict[str, nn.Parameter], rows: int) -> None:
        entries = [p.numel() for p in parameters.values()]
        self._rows = next(iter(parameters.values())).detach().new_zeros(rows, sum(entries))
        self._by_parameter = torch.split(self._rows, entries, dim=1)

    def add(self, first: int, rows: Sequence[Tensor | None]) -> None:
        for place, part in zip(self._by_parameter, rows, strict=True):
            if part is not None:
                place[first : first + len(part)] = part.flatten(1)

    def result(self) -> Tensor:
        return gram([self._rows])


class _Each:
    """All of it, by the parameter's name; those without influence are left out."""

    def __init__(self, parameters: dict[str, nn.Parameter], rows: int) -> None:
        self._parameters, self._rows = parameters, rows
        self._found: dict[str, Tensor] = {}

    def add(self, first: int, rows: Sequence[Tensor | None]) -> None:
        for (name, parameter), part in zip(self._parameters.items(), rows, strict=True):
            if part is not None:
                if name not in self._found:
                    self._found[name] = parameter.detach().new_zeros(self._rows, *parameter.shape)
                self._found[name][first : first + len(part)] = part

    def result(self) -> dict[str, Tensor]:
        return self._found


class _Projections:
    """Sums with random signs over random parts of the entries; their products are those of the rows on average."""

    def __init__(self, probe: Subject, parameters: dict[str, nn.Parameter], rows: int, buckets: int) -> None:
        self._found = torch.zeros(rows, buckets, dtype=torch.float64, device=probe.device)
        self._places, self._signs = [], []
        for name, parameter in parameters.items():
            draw = probe.draws.integers(f"kernel.projection.{name}", 2 * buckets, parameter.numel()).to(probe.device)
            self._places.append(draw // 2)
            self._signs.append(draw % 2 * 2 - 1)

    def add(self, first: int, rows: Sequence[Tensor | None]) -> None:
        for place, sign, part in zip(self._places, self._signs, rows, strict=True):
            if part is not None:
                self._found[first : first + len(part)].index_add_(1, place, part.flatten(1).double() * sign)

    def result(self) -> Tensor:
        return gram([self._found])


def _store(
    probe: Subject, question: Question, parameters: dict[str, nn.Parameter], rows: int
) -> _Lengths | _All | _Each | _Projections:
    if question.answer == "lengths":
        return _Lengths(rows, probe.device)
    if question.answer == "rows":
        return _Each(parameters, rows)
    if question.method == "stochastic":
        return _Projections(probe, parameters, rows, question.buckets)
    return _All(parameters, rows)
