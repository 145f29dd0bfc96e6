"""`foresee compare`: which searcher comes nearest to a table's best, at what cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Listing

from foresee.cli.app import app, err, out, print_whole
from foresee.cli.commands.search import LimitOptions
from foresee.cli.groups import CacheOptions, ScoringOptions, WorkOptions, usually
from foresee.cli.options import SpaceOption, one_space, parse_settings
from foresee.cli.progress import Watch
from foresee.errors import InputError, UnknownNameError
from foresee.quantities import format_seconds
from foresee.registry import tidy

if TYPE_CHECKING:
    from foresee.benchmarks.contest import Contest, Entry

#: the proxy that those follow who do not say
PROXY = "foresee"


@app.command()
@usually(input_="the benchmark's own", outputs="the benchmark's own", proxy=PROXY)
def compare(
    scoring: ScoringOptions,
    limits: LimitOptions,
    work: WorkOptions,
    kept: CacheOptions,
    space: Annotated[str | None, typer.Argument(help="the space; may be left out where the table knows it")] = None,
    space_: SpaceOption = None,
    table: Annotated[Path | None, typer.Option(help="file of measured numbers (`foresee table info FILE`)")] = None,
    searchers: Annotated[
        list[str] | None,
        typer.Option(
            help="who takes part, with commas between: random,evolution@measured,evolution@dextr; after the @ is what is "
            "followed, measured or a proxy; settings by --set or in brackets: 'evolution(population=10)@measured'"
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="the column that picks are judged by; no searcher sees it",
            show_default="the longest training's test column",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="the column that those see who follow measured",
            show_default="the shortest training's validation column",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="runs of each searcher")] = 10,
    budget: Annotated[int, typer.Option(help="architectures that a searcher may propose")] = 100,
    out_: Annotated[Path, typer.Option("--out", help="folder for the report and the runs")] = Path("runs/compare"),
) -> None:
    """See which searcher comes nearest to a table's best: regret over evaluations and time, with intervals over seeds.

    Every run is kept: stop it at any moment with Ctrl-C, the same command goes on; more seeds, searchers or budget extend it.

    Example: foresee compare nasbench201 --table nb201.csv.gz --searchers random@measured,evolution@measured,evolution@dextr
    """
    work.get_ready()
    from foresee.benchmarks.contest import compare as run_contest
    from foresee.benchmarks.contest.entries import entries_of
    from foresee.benchmarks.formats import load
    from foresee.budgets import Limits
    from foresee.report.contest import write
    from foresee.searchers import searchers as registry

    if table is None:
        raise InputError("name a file of measured numbers with --table")
    if not searchers:
        raise InputError(f"name who takes part with --searchers: {', '.join(registry)}")
    if scoring.proxy and len(scoring.proxy) > 1:
        raise InputError("--proxy: name one, that those follow who do not say; or say it of each: evolution@dextr")
    space = one_space(space, space_)
    known = replace(load(table, space=space), source=str(table))
    proxy = scoring.proxy[0] if scoring.proxy else PROXY
    said = _sorted(scoring.set_ or [], entries_of(searchers, proxy), space or known.space)
    watch = Watch("searching", show=not work.quiet)
    try:
        with watch:
            found = run_contest(
                known,
                searchers,
                judge=judge,
                target=target,
                proxy=proxy,
                seeds=seeds,
                budget=budget,
                budgets=Limits.from_json(limits.parsed()),
                space=space,
                space_settings=said.space,
                searcher_settings=said.searchers,
                out=out_,
                engine=work.engine,
                workers=work.workers,
                cache=kept.cache,
                observers=[watch.observe],
                proxy_settings=said.proxies,
                **{key: value for key, value in scoring.said().items() if key != "proxies"},
            )
    except KeyboardInterrupt:
        raise typer.Exit(watch.stopped()) from None
    _show(found)
    out.print(f"[bold]{'report':>10}[/bold]  {escape(str(write(found)))}", soft_wrap=True, highlight=False)
    if all(one.judged.n == 0 for one in found.standings.values()):
        err.print("[red]nothing to judge[/red]: the table holds no pick", highlight=False)
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Said:
    """What `--set` said, by whom it is for."""

    space: dict[str, Any]
    searchers: dict[str, dict[str, Any]]
    proxies: dict[str, dict[str, Any]]


def _sorted(pairs: Sequence[str], entries: Sequence[Entry], space: str) -> _Said:
    """Each `name.key=value` to the space, to the searchers of that name, to the entry of that name or to the proxy."""
    who = dict.fromkeys(name for one in entries for name in (one.searcher, tidy(one.named)) if name)
    proxies = dict.fromkeys(proxy for one in entries for proxy in one.proxies)
    found = _Said({}, {}, {})
    for name, values in parse_settings(pairs).items():
        if name in ("space", tidy(space)):
            found.space.update(values)
        elif name in who:
            found.searchers[name] = values
        elif name in proxies:
            found.proxies[name] = values
        else:
            raise UnknownNameError("name in --set", name, list(filter(None, ["space", space, *who, *proxies])))
    return found


# -- what is shown --------------------------------------------------------------------------------------------------------
def _show(found: Contest) -> None:
    from foresee.benchmarks.contest.result import in_words

    asked, truth = found.settings, found.truth
    facts = [
        ("table", f"{Path(asked.table).name}: {asked.judge}, best of {truth.feasible:,} architectures {truth.best:g}"),
        ("seen", f"{asked.target} by those who follow measured; nothing by the others" if asked.target else "nothing"),
        ("runs", f"{asked.seeds} of each, at most {asked.budget:,} evaluations"),
        *(("note", note) for note in found.notes),
    ]
    for label, value in facts:
        out.print(f"[bold]{label:>10}[/bold]  {escape(value)}", soft_wrap=True, highlight=False)
    listing = Listing(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    listing.add_column("searcher", overflow="fold")
    for name in (asked.judge, "regret", "evaluations", "time of a run", "not in the table"):
        listing.add_column(name, justify="right", no_wrap=name == "regret")
    for one in found.standings.values():
        listing.add_row(
            f"[bold]{escape(one.label)}[/bold]",
            in_words(one.judged.value, one.spread),
            f"[bold]{escape(str(one.regret))}[/bold]" if one.judged.n else "–",
            f"{one.evaluations:g}",
            format_seconds(one.seconds),
            f"{100 * one.absent:.3g} %" + (f", [red]{one.failed} without a pick[/red]" if one.failed else ""),
        )
    print_whole(listing)
    for label, seed, reason in found.reasons:
        out.print(f"[red]{escape(label)}, seed {seed}[/red]: {escape(reason)}", soft_wrap=True, highlight=False)
