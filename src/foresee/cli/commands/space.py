"""`foresee space`: one space from the inside: its choices, its size, and ten samples with what they cost."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree as Shown

from foresee.cli.app import app, out
from foresee.cli.options import parse_settings
from foresee.errors import InputError
from foresee.quantities import format_quantity
from foresee.task import Task, parse_shape


@app.command()
def space(
    space: Annotated[str, typer.Argument(help="a space (`foresee spaces`), or module:function for your own")],
    input_: Annotated[str, typer.Option("--input", help="shape of one sample")] = "3x32x32",
    outputs: Annotated[int, typer.Option(help="outputs of the network")] = 10,
    samples: Annotated[int, typer.Option(help="architectures to draw")] = 10,
    seed: Annotated[int, typer.Option(help="decides which")] = 0,
    set_: Annotated[list[str] | None, typer.Option("--set", help="space.key=value")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show what can be chosen in SPACE, how many architectures it has, and ten of them with what they cost.

    Example: foresee space mypackage.nets:make_net --input 3x64x64
    """
    if not 0 <= samples <= 1000:
        raise InputError(f"--samples {samples}: expected 0 to 1000")
    from foresee.spaces import OwnSpace, get
    from foresee.spaces.find import is_code

    pairs = parse_settings(set_ or [])
    task = Task(parse_shape(input_), outputs)
    settings = {**pairs.get("space", {}), **pairs.get(space, {})}
    if is_code(space):
        settings.setdefault("task", task.to_json())
    made = get(space, **settings)
    found: dict[str, Any] = {"space": space, "what": made.summary, "source": made.source}
    if isinstance(made, OwnSpace):
        found |= _own(made, seed)
    else:
        found |= {"size": "not known" if made.size is None else f"{_many(made.size)} architectures"}
        found |= {"settings": {**made.defaults(), **made.settings()}}
    found["samples"] = _samples(made, task, samples, seed)
    if as_json:
        print(json.dumps(found, indent=2, default=str))
    else:
        _print(found)


def _own(made: Any, seed: int) -> dict[str, Any]:
    from foresee.spaces.own.tree import tree_of

    tree = tree_of(made, seed)
    rows = [{"name": one.name, "answers": one.answers, "parent": one.parent, "when": one.when} for one in tree.choices]
    return {
        "what": "",
        "size": tree.size_in_words,
        "rejected": f"{100 * tree.rejected:.2g} % of the ways through the function" if tree.rejected else "",
        "failed": f"{100 * tree.failed:.2g} % of the ways through the function" if tree.failed else "",
        "choices": rows,
    }


def _samples(made: Any, task: Task, many: int, seed: int) -> list[dict[str, Any]]:
    from foresee.errors import said
    from foresee.seeds import stream

    rows: list[dict[str, Any]] = []
    for number in range(many):
        text = "–"
        try:
            drawn = made.sample(stream(seed, "sample", number))
            text = str(drawn)
            counts = made.counts(drawn, task)
            rows.append({"params": counts.params, "macs": counts.macs, "architecture": text})
        except Exception as error:  # a stranger's space may raise anything; the others are shown all the same
            reason = str(error) if isinstance(error, InputError) else said(error)
            rows.append({"params": None, "macs": None, "architecture": text, "reason": " ".join(reason.split())})
    return rows


def _print(found: dict[str, Any]) -> None:
    for key in ("space", "what", "source", "size", "rejected", "failed"):
        if found.get(key):
            out.print(f"[bold]{key:>10}[/bold]  {escape(found[key])}", highlight=False, soft_wrap=True)
    if found.get("settings"):
        text = ", ".join(f"{key}={value}" for key, value in found["settings"].items())
        out.print(f"[bold]{'settings':>10}[/bold]  {escape(text)}", highlight=False, soft_wrap=True)
    if found.get("choices"):
        out.print()
        out.print(_tree(found["choices"]))
    if found["samples"]:
        out.print()
        out.print(_table(found["samples"]))


def _tree(rows: list[dict[str, str]]) -> Shown:
    """Picks under those that decide whether they are asked."""
    root = Shown("[bold]choices[/bold]", highlight=False)
    places = {"": root}
    for row in rows:
        when = f" [dim]{escape(row['when'])}[/dim]" if row["when"] else ""
        under = places.get(row["parent"], root)
        places[row["name"]] = under.add(f"[cyan]{escape(row['name'])}[/cyan]  {escape(row['answers'])}{when}")
    return root


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("params", justify="right", no_wrap=True)
    table.add_column("MACs", justify="right", no_wrap=True)
    table.add_column("architecture", overflow="fold")
    for row in rows:
        costs = ["–" if row[key] is None else format_quantity(row[key]) for key in ("params", "macs")]
        why = f"\n[red]{escape(row['reason'][:300])}[/red]" if row.get("reason") else ""
        table.add_row(*costs, escape(row["architecture"]) + why)
    return table


def _many(count: int) -> str:
    return f"{count:,}" if count < 10**12 else f"{float(count):.3g}"
