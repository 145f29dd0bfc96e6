"""The table of a run: for a terminal, as Markdown and as HTML; what got worse or broke a promise is red."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perf.harness.history import Run, key, regressions
from perf.harness.rows import Row

HEAD = ("", "takes", "straightforward", "ratio", "promised", "before", "floor", "earlier ratios", "")
#: earlier ratios that are shown
EARLIER = 5
RED, END = "\x1b[31m", "\x1b[0m"


@dataclass(frozen=True)
class Line:
    """A row of the table, or the heading of a file where there are no cells."""

    heading: str = ""
    cells: tuple[str, ...] = ()
    red: bool = False


def lines(
    rows: Mapping[str, Sequence[Row]],
    headings: Mapping[str, str],
    before: Mapping[str, float],
    runs: Sequence[Run] = (),
    failed: Mapping[str, str] | None = None,
) -> Iterator[Line]:
    """The table line by line; `before` are the ratios of the past, `runs` those that are alike, `failed` files that broke."""
    now = {key(file, row): row.ratio for file, found in rows.items() for row in found}
    worse = regressions(before, now)
    for file in [*rows, *(file for file in failed or {} if file not in rows)]:
        yield Line(f"{file}: {headings.get(file, '')}".rstrip(": "))
        for row in rows.get(file, ()):
            name = key(file, row)
            words = [row.note] if row.note else []
            words += [f"{100 * worse[name]:.0f} % worse"] if name in worse else []
            words += ["more than promised"] if row.broken else []
            earlier = [run.ratios[name] for run in runs if name in run.ratios][-EARLIER:]
            yield Line(
                cells=(
                    row.name,
                    amount(row.value, row.unit),
                    amount(row.base, row.unit) + (f" ({row.beside})" if row.beside else ""),
                    f"{row.ratio:.3g}",
                    "" if row.at_most is None else f"≤ {row.at_most:.3g}",
                    f"{before[name]:.3g}" if name in before else "",
                    "" if row.floor is None else f"{amount(row.floor, row.unit)} ({row.value / row.floor:.3g} x)",
                    " ".join(f"{ratio:.3g}" for ratio in earlier),
                    "; ".join(words),
                ),
                red=row.broken or name in worse,
            )
        if failed and file in failed:
            yield Line(cells=(f"failed: {failed[file]}", *[""] * (len(HEAD) - 1)), red=True)


def amount(value: float, unit: str) -> str:
    """A number with its unit, short.

    >>> amount(0.0123, "s"), amount(71.25, "MB"), amount(2.5e-5, "s")
    ('12.3 ms', '71.2 MB', '25 µs')
    """
    if unit == "s":
        factor, name = next((one for one in ((1.0, "s"), (1e-3, "ms")) if value >= one[0]), (1e-6, "µs"))
        return f"{value / factor:.3g} {name}"
    return f"{value:.3g} {unit}".strip()


def terminal(found: Sequence[Line], *, colour: bool = True) -> str:
    """For a terminal, columns under each other."""
    body = [line.cells for line in found if line.cells]
    widths = [max([len(HEAD[i]), *(len(cells[i]) for cells in body if len(body) and not cells[0].startswith("failed:"))])
              for i in range(len(HEAD))]  # fmt: skip
    out = [_spaced(HEAD, widths)]
    for line in found:
        if line.heading:
            out += ["", line.heading]
            continue
        text = _spaced(line.cells, widths)
        out.append(f"{RED}{text}{END}" if line.red and colour else text)
    return "\n".join(out)


def markdown(found: Sequence[Line], title: str) -> str:
    """As Markdown; red as far as Markdown has it."""
    out = [f"# {title}", ""]
    for line in found:
        if line.heading:
            out += ["", f"**{_plain(line.heading)}**", "", f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
            continue
        cells = [_plain(cell) for cell in line.cells]
        if line.red:
            cells = [f'<span style="color:red">{cell}</span>' if cell else "" for cell in cells]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join([*out, ""])


def page(found: Sequence[Line], title: str) -> str:
    """As an HTML page of its own."""
    parts = ["".join(f"<th>{html.escape(name)}</th>" for name in HEAD)]
    for line in found:
        if line.heading:
            parts.append(f'<th colspan="{len(HEAD)}" class="file">{html.escape(line.heading)}</th>')
            continue
        cells = "".join(f"<td{_class(line)}>{html.escape(cell)}</td>" for cell in line.cells)
        parts.append(cells)
    rows = "\n".join(f"<tr>{part}</tr>" for part in parts)
    look = (
        "body{font:15px system-ui;margin:2em;color-scheme:light dark}td,th{padding:.25em .8em;text-align:left}"
        "th.file{padding-top:1.4em}td.red{color:#c62828;font-weight:600}table{border-collapse:collapse}"
        "tr+tr td{border-top:1px solid #8884}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title><style>{look}</style>'
        f"<h1>{html.escape(title)}</h1><table>\n{rows}\n</table></html>\n"
    )


def _class(line: Line) -> str:
    return ' class="red"' if line.red else ""


def _plain(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|")


def _spaced(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
