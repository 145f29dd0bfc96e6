"""Write the pages of proxies, spaces and presets from the same text that the command prints: `python docs/make_pages.py`.

With `--check` nothing is written; the exit code says whether the pages are up to date.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what proxies are checked by is read from the tests

from tests.checked import Check, checks

from foresee.proxies import proxies
from foresee.proxies.base import Proxy
from foresee.searchers.presets import names as preset_names
from foresee.searchers.presets import preset
from foresee.spaces import spaces

DOCS = Path(__file__).parent
own_room = importlib.import_module("foresee.spaces.own")  # `foresee.spaces.own` is the function
CHECKED = """\
*Checked by* says what a test holds the numbers against. *Public code*: golden values, which the code that the authors
or other people released gave on three small networks (tests/golden), in float64 and float32; where that code computes
something else than the paper, a variant of the proxy has its values, as the page says. *A slow float64 version*: the
formula once more, in the test, as plainly as it can be written, on random small networks. For NASI, HNAS, the trace
of the tangent kernel and the default score nobody's values are at hand: there the slow version is the reference."""

PRESETS = """\
# The papers' searches

```
foresee presets                                                     # all of them
foresee presets dextr-autoformer-tiny                               # what the paper did, and every setting
foresee search --preset dextr-autoformer-tiny --out runs/tiny       # at a count that a CPU does in minutes
foresee search --preset dextr-autoformer-tiny --full --out runs/t   # as published
foresee search --preset dextr-mobilenet --data cifar10.npz --seed 1 --set elitist_evolution.population=64
```

A preset is a TOML file with the settings of a search; options that are given win, and `--set` adds to its tables. All else is
as with any search: limits hold, Ctrl-C is harmless, `--resume` goes on. In Python:

```python
import foresee as fs

run = fs.preset("dextr-autoformer-tiny").run(out="runs/tiny", seed=1)
settings = fs.preset("nasi-fix-darts").settings(full=True)
```

A reduced count shows that the search works and what it costs; what it finds is not the paper's result.

"""


def counted(value: object) -> str:
    """A count with its thousands apart; anything else as it is."""
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def proxy_page(found: Proxy) -> str:
    """A heading, the summary and the formula, the declaration as a table, then the docstring."""
    facts = {
        "source": f"{found.paper}, {found.equation}" if found.equation else found.paper,
        "better": found.direction,
        "needs": str(found.needs),
        "cost": f"{found.cost}{'; expensive: in `every`, not in `all`' if found.needs.expensive else ''}",
        "settings": ", ".join(f"`{key} = {value!r}`" for key, value in found.settings.items()) or "none",
        "variants": ", ".join(
            f"`{found.name}:{name}` ({', '.join(f'{key} = {value!r}' for key, value in changes.items())})"
            for name, changes in found.variants.items()
        )
        or "none",
        "checked by": "; ".join(map(_check, checks()[found.name])),
    }
    rows = "\n".join(f"| {key} | {_cell(value)} |" for key, value in facts.items())
    summary, _, rest = found.text.partition("\n\n")
    words, _, example = rest.partition("\n>>> ")
    formula = f"$$\n{found.latex}\n$$\n\n" if found.latex else ""
    start = ">>> import torch\n" if "torch." in example and "import torch\n" not in example else ""
    code = f"\n\n```python\n{start}>>> {example.strip()}\n```" if example else ""
    return (
        f"# {found.name}\n\n{_plain(summary)}\n\n{formula}| | |\n|---|---|\n{rows}\n\n{_plain(words.strip())}{code}\n"
    )


def _check(one: Check) -> str:
    """`golden values of SLDGroup/ZiCo@b0fec65 (`zico`)`, or `a slow float64 version (test_zico.py)`."""
    if one.file.startswith("tests/golden"):
        names = ", ".join(f"`{name}`" for name in one.names)
        whose = "public code" if one.golden else "code"
        return f"golden values of {whose} {one.by if one.golden else f'written from {one.by}'} ({names})"
    return f"{one.by} ([{Path(one.file).name}](../../{one.file}))"


def _short_check(found: list[Check]) -> str:
    """In two or three words, for the list of all proxies."""
    words = ["public code"] if any(one.golden for one in found) else []
    others = [one.by for one in found if not one.file.startswith("tests/golden")]
    return ", ".join([*words, *others])


def _cell(text: str) -> str:
    """For a cell of a table, which a bar would end."""
    return text.replace("|", "\\|")


def _plain(text: str) -> str:
    """Prose of a docstring as Markdown: what is not in backticks stands for itself."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*_<$])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def preset_part(name: str) -> str:
    """A heading, what it looks for, and what the paper did beside what is done here."""
    one = preset(name)
    counts = "; ".join(f"{key} {ours} here, {counted(theirs)} published" for key, ours, theirs in one.counts)
    facts = {"source": f"{one.paper}, {one.section}", "the paper": one.did, "counts": counts}
    facts |= {key: text for key, text in (("otherwise here", one.differs), ("needs", one.needs)) if text}
    rows = "\n".join(f"| {key} | {_cell(_plain(text))} |" for key, text in facts.items())
    return f"## {name}\n\n{_plain(one.summary)}\n\n| | |\n|---|---|\n{rows}\n"


def pages() -> dict[Path, str]:
    """Every page with its text."""
    made: dict[Path, str] = {}
    lines = []
    if unchecked := set(proxies.names()) - set(checks()):
        sys.exit(f"no test says that it checks {', '.join(sorted(unchecked))}: mark it with @pytest.mark.checks(name)")
    for name in proxies.names():
        found = proxies[name]
        made[DOCS / "proxies" / f"{name}.md"] = proxy_page(found)
        cells = found.direction, str(found.needs), found.cost, _plain(found.summary), _short_check(checks()[name])
        lines.append(f"| [{name}]({name}.md) | {' | '.join(map(_cell, cells))} |")
    head = (
        f"# Proxies\n\n{CHECKED}\n\n| proxy | better | needs | cost | what | checked by |\n|---|---|---|---|---|---|\n"
    )
    made[DOCS / "proxies" / "README.md"] = head + "\n".join(lines) + "\n"
    rows = [f"## Your own code\n\n```text\n{(inspect.getdoc(own_room) or '').strip()}\n```\n"]
    for name in spaces.names():
        kind = spaces[name]
        size = kind().size
        shown = "" if size is None else f"{size:,}" if size < 10**12 else f"{float(size):.3g}"
        rows.append(f"## {name}\n\n{kind.source}. {shown and f'{shown} architectures. '}{kind.summary}\n")
        rows.append(f"```text\n{(inspect.getdoc(kind) or '').strip()}\n```\n")
    made[DOCS / "spaces.md"] = "# Spaces\n\n" + "\n".join(rows)
    made[DOCS / "presets.md"] = PRESETS + "\n".join(preset_part(name) for name in preset_names())
    return made


def main() -> int:
    """Write the pages, or check them."""
    made = pages()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    gone = [path for path in (DOCS / "proxies").glob("*.md") if path not in made]
    if "--check" in sys.argv:
        for path in stale + gone:
            print(f"{path.relative_to(DOCS)} is not up to date: run python docs/make_pages.py")
        return bool(stale or gone)
    for path in gone:
        path.unlink()
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
    print(f"{len(stale)} of {len(made)} pages written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
