"""Own spaces: picks, their texts, and finding a user's function again from anywhere."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

import foresee
from foresee.errors import InputError, UnknownNameError
from foresee.spaces import Candidate, Counts, get, own
from foresee.spaces import own as own_function
from foresee.spaces.own import Interval, Listed, OwnSpace, load, load_object
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


@own_function
def decorated(pick):
    return nn.Linear(2, pick("width", [1, 2]))


SPACE = own(make_net)


# -- picks --------------------------------------------------------------------------------------------------------------
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


def test_one_and_true_and_one_point_zero_are_three_choices():
    def net(pick):
        return nn.Linear(1, 1 + len(str(pick("x", [1, True, 1.0, "1", None]))))

    space = own(net)
    assert [str(picks) for picks in space.enumerate()] == [f'{{"x":{v}}}' for v in ("1", "true", "1.0", '"1"', "null")]
    assert len(set(space.enumerate())) == space.size == 5
    assert type(space.parse('{"x":true}').values["x"]) is bool


def test_picks_are_drawn_as_asked():
    rng = random.Random(0)
    grid = Listed(range(4, 65, 4))
    assert {grid.draw(rng) for _ in range(500)} == set(range(4, 65, 4))
    logs = Counter(Listed(range(1, 1001), log=True).draw(rng) for _ in range(3000))
    assert 0.2 < sum(count for value, count in logs.items() if value <= 10) / 3000 < 0.55
    assert min(logs) >= 1
    assert max(logs) <= 1000
    rates = [Interval(1e-4, 1.0, log=True).draw(rng) for _ in range(2000)]
    assert 0.4 < sum(rate < 1e-2 for rate in rates) / 2000 < 0.6
    assert all(1e-4 <= rate <= 1.0 for rate in rates)
    assert abs(sum(Interval(0.0, 2.0).draw(rng) for _ in range(2000)) / 2000 - 1.0) < 0.1


@pytest.mark.parametrize(
    ("asks", "message"),
    [
        (lambda pick: [pick("a", [1, 2]), pick("a", [1, 2])], "pick 'a' is asked twice"),
        (lambda pick: [pick("a", [1, 2]), pick("a", [3])], "pick 'a' is asked again, now for one of 3"),
        (lambda pick: [pick("a", [1]), pick.integer("a", 1, 3)], "asked again, now for a whole number from 1 to 3"),
        (lambda pick: pick("a", []), "at least one plain value"),
        (lambda pick: pick("a", "abc"), "expected a list"),
        (lambda pick: pick("a", {1, 2}), "expected a list"),
        (lambda pick: pick("a", [nn.ReLU]), "expected a finite str, int, float, bool or None"),
        (lambda pick: pick("a", [(1, 2)]), "choice .1, 2."),
        (lambda pick: pick("a", [float("nan")]), "choice nan"),
        (lambda pick: pick("a", [1, 2, 1]), "the same value twice"),
        (lambda pick: pick("", [1]), "needs a name"),
        (lambda pick: pick(3, [1]), "needs a name"),
        (lambda pick: pick.integer("a", 3, 1), "no whole number from 3 to 1"),
        (lambda pick: pick.integer("a", 1, 3.5), "no whole number"),
        (lambda pick: pick.integer("a", 0, 8, log=True), "log needs low of at least 1"),
        (lambda pick: pick.number("a", 1, 1), "expected a range of numbers"),
        (lambda pick: pick.number("a", 0, 1, log=True), "expected a range of numbers"),
        (lambda pick: pick.number("a", 0, float("inf")), "expected a range of numbers"),
    ],
)
def test_wrong_picks_say_so(asks, message):
    with pytest.raises(InputError, match=message):
        own(lambda pick: asks(pick) and nn.Identity()).sample(random.Random(0))


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


def test_a_function_that_fails_is_one_clear_error():
    def bad(pick):
        raise KeyError(pick("width", [3]))

    with pytest.raises(InputError, match=r'bad failed with {"width":3}: KeyError: 3'):
        own(bad).sample(random.Random(0))
    with pytest.raises(InputError, match=r"returned a int, expected a torch\.nn\.Module"):
        own(lambda pick: 3).sample(random.Random(0))


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

    with pytest.raises(InputError, match="failed for inputs 3x32x32"):
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


# -- finding functions again ----------------------------------------------------------------------------------------------
@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder of the user's, with modules of all kinds; the import state is put back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    loaded = set(sys.modules)
    net = "from torch import nn\ndef make_net(pick):\n    return nn.Linear(3, pick('width', [2, 4]))\n"
    (tmp_path / "my_models.py").write_text(net + "number = 3\n")
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").write_text("")
    (tmp_path / "my_package" / "nets.py").write_text(net + "class Nets:\n    make = staticmethod(make_net)\n")
    (tmp_path / "raises.py").write_text("raise RuntimeError('two\\nlines')\n")
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(1)\n")
    (tmp_path / "needs.py").write_text("import not_installed_here\n")
    (tmp_path / "neighbour.py").write_text("from my_models import make_net\n")
    yield tmp_path
    for name in set(sys.modules) - loaded:
        del sys.modules[name]


@pytest.mark.parametrize(
    "reference",
    ["my_models:make_net", "my_package.nets:make_net", "my_package.nets:Nets.make", "my_models.py:make_net",
     "my_package/nets.py:make_net", "neighbour.py:make_net"],
)  # fmt: skip
def test_loading(here, reference):
    space = get(reference)
    assert isinstance(space, OwnSpace)
    assert space.reference == reference
    assert space.size == 2
    picks = space.parse('{"width":4}')
    plain = json.loads(json.dumps(Candidate(space, picks, Task((3,), 4)).to_json()))
    assert Candidate.from_json(plain).build()(torch.zeros(1, 3)).shape == (1, 4)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("my_model:make_net", "no module 'my_model': did you mean my_models"),
        ("my_package.net:make_net", "no module 'my_package.net': did you mean nets"),
        ("zzzqqq:make_net", "no module 'zzzqqq': it is neither installed nor in the current folder"),
        ("my_models:make_ne", "unknown function of my_models 'make_ne': did you mean make_net"),
        ("my_package.nets:Nets.mak", "did you mean make"),
        ("my_models:number", "my_models:number is a int, expected a function or class"),
        ("raises:make_net", "module raises cannot be imported: RuntimeError: two lines"),
        ("raises.py:make_net", "file raises.py cannot be imported: RuntimeError: two lines"),
        ("exits:make_net", "module exits cannot be imported: SystemExit: 1"),
        ("exits.py:make_net", "file exits.py cannot be imported: SystemExit: 1"),
        (
            "needs:make_net",
            "module needs cannot be imported: ModuleNotFoundError: No module named 'not_installed_here'",
        ),
        ("my_modls.py:make_net", "no file 'my_modls.py': did you mean my_models.py"),
        ("nowhere/x.py:make_net", "no file 'nowhere/x.py'"),
        ("my_models:", "expected module:function or path/to/file.py:function"),
        (":make_net", "expected module:function"),
        ("my_models", "expected module:function"),
    ],
)
def test_what_cannot_be_loaded_says_why(here, reference, message):
    with pytest.raises(InputError, match=message):
        load_object(reference)


def test_unknown_settings_are_named():
    with pytest.raises(UnknownNameError, match="unknown setting of an own space 'tsk': did you mean task"):
        load("math:sqrt", tsk=3)


def test_settings_travel():
    space = own(with_task, task=TASK)
    again = get(space.reference, **space.settings())
    assert again.settings() == space.settings()


def test_a_decorated_function_is_found():
    assert isinstance(decorated, OwnSpace)
    assert get(decorated.reference).sample(random.Random(0)) == decorated.sample(random.Random(0))


def test_functions_without_a_place_have_no_reference():
    def local(pick):
        return nn.Linear(1, pick("width", [1, 2]))

    for space in (own(local), own(lambda pick: nn.Linear(1, pick("width", [1, 2])))):
        picks = space.sample(random.Random(0))
        assert space.build(picks, TASK) is not None  # all that stays in this process works
        with pytest.raises(InputError, match="only a function at the top of a module or script can be found again"):
            space.to_json(picks, TASK)


SCRIPT = """
import json, random
from torch import nn
import foresee.spaces as spaces
from foresee.task import Task

def make_net(pick):
    return nn.Linear(3, pick("width", [2, 4, 8]))

if __name__ == "__main__":
    space = spaces.own(make_net)
    candidate = spaces.Candidate(space, space.parse('{"width":8}'), Task((3,), 8))
    assert spaces.get(space.reference).make_net is make_net  # not run again
    print(json.dumps(candidate.to_json()))
"""


def test_a_script_is_found_by_another_process(here):
    (here / "my_script.py").write_text(SCRIPT)
    path = str(Path(foresee.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "my_script.py"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert plain["space"] == "my_script.py:make_net"
    assert Candidate.from_json(plain).build()(torch.zeros(1, 3)).shape == (1, 8)


@pytest.mark.parametrize(
    ("file", "spec", "reference"),
    [
        ("scripts/a.py", None, "scripts/a.py:net"),  # python scripts/a.py
        ("/elsewhere/a.py", None, "/elsewhere/a.py:net"),
        ("pack/a.py", "pack.a", "pack.a:net"),  # python -m pack.a
        (None, None, None),  # typed in
    ],
)
def test_references_of_the_main_program(here, monkeypatch, file, spec, reference):
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = file, spec and SimpleNamespace(name=spec)

    def net(pick):
        return nn.Linear(1, pick("width", [1, 2]))

    net.__module__, net.__qualname__, main.net = "__main__", "net", net
    monkeypatch.setitem(sys.modules, "__main__", main)
    if reference:
        assert own(net).reference == reference
    else:
        with pytest.raises(InputError, match="can be found again"):
            _ = own(net).reference
