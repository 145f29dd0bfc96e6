"""From architectures to scores, many at once: what can be stacked, why something cannot, and how many there is room for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import torch

from foresee.batch import Batch
from foresee.errors import UnsupportedError
from foresee.probes.memory import bytes_allowed
from foresee.probes.probe import Probe, out_of_memory
from foresee.proxies.base import Proxy, Score
from foresee.scoring.stacked.looks import Stack
from foresee.scoring.stacked.seat import Seat
from foresee.scoring.stacked.sizes import Sizes
from foresee.scoring.stacked.skeletons import skeleton_of
from foresee.scoring.stacked.weights import Stream
from foresee.scoring.tally import Tally
from foresee.spaces.base import Space
from foresee.task import Task

#: proxies that can be read from a stack, with the settings that have to be so
STACKABLE: Mapping[str, Mapping[str, Any]] = {
    "meco": {"every_module": False, "whole_batch": False},
    "inverse_conditions": {"every_module": False, "whole_batch": False},
    "curvature": {"points": 1},
    "foresee": {"layers": False},
    "naswot": {"by_name": False},
    "zico": {},
    "sigeo": {"form": "paper", "optimizer": "none", "trainable": "all"},
    "dextr": {"every_module": False, "whole_batch": False},
}
#: architectures in one job: enough for the largest stacks, and little work to lose
JOB = 2048
#: in one stack at most: beyond that an accelerator gains nothing, and a CPU has what it works on in its cache
_MOST, _MOST_ON_CPU = 1024, 8
#: how many maps, of the largest there is, are there for a moment
_PASSING = 24
#: weights of all layers where gradients are wanted: themselves, the gradients, and what is made of both
_WEIGHTS = 3
#: the seeds whose streams of weights are kept in hand, and how long these are together at most; one is, however long
_KEPT, _LONG = 4, 2**26


def why_not(space: Space[Any], task: Task, proxy: Proxy) -> str:
    """Why a proxy cannot be read from a stack of this space's architectures; "" where it can.

    >>> from foresee.proxies.base import get
    >>> from foresee.spaces.nasbench201.space import NASBench201
    >>> why_not(NASBench201(), Task(inputs=(3, 32, 32), outputs=10), get("meco"))
    ''
    >>> why_not(NASBench201(), Task(inputs=(3, 32, 32), outputs=10), get("synflow"))[:38]
    'proxy synflow is not read from stacks:'
    """
    try:
        skeleton = skeleton_of(space, task)
    except UnsupportedError as reason:
        return str(reason)
    if proxy.name not in STACKABLE:
        return f"proxy {proxy.name} is not read from stacks: those are {', '.join(sorted(STACKABLE))}"
    if proxy.name == "naswot" and skeleton.pieces > 1:
        return "naswot is not read from stacks where a sample goes through the network in pieces"
    for name, value in {**STACKABLE[proxy.name], "initialise": "default"}.items():
        if proxy.settings[name] != value:
            return f"{proxy.full_name} with {name} = {proxy.settings[name]} is not read from stacks: {value} is"
    return ""


class Stacker:
    """Scores architectures of one space together.

    Args:
        space: one that `why_not` has nothing against.
        task: what the networks are built for.
        device: where they run.
        memory: what a stack may take there; None: half of what is free.
        most: how many architectures are in a stack at most; fewer where there is no room for them.
    """

    def __init__(
        self,
        space: Space[Any],
        task: Task,
        device: torch.device,
        memory: str | float | None = None,
        most: int | None = None,
    ) -> None:
        self.space, self.device = space, device
        self.most = most or (_MOST_ON_CPU if device.type == "cpu" else _MOST)
        self.skeleton = skeleton_of(space, task)
        self._sizes, self._allowed = Sizes(self.skeleton), bytes_allowed(memory, device)
        self._streams: dict[int, Stream] = {}

    def __call__(
        self,
        ops: Sequence[Sequence[str]],
        batches: Sequence[Batch],
        proxies: Sequence[Proxy],
        *,
        seed: int,
        weights_seed: int,
        repeats: int = 1,
    ) -> list[dict[str, Score]]:
        """The scores of each architecture by proxy, in order. The seconds are shared evenly."""
        sizes = [self._bytes(one, batches, proxies) for one in ops]
        found: list[dict[str, Score]] = []
        while len(found) < len(ops):
            count = _first(sizes[len(found) : len(found) + self.most], self._allowed)
            try:
                some = ops[len(found) : len(found) + count]
                found += self._together(some, batches, proxies, seed, weights_seed, repeats)
                continue
            except Exception as error:
                if not out_of_memory(error) or count == 1:
                    raise
            self._allowed = sum(sizes[len(found) : len(found) + count]) / 2  # from now on: what failed will fail again
            if self.device.type == "cuda":  # out here, where the failed run has let go of what it had in hand
                torch.cuda.empty_cache()
        return found

    def _bytes(self, ops: Sequence[str], batches: Sequence[Batch], proxies: Sequence[Proxy]) -> float:
        """What one architecture of a stack takes at most: what its cells and weights hold where that is kept to the end, and
        what is there for a moment, patches above all.
        """
        sizes, samples = self._sizes, len(batches[0])
        passing, kept = _PASSING * sizes.largest_of(ops), sizes.held(ops)
        layer, every = 2 * sizes.widest, _WEIGHTS * sizes.weights(ops)

        def needed(proxy: Proxy) -> float:
            if proxy.needs.batch == 1:
                return 8 * (self.skeleton.pieces * (kept + passing) + layer)
            if proxy.name == "naswot":
                return 4 * (samples * passing + layer)
            return 4 * (samples * self.skeleton.pieces * (kept + passing) + every)

        return max(map(needed, proxies))

    def _together(
        self,
        ops: Sequence[Sequence[str]],
        batches: Sequence[Batch],
        proxies: Sequence[Proxy],
        seed: int,
        weights_seed: int,
        repeats: int,
    ) -> list[dict[str, Score]]:
        start = time.perf_counter()
        stack = Stack(self.skeleton, ops, batches, seed, self._stream(weights_seed), self.device)
        seats = [cast(Probe, Seat(stack, place)) for place in range(len(ops))]
        blanks = [Score(one.full_name, None, direction=one.direction, seed=seed, repeats=repeats) for one in proxies]
        tallies = [[Tally(one, blank) for one, blank in zip(proxies, blanks, strict=True)] for _ in ops]
        for repeat in range(repeats):
            for number in range(len(proxies)):
                for seat, own in zip(seats, tallies, strict=True):
                    own[number].add(seat, repeat, float("inf"))
        share = (time.perf_counter() - start) / len(ops) / len(proxies)
        return [{one.proxy.full_name: replace(one.score(), seconds=share) for one in own} for own in tallies]

    def _stream(self, seed: int) -> Stream:
        if seed not in self._streams:
            while len(self._streams) >= max(1, min(_KEPT, _LONG // self._sizes.longest)):
                del self._streams[next(iter(self._streams))]
            self._streams[seed] = Stream(seed, self._sizes.longest, self.device)
        return self._streams[seed]


def _first(sizes: Sequence[float], room: float) -> int:
    """How many of them, from the first on, fit together; at least one.

    >>> _first([3.0, 3.0, 3.0], 7.0), _first([9.0], 7.0)
    (2, 1)
    """
    total = 0.0
    for count, size in enumerate(sizes):
        total += size
        if total > room and count:
            return count
    return len(sizes)
