"""The pages in docs/ are made from the code; they must say what the code says, in a form that GitHub shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.checked import checks

from foresee.papers.base import load_all
from foresee.papers.numbers import names as printed
from foresee.proxies import get, proxies
from foresee.registry import import_all
from foresee.searchers import searchers

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
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for line in text.splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert not (width and cells) or cells == width, f"{page.name}: {line[:80]}"
            width = cells


# -- what the README says -------------------------------------------------------------------------------------------------

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_counts_the_proxies_that_public_code_gave_values_for():
    golden = [name for name, found in checks().items() if any(one.golden for one in found)]
    assert f"{len(golden)} are held against golden values of public reference code" in README


def test_the_readme_counts_the_tables_of_the_papers():
    tables, computed = printed(), [name for name in printed() if name in load_all()]
    assert f"the papers' {len(tables)} tables and computes {len(computed)} of them" in README
    assert f"{len(tables)} published tables, {len(computed)} of them computed again" in README
    for row, paper in (("*Dextr*", "dextr"), ("*SiGeo*", "sigeo"), ("*NASI*", "nasi"), ("*HNAS*", "thesis")):
        (there,) = (line.split(" | ")[1] for line in README.splitlines() if line.startswith(f"| {row}"))
        said = _numbers(re.search(r"Tables? (.*)$", there)[1])
        ours = [name.removeprefix(f"{paper}-table-") for name in computed if name.startswith(f"{paper}-table-")]
        assert said == {one for one in ours if paper != "thesis" or one.startswith("7.")}, row


def _numbers(text: str) -> set[str]:
    """`7.1, 7.4 to 7.6` as a set of numbers."""
    found = set()
    for part in re.split(r", | and ", text):
        first, _, last = part.partition(" to ")
        head, _, low = first.rpartition(".")
        high = (last or first).rpartition(".")[2]
        found |= {f"{head}.{n}".lstrip(".") for n in range(int(low), int(high) + 1)}
    return found


def test_the_readme_names_every_extra_with_what_it_brings():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([a-z0-9, -]+) \|", README, re.MULTILINE))
    assert rows == {name: ", ".join(re.split(r"[<>=]", one)[0] for one in wanted) for name, wanted in extras.items()}


def test_the_readme_names_every_searcher():
    (row,) = (line for line in README.splitlines() if line.startswith("| [searchers](docs/searchers.md) |"))
    page = (ROOT / "docs/searchers.md").read_text()
    ours = [name for name in searchers.names() if searchers[name].__module__.startswith("foresee.")]
    assert [name for name in ours if name not in row or f"| `{name}` |" not in page] == []


def commands_of(page: Path) -> list[str]:
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("foresee ")]


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in sorted(ROOT.glob("docs/*.md")))])
def test_commands_in_the_documents_have_the_options_they_are_shown_with(page):
    from typer.main import get_command

    from foresee.cli.app import app

    import_all("foresee.cli.commands")
    for line in commands_of(ROOT / page):
        command, words = get_command(app), shlex.split(line, comments=True)[1:]
        while hasattr(command, "commands"):  # `foresee table convert` is a command of a command
            command = command.commands[words.pop(0)]
        names = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.split("=")[0] for word in words if word.startswith("--")} <= names, line
