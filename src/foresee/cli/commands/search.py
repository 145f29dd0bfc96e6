"""`foresee search`: find the architecture that scores best within limits."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from rich.markup import escape

from foresee.cli.app import app, out
from foresee.cli.app import stopped as say_stopped
from foresee.cli.foremost import checked, recipe_of, train_foremost, trained
from foresee.cli.groups import CacheOptions, Group, ScoringOptions, WorkOptions, grouped
from foresee.cli.options import parse_limits
from foresee.cli.progress import Watch
from foresee.cli.start import STOPPED
from foresee.errors import InputError, RunError, SearchError
from foresee.quantities import format_cost, format_quantity


@dataclass
class LimitOptions(Group):
    """What a network may cost."""

    panel = "Limits"
    usual: ClassVar[Mapping[str, str]] = dict.fromkeys(
        [
            f"{side}_{cost}"
            for side in ("max", "min")
            for cost in ("params", "macs", "flops", "memory", "latency", "layers")
        ],
        "no limit",
    )

    max_params: Annotated[str | None, typer.Option(help="such as 600k or 1.5M")] = None
    min_params: Annotated[str | None, typer.Option(help="such as 100k")] = None
    max_macs: Annotated[str | None, typer.Option(help="such as 100M")] = None
    min_macs: Annotated[str | None, typer.Option(help="such as 10M")] = None
    max_flops: Annotated[str | None, typer.Option(help="two per MAC")] = None
    min_flops: Annotated[str | None, typer.Option(help="two per MAC")] = None
    max_memory: Annotated[
        str | None, typer.Option(help="bytes of stored activations, such as 500M; see --memory-batch")
    ] = None
    max_latency: Annotated[
        str | None, typer.Option(help="one forward at batch 1 here, such as 8ms; see --latency-table")
    ] = None
    max_layers: Annotated[str | None, typer.Option(help="convolutions and linear layers")] = None
    min_layers: Annotated[str | None, typer.Option(help="convolutions and linear layers")] = None

    def parsed(self) -> dict[str, dict[str, float]]:
        """The limits of a run."""
        return parse_limits(**{one.name: getattr(self, one.name) for one in fields(self)})


@app.command()
@grouped
def search(
    scoring: ScoringOptions,
    limits: LimitOptions,
    work: WorkOptions,
    kept: CacheOptions,
    space: Annotated[
        str | None, typer.Argument(help="a space (`foresee spaces`), or module:function for your own")
    ] = None,
    searcher: Annotated[
        str | None, typer.Option(help="who looks (`foresee searchers`)", show_default="evolution")
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(help="how many architectures to score", show_default="as the searcher usually does: 100, 20, 1"),
    ] = None,
    finalists: Annotated[
        int | None, typer.Option(help="score so many of the best again under fresh seeds; 0: none", show_default="5")
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="what is followed: a proxy, a cost such as params (less is better), or measured (see --table)",
            show_default="the first proxy",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="measured numbers (`foresee table info FILE`), for searchers and objectives that want them"),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="the measured number that is handed over, such as val_acc_cifar10@12")
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="measure here what is followed: inherited (by a supernet that is trained first), last-layer (likewise, with "
            "the last layer trained for each) or trained (each briefly)",
            show_default="nothing is measured here",
        ),
    ] = None,
    measure_recipe: Annotated[
        str | None, typer.Option(help="the recipe (or its file) of what is measured", show_default="the paper's")
    ] = None,
    measure_steps: Annotated[
        int | None, typer.Option(help="steps that --measure last-layer trains a last layer for", show_default="500")
    ] = None,
    memory_batch: Annotated[
        int | None, typer.Option(help="samples per batch that --max-memory is for", show_default="1")
    ] = None,
    latency_table: Annotated[
        Path | None,
        typer.Option(help="sum latency from this table (`foresee latency`)", show_default="latency is measured"),
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="a TOML file with these settings; options given here win")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="a paper's search (`foresee presets`), at a count of minutes; options given here win",
            show_default="a search of your own",
        ),
    ] = None,
    train_best: Annotated[
        int | None,
        typer.Option(
            help="train so many of the foremost on --data, and name the best",
            show_default="nothing is trained, or what a preset says",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="how they are trained (`foresee recipes`); --set recipe.epochs=50 changes a value",
            show_default="fast; ctr for click logs, ctr_small for small ones",
        ),
    ] = None,
    train_folds: Annotated[
        int | None,
        typer.Option(
            help="compare them on so many pieces of the rows that are not test rows, each held out once; 0: on the one "
            "validation part, as published",
            show_default="5 for click logs below 200,000 rows, else 0",
        ),
    ] = None,
    train_seeds: Annotated[
        int | None,
        typer.Option(help="trainings of each on each piece", show_default="1; 5 for small logs split by time"),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="the preset at the count that was published")] = False,
    out_: Annotated[Path, typer.Option("--out", help="the run's folder")] = Path("runs/search"),
    resume: Annotated[
        bool, typer.Option("--resume", help="go on with the run in --out, or start it; more --evaluations extend it")
    ] = False,
) -> None:
    """Find the architecture of SPACE that scores best within your limits, and write a report.

    Stop it at any moment with Ctrl-C: the same command with --resume goes on and ends with the same result.

    Example: foresee search nasbench201 --proxy dextr --evaluations 200 --max-params 600k --seed 1 --out runs/a

    Example: foresee search --preset dextr-autoformer-tiny --out runs/tiny

    Example: foresee search nasbench201 --data pictures --evaluations 200 --train-best 3 --out runs/pictures
    """
    work.get_ready()
    from foresee.searchers import Run, SearchSettings, run_search
    from foresee.searchers.base import usual_evaluations
    from foresee.searchers.presets import preset as get_preset
    from foresee.searchers.search import as_in_run

    given: dict[str, Any] = {
        "space": space,
        "searcher": searcher,
        "evaluations": evaluations,
        "finalists": finalists,
        "objectives": objective,
        "measure": measure,
        "measure_recipe": measure_recipe,
        "measure_steps": measure_steps,
        "memory_batch": memory_batch,
        "latency_table": None if latency_table is None else str(latency_table),
        "limits": limits.parsed() or None,
    }
    unsaid = as_in_run(out_, resume)
    changes = {**scoring.said(), **{key: value for key, value in given.items() if value is not None}}
    if settings is None and space is None and preset is None:
        raise InputError("name a space to search (`foresee spaces` lists them), or give --settings file.toml")
    if preset is not None and settings is not None:
        raise InputError("--preset and --settings: give one of them")
    if full and preset is None:
        raise InputError("--full: is for a search of a paper, say which with --preset (`foresee presets`)")
    of_paper = None if preset is None else get_preset(preset)

    def asked(**more: Any) -> SearchSettings:
        said = {**changes, **more}
        if of_paper is not None:
            plain = {**unsaid, **of_paper.plain(full=full), **said}
            return SearchSettings.from_json(plain, where=f"preset {of_paper.name}")
        if settings is None:
            return SearchSettings.from_json({**unsaid, **said}, where="options")
        return SearchSettings.load(settings, said, unsaid)

    of_recipe, scoring.set_ = recipe_of(scoring.set_ or [])
    if of_paper is not None and of_paper.train and train_best is None:
        train_best, recipe = of_paper.training(full=full)
    if train_best is None and of_recipe:
        raise InputError("--set recipe.*: is for what is trained; say how many with --train-best")
    if full and train_folds is None:
        train_folds = 0  # as published
    again = {"folds": train_folds, "seeds": train_seeds}
    trains = None if train_best is None else checked(train_best, recipe, of_recipe, again)
    base = asked()
    unsaid.setdefault("evaluations", usual_evaluations(base.searcher))
    if space is None and of_paper is None:
        from foresee.spaces.find import check_named

        say = f"foresee search {shlex.quote(base.space)} --settings {shlex.quote(str(settings))}"
        check_named(str(settings), base.space, say)
    asked_settings = asked(**_set(scoring, base))
    target = target or (of_paper.target or None if of_paper else None)
    measured = None if table is None else _measured(table, target, asked_settings)
    watch = Watch("searching", show=not work.quiet)
    try:
        with watch:
            run = run_search(
                asked_settings,
                out=out_,
                resume=resume,
                engine=work.engine,
                workers=work.workers,
                observers=[watch.observe],
                measured=measured,
                cache=kept.cache,
            )
    except KeyboardInterrupt:
        if not (out_ / "run.sqlite").exists():
            raise  # nothing was begun
        _wrap_up(Run.open(out_, space=space), stopped=True)
        raise typer.Exit(STOPPED) from None
    except SearchError as error:
        raise SearchError(f"{error}; all reasons are in {_report(Run.open(out_, space=space))}") from error
    if trains is not None:
        again["workers"] = work.trainers(base.scoring.device)
        run = train_foremost(run, train_best or 0, trains, lambda: _report(run), again=again, quiet=work.quiet)
    _wrap_up(run, stopped=False)


def _measured(table: Path, target: str | None, asked: Any) -> Any:
    """What the table says of the architectures of the space."""
    from foresee.benchmarks.formats import load
    from foresee.benchmarks.measuring import Measuring
    from foresee.spaces.find import get

    known = load(table, space=asked.space)
    if target is None:
        names = ", ".join(one.name for one in known.targets())
        raise InputError(f"say which of the table's numbers the search may see with --target: {names}")
    return Measuring(known, target, get(asked.space, **{**known.space_settings, **asked.space_settings}))


def _set(scoring: ScoringOptions, base: Any) -> dict[str, Any]:
    """What `--set` changes in the settings so far."""
    said = scoring.sorted(base.space, searcher=base.searcher, proxies=list(base.scoring.proxies))
    changes: dict[str, Any] = {}
    if said.space:
        changes["space_settings"] = {**base.space_settings, **said.space}
    if said.searcher:
        changes["searcher_settings"] = {**base.searcher_settings, **said.searcher}
    if said.proxies:
        own = dict(base.scoring.proxy_settings)
        changes["proxy_settings"] = own | {name: {**own.get(name, {}), **one} for name, one in said.proxies.items()}
    return changes


def _warmth(run: Any) -> list[tuple[str, str]]:
    """What was trained before looking."""
    from foresee.supernets.words import in_words

    return [("warm-up", in_words(event.details)) for event in run.record.events if event.kind == "warmup"]


def _limited(run: Any) -> list[tuple[str, str]]:
    """Limits that nobody asked for."""
    from foresee.budgets import Limits

    return [
        (
            "limit",
            f"{Limits.from_json(event.details['limits'])}: nobody asked for one, and there are only "
            f"{event.details['samples']:,} samples to learn from (--max-params says another)",
        )
        for event in run.record.events
        if event.kind == "limited"
    ]


def _acceptance(run: Any) -> str:
    """How rare feasible architectures were, where there were limits; what was turned down or passed over."""
    ends = [event.details for event in run.record.events if "acceptance" in event.details]
    if not ends:
        return ""
    end, words = ends[-1], []
    if run.record.settings["limits"]:
        words.append(f"{100 * end['acceptance']:.3g} % of the draws were new and within the limits")
    if end.get("rejected"):
        words.append(f"{100 * end['rejected']:.2g} % of all draws were rejected by the space")
    if end.get("passed_over"):
        words.append(f"{end['passed_over']:,} draws were passed over, the last: {escape(str(end.get('reason'))[:200])}")
    return "".join(f"; {one}" for one in words)


def _report(run: Any) -> Path:
    """Write the report of a run whose space the person has named."""
    from foresee.report import write

    return write(run.folder, run.record, run.made_space)


def _front(run: Any) -> list[tuple[str, str]]:
    """How many no other beats, where they are, and the one at the knee."""
    knee, sought = run.record.knee, run.record.objectives
    many, where = len(run.record.front), escape(str(run.folder / "front.json"))
    rows = [("front", f"{many} that no other beats, all in {where}")]
    if knee is not None:
        values = ", ".join(f"{escape(one.name)} {knee.objectives[one.name]:.6g}" for one in sought)
        rows.append(("its knee", f"{escape(knee.architecture)} ({values})"))
    return rows


def _finals(run: Any) -> list[tuple[str, str]]:
    """What the finals say, a line for each sentence; why there are none, where they were asked for."""
    from foresee.report.finals import in_words, why_none

    record = run.record
    if record.finals is None:
        return [("finals", why_none(record))] if why_none(record) else []
    values = {row.id: row.objectives[record.objectives[0].name] for row in record.scored}
    words = in_words(record.finals, values)
    return [("finals" if place == 0 else "", escape(one)) for place, one in enumerate(words)]


def _wrap_up(run: Any, *, stopped: bool) -> None:
    """Write the report and name what was found."""
    best = run.record.best
    report = _report(run)
    scored = len(run.record.scored)
    failed = sum(row.status == "failed" for row in run.record.candidates)
    if stopped:
        say_stopped(f" after {scored} scored; the same command with --resume goes on")
    if best is None and stopped:
        return
    if best is None:
        why = max(
            Counter(row.reason for row in run.record.candidates).items(), key=lambda one: one[1], default=("", 0)
        )[0]
        raise RunError(
            f"none of {len(run.record.candidates)} candidates could be scored{f' ({why:.300})' if why else ''}; "
            f"all reasons are in {report}"
        )
    objectives = [(one, best.objectives[one.name]) for one in run.record.objectives]
    rows = [
        ("best", escape(best.architecture)),
        *(("score", f"{value:.6g} ({escape(one.name)}, {one.direction} is better)") for one, value in objectives),
        ("params", f"{format_quantity(best.counts['params'])} ({best.counts['params']:,})"),
        ("MACs", f"{format_quantity(best.counts['macs'])} ({best.counts['macs']:,})"),
        *([("latency", format_cost("latency", best.counts["latency"]))] if "latency" in best.counts else []),
        *(_front(run) if len(objectives) > 1 else []),
        *_warmth(run),
        *_limited(run),
        ("looked at", f"{scored} scored" + (f", {failed} failed" if failed else "") + _acceptance(run)),
        *_finals(run),
        *trained(run),
        ("report", escape(str(report))),
    ]
    for label, value in rows:
        out.print(f"[bold]{label:>10}[/bold]  {value}", soft_wrap=True, highlight=False)
