"""Click logs on the command line: `--schema` in score, rank, search and train, and what lies beside a `best.json`."""

from __future__ import annotations

import json

import pytest
from tests import clicks

TINY = [word for key, value in clicks.TINY.items() for word in ("--set", f"space.{key}={json.dumps(value)}")]
SEARCH = [
    "--proxy",
    "sigeo",
    "--searcher",
    "random",
    "--evaluations",
    "3",
    "--finalists",
    "0",
    "--engine",
    "serial",
    *TINY,
]


@pytest.fixture
def call(foresee, tmp_path, monkeypatch):
    monkeypatch.setenv("FORESEE_PREPARED", str(tmp_path / "prepared"))
    clicks.write_schema(tmp_path / "schema.toml")
    clicks.write_log(tmp_path / "clicks.csv", 300)
    return foresee


def test_from_a_file_to_a_trained_network(call, tmp_path):
    """The two commands of the issue, and the export after them."""
    log = ["--data", "clicks.csv"]
    found = call("search", "nasrec-small", *log, "--schema", "schema.toml", "--warmup", "1%", *SEARCH, "--out", "c")
    assert "20 steps (the least; 1% would be 1) of recipe ctr" in found.stdout
    trained = call("train", "c/best.json", *log, "--epochs", "1", "--out", "t", "-q")
    assert "by ctr_small" in trained.stdout
    assert "log loss" in trained.stdout
    plain = [json.loads((tmp_path / one / "preprocessing" / "preprocessing.json").read_text()) for one in "ct"]
    assert plain[0] == plain[1]
    call("export", "t", "--format", "safetensors")
    assert (tmp_path / "t" / "exported" / "preprocessing" / "values.npy").is_file()
    assert "def probabilities(rows)" in (tmp_path / "t" / "exported" / "use.py").read_text()
    page = (tmp_path / "c" / "report.html").read_text()
    assert "--schema" in page
    assert "by the schema schema.toml" in page
    assert "logit" in page  # the network is drawn
    assert "2 numbers and 3 categories" in page


def test_score_and_rank(call):
    how = ["--data", "clicks.csv", "--schema", "schema.toml", "--proxy", "grad_norm", "--json", *TINY]
    alone = json.loads(
        call("score", "nasrec_small", "linear2d:16@0 linear3d:16@0 / dot:16@0 linear3d:16@1", *how).stdout
    )
    assert alone["scores"]["grad_norm"]["status"] == "ok"
    ranked = json.loads(call("rank", "nasrec_small", "--sample", "2", *how).stdout)
    assert len(ranked["networks"]) == 2


def test_a_wrong_schema_is_one_line(call):
    wrong = call("score", "nasrec_small", "--data", "clicks.csv", "--schema", "creteo", code=2)
    assert "did you mean criteo" in wrong.stderr
    odd = call("score", "nasrec_small", "--data", "clicks.csv", "--schema", "criteo", code=2)
    assert "foresee:" in odd.stderr
    images = call("score", "nasbench201", "--data", "digits", "--schema", "criteo", code=2)
    assert "schema" in images.stderr
