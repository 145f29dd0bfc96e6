"""Successive halving: rounds as Hyperband has them, levels from cheap to dear, and what goes on."""

from __future__ import annotations

import pytest
from tests.searchers.driving import LOOK, SMALL, convolutions, drive, made, problem

import foresee as fs
from foresee.errors import InputError, UnknownNameError
from foresee.searchers.problem import Levels
from foresee.searchers.successive_halving import Level, rounds
from foresee.testing import SearcherSuite


class TestHalving(SearcherSuite):
    searcher = "successive_halving"
    settings = {"levels": ["macs"], "eta": 2}
    interruptions = (1, 3, 7)


def test_rounds_are_those_of_hyperband():
    """The table of Li et al. 2018 for 81 epochs and eta = 3, with floors as in its Algorithm 1."""
    assert [one.many for one in rounds(4, 3)] == [
        (81, 27, 9, 3, 1), (34, 11, 3, 1), (15, 5, 1), (8, 2), (5,),
    ]  # fmt: skip
    assert [one.level for one in rounds(4, 3)] == [0, 1, 2, 3, 4]


def levels():
    """Cheap: convolutions of the first three edges. Dear: of all."""
    space = made("random").space

    def cheap(texts):
        return [float(sum(op.startswith("nor_conv") for op in space.parse(text).ops[:3])) for text in texts]

    def dear(texts):
        return [convolutions(space.parse(text)) for text in texts]

    return Levels({"cheap": cheap, "middle": dear, "dear": dear})


def test_the_best_of_each_level_go_on():
    searcher = made("successive_halving", 10, objectives=("measured",), measure=levels())
    assert [level.name for level in searcher.levels] == ["cheap", "middle"]
    steps = []
    real = searcher.advance
    searcher.advance = lambda number, outcome: (steps.append(outcome), real(number, outcome))
    proposals, _ = drive(searcher)
    assert [(one["level"], len(one["architectures"])) for one in steps] == [
        ("cheap", 9), ("middle", 3), ("middle", 5), ("cheap", 9), ("middle", 3), ("middle", 5),
    ]  # fmt: skip
    for first, second in ((0, 1), (3, 4)):
        merits = dict(zip(steps[first]["architectures"], steps[first]["merits"], strict=True))
        kept, left = steps[second]["architectures"], set(merits) - set(steps[second]["architectures"])
        assert min(merits[one] for one in kept) >= max(merits[one] for one in left)
    for step, candidate in ((1, 0), (2, 1), (4, 5), (5, 6)):
        best = max(steps[step]["merits"])
        assert convolutions(proposals[candidate].architecture) == best
    assert [searcher.told_before(one) for one in range(6)] == [0, 1, 2, 2, 2, 5]
    assert [searcher.steps_before(one) for one in range(6)] == [2, 3, 3, 3, 3, 5]


def test_it_learns_where_to_look():
    def mean(at_random):
        found = []
        for seed in range(2):
            searcher = made(
                "successive_halving", 40, seed=seed, objectives=("measured",), measure=levels(),
                settings={"at_random": at_random},
            )  # fmt: skip
            found += [result.merit for result in drive(searcher)[1]]
        return sum(found) / len(found)

    assert mean(0.0) > mean(1.0)


def test_levels_where_none_are_named():
    by_proxies = made("successive_halving", proxies=("params", "macs"), objectives=("measured",), measure=lambda t: [])
    assert by_proxies.levels == [Level("params"), Level("macs")]
    by_seeds = made("successive_halving", proxies=("naswot",), settings={"eta": 4})
    assert by_seeds.levels == [Level("naswot", seeds=1), Level("naswot", seeds=4)]


def test_a_level_of_seeds_is_the_mean_over_them():
    asked = problem(proxies=("naswot",))
    drawn = [asked.space.sample(asked.stream("test", number)) for number in range(3)]
    one, four = (Level("naswot", seeds=many).merits(asked, drawn) for many in (1, 4))
    assert one != four
    seeds = [fs.seeds.derive(0, "level", number) % 2**31 for number in range(4)]
    looks = [[score["naswot"].value for score in asked.scores(drawn, ["naswot"], seed)] for seed in seeds]
    assert one == looks[0]
    assert four == pytest.approx([sum(column) / 4 for column in zip(*looks, strict=True)])


def test_a_space_without_choices_has_no_model():
    searcher = made("successive_halving", 8, space="mobilenet", settings={"levels": ["params"]})
    proposals, _ = drive(searcher, merit=lambda one: float(one.layers))
    assert len(proposals) == 8


@pytest.mark.parametrize(
    ("asked", "settings", "error", "said"),
    [
        ({"objectives": ("params",)}, {}, InputError, "params is known at once"),
        ({}, {"levels": ["naswott"]}, UnknownNameError, "did you mean naswot"),
        ({}, {"levels": [3]}, InputError, "expected a list of names"),
        ({}, {"eta": 1}, InputError, "eta = 1: expected a whole number of at least 2"),
        ({}, {"at_random": 2}, InputError, "expected a share from 0 to 1"),
    ],
)
def test_what_is_refused(asked, settings, error, said):
    with pytest.raises(error, match=said):
        made("successive_halving", settings=settings, **asked)


def test_as_a_person_would_try_it(tmp_path):
    space = fs.spaces.get("nasbench201", **SMALL)
    dear = {str(one): convolutions(one) for one in space.enumerate()}
    cheap = {text: value + (hash_of(text) % 100) / 100 for text, value in dear.items()}
    measured = Levels({"12 epochs": cheap, "200 epochs": dear})
    asked = {"objectives": ["measured"], "measured": measured, "space_settings": SMALL, **LOOK}
    run = fs.search("nasbench201", ["params"], "successive_halving", evaluations=8, out=tmp_path / "run", **asked)
    assert run.status == "finished"
    assert {step.outcome["level"] for step in run.record.steps} == {"12 epochs"}
    assert run.record.best.merit == max(dear[row.architecture] for row in run.record.candidates)


def hash_of(text):
    return sum(text.encode())
