"""`foresee search`: find the architecture that scores best within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from foresee.cli.app import app, err, out
from foresee.cli.options import parse_limits, parse_settings, see_current_folder
from foresee.cli.progress import SearchProgress
from foresee.errors import InputError, RunError
from foresee.quantities import format_quantity
from foresee.task import parse_shape


@app.command()
def search(
    space: Annotated[
        str | None, typer.Argument(help="a space (`foresee spaces`), or module:function for your own")
    ] = None,
    proxy: Annotated[
        list[str] | None, typer.Option(help="what foresees: the first one steers, others are recorded")
    ] = None,
    searcher: Annotated[str | None, typer.Option(help="who looks (`foresee searchers`)")] = None,
    evaluations: Annotated[int | None, typer.Option(help="how many architectures to score")] = None,
    seed: Annotated[int | None, typer.Option(help="decides everything that is random")] = None,
    data: Annotated[
        str | None, typer.Option(help="digits, synthetic, a .npz file, an image folder, CIFAR files")
    ] = None,
    input_: Annotated[str | None, typer.Option("--input", help="shape of one sample, such as 3x32x32")] = None,
    outputs: Annotated[int | None, typer.Option(help="outputs of the network")] = None,
    batch_size: Annotated[int | None, typer.Option(help="samples per batch; by default what the proxies need")] = None,
    repeats: Annotated[int | None, typer.Option(help="draws to average a score over")] = None,
    max_params: Annotated[str | None, typer.Option(help="such as 600k or 1.5M")] = None,
    min_params: Annotated[str | None, typer.Option(help="such as 100k")] = None,
    max_macs: Annotated[str | None, typer.Option(help="such as 100M")] = None,
    min_macs: Annotated[str | None, typer.Option(help="such as 10M")] = None,
    max_flops: Annotated[str | None, typer.Option(help="two per MAC")] = None,
    min_flops: Annotated[str | None, typer.Option(help="two per MAC")] = None,
    max_memory: Annotated[
        str | None, typer.Option(help="bytes of stored activations, such as 500M; see --memory-batch")
    ] = None,
    max_latency: Annotated[
        str | None, typer.Option(help="one forward at batch 1 here, such as 8ms; see --latency-table")
    ] = None,
    max_layers: Annotated[str | None, typer.Option(help="convolutions and linear layers")] = None,
    min_layers: Annotated[str | None, typer.Option(help="convolutions and linear layers")] = None,
    memory_batch: Annotated[int | None, typer.Option(help="samples per batch that --max-memory is for")] = None,
    latency_table: Annotated[Path | None, typer.Option(help="sum latency from this table (`foresee latency`)")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="name.key=value: a setting of a space, proxy or searcher")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="torch threads per worker (part of the run: rounding depends on it)")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps")] = None,
    settings: Annotated[
        Path | None, typer.Option(help="a TOML file with these settings; options given here win")
    ] = None,
    out_: Annotated[Path, typer.Option("--out", help="the run's folder")] = Path("runs/search"),
    resume: Annotated[bool, typer.Option("--resume", help="go on with the run in --out, or start it")] = False,
    engine: Annotated[str, typer.Option(help="serial or processes; the result is the same")] = "processes",
    workers: Annotated[
        int | None, typer.Option(help="processes of the processes engine; by default one per core")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress bar")] = False,
) -> None:
    """Find the architecture of SPACE that scores best within your limits, and write a report.

    Stop it at any moment with Ctrl-C: the same command with --resume goes on and ends with the same result.

    Example: foresee search nasbench201 --proxy dextr --evaluations 200 --max-params 600k --seed 1 --out runs/a
    """
    see_current_folder()
    from foresee.searchers import Run, SearchSettings, run_search

    given: dict[str, Any] = {
        "space": space,
        "proxies": proxy,
        "searcher": searcher,
        "evaluations": evaluations,
        "seed": seed,
        "data": data,
        "inputs": list(parse_shape(input_)) if input_ else None,
        "outputs": outputs,
        "batch_size": batch_size,
        "repeats": repeats,
        "memory_batch": memory_batch,
        "latency_table": None if latency_table is None else str(latency_table),
        "threads": threads,
        "device": device,
        "limits": parse_limits(
            max_params=max_params,
            min_params=min_params,
            max_macs=max_macs,
            min_macs=min_macs,
            max_flops=max_flops,
            min_flops=min_flops,
            max_memory=max_memory,
            max_latency=max_latency,
            max_layers=max_layers,
            min_layers=min_layers,
        )
        or None,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    changes |= _sorted_settings(changes, parse_settings(set_ or []), settings)
    if settings is None and space is None:
        raise InputError("name a space to search (`foresee spaces` lists them), or give --settings file.toml")
    asked = SearchSettings.load(settings, changes) if settings else SearchSettings.from_json(changes, where="options")
    progress = SearchProgress(show=not quiet)
    try:
        with progress:
            run = run_search(
                asked, out=out_, resume=resume, engine=engine, workers=workers, observers=[progress.observe]
            )
    except KeyboardInterrupt:
        _wrap_up(Run.open(out_), stopped=True) if (out_ / "run.sqlite").exists() else None
        raise typer.Exit(130) from None
    _wrap_up(run, stopped=False)


def _sorted_settings(changes: dict[str, Any], pairs: dict[str, dict[str, Any]], file: Path | None) -> dict[str, Any]:
    """Give each `--set name.key=value` to the space, searcher or proxy of that name."""
    from foresee.errors import UnknownNameError
    from foresee.searchers import SearchSettings

    base = SearchSettings.load(file, changes) if file else SearchSettings.from_json({"space": "-", **changes})
    sorted_: dict[str, Any] = {}
    for name, values in pairs.items():
        if name == base.space or name == "space":
            sorted_["space_settings"] = {**base.space_settings, **values}
        elif name == base.searcher:
            sorted_["searcher_settings"] = {**base.searcher_settings, **values}
        elif name in base.proxies:
            found = sorted_.setdefault("proxy_settings", dict(base.proxy_settings))
            found[name] = {**found.get(name, {}), **values}
        else:
            raise UnknownNameError("name in --set", name, ["space", base.space, base.searcher, *base.proxies])
    return sorted_


def _acceptance(run: Any) -> str:
    """How rare feasible architectures were, where there were limits."""
    shares = [event.details["acceptance"] for event in run.record.events if "acceptance" in event.details]
    return (
        f"; {100 * shares[-1]:.3g} % of the draws were new and within the limits"
        if shares and run.record.settings["limits"]
        else ""
    )


def _wrap_up(run: Any, *, stopped: bool) -> None:
    """Write the report and name what was found."""
    from foresee.report import write

    best = run.record.best
    report = write(run.folder)
    scored = len(run.record.scored)
    failed = sum(row.status == "failed" for row in run.record.candidates)
    if stopped:
        err.print(f"[yellow]stopped[/yellow] after {scored} scored; the same command with --resume goes on")
    if best is None:
        raise RunError(f"none of {len(run.record.candidates)} candidates could be scored; the reasons are in {report}")
    steering = run.record.settings["proxies"][0]
    score = best.scores[steering]
    rows = [
        ("best", escape(best.architecture)),
        ("score", f"{score.value:.6g} ({escape(steering)}, {score.direction} is better)"),
        ("params", f"{format_quantity(best.counts['params'])} ({best.counts['params']:,})"),
        ("MACs", f"{format_quantity(best.counts['macs'])} ({best.counts['macs']:,})"),
        ("looked at", f"{scored} scored" + (f", {failed} failed" if failed else "") + _acceptance(run)),
        ("report", escape(str(report))),
    ]
    for label, value in rows:
        out.print(f"[bold]{label:>10}[/bold]  {value}", soft_wrap=True, highlight=False)
