"""Write one page per proxy and per space from the same text that `foresee proxies NAME` prints: `python docs/make_pages.py`.

With `--check` nothing is written; the exit code says whether the pages are up to date.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from foresee.proxies import proxies
from foresee.proxies.base import Proxy
from foresee.spaces import spaces

DOCS = Path(__file__).parent


def proxy_page(found: Proxy) -> str:
    """A heading, the declaration as a table, then the docstring."""
    source = f"{found.paper}, {found.equation}" if found.equation else found.paper
    facts = {
        "source": source,
        "better": found.direction,
        "needs": str(found.needs),
        "cost": f"{found.cost}{'; expensive: in `every`, not in `all`' if found.needs.expensive else ''}",
        "settings": ", ".join(f"`{key} = {value!r}`" for key, value in found.settings.items()) or "none",
        "variants": ", ".join(
            f"`{found.name}:{name}` ({', '.join(f'{key} = {value!r}' for key, value in changes.items())})"
            for name, changes in found.variants.items()
        )
        or "none",
    }
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    return f"# {found.name}\n\n| | |\n|---|---|\n{rows}\n\n```text\n{found.text.strip()}\n```\n"


def pages() -> dict[Path, str]:
    """Every page with its text."""
    made: dict[Path, str] = {}
    lines = []
    for name in proxies.names():
        found = proxies[name]
        made[DOCS / "proxies" / f"{name}.md"] = proxy_page(found)
        lines.append(f"| [{name}]({name}.md) | {found.direction} | {found.needs} | {found.cost} | {found.summary} |")
    head = "# Proxies\n\n| proxy | better | needs | cost | what |\n|---|---|---|---|---|\n"
    made[DOCS / "proxies" / "README.md"] = head + "\n".join(lines) + "\n"
    rows = []
    for name in spaces.names():
        kind = spaces[name]
        size = kind().size
        shown = "" if size is None else f"{size:,}" if size < 10**12 else f"{float(size):.3g}"
        rows.append(f"## {name}\n\n{kind.source}. {shown and f'{shown} architectures. '}{kind.summary}\n")
        rows.append(f"```text\n{(inspect.getdoc(kind) or '').strip()}\n```\n")
    made[DOCS / "spaces.md"] = "# Spaces\n\n" + "\n".join(rows)
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
