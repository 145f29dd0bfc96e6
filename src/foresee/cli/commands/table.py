"""`foresee table`: what a table of measured architectures holds, and how to make one of the files people have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from foresee.cli.app import app, err, out
from foresee.errors import InputError

if TYPE_CHECKING:
    from foresee.benchmarks.table import Table

table = typer.Typer(help="Tables of measured architectures: look into one, make one.", no_args_is_help=True)
app.add_typer(table, name="table")

_Space = Annotated[
    str | None, typer.Option("--space", help="the space, where the file does not say it", show_default="the file's own")
]
_Trust = Annotated[bool, typer.Option("--trust-pickle", help="read a pickle, in a process of its own")]


@table.command()
def info(
    file: Annotated[Path, typer.Argument(help="a table, or any file that can be read as one")],
    space: _Space = None,
    sha256: Annotated[
        str | None, typer.Option(help="refuse the file if its digest is another", show_default="any")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show what is in FILE: space, architectures, targets, costs, precomputed proxies."""
    from foresee.benchmarks.formats import load

    loaded = load(file, space=space, sha256=sha256)
    plain = describe(loaded, file)
    if as_json:
        print(json.dumps(plain, indent=2))
        return
    _show(plain)


@table.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="a file or folder of a benchmark")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="a table to write: .npz, or .csv, .csv.gz for a long csv")
    ],
    format_: Annotated[
        str | None,
        typer.Option("--format", help="the kind of IN, where it is not recognised", show_default="as it is recognised"),
    ] = None,
    space: _Space = None,
    trust_pickle: _Trust = False,
) -> None:
    """Read IN, check that its space reads every architecture, and write it as a table that loads at once."""
    writing = _writer(target)
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"{target}: would overwrite what is read; name another file")
    from foresee.benchmarks.formats import load

    with err.status(f"reading {escape(str(source))}") as status:
        made = load(source, space=space, format=format_, trust_pickle=trust_pickle)
        status.update(f"checking {len(made):,} architectures")
        made = made.checked()
        status.update(f"writing {escape(str(target))}")
        writing(made)
    if not made.space:
        err.print("the space is not known, so no architecture was checked: name it with --space", highlight=False)
    _wrote(made, target)


@table.command()
def predict(
    model: Annotated[Path, typer.Argument(help="folder of a NAS-Bench-301 surrogate, such as xgb_v1.0")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="a table to write")],
    architectures: Annotated[
        Path | None, typer.Option(help="a file with one DARTS architecture in each line", show_default="a sample")
    ] = None,
    sample: Annotated[int, typer.Option(help="or this many, drawn from the space")] = 1000,
    seed: Annotated[int, typer.Option(help="decides which")] = 0,
    trust_pickle: _Trust = False,
) -> None:
    """Ask a surrogate of NAS-Bench-301 for accuracies of DARTS architectures (needs the nasbench301 library)."""
    writing = _writer(target)
    if not trust_pickle:
        raise InputError(
            f"{model}: a surrogate's files are pickles; add --trust-pickle if you trust where they come from"
        )
    from foresee.benchmarks.formats import nasbench301
    from foresee.seeds import stream
    from foresee.spaces import get

    if architectures is not None:
        texts = [line for line in _lines(architectures) if line.strip()]
    else:
        space, rng = get("darts"), stream(seed, "predict")
        texts = list(dict.fromkeys(str(space.sample(rng)) for _ in range(sample)))
    with err.status(f"predicting {len(texts):,} architectures"):
        made = nasbench301.predict(model, texts)
        writing(made)
    _wrote(made, target)


def describe(loaded: Table, file: Path) -> dict[str, Any]:
    """All that `info` shows, as plain values."""
    from foresee.benchmarks.formats import File

    return {
        "file": str(file),
        "bytes": file.stat().st_size,
        "sha256": File(file).sha256,
        "source": {"file": loaded.source, "sha256": loaded.sha256},
        "space": loaded.space,
        "space_settings": dict(loaded.space_settings),
        "architectures": len(loaded),
        "measurements": len(loaded.rows),
        "targets": [_target(loaded, name) for name in loaded.targets()],
        "costs": {name: _range(column) for name, column in loaded.costs.items()},
        "proxies": {name: _range(column) for name, column in loaded.proxies.items()},
        "aliases": dict(loaded.aliases),
    }


def _target(loaded: Table, target: Any) -> dict[str, Any]:
    import numpy as np

    spread = loaded.spread(target.name)
    repeated = spread[~np.isnan(spread)]
    return {
        "name": target.name,
        "better": target.direction,
        "epochs": target.epochs if target.epochs >= 0 else None,
        "seeds": [seed for seed in target.seeds if seed >= 0],
        **_range(loaded.values(target.name)),
        # the noise of one training: the usual standard deviation over seeds
        "spread": float(np.median(repeated)) if len(repeated) else None,
    }


def _range(column: Any) -> dict[str, Any]:
    import numpy as np

    there = column[~np.isnan(column)]
    if not len(there):
        return {"n": 0, "min": None, "median": None, "max": None}
    return {"n": len(there), "min": float(there.min()), "median": float(np.median(there)), "max": float(there.max())}


def _show(plain: dict[str, Any]) -> None:
    from rich.table import Table as Grid

    source = plain["source"]
    settings = "".join(f", {key}={value}" for key, value in plain["space_settings"].items())
    for key, value in (
        ("space", f"{plain['space'] or 'not known'}{settings}"),
        ("architectures", f"{plain['architectures']:,}"),
        ("measurements", f"{plain['measurements']:,}"),
        ("sha256", plain["sha256"]),
        ("size", f"{plain['bytes']:,} bytes"),
        ("made from", f"{source['file']}, sha256 {source['sha256']}" if source["sha256"] != plain["sha256"] else ""),
    ):
        if not value:
            continue
        out.print(f"[bold]{key:>13}[/bold]  {escape(str(value))}", highlight=False, soft_wrap=True)
    for title, rows, extra in (
        ("target", plain["targets"], ("better", "epochs", "seeds", "spread")),
        ("cost", [{"name": name, **numbers} for name, numbers in plain["costs"].items()], ()),
        ("proxy", [{"name": name, **numbers} for name, numbers in plain["proxies"].items()], ()),
    ):
        if not rows:
            continue
        grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
        grid.add_column(title, style="cyan", no_wrap=True)
        names = ("n", "min", "median", "max", *extra)
        for name in names:
            grid.add_column(name, justify="left" if name in ("better", "seeds") else "right", no_wrap=True)
        for row in rows:
            grid.add_row(escape(row["name"]), *(_text(row[name]) for name in names))
        out.print()
        out.print(grid)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value[:3])) + (",..." if len(value) > 3 else "")
    if isinstance(value, float):
        return f"{value:,.0f}" if value == round(value) and abs(value) >= 1e4 else f"{value:.5g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _writer(path: Path) -> Any:
    """How a file of this name is written; refused before anything is read where it cannot be."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"{path}: {'is a folder' if path.is_dir() else 'its folder does not exist'}; name a file to write"
        )
    from foresee.benchmarks.formats import writer

    write = writer(path)
    return lambda made: write(made, path)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error


def _wrote(made: Table, path: Path) -> None:
    out.print(
        f"{len(made):,} architectures of {made.space or 'an unknown space'}, {len(made.rows):,} measurements, "
        f"{len(made.targets())} target{'s' if len(made.targets()) != 1 else ''}",
        highlight=False,
    )
    out.print(escape(str(path)), highlight=False, soft_wrap=True)
