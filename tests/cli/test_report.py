"""`foresee report`: pages made again from what was stored, of searches, benches and calibrations, mixed."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from foresee.cli.entry import run
from foresee.spaces import get

SMALL = ["--data", "synthetic", "--engine", "serial", "--proxy", "params", "--quiet"]
SEARCH = ["search", "mlp", *SMALL, "--evaluations", "3", "--out"]
BENCH = ["bench", "mlp", "--table", "t.csv", "--target", "test_acc", "--sample", "12", "--bootstrap", "20", *SMALL]
CALIBRATE = ["calibrate", "mlp", "--table", "t.csv", "--target", "test_acc", "--untrained", "params", "--trained", "12"]
CALIBRATE += ["--bootstrap", "20", *SMALL]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two searches, a bench and a calibration, each in its folder."""
    folder = tmp_path_factory.mktemp("made")
    space, rng = get("mlp"), random.Random(3)
    texts = list({str(space.sample(rng)): None for _ in range(200)})[:20]
    rows = [f"{text},{80 + 0.1 * place + 3 * (place % 3):.1f}" for place, text in enumerate(texts)]
    (folder / "t.csv").write_text("\n".join(["architecture,test_acc", *rows]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in (
            [*SEARCH, "one"],
            [*SEARCH, "two", "--seed", "1"],
            [*BENCH, "--repeats", "2", "--proxy", "naswot", "--out", "bench"],
            [*CALIBRATE, "--out", "calibration"],
        ):
            patch.setattr("sys.argv", ["foresee", *command])
            assert run() == 0
    return folder


@pytest.fixture
def call(made, foresee, tmp_path):
    """The command, in a folder with copies of them."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return foresee


@pytest.mark.parametrize("name", ["one", "bench", "calibration"])
def test_a_page_made_again_is_the_same(call, made, tmp_path, name):
    (tmp_path / name / "report.html").unlink()
    assert call("report", name).stdout == f"{name}/report.html\n"
    assert (tmp_path / name / "report.html").read_text() == (made / name / "report.html").read_text()


def test_all_kinds_in_one_call(call, tmp_path):
    for page in tmp_path.rglob("*.html"):
        page.unlink()
    said = call("report", "bench", "one", "calibration/calibration.json", "two").stdout.splitlines()
    assert said == ["bench/report.html", "calibration/report.html", "one/comparison.html"]
    assert all((tmp_path / page).exists() for page in said)


def test_one_file_for_several_pages_is_refused(call):
    assert "names one file, and 2 pages" in call("report", "one", "bench", "-o", "both.html", code=2).stderr
    assert call("report", "bench", "-o", "again.html").stdout == "again.html\n"


@pytest.mark.parametrize("name", ["bench/bench.json", "bench/scores.csv", "bench/scores.sqlite"])
def test_a_bench_is_not_overwritten_by_its_page(call, name):
    assert "would overwrite" in call("report", "bench", "-o", name, code=2).stderr


def test_a_folder_without_a_result_and_one_with_two(call, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "there is no run here" in call("report", "empty", code=2).stderr
    assert "there is no run here" in call("report", "nowhere", code=2).stderr
    call("report", "one", "x" * 5000, code=2)
    shutil.copy(tmp_path / "bench" / "bench.json", tmp_path / "one")
    said = call("report", "one", code=2).stderr
    assert "holds a run and a bench: name one of one/run.sqlite, one/bench.json" in said
    call("report", "one/run.sqlite")


def test_an_older_calibration_is_shown_without_what_was_not_kept(call, tmp_path):
    path = tmp_path / "calibration" / "calibration.json"
    plain = json.loads(path.read_text())
    for row in plain["trained"]:
        del row["untrained"]
    del plain["metric"], plain["places"]
    path.write_text(json.dumps(plain))
    assert "Untrained params, held out" in (tmp_path / "calibration" / "report.html").read_text()
    call("report", "calibration")
    assert "Untrained params, held out" not in (tmp_path / "calibration" / "report.html").read_text()
