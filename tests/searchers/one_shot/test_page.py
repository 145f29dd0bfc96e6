"""The page on searches that train: its example runs, and its table has every one of them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.searchers.one_shot.rivals import SETTINGS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "rivals.md").read_text(encoding="utf-8")


def test_the_example_runs(capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(block, {})
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_the_table_names_every_searcher():
    assert [name for name in SETTINGS if f"| `{name}` |" not in PAGE] == []
