"""Own spaces: sampling, changing, reading and listing by running the user's function."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.errors import BuildError, InputError
from foresee.spaces import Counts, own
from foresee.spaces.own import RejectedError
from foresee.task import Task

TASK = Task((20,), 2)
frugal = examples(25)
seeds = st.integers(0, 2**32)


def make_net(pick):
    """Nested and conditional picks of every kind."""
    widths = [20] + [pick(f"width{i}", [4, 8, 16]) for i in range(pick.integer("depth", 1, 3))]
    layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(widths)]
    if pick("regularised", [False, True]):
        kind = pick("kind", ["dropout", "norm", None])
        if kind == "dropout":
            layers.append(nn.Dropout(pick.number("rate", 0.01, 0.5, log=True)))
        elif kind == "norm":
            layers.append(nn.LayerNorm(widths[-1]))
    return nn.Sequential(*layers, nn.Linear(widths[-1], 2))


def finite(pick):
    if pick("deep", [False, True]):
        return nn.Sequential(nn.Linear(4, pick.integer("width", 4, 8, step=2)), nn.Identity())
    return nn.Linear(4, 1)


def with_task(pick, task):
    return nn.Linear(task.inputs[0], pick("width", [1, 2]) * task.outputs)


SPACE = own(make_net)


@frugal
@given(seeds)
def test_round_trip(seed):
    picks = SPACE.sample(random.Random(seed))
    again = SPACE.parse(str(picks))
    assert again == picks
    assert again.values == picks.values
    assert hash(again) == hash(picks)
    assert str(picks) == json.dumps(json.loads(str(picks)), sort_keys=True, separators=(",", ":"))
    assert pickle.loads(pickle.dumps(picks)) == picks


@frugal
@given(seeds, seeds)
def test_mutation_changes_one_pick_and_keeps_what_still_exists(seed, other):
    picks = SPACE.sample(random.Random(seed))
    mutated = SPACE.mutate(picks, random.Random(other))
    shared = picks.values.keys() & mutated.values.keys()
    assert sum(picks.values[name] != mutated.values[name] for name in shared) == 1
    assert SPACE.parse(str(mutated)) == mutated


@frugal
@given(seeds, seeds, seeds)
def test_a_child_keeps_its_parents_answers(first, second, seed):
    parents = [SPACE.sample(random.Random(one)) for one in (first, second)]
    child = SPACE.crossover(*parents, random.Random(seed))
    for name, value in child.values.items():
        known = [parent.values[name] for parent in parents if name in parent.values]
        assert not known or value in known


def test_mutation_reaches_every_pick():
    picks = SPACE.parse('{"depth":2,"regularised":false,"width0":4,"width1":8}')
    changed = Counter()
    for seed in range(200):
        mutated = SPACE.mutate(picks, random.Random(seed))
        changed.update(name for name in picks.values if mutated.values.get(name) != picks.values[name])
    assert changed.keys() == picks.values.keys()


def test_the_network_is_the_one_of_the_picks():
    picks = SPACE.parse('{"depth":2,"kind":"norm","regularised":true,"width0":4,"width1":16}')
    network = SPACE.build(picks, TASK)
    assert [m.out_features for m in network.modules() if isinstance(m, nn.Linear)] == [4, 16, 2]
    assert network(torch.randn(3, 20)).shape == (3, 2)
    assert SPACE.counts(picks, TASK) == Counts(20 * 4 + 4 + 4 * 16 + 16 + 32 + 16 * 2 + 2, 80 + 64 + 32)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected JSON such as"),
        ("{", "expected JSON such as"),
        ("[1]", "not an object"),
        ("[" * 100_000, "expected JSON such as"),
        ("{}", "pick 'depth' is missing, expected a whole number from 1 to 3"),
        ('{"depth":4}', "pick 'depth' is 4, expected a whole number from 1 to 3"),
        ('{"depth":1.0}', "pick 'depth' is 1.0"),
        ('{"depth":1,"width0":5}', "pick 'width0' is 5, expected one of 4, 8, 16"),
        ('{"depth":1,"width0":4,"regularised":0}', "pick 'regularised' is 0, expected one of false, true"),
        ('{"depth":1,"width0":4,"regularised":false,"width1":4}', "pick .* 'width1': did you mean width0"),
        (
            '{"depth":1,"width0":4,"regularised":true,"kind":"dropout","rate":NaN}',
            "'rate' is nan, expected a real number from 0.01 to 0.5",
        ),
    ],
)
def test_wrong_texts_name_the_pick(text, message):
    with pytest.raises(InputError, match=message):
        SPACE.parse(text)


# -- listing ------------------------------------------------------------------------------------------------------------
def test_listing_goes_through_the_whole_tree():
    space = own(finite)
    assert [str(picks) for picks in space.enumerate()] == [
        '{"deep":false}',
        '{"deep":true,"width":4}',
        '{"deep":true,"width":6}',
        '{"deep":true,"width":8}',
    ]
    assert space.size == 4
    assert space.enumerable
    assert own(lambda pick: nn.Identity()).size == 1


def test_spaces_that_cannot_be_listed():
    assert SPACE.size is None
    assert not SPACE.enumerable
    with pytest.raises(InputError, match="not enumerable: a pick may be a real number"):
        list(SPACE.enumerate())
    runs = []

    def wide(pick):
        runs.append(1)
        return nn.Linear(1, sum(pick.integer(f"n{i}", 1, 100) for i in range(3)))

    assert own(wide).size is None
    assert len(runs) == 1  # seen from the first look


def test_nothing_to_mutate():
    space = own(lambda pick: nn.Linear(1, pick("width", [3])))
    with pytest.raises(InputError, match="no pick with another answer"):
        space.mutate(space.sample(random.Random(0)), random.Random(0))


# -- running the function -------------------------------------------------------------------------------------------------
def test_only_picks_cost_no_memory_and_no_random_numbers():
    def huge(pick):
        return nn.Linear(10**6, pick("width", [10**6]))  # 4 TB of weights

    before = torch.get_rng_state(), random.getstate()
    assert str(own(huge).sample(random.Random(0))) == '{"width":1000000}'
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


def test_a_function_that_cannot_run_on_meta_runs_on_the_cpu_with_the_same_picks():
    def plain(pick):
        return nn.Linear(2, pick("a", list(range(1, 100))) + pick("b", list(range(1, 100))))

    def reads(pick):
        network = plain(pick)
        assert float(network.weight.detach().sum()) < 1e9
        return network

    for seed in range(5):
        rngs = random.Random(seed), random.Random(seed)
        picks = own(plain).sample(rngs[0])
        assert own(reads).sample(rngs[1]) == picks
        assert rngs[0].random() == rngs[1].random()
        assert own(reads).mutate(picks, rngs[1]) == own(plain).mutate(picks, rngs[0])


def test_picks_with_which_the_function_fails_are_an_architecture_without_a_network():
    def bad(pick):
        depth = pick("depth", [1, 2])
        if depth == 2:
            raise KeyError(depth)
        return nn.Linear(20, pick("width", [3, 4]))

    space = own(bad)
    listed = list(space.enumerate())
    assert [(str(one), one.problem) for one in listed] == [
        ('{"depth":1,"width":3}', ""),
        ('{"depth":1,"width":4}', ""),
        ('{"depth":2}', "KeyError: 2"),
    ]
    assert space.parse('{"depth":2}') == listed[2]
    for look in (space.build, space.counts):
        with pytest.raises(BuildError, match=r"bad failed: KeyError: 2"):
            look(listed[2], TASK)
    assert {str(space.mutate(listed[2], random.Random(seed)))[:10] for seed in range(9)} == {'{"depth":1'}
    nothing = own(lambda pick: 3)
    with pytest.raises(BuildError, match=r"it returned a int, expected a torch\.nn\.Module"):
        nothing.build(nothing.sample(random.Random(0)), TASK)


def constrained(pick):
    """Heads must divide the width, in one of the two ways to say so."""
    part = pick.sub("encoder")
    width, heads = part.int("width", 4, 12, step=2), part("heads", [1, 2, 3, 4, 5])
    if heads == 5:
        raise ValueError("five heads")
    if width % heads:
        pick.reject("heads must divide the width")
    if pick("deep", [False, True]):
        pick.sub("encoder").sub("second").log("rate", 0.001, 0.1)
    return nn.Linear(20, width)


@frugal
@given(seeds, seeds)
def test_what_the_function_rejects_is_never_drawn(seed, other):
    space = own(constrained)
    first, second = (space.sample(random.Random(one)) for one in (seed, other))
    for picks in (
        first,
        second,
        space.mutate(first, random.Random(other)),
        space.crossover(first, second, random.Random(seed)),
    ):
        values = picks.values
        assert values["encoder.heads"] < 5
        assert values["encoder.width"] % values["encoder.heads"] == 0
        assert ("encoder.second.rate" in values) == values["deep"]
        assert space.parse(str(picks)) == picks


def test_rejected_picks_are_counted_and_not_listed():
    def divided(pick):
        if pick("width", [4, 6]) % pick("heads", [1, 3, 4]):
            pick.reject("heads must divide the width")
        return nn.Linear(1, 1)

    space = own(divided)
    assert [str(one) for one in space.enumerate()] == [
        '{"heads":1,"width":4}', '{"heads":4,"width":4}', '{"heads":1,"width":6}', '{"heads":3,"width":6}',
    ]  # fmt: skip
    assert (space.size, space.rejected) == (4, 0)
    for seed in range(30):
        space.sample(random.Random(seed))
    assert 3 < space.rejected < 40
    with pytest.raises(RejectedError, match=r'divided rejects {"heads":3,"width":4}: heads must divide the width'):
        space.parse('{"heads":3,"width":4}')


def test_a_function_that_rejects_everything_says_so():
    space = own(lambda pick: pick.reject())
    with pytest.raises(
        RejectedError, match=r"50 draws in a row were rejected, the last: .* rejects {}: rejected without"
    ):
        space.sample(random.Random(0))
    assert space.size == 0


def test_what_is_no_space():
    for wrong in (3, lambda: None, lambda a, b, c: None):
        with pytest.raises(InputError, match=r"make_net\(pick\)"):
            own(wrong)


def test_the_task_is_the_second_argument():
    space = own(with_task)
    picks = space.parse('{"width":2}')
    assert space.build(picks, TASK).weight.shape == (4, 20)
    assert own(lambda pick, task=None: nn.Linear(task.inputs[0], 1)).build(
        own(lambda pick: nn.Identity()).parse("{}"), TASK
    )
    assert own(lambda pick, bias=True: nn.Linear(1, 1, bias=bias)).parse("{}")

    def tabular(pick, task):
        (features,) = task.inputs
        return nn.Linear(features, pick("width", [1, 2]))

    with pytest.raises(InputError, match=r"rejects {} for inputs 3x32x32: ValueError: too many values"):
        own(tabular).sample(random.Random(0))
    assert own(tabular, task=TASK).settings() == {"task": {"inputs": [20], "outputs": 2}}
    assert own(tabular, task=TASK).sample(random.Random(0))
    assert SPACE.settings() == {}


def test_picks_that_depend_on_the_task_are_refused_where_they_do_not_fit():
    def net(pick, task):
        return nn.Linear(1, pick("width" if task.outputs == 10 else "breadth", [1, 2]))

    space = own(net)
    with pytest.raises(InputError, match="pick 'breadth' is missing"):
        space.build(space.sample(random.Random(0)), TASK)
