"""What every space must do, as tests.

    class TestMine(SpaceSuite):
        task = Task((3, 16, 16), 10)

        def space(self):
            return MySpace(channels=4)

pytest finds the tests in the subclass. Every assertion says what was expected of which architecture.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor

from foresee.batch import Inputs
from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.counting import measure
from foresee.task import Task


class SpaceSuite:
    """Base class; a subclass gives `space` and, where the defaults do not fit, the rest.

    Parameters that get no gradient must be named by the space's `unused_parameters(architecture)`: names of parameters
    or of modules that hold them.
    """

    #: the task networks are built for; keep it small
    task: ClassVar[Task] = Task((3, 32, 32), 10)
    #: architectures that are sampled, written, read, mutated and built without weights
    samples: ClassVar[int] = 50
    #: architectures that are counted by running them without weights (slow)
    counted: ClassVar[int] = 5
    #: architectures that run forward and backward
    trained: ClassVar[int] = 5
    #: a space of at most this size is listed whole
    listed: ClassVar[int] = 20_000
    seed: ClassVar[int] = 0

    def space(self) -> Space[Any]:
        """The space under test."""
        raise NotImplementedError("give the suite its space: def space(self): return ...")

    def inputs(self, count: int) -> Inputs:
        """A batch of `count` samples for the network: normal numbers, and categories where the task has them."""
        draws = generator(self.seed, "inputs")
        numbers = torch.randn(count, *self.task.inputs, generator=draws)
        if not self.task.vocabularies:
            return numbers
        return numbers, torch.stack([torch.randint(n, (count,), generator=draws) for n in self.task.vocabularies], 1)

    def equivalents(self, architecture: Any) -> Iterable[Any]:
        """Other architectures that compute the same function (a relabelled cell); they must share the identity."""
        return ()

    def drawn(self, count: int) -> list[Any]:
        """`count` random architectures, the same at every call; and those with a name."""
        space = self.space()
        sampled = [space.sample(stream(self.seed, "sample", number)) for number in range(count)]
        return [*sampled, *space.named.values()]

    # -- the set ------------------------------------------------------------------------------------------------------
    def test_same_seed_same_sample(self) -> None:
        """A sample and a mutation depend on the generator handed in only, and touch no global one."""
        before = random.getstate(), torch.get_rng_state()
        texts = [
            [str(space.mutate(one, stream(1))) for one in map(space.sample, map(stream, range(5)))]
            for space in (self.space(), self.space())
        ]
        assert texts[0] == texts[1], f"equal seeds gave {texts[0]} and {texts[1]}"
        assert random.getstate() == before[0], "the global random state of Python was used"
        assert torch.equal(torch.get_rng_state(), before[1]), "the global random state of torch was used"

    def test_text_round_trip(self) -> None:
        """`parse(str(a))` is `a`, with the same hash."""
        space = self.space()
        for one in self.drawn(self.samples):
            again = space.parse(str(one))
            assert again == one, f"{one} was read back as {again}"
            assert hash(again) == hash(one), f"{one} has another hash when read back"
            assert str(again) == str(one), f"{one} is written as {again} after reading it"

    def test_json_round_trip(self) -> None:
        """A candidate survives JSON, and the space is found again by its reference and settings."""
        space = self.space()
        for one in self.drawn(3):
            candidate = Candidate(space, one, self.task)
            again = Candidate.from_json(json.loads(json.dumps(candidate.to_json())), space=space.reference)
            assert again.architecture == one, f"{one} came back as {again.architecture}"
            assert again.task == self.task, f"{self.task} came back as {again.task}"
            assert type(again.space) is type(space), f"{space.reference} came back as a {type(again.space).__name__}"
            assert again.space.settings() == space.settings(), f"{space.settings()} became {again.space.settings()}"
            assert again.space.canonical(one) == space.canonical(one), f"{one} has another identity after JSON"

    def test_nonsense_is_refused(self) -> None:
        """Text that is no architecture gives an `InputError`."""
        space = self.space()
        text = str(self.drawn(1)[0])
        for nonsense in ("", "nonsense", text + "?", text[: len(text) // 2]):
            try:
                read = space.parse(nonsense)
            except InputError:
                continue
            raise AssertionError(f"{nonsense!r} was read as {read}")

    def test_mutation_stays_inside_and_differs(self) -> None:
        """A mutation is another architecture of the space; the parent is unchanged."""
        space = self.space()
        for number, one in enumerate(self.drawn(self.samples)):
            text = str(one)
            other = space.mutate(one, stream(self.seed, "mutate", number))
            assert str(other) != text, f"{text} mutated to itself"
            assert str(one) == text, f"mutating {text} changed it to {one}"
            assert space.parse(str(other)) == other, f"{text} mutated to {other}, which is not in the space"

    def test_crossover_stays_inside(self) -> None:
        """A child is an architecture of the space."""
        space, drawn = self.space(), self.drawn(self.samples)
        for number, (first, second) in enumerate(pairwise(drawn)):
            child = space.crossover(first, second, stream(self.seed, "crossover", number))
            assert space.parse(str(child)) == child, f"{first} and {second} gave {child}, which is not in the space"

    def test_listing(self) -> None:
        """A small space lists each architecture once, as many as its size says; samples are among them."""
        space = self.space()
        if not space.enumerable or (space.size or 0) > self.listed:
            return
        texts = [str(one) for one in space.enumerate()]
        assert len(set(texts)) == len(texts), "an architecture is listed twice"
        assert space.size in (None, len(texts)), f"size is {space.size}, {len(texts)} are listed"
        outside = {str(one) for one in self.drawn(self.samples)} - set(texts)
        assert not outside, f"sampled but not listed: {sorted(outside)[:3]}"

    def test_choices_are_all_that_is_decided(self) -> None:
        """A space of independent choices: any picks are an architecture, and any architecture is its picks."""
        space = self.space()
        if not space.choices:
            return
        rng = stream(self.seed, "picks")
        for one in self.drawn(self.samples):
            picks = space.picks(one)
            assert len(picks) == len(space.choices), f"{one}: {len(picks)} picks for {len(space.choices)} choices"
            again = space.assemble([0 if pick is None else pick for pick in picks])
            assert again == one, f"the picks of {one} are those of {again}"
            drawn = [rng.randrange(len(choice.options)) for choice in space.choices]
            other = space.assemble(drawn)
            assert space.parse(str(other)) == other, f"picks {drawn} gave {other}, which is not in the space"

    # -- one architecture ---------------------------------------------------------------------------------------------
    def test_identity(self) -> None:
        """The identity is a text that depends on the function only."""
        space = self.space()
        for one in self.drawn(self.samples):
            identity = space.canonical(one)
            assert isinstance(identity, str), f"{one} has the identity {identity!r}, expected a text"
            for same in (space.parse(str(one)), *self.equivalents(one)):
                assert space.canonical(same) == identity, f"{same} computes what {one} does, with another identity"

    def test_builds(self) -> None:
        """Every sampled architecture builds without weights, with as many parameters as counted."""
        space = self.space()
        for one in self.drawn(self.samples):
            with torch.device("meta"):
                network = space.build(one, self.task)
            built, counted = sum(p.numel() for p in network.parameters()), space.counts(one, self.task).params
            assert built == counted, f"{one}: {built} parameters are built, {counted} counted"

    def test_counts_agree_with_the_network(self) -> None:
        """The formulas give exactly what running the network on the meta device gives."""
        space = self.space()
        for one in self.drawn(self.counted):
            oracle = measure(lambda one=one: space.build(one, self.task), self.task)  # type: ignore[misc]
            assert space.counts(one, self.task) == oracle, f"{one}: {space.counts(one, self.task)}, measured {oracle}"

    def test_forward_and_backward(self) -> None:
        """Outputs have the task's width; every parameter gets a gradient or is named as unused, never both."""
        space = self.space()
        for number, one in enumerate(self.drawn(self.trained)):
            network = Candidate(space, one, self.task).build(seed=number).train()
            inputs = self.inputs(2)
            outputs = network(*inputs) if isinstance(inputs, tuple) else network(inputs)
            assert isinstance(outputs, Tensor), f"{one}: the network returned a {type(outputs).__name__}"
            assert outputs.shape == (2, self.task.outputs), f"{one}: outputs of shape {tuple(outputs.shape)}"
            assert bool(outputs.isfinite().all()), f"{one}: outputs are not finite"
            torch.autograd.backward(outputs.square().sum())
            without = {name for name, p in network.named_parameters() if p.requires_grad and p.grad is None}
            unused = tuple(space.unused_parameters(one))
            named = {
                name
                for name, _ in network.named_parameters()
                if any(f"{name}.".startswith(f"{place}.") for place in unused)
            }
            assert without <= named, f"{one}: no gradient for {sorted(without - named)}"
            assert named <= without, f"{one}: named as unused, but there is a gradient for {sorted(named - without)}"

    def test_graph(self) -> None:
        """Pictures are acyclic graphs: edges go forward between nodes that exist."""
        space = self.space()
        for one in self.drawn(self.samples):
            for graph in space.graph(one):
                for source, target, _ in graph.edges:
                    assert 0 <= source < target < len(graph.nodes), f"{one}: edge {source} -> {target} in its graph"
