"""`foresee explain`: what a network is, where it stands among others, and where it could be better, as one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from foresee.cli.app import app, out, print_grid
from foresee.cli.groups import CacheOptions, ScoringOptions, WorkOptions, usually
from foresee.cli.networks import factory_of, make
from foresee.cli.progress import Watch
from foresee.cli.studies import StudyOptions
from foresee.errors import InputError
from foresee.scoring.settings import ScoringSettings

#: architectures that a place is taken among
SAMPLES = 200
#: more would take an hour
MOST = 100_000


@app.command()
@usually(
    data="digits; synthetic for a network of your own",
    proxy="those that are cheap: a few runs of at most 16 samples",
)
def explain(
    scoring: ScoringOptions,
    work: WorkOptions,
    kept: CacheOptions,
    study: StudyOptions,
    what: Annotated[str, typer.Argument(help="a space, a best.json, a run's folder, or module:function of a network")],
    architectures: Annotated[
        list[str] | None,
        typer.Argument(help="its text, published name or number, or a best.json; two are put side by side"),
    ] = None,
    samples: Annotated[int, typer.Option(help="random architectures to compare with; 0 for none")] = SAMPLES,
    among: Annotated[
        str | None,
        typer.Option(help="the space to compare in", show_default="the network's own; none for code of your own"),
    ] = None,
    full_size: Annotated[
        bool, typer.Option("--full-size", help="compare on inputs of full size; images of 32 and more are halved else")
    ] = False,
    out_: Annotated[Path, typer.Option("--out", help="the folder to write into, or a file.html")] = Path(
        "runs/explain"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Explain a network without training it: what it is, where it stands among others, where it could be better.

    One page with pictures, shape, costs, proxies and their percentiles, layers, kernel and statements of the papers.
    With --variants a DARTS cell is trained beside others of its kind: how fast they learn, and what their shape has to do
    with it. Every training is kept, so a study that was stopped goes on.

    Example: foresee explain nasbench201 ResNet

    Example: foresee explain darts DARTS_V1 DARTS_V2 --out runs/darts

    Example: foresee explain darts DARTS_V2 --variants 12 --train 5ep --data cifar10.npz --out runs/why

    Example: foresee explain mypackage.models:make_net --input 3x32x32 --among nasbench201
    """
    if not 0 <= samples <= MOST:
        raise InputError(f"--samples {samples}: expected how many to draw, at most {MOST:,}")
    if samples:
        work.get_ready()
    from foresee.benchmarks.folder import cache_for
    from foresee.insight.explaining import explain as explained
    from foresee.insight.side_by_side import side_by_side
    from foresee.report.explained import save

    settings, subjects = _asked(scoring, what, architectures or [])
    study.check(subjects)
    watch = Watch("looking", show=not work.quiet)
    how: dict[str, Any] = {"settings": settings, "among": among, "samples": samples, "full_size": full_size}
    how |= {"engine": work.engine, "workers": work.workers, "observers": [watch.observe]}
    folder = out_.parent if out_.suffix == ".html" else out_
    how |= {"cache": cache_for(kept.cache, folder)}
    try:
        with watch:
            found = [explained(**subject, **how) for subject in subjects]
        trained = None
        if study.asked:
            with Watch("training", show=not work.quiet) as watch:
                trained = study.run(subjects[0]["what"], settings, folder, watch.observe)
    except KeyboardInterrupt:
        raise typer.Exit(watch.stopped()) from None
    page = save(found, out_, study=trained)
    shown = found[0] if len(found) == 1 else side_by_side(*found)
    if as_json:
        plain = shown.to_json()
        print(json.dumps(plain if trained is None else {**plain, "study": trained.to_json()}, indent=2))
        return
    out.print(shown.heading, highlight=False, markup=False, style="bold", soft_wrap=True)
    print_grid(shown._grid())
    if trained is not None:
        out.print()
        print_grid(trained.study.grid())
    out.print(f"[bold]page[/bold]  {escape(str(page))}", soft_wrap=True, highlight=False)


def _asked(scoring: ScoringOptions, what: str, texts: list[str]) -> tuple[ScoringSettings, list[dict[str, Any]]]:
    """The settings, and for each network that is meant the arguments that say it."""
    from foresee.insight.standing import cheap
    from foresee.proxies.base import names_of
    from foresee.seeds import derive
    from foresee.spaces.candidate import Candidate, in_folder
    from foresee.spaces.find import get, is_code

    names = names_of(scoring.proxy) if scoring.proxy else cheap(scoring.batch_size)
    if len(texts) > 2:
        raise InputError(f"{len(texts)} architectures: one is explained, and two are put side by side")
    factory = factory_of(what)
    path = Path(what)
    of_file = factory is None and not is_code(what) and (path.suffix == ".json" or path.exists())
    said = scoring.sorted("" if factory or of_file else what, proxies=names)
    settings = scoring.settings(names, data="digits" if factory is None else "synthetic", proxy_settings=said.proxies)
    if settings.warms:
        raise InputError("--warmup: what is explained is not trained; `foresee score --warmup` scores after training")
    if factory is not None:
        if texts:
            raise InputError(f"{what} makes one network and has no choices: leave the architecture out")
        network = make(factory, what, derive(settings.seed, "weights"))
        return settings, [{"what": network, "name": what}]
    if of_file:
        chosen = [Candidate.load(in_folder(Path(one))) for one in (what, *texts)]
        return settings, [{"what": (one.space, one.architecture)} for one in chosen]
    space = get(what, **said.space)
    if not texts:
        known = f" (such as {', '.join(list(space.named)[:3])})" if space.named else ""
        raise InputError(f"{what} is a space: name an architecture of it after it, by its text, name{known} or number")
    return settings, [{"what": (space, _read(space, one))} for one in texts]


def _read(space: Any, text: str) -> Any:
    """An architecture by its text, name or number; or that of a file, which has to be of this space."""
    from foresee.spaces.candidate import Candidate, in_folder

    path = Path(text)
    if path.suffix != ".json" and not path.is_dir():
        return text
    found = Candidate.load(in_folder(path), space=space if ":" in space.reference else None)
    if found.space.reference != space.reference:
        raise InputError(f"{text}: is an architecture of {found.space.reference}, not of {space.reference}")
    return found.architecture
