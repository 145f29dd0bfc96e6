"""The pages in docs/ are made from the code; they must say what the code says, in a form that GitHub shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.checked import checks

from foresee.proxies import get, proxies

ROOT = Path(__file__).parents[1]
#: GitHub refuses \operatorname, \mbox and \phantom among others; these it renders
MACROS = (
    "alpha|ast|bar|beta|cdot|det|ell|exp|frac|gamma|in|kappa|lambda|lbrace|ldots|left|log|mathrm|max|min|mu|nabla|nu|partial|"
    "prime|prod|quad|rbrace|right|sigma|sqrt|sum|theta|top|vert|Sigma|Theta|Vert"
)


def test_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_pages.py"), "--check"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", proxies.names())
def test_every_proxy_is_checked_by_something_and_its_page_says_so(name):
    found, page = checks()[name], (ROOT / "docs" / "proxies" / f"{name}.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| checked by |"))
    for one in found:
        assert all(get(variant).name == name for variant in one.names)
        assert (ROOT / one.file).is_file()
        assert one.by in row


def test_nothing_else_is_said_to_be_checked():
    assert set(checks()) == set(proxies.names())


@pytest.mark.parametrize("name", [name for name in proxies.names() if proxies[name].paper != "baseline"])
def test_every_formula_is_latex_that_github_renders(name):
    from matplotlib.mathtext import MathTextParser

    formula = proxies[name].latex
    assert all(re.fullmatch(MACROS, macro) for macro in re.findall(r"\\([A-Za-z]+)", formula))
    # Markdown reads its own signs before the formula is looked at: no escapes, emphasis, tags or items of lists
    assert not re.search(r"\\[^A-Za-z]|[*<~$`]|^[-+] ", formula, re.MULTILINE)
    MathTextParser("path").parse(f"${formula.replace(chr(10), ' ')}$")
    assert f"$$\n{formula}\n$$" in (ROOT / "docs" / "proxies" / f"{name}.md").read_text(encoding="utf-8")
    assert "$$" not in proxies[name].text


def test_tables_have_as_many_cells_in_every_row():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        width = 0
        for line in page.read_text(encoding="utf-8").splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert not (width and cells) or cells == width, f"{page.name}: {line[:80]}"
            width = cells
