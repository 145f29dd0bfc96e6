"""The notebook of the examples runs from top to bottom, and shows what it promises."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from foresee.proxies.base import STATUSES

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

from tests.examples.notebooks import execute  # needs nbclient

TOUR = Path(__file__).parents[2] / "examples" / "tour.ipynb"


def _code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _tables(cell) -> str:
    return "".join(one.data.get("text/html", "") for one in cell.outputs if "data" in one)


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    return execute(TOUR, tmp_path_factory.mktemp("notebook"))


def test_it_is_kept_without_outputs():
    import nbformat

    kept = nbformat.read(TOUR, as_version=4)
    nbformat.validate(kept)
    assert all(not cell.outputs and cell.execution_count is None for cell in _code(kept))


@pytest.mark.slow
def test_every_cell_runs_and_nothing_fails(tour):
    bad = [status for status in STATUSES if status != "ok"]
    for cell in _code(tour):
        assert not [one for one in cell.outputs if one.output_type in ("error", "stream")], cell.source
        words = re.findall(r"\w+", re.sub(r"<[^>]*>", " ", _tables(cell)))
        # in the head of a bench's table `failed` counts: nothing stands in red
        assert not set(bad) - {"failed"} & set(words), cell.source
        assert "color:#" not in _tables(cell), cell.source


@pytest.mark.slow
def test_pictures_are_pictures(tour):
    drawn = [cell for cell in _code(tour) if ".plot(" in cell.source]
    assert len(drawn) == 3
    for cell in drawn:
        (one,) = cell.outputs
        image = base64.b64decode(one.data["image/png"])
        assert image.startswith(b"\x89PNG")
        assert len(image) > 10_000  # more than empty axes
        assert int.from_bytes(image[16:20]) > 1000  # pixels across


@pytest.mark.slow
def test_tables_are_shown_and_progress_is_one_output(tour):
    cells = {cell.source.splitlines()[-1]: cell for cell in _code(tour)}
    assert "params is a baseline and has no vote" in _tables(cells["ranking"])
    search, bench = cells["run"], cells["found"]
    for cell, total in ((search, 30), (bench, 30)):
        progress, table = cell.outputs  # one output for all events, and the result
        assert progress.data["text/plain"].startswith(f"{total}/{total} scored")
        assert "<progress" in progress.data["text/html"]
        assert "<table" in table.data["text/html"]
    assert "search of" in _tables(search)
    assert "Spearman" in _tables(bench)
