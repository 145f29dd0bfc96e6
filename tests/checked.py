"""What each proxy is checked by: read from the golden recipes and from the marks `checks` of the tests.

A mark is true: a test that carries it fails unless it computed the proxies that it names (tests/proxies/conftest.py).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.golden.recipes import RECIPES

HERE = Path(__file__).parent
SLOW = "a slow float64 version"


@dataclass(frozen=True)
class Check:
    """One comparison: what with (`by`), for which variants (all names as a person writes them), in which test file."""

    by: str
    names: tuple[str, ...]
    file: str

    @property
    def golden(self) -> bool:
        """Whether somebody else's program gave the values."""
        return "@" in self.by


@cache
def checks() -> dict[str, list[Check]]:
    """All comparisons by the name of the proxy, without variants."""
    found: dict[str, list[Check]] = defaultdict(list)
    codes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for recipe in RECIPES.values():
        for name in recipe.proxies:
            codes[name.partition(":")[0], recipe.code].setdefault(name)
    for (proxy, code), names in codes.items():
        found[proxy].append(Check(code, tuple(names), "tests/golden/test_golden.py"))
    for proxy, by, file in _marks():
        found[proxy].append(Check(by, (proxy,), file))
    return dict(found)


def _marks() -> Iterator[tuple[str, str, str]]:
    for path in sorted((HERE / "proxies").rglob("test_*.py")):
        file = str(path.relative_to(HERE.parent).as_posix())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.checks":
                by = next((ast.literal_eval(word.value) for word in node.keywords), SLOW)
                yield from ((ast.literal_eval(name), by, file) for name in node.args)
