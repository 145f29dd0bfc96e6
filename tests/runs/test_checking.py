from __future__ import annotations

import pytest
from tests.runs.damages import DAMAGES, damage
from tests.runs.test_opening import contents

from foresee.errors import RunError
from foresee.runs import Objective, ScoreRow, Store, read
from foresee.runs.checking import COLUMNS
from foresee.runs.schema import TABLES


def fill(folder):
    """A run with something in every table but the steps."""
    with Store.create(
        folder / "run.sqlite",
        kind="search",
        settings={"space": "a"},
        environment={},
        objectives=[Objective("naswot", "higher")],
    ) as store:
        for number in range(4):
            parent = number - 1 if number else None
            store.add_candidate(number, architecture="a", identity=f"{number}", parent=parent, counts={"params": 7})
            score = ScoreRow("naswot", 1.5, "ok", "", "higher", 0.1, 5, 1, parts={"a": 0.5})
            store.finish_candidate(number, status="scored", merit=1.5, objectives={"naswot": 1.5}, scores=[score])


def test_every_column_is_known():
    assert COLUMNS.keys() == TABLES.keys()


@pytest.mark.parametrize("what", DAMAGES)
def test_what_makes_no_sense_is_refused_in_one_line_and_left_as_it_is(tmp_path, what):
    fill(tmp_path)
    assert len(read(tmp_path).candidates) == 4
    damage(tmp_path / "run.sqlite", DAMAGES[what])
    before = contents(tmp_path)
    for call in (read, lambda folder: Store.open(folder / "run.sqlite", write=True).close()):
        with pytest.raises(RunError) as caught:
            call(tmp_path)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400
        assert contents(tmp_path) == before
