"""From a table to a calibration: who counts as trained, who is foreseen, and what the model never gets to see."""

from __future__ import annotations

import csv
import json
import random

import numpy as np
import pytest

from foresee.benchmarks import load
from foresee.benchmarks.calibrated import SHOWN
from foresee.benchmarks.calibration_table import PROXIES, UNTRAINED, calibrate_table, read_texts
from foresee.errors import InputError, UnknownNameError
from foresee.proxies import proxies
from foresee.spaces import get
from foresee.task import Task

SPACE = get("nasbench201")
TASK = Task((3, 32, 32), 10)
QUICK = {"proxies": ("params", "macs"), "untrained": "params", "bootstrap": 20, "engine": "serial", "data": "synthetic"}


def cells(count, seed=0):
    """Different cells with what they would reach: more with more convolutions, and a little luck."""
    rng, found = random.Random(seed), {}
    while len(found) < count:
        cell = SPACE.sample(rng)
        counts = SPACE.counts(cell, TASK)
        found[str(cell)] = 70 + 3 * np.log10(counts.params) + 2 * cell.ops.count("nor_conv_3x3") + rng.random()
    return found


def write(path, measured, metric="test_acc", space="nasbench201", **columns):
    """A long csv; cells whose value is None are listed without one."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["architecture", "metric", "value", "space", *columns])
        for place, (text, value) in enumerate(measured.items()):
            row = [text, metric if value is not None else "", "" if value is None else value, space]
            writer.writerow([*row, *(column[place] for column in columns.values())])
    return load(path)


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "t.csv", cells(40))


def test_the_rest_of_the_table_is_foreseen_and_checked(table):
    found = calibrate_table(table, "test_acc", trained=20, **QUICK)
    assert len(found.calibration.trained) == len(found.calibration.rest) == 20
    assert sorted(found.texts) == sorted(table.architectures)
    for place in found.calibration.trained:
        assert found.calibration.values[place] == table.values("test_acc")[table.find(found.texts[place])]
    rows = found.rows()
    ranks = [row["rank"] for row in rows]  # cells that compute the same share theirs
    assert ranks == sorted(ranks)
    assert sum(ranks) == sum(range(1, 21))
    assert all(row["low"] <= row["predicted"] <= row["high"] for row in rows)
    for row in rows:
        assert row["truth"] == pytest.approx(table.values("test_acc")[table.find(row["architecture"])])
        assert row["untrained"] == SPACE.counts(SPACE.parse(row["architecture"]), TASK).params
    assert sorted(rows, key=lambda row: -row["untrained"])[0]["untrained_rank"] == 1
    assert found.check.n == 20
    assert found.check.model["spearman"].value > 0.7
    assert found.parts > 10


def test_a_calibration_is_shown_in_a_line_as_a_table_and_as_a_frame(table):
    found = calibrate_table(table, "test_acc", trained=20, **QUICK)
    assert repr(found) == "<CalibratedTable of nasbench201, test_acc: 20 trained, 20 foreseen>"
    assert repr(found.calibration).startswith("<Calibration: 20 trained, 20 foreseen, gain over the untrained score ")
    made = found._repr_html_()
    assert made.count("<tr>") == 1 + SHOWN
    assert found.calibration.skill.verdict in made
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert frame["predicted"].tolist() == [row["predicted"] for row in found.rows()]


def test_the_model_never_sees_a_value_of_the_rest(table, tmp_path):
    one = calibrate_table(table, "test_acc", trained=10, **QUICK)
    trained = {one.texts[place] for place in one.calibration.trained}
    values = dict(zip(table.architectures, table.values("test_acc"), strict=True))
    nonsense = {text: value if text in trained else -value for text, value in values.items()}
    other = calibrate_table(write(tmp_path / "other.csv", nonsense), "test_acc", trained=10, **QUICK)
    np.testing.assert_array_equal(one.calibration.predicted, other.calibration.predicted)
    np.testing.assert_array_equal(one.calibration.low, other.calibration.low)
    assert other.calibration.skill == one.calibration.skill
    assert other.check.model["spearman"].value < 0


def test_the_seed_chooses_who_is_trained(table):
    one, same, other = (calibrate_table(table, "test_acc", trained=10, seed=seed, **QUICK) for seed in (0, 0, 1))
    assert one.texts == same.texts
    assert one.texts[:12] != other.texts[:12]


def test_by_default_all_with_a_value_are_trained_and_the_others_foreseen(tmp_path):
    measured = {text: value if place < 14 else None for place, (text, value) in enumerate(cells(20).items())}
    table = write(tmp_path / "t.csv", measured, params=[1000 + n for n in range(20)])
    found = calibrate_table(table, "test_acc", **QUICK)
    assert found.texts == list(measured)
    assert len(found.calibration.trained) == 14
    assert found.check is None
    assert [row["truth"] for row in found.rows()] == [None] * 6


def test_architectures_may_be_given_or_drawn(table, tmp_path):
    file = tmp_path / "wanted.txt"
    new = [text for text in cells(60, seed=9) if text not in table.architectures][:5]
    file.write_text("\n".join(["# mine", "", *new, *table.architectures, new[0]]))
    found = calibrate_table(table, "test_acc", trained=10, predict=read_texts(file), **QUICK)
    trained = set(found.texts[:10])
    rest = [text for text in table.architectures if text not in trained]
    assert found.texts[10:] == [*new, *rest]  # each once, and none that is trained
    drawn = calibrate_table(table, "test_acc", trained=10, sample=25, **QUICK)
    identities = [SPACE.canonical(SPACE.parse(text)) for text in drawn.texts]
    assert len(drawn.calibration.rest) == 25
    assert len(set(identities[10:])) == 25
    assert not set(identities[:10]) & set(identities[10:])
    assert drawn.texts == calibrate_table(table, "test_acc", trained=10, sample=25, **QUICK).texts


def test_a_small_space_is_drawn_empty_and_no_further(tmp_path):
    space = get("mlp", depths=[1], widths=list(range(1, 31)))
    texts = [str(one) for one in space.enumerate()]
    path = tmp_path / "mlp.csv"
    rows = [
        f'"{text}",acc,{place},mlp,"{{""depths"": [1], ""widths"": {list(range(1, 31))}}}"'
        for place, text in enumerate(texts)
    ]
    path.write_text("\n".join(["architecture,metric,value,space,space_settings", *rows]))
    found = calibrate_table(
        load(path), "acc", trained=20, sample=100, task=Task((4,), 3), **{**QUICK, "proxies": ("params",)}
    )
    assert len(found.calibration.rest) == 10
    with pytest.raises(InputError, match="gave only trained architectures"):
        calibrate_table(load(path), "acc", sample=5, task=Task((4,), 3), **QUICK)


def test_columns_of_the_table_can_be_read_without_building_anything(tmp_path):
    measured = cells(30)
    column = [value + place % 3 for place, value in enumerate(measured.values())]
    table = write(tmp_path / "t.csv", measured, space="", **{"proxy:guess": column, "weight": list(range(30))})
    names = {"proxies": ["table:guess", "table:weight"], "untrained": "table:guess"}
    found = calibrate_table(table, "test_acc", trained=12, **{**QUICK, **names})
    assert found.parts == 0  # no space, no pictures
    assert found.calibration.proxies == ("table:guess", "table:weight")
    assert found.check.untrained["spearman"].value > 0.8
    with pytest.raises(InputError, match="params, macs: a space is needed"):
        calibrate_table(table, "test_acc", trained=12, **QUICK)
    with pytest.raises(InputError, match="the table has no architecture 'unheard'"):
        calibrate_table(table, "test_acc", predict=["unheard"], **{**QUICK, **names})
    with pytest.raises(UnknownNameError, match="guess"):
        calibrate_table(
            table, "test_acc", trained=12, **{**QUICK, "proxies": ["table:gues"], "untrained": "table:guess"}
        )
    with pytest.raises(InputError, match="--sample draws from a space"):
        calibrate_table(table, "test_acc", sample=3, **{**QUICK, **names})


def test_a_loss_is_better_when_lower(tmp_path):
    table = write(tmp_path / "t.csv", {text: 100 - value for text, value in cells(30).items()}, metric="val_loss")
    found = calibrate_table(table, "val_loss", trained=10, **QUICK)
    rows = found.rows()
    assert found.target.direction == "lower"
    assert rows[0]["predicted"] < rows[-1]["predicted"]
    assert found.check.model["spearman"].value > 0.5


def test_proxies_that_fail_are_counted_with_their_reason(table):
    found = calibrate_table(table, "test_acc", trained=10, sample=2, **{**QUICK, "proxies": ("params", "dss")})
    assert found.calibration.constant == ("dss",)
    plain = found.to_json()
    assert plain["failed"]["dss"]["n"] == 12
    assert "transformers" in next(iter(plain["failed"]["dss"]["reasons"]))


def test_what_is_written_can_be_read(table, tmp_path):
    found = calibrate_table(table, "test_acc", trained=30, **QUICK)
    found.write(tmp_path / "out")
    plain = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert plain == json.loads(json.dumps(found.to_json()))
    assert plain["coverage"] == {"asked": 0.9, "guaranteed": pytest.approx(found.calibration.guaranteed), "folds": 20}
    assert plain["held_out"]["n"] == 30
    assert len(plain["trained"]) == 30
    with (tmp_path / "out" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["architecture"] for row in rows] == [row["architecture"] for row in found.rows()]
    assert float(rows[0]["predicted"]) == pytest.approx(plain["predictions"][0]["predicted"])


def test_a_column_that_is_not_there_is_known_before_anything_is_scored(table, monkeypatch):
    monkeypatch.setattr("foresee.benchmarks.calibration_table.scored", lambda *_, **__: pytest.fail("it scored"))
    with pytest.raises(InputError, match="nwt"):
        calibrate_table(table, "test_acc", trained=20, proxies=["table:nwt"], bootstrap=0)


def test_the_model_leans_on_the_untrained_score_where_it_reads_it(table):
    look = {"trained": 20, "bootstrap": 0, "parts": False}
    alone = calibrate_table(table, "test_acc", **look, proxies=["params"], untrained="macs")
    both = calibrate_table(table, "test_acc", **look, proxies=["params", "macs"], untrained="macs")
    assert alone.calibration.proxies == ("params",)
    assert (both.calibration.predicted != alone.calibration.predicted).any()
    np.testing.assert_array_equal(both.calibration.untrained, alone.calibration.untrained)  # as it is, leant on or not


def test_the_default_proxies_need_no_labels():
    for name in (*PROXIES, UNTRAINED):
        assert not proxies[name].needs.labels
        assert proxies[name].needs.batch * proxies[name].needs.batches <= 16


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, "nothing is left to predict"),
        ({"trained": 41}, "--trained 41: "),
        ({"trained": 9}, "9 trained architectures: at least 10"),
        ({"predict": ["|nor|"]}, "|nor|"),
        ({"sample": 0}, "--sample 0"),
        ({"sample": 3, "predict": []}, "not both"),
        ({"trained": 12, "target": "test_ac"}, "did you mean test_acc"),
        ({"trained": 12, "proxies": ["parms"]}, "did you mean params"),
    ],
)
def test_mistakes_are_sentences(table, change, sentence):
    with pytest.raises(InputError) as caught:
        calibrate_table(table, **{"target": "test_acc", **QUICK, **change})
    assert sentence in str(caught.value)


def test_files_of_architectures_are_checked(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_texts(tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("# nothing\n\n")
    with pytest.raises(InputError, match="no architecture in it"):
        read_texts(tmp_path / "empty.txt")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        read_texts(tmp_path / "bytes")
