"""The page on training: its code runs as it stands, and its table says what the recipes say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foresee.training.recipe import names, recipe

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    everything: dict[str, object] = {}
    for block in blocks:
        exec(block, everything)
    assert (tmp_path / "runs" / "first" / "training.json").exists()
    found = everything["fs"].training.load("runs/first")  # type: ignore[attr-defined]
    assert found.test is not None


def test_the_recipe_of_a_file(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "mine.toml").write_text(text)
    assert recipe(tmp_path / "mine.toml").epochs == 60


def test_the_table_is_that_of_the_recipes() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| `")]
    told = {row[0].strip("`"): row for row in rows if row[0].strip("`") in names()}
    assert sorted(told) == names()
    for name, row in told.items():
        made = recipe(name)
        assert (int(row[2]), int(row[3]), row[4]) == (made.epochs, made.batch, made.optimiser)
        assert row[5].startswith(f"{made.lr:g}")
        assert row[5].endswith(made.schedule)
