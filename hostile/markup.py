"""A page as a parser sees it: strictly nested, with what it runs, what it loads, and what it says."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

#: elements that have no end
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Reads a page; elements that do not close in order, and two of one id, are refused."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.scripts: list[str] = []
        self.data: list[Any] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._ids: set[str | None] = set()
        self.feed(text)
        self.close()
        assert not self._open, f"elements that are never closed: {[tag for tag, _ in self._open][:5]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins and ends."""
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value) for name, value in attrs]
        for name, value in attrs:
            if name == "id":
                assert value not in self._ids, f"two elements of the id {value!a}"
                self._ids.add(value)

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        last = self._open.pop()[0] if self._open else None
        assert last == tag, f"</{tag}> where <{last}> was open"

    def handle_data(self, data: str) -> None:
        """Text: of the page, or of a script; data for a script has to be JSON."""
        tag, attributes = self._open[-1] if self._open else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.data.append(json.loads(data))
        elif tag == "script":
            self.scripts.append(data)

    def check_against(self, harmless: Page) -> None:
        """Nothing runs or is loaded that a page of harmless texts does not run or load, and no element is of another kind."""
        assert self.scripts == harmless.scripts, f"scripts that are not the page's own: {self.scripts!a:.500}"
        assert len(self.data) == len(harmless.data), f"{len(self.data)} pieces of data, {len(harmless.data)} expected"
        known = set(harmless.elements)
        strange = [one for one in self.elements if one not in known]
        assert not strange, f"elements of another kind: {strange[:5]!a}"
        for tag, name, value in self.attributes:
            assert not name.startswith("on"), f"<{tag} {name}={value!a:.200}> runs something"
            loads = name in ("href", "src", "action", "xlink:href", "formaction", "srcdoc")
            fine = not loads or (value or "").startswith(("#", "data:image/"))
            assert fine, f"<{tag} {name}={value!a:.200}> loads something"
