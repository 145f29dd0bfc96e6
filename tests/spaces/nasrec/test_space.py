"""The NASRec spaces: the conformance suite, sizes, sampling, mutation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import torch

from foresee.errors import InputError
from foresee.seeds import generator, stream
from foresee.spaces import Candidate, get
from foresee.spaces.nasrec import NASRecFull, NASRecSmall, criteo_task
from foresee.spaces.nasrec.space import subsets
from foresee.task import Task
from foresee.testing.spaces import SpaceSuite


class ClickSuite(SpaceSuite):
    task = criteo_task(20)
    samples = 20
    counted = 3
    trained = 4

    def inputs(self, count):
        draws = generator(self.seed, "inputs")
        dense = torch.randn(count, *self.task.inputs, generator=draws)
        return dense, torch.randint(20, (count, len(self.task.vocabularies)), generator=draws)

    def equivalents(self, architecture):
        """Another pair where nothing reads it."""
        block, *rest = architecture.blocks[::-1]
        if block.dense in ("linear2d", "dot"):
            yield type(architecture)((*rest[::-1], replace(block, left=1, right=2)))


class TestSmall(ClickSuite):
    def space(self):
        return NASRecSmall()


class TestFull(ClickSuite):
    def space(self):
        return NASRecFull()


class TestReduced(ClickSuite):
    """Other settings, at which layers between equal sizes occur often."""

    def space(self):
        return NASRecFull(blocks=3, dense_widths=(13, 16, 128), sparse_widths=(5, 16, 26), most_inputs=2)


@pytest.mark.parametrize(
    ("space", "size"),
    [
        (NASRecSmall(), "4.92e+39"),
        (NASRecFull(), "8.07e+43"),
        (NASRecSmall(most_inputs=7), "1.12e+40"),
        (NASRecFull(most_inputs=7), "1.83e+44"),
    ],
)
def test_published_sizes(space, size):
    assert f"{space.size:.2e}" == size


def test_distinct_sizes():
    assert f"{NASRecSmall().distinct_size:.2e}" == "1.94e+32"
    tiny = NASRecFull(blocks=2, dense_widths=(16,), sparse_widths=(4,))
    # block 1: 4 x 2 operations and 4 flags; block 2: 2 x 3 + 2 x 4 wirings, 3 sparse sets
    assert tiny.distinct_size == (4 * 2 * 4) * ((2 * 3 + 2 * 4) * 3 * 2 * 4)
    assert tiny.size == (4 * 2 * 4) * (4 * 3 * 4 * 3 * 2 * 4)


def test_sampling_is_uniform_over_sets_or_over_their_size():
    draws = {}
    for sampling in ("uniform", "published"):
        space = NASRecFull(sampling=sampling)
        drawn = [space.sample(stream(0, number)).blocks[6] for number in range(1500)]
        draws[sampling] = Counter(len(block.dense_inputs) for block in drawn)
        assert {block.dense for block in drawn} == set(space.dense_ops)
        assert {block.left for block in drawn} == set(range(7))
    sets = subsets(7, 4)
    assert len(sets) == 7 + 21 + 35 + 35
    assert draws["uniform"][1] / 1500 == pytest.approx(7 / 98, abs=0.03)
    assert draws["published"][1] / 1500 == pytest.approx(1 / 4, abs=0.05)


def test_small_draws_the_pair_only_as_published():
    pairs = {
        sampling: {
            (block.left, block.right)
            for number in range(20)
            for block in NASRecSmall(sampling=sampling).sample(stream(number)).blocks
        }
        for sampling in ("uniform", "published")
    }
    assert pairs["uniform"] == {(0, 0)}
    assert len(pairs["published"]) > 10


@pytest.mark.parametrize("kind", [NASRecSmall, NASRecFull])
def test_a_mutation_changes_one_gene_that_is_read(kind):
    space = kind()
    parent = space.sample(stream(5))
    changed = Counter()
    for seed in range(300):
        child = space.mutate(parent, stream(seed))
        [(before, after)] = [pair for pair in zip(parent.blocks, child.blocks, strict=True) if pair[0] != pair[1]]
        [gene] = [gene for gene in vars(before) if getattr(before, gene) != getattr(after, gene)]
        if gene in ("left", "right", "dense_inputs"):
            assert (gene == "dense_inputs") == (before.dense in ("linear2d", "dot"))
        changed[gene] += 1
    assert changed.keys() >= {"dense", "dense_width", "sparse_width", "sparse_inputs", "interact", "fm"}


def test_published_mutation():
    """One key is drawn again: half the time an input (of 4 keys), half the time the rest (of 5); it may stay."""
    space = NASRecFull(sampling="published")
    parent = space.sample(stream(5))
    same, pairs, both = 0, 0, 0
    for seed in range(600):
        child = space.mutate(parent, stream(seed))
        assert space.parse(str(child)) == child
        differing = [(a, b) for a, b in zip(parent.blocks, child.blocks, strict=True) if a != b]
        assert len(differing) <= 1
        same += not differing
        pairs += any((a.left, a.right) != (b.left, b.right) for a, b in differing)
        both += any(a.dense != b.dense and a.sparse != b.sparse for a, b in differing)
    assert same > 50
    assert pairs > 50
    assert both > 5


def test_crossover_takes_genes_of_the_parents():
    space = NASRecFull()
    first, second = space.sample(stream(0)), space.sample(stream(1))
    child = space.crossover(first, second, stream(2))
    assert child not in (first, second)
    for one, other, own in zip(first.blocks, second.blocks, child.blocks, strict=True):
        assert all(getattr(own, gene) in (getattr(one, gene), getattr(other, gene)) for gene in vars(own))


def test_settings_travel():
    space = get("nasrec_full", blocks=2, dense_widths=[16, 32], sampling="published")
    assert space.settings() == {"blocks": 2, "dense_widths": [16, 32], "sampling": "published"}
    assert not NASRecSmall().settings()
    assert get("nasrec-small").named.keys() == {"Criteo_Small_best"}
    candidate = Candidate(space, space.sample(stream(0)), criteo_task(4))
    assert Candidate.from_json(candidate.to_json()).task == candidate.task


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocks": 0}, "blocks 0, expected a whole number"),
        ({"dense_widths": [32, 16]}, "dense_widths \\[32, 16\\], expected 1 to 10 ascending"),
        ({"sparse_widths": [2.5]}, "sparse_widths \\[2.5\\]"),
        ({"sampling": "publisht"}, "did you mean published"),
        ({"identity": "text"}, "unknown identity of space nasrec_small 'text'"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(InputError, match=message):
        get("nasrec_small", **settings)


def test_picture_shows_what_is_alive():
    space = NASRecSmall(blocks=2, dense_widths=(16,), sparse_widths=(4,))
    [graph] = space.graph(space.parse("linear2d:16@0 linear3d:4@0 / dot:16@0 linear3d:4@0 interact fm"))
    assert graph.nodes == ("dense", "sparse", "2 dot 16", "2 linear3d 4", "2 interact", "2 fm", "logit")
    assert set(graph.edges) == {(0, 2, ""), (1, 2, ""), (1, 3, ""), (2, 4, ""), (3, 4, "")} | {
        (2, 5, ""),
        (4, 5, ""),
        (5, 6, ""),
        (4, 6, ""),
    }


@pytest.mark.parametrize("kind", [NASRecSmall, NASRecFull])
@pytest.mark.parametrize("count", [30, pytest.param(150, marks=pytest.mark.slow)])
def test_samples_run_forward_and_backward(kind, count):
    space = kind(dense_widths=(16, 32, 128), sparse_widths=(4, 8))
    task = criteo_task(6)
    draws = generator(0, "clicks")
    inputs = torch.randn(2, 13, generator=draws), torch.randint(6, (2, 26), generator=draws)
    for number in range(count):
        architecture = space.sample(stream(7, number))
        network = space.build(architecture, task)
        logits = network(*inputs)
        assert logits.shape == (2, 1)
        assert bool(logits.isfinite().all()), str(architecture)
        logits.square().sum().backward()
        assert all(bool(p.grad.isfinite().all()) for p in network.parameters() if p.grad is not None)


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        (500, 60_000),
        (20_000, 120_000),
        (66_667, 400_000),
        (400_000, 400_000),
        (1_000_000, 1_000_000),
        (4_000_000, None),
    ],
)
def test_networks_are_limited_beside_their_tables_by_the_rows(rows, most):
    space, task = get("nasrec_small"), Task((3,), 1, vocabularies=(10, 20))
    assert space.usual_limits(task, rows) == ({} if most is None else {"params": {"max": most + 16 * 30}})
