"""What there is: `foresee spaces`, `proxies`, `searchers`, `recommenders`, `samplers`, `attacks`, `presets`, `recipes` ..."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, out
from foresee.errors import UnknownNameError

_Pattern = Annotated[str, typer.Argument(help="a name or wildcard; one name shows all about it")]
_Json = Annotated[bool, typer.Option("--json", help="print JSON")]


@app.command()
def spaces(
    pattern: _Pattern = "*",
    as_json: _Json = False,
    named: Annotated[bool, typer.Option("--named", help="list the published architectures of the space")] = False,
) -> None:
    """List the spaces: what can be built."""
    from foresee.spaces import spaces as registry

    if named:
        _list(
            [
                {"name": name, "space": kind, "architecture": str(architecture)}
                for kind in _matching(registry, pattern)
                for name, architecture in registry[kind]().named.items()
            ],
            as_json,
        )
        return

    rows: list[dict[str, Any]] = []
    for name in _matching(registry, pattern):
        kind = registry[name]
        made = kind()
        rows.append({"name": name, "size": made.size, "what": kind.summary, "source": kind.source})
    if len(rows) == 1 and not as_json and "*" not in pattern:
        _describe(rows[0], inspect.getdoc(registry[rows[0]["name"]]) or "")
        return
    _list(rows, as_json)


@app.command()
def proxies(pattern: _Pattern = "*", as_json: _Json = False) -> None:
    """List the proxies: what can be foreseen, which way is better, what it needs and costs, and where it comes from."""
    from foresee.proxies import proxies as registry

    rows: list[dict[str, Any]] = []
    for name in _matching(registry, pattern.partition(":")[0]):
        found = registry[name]
        source = f"{found.paper}, {found.equation}" if found.equation else found.paper
        rows.append(
            {
                "name": name,
                "better": found.direction,
                "needs": str(found.needs),
                "cost": found.cost,
                "expensive": found.needs.expensive,
                "source": source,
                "variants": sorted(found.variants),
                "settings": dict(found.settings),
                "what": found.summary,
            }
        )
    if len(rows) == 1 and not as_json and "*" not in pattern:
        _describe(rows[0], registry[rows[0]["name"]].text)
        return
    if not as_json:
        rows = [
            {
                **{key: row[key] for key in ("name", "better", "needs", "cost")},
                "in": "every" if row["expensive"] else "all",  # by which word it is asked for
                "source": _short(registry[row["name"]]),
            }
            for row in rows
        ]
    _list(rows, as_json)


@app.command()
def searchers(pattern: _Pattern = "*", as_json: _Json = False) -> None:
    """List the searchers: who looks."""
    from foresee.searchers import searchers as registry

    rows: list[dict[str, Any]] = []
    for name in _matching(registry, pattern):
        kind = registry[name]
        settings = {
            key: parameter.default
            for key, parameter in inspect.signature(kind).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        rows.append(
            {"name": name, "what": kind.summary, "cost": kind.cost, "settings": settings, "source": kind.source}
        )
    if len(rows) == 1 and not as_json and "*" not in pattern:
        kind = registry[rows[0]["name"]]
        _describe({key: value for key, value in rows[0].items() if key != "settings"}, inspect.getdoc(kind) or "")
        _settings(kind, rows[0]["settings"])
        return
    _list(rows if as_json else [{key: row[key] for key in ("name", "what", "source")} for row in rows], as_json)


def _settings(kind: Any, settings: dict[str, Any]) -> None:
    """Every setting, and how many candidates it proposes, with the value here and the paper's."""
    from foresee.searchers.base import usual_evaluations

    named = {f"{kind.name}.{key}": (value, kind.published.get(key)) for key, value in settings.items()}
    named["--evaluations"] = (usual_evaluations(kind.name), kind.published.get("evaluations"))
    rows = [{"setting": name, "here": here, "in the paper": paper} for name, (here, paper) in named.items()]
    out.print()
    _list(rows, as_json=False)


@app.command()
def recommenders(pattern: _Pattern = "*", as_json: _Json = False) -> None:
    """List the recommenders by hand: networks of click logs that a found one is judged beside."""
    from foresee.recommenders import recommenders as registry

    rows = [
        {"name": name, "what": getattr(registry[name], "summary", ""), "source": getattr(registry[name], "source", "")}
        for name in _matching(registry, pattern)
    ]
    if len(rows) == 1 and not as_json and "*" not in pattern:
        _describe(rows[0], inspect.getdoc(registry[rows[0]["name"]]) or "")
        return
    _list(rows, as_json)


@app.command()
def samplers(pattern: _Pattern = "*", as_json: _Json = False) -> None:
    """List the samplers of ensembles: how members that answer together are chosen."""
    from foresee.ensembles.finding.samplers import samplers as registry

    rows = [
        {
            "name": name.replace("_", "-"),
            "needs": ", ".join(
                key for key in ("supernet", "posterior", "pool") if getattr(registry[name], f"needs_{key}")
            ),
            "what": registry[name].summary,
        }
        for name in _matching(registry, pattern)
    ]
    if len(rows) == 1 and not as_json and "*" not in pattern:
        _describe(rows[0], f"{rows[0]['what']}.\n\n{inspect.getdoc(registry[pattern]) or ''}")
        return
    _list(rows, as_json)


@app.command()
def attacks(pattern: _Pattern = "*", as_json: _Json = False) -> None:
    """List the attacks: how images are changed so that a network takes them for something else."""
    from foresee.ensembles.attacks import attacks as registry

    rows: list[dict[str, Any]] = []
    for name in _matching(registry, pattern):
        one = registry[name]
        settings = {
            key: parameter.default
            for key, parameter in inspect.signature(one.body).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        rows.append({"name": name, "norm": one.norm, "cost": one.cost, "settings": settings, "source": one.paper})
    if len(rows) == 1 and not as_json and "*" not in pattern:
        _describe(rows[0], inspect.getdoc(registry[rows[0]["name"]].body) or "")
        return
    _list(rows if as_json else [{key: row[key] for key in ("name", "norm", "cost", "source")} for row in rows], as_json)


@app.command()
def presets(
    name: Annotated[str | None, typer.Argument(help="one of them, to show all about it")] = None, as_json: _Json = False
) -> None:
    """List the papers' searches that can be run again: `foresee search --preset NAME`, with --full as published."""
    from foresee.runs.toml import dumps
    from foresee.searchers.presets import names, preset

    found = [preset(one) for one in ([name] if name else names())]
    if as_json:
        _list([{**asdict(one), "needs": one.needs} for one in found], as_json)
    elif name:
        (one,) = found
        facts = {key: getattr(one, key) or None for key in ("name", "paper", "section", "did", "differs", "needs")}
        counts = {f"{key} ": f" {ours} here, {theirs} published" for key, ours, theirs in one.counts}
        _describe({**facts, "counts": counts}, f"{one.summary}\n\n{dumps(one.search)}".rstrip())
    else:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("name", no_wrap=True, style="cyan", min_width=max(len(one.name) for one in found))
        table.add_column("here → published", max_width=44)
        table.add_column("what", min_width=16)
        for one in found:
            lines = "\n".join(f"{key} {_text(ours)} → {_text(theirs)}" for key, ours, theirs in one.counts)
            where = f"[dim]{escape(one.paper)}, {escape(one.section)}[/dim]"
            table.add_row(one.name, escape(lines), f"{escape(one.summary)}\n{where}")
        out.print(table)


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(help="one of them, or a TOML file, to show all about it")] = None,
    as_json: _Json = False,
) -> None:
    """List the recipes of trainings, the papers' with their values: `foresee train ... --recipe NAME`."""
    from foresee.training.recipe import about, names

    found = [about(one) for one in ([name] if name else names())]
    if as_json:
        words = ("name", "summary", "paper", "section", "differs")
        rows = [{**{key: getattr(one, key) for key in words}, "values": one.recipe.to_json()} for one in found]
        _list(rows, as_json)
    elif name:
        (one,) = found
        facts = {key: getattr(one, key) or None for key in ("name", "paper", "section", "differs")}
        _describe(facts, one.summary)
        out.print()
        said = one.values
        rows = [{"value": key, "here": value, "": "" if key in said else "usual"} for key, value in _plain(one).items()]
        _list([*(row for row in rows if not row[""]), *(row for row in rows if row[""])], as_json)
    else:
        keys = ("epochs", "batch", "optimiser", "lr", "schedule")
        _list(
            [
                {"name": one.name, **{key: getattr(one.recipe, key) for key in keys}, "what": one.summary}
                for one in found
            ],
            as_json,
        )


def _plain(one: Any) -> dict[str, Any]:
    """All values of a recipe but its name, which stands above."""
    return {key: value for key, value in one.recipe.to_json().items() if key != "name"}


@app.command()
def engines(pattern: _Pattern = "*", as_json: _Json = False) -> None:
    """List the engines: where the work is done. Whichever is used, the results are the same."""
    from foresee.runs.engines import engines as registry

    _list([{"name": name, "what": registry[name].summary} for name in _matching(registry, pattern)], as_json)


def _short(found: Any) -> str:
    """Who, when, which equation: `Asthana et al. 2025, Eq. 8`; the year is that of the proxy's own paper, named first."""
    who = found.paper.split(",")[0].split(":")[0].strip()
    years = re.findall(r"\b(?:19|20)\d\d\b", found.paper)
    when = f" {years[0]}" if years and years[0] not in who else ""
    return f"{who}{when}, {found.equation}" if found.equation else f"{who}{when}"


def _matching(registry: Any, pattern: str) -> list[str]:
    names: list[str] = registry.names(pattern)
    if not names:
        raise UnknownNameError(registry.kind, pattern, registry.names())
    return names


def _list(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=2, default=str))
        return
    if not rows:
        out.print("none")
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for key in rows[0]:
        table.add_column(
            key,
            justify="right" if key == "size" else "left",
            no_wrap=key == "name",
            style="cyan" if key == "name" else "",
        )
    for row in rows:
        table.add_row(*(escape(_text(value)) for value in row.values()))
    out.print(table)


def _describe(row: dict[str, Any], text: str) -> None:
    for key, value in row.items():
        if key != "what" and value not in (None, [], {}):
            out.print(f"[bold]{key:>10}[/bold]  {escape(_text(value))}", highlight=False, soft_wrap=True)
    out.print()
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={part}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if value < 10**12 else f"{float(value):.3g}"
    return "" if value is None else str(value)
