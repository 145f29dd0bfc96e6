"""`foresee rank`: several networks in order, by one proxy or by several together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, err, out, print_whole
from foresee.cli.groups import ScoringOptions, usually
from foresee.cli.networks import alone, factory_of, make, prepared, threads_of
from foresee.errors import InputError, said
from foresee.registry import tidy

if TYPE_CHECKING:
    from foresee.proxies.base import Score
    from foresee.scoring.ranking import Ranking
    from foresee.scoring.scorer import Scorer

#: architectures that are drawn where none is named
DRAWN = 10


@app.command()
@usually(data="digits; synthetic for networks of your own", threads="torch's own choice")
def rank(
    scoring: ScoringOptions,
    what: Annotated[
        list[str],
        typer.Argument(help="module:function of each network; or a space and then the texts of its architectures"),
    ],
    architectures: Annotated[
        Path | None, typer.Option(help="a file with one architecture of the space on each line", show_default=False)
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(help="draw so many from the space", show_default=f"{DRAWN} where no architecture is named"),
    ] = None,
    by: Annotated[str, typer.Option(help="how several proxies are joined: mean-rank or log-rank")] = "mean-rank",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Rank several networks of your own, or several architectures of a space; the best comes first.

    All are looked at alike. With several proxies the order is by their ranks, and what fails comes last.

    Example: foresee rank mynets:small mynets:wide mynets:deep --input 3x32x32 --proxy dextr --proxy synflow

    Example: foresee rank nasbench201 --sample 20 --seed 1
    """
    from foresee.proxies.base import names_of
    from foresee.scoring.ranking import check_way, ranked
    from foresee.scoring.scorer import scorer_of

    check_way(tidy(by))
    names = names_of(scoring.proxy or ["foresee"])
    options = scoring.sorted(what[0], proxies=names)
    own = factory_of(what[0]) is not None
    settings = scoring.settings(names, data="synthetic" if own else "digits", proxy_settings=options.proxies)
    settings = alone(settings) if own else settings
    scorer = scorer_of(what[0], settings, space_settings=options.space)
    if own and (architectures is not None or sample is not None):
        raise InputError(f"{what[0]} makes one network and has no choices: leave --architectures and --sample out")
    wanted = what if own else _texts(scorer, what[1:], architectures, sample)
    if len(set(wanted)) < len(wanted):
        raise InputError(f"{Counter(wanted).most_common(1)[0][0]} is named twice")
    warmth = prepared(scorer)
    with threads_of(scoring):
        looked = [_of_code(scorer, one) for one in wanted] if own else _of_space(scorer, wanted)
        scores = {one: {score.proxy: score for score in made} for one, made in zip(wanted, looked, strict=True)}
        found = ranked(scores, tidy(by))
    if as_json:
        print(json.dumps({**_plain(found, what[0] if not own else "", settings.seed), **warmth}, indent=2))
    else:
        for words in warmth.values():
            out.print(f"[bold]warm-up[/bold]  {escape(words)}", soft_wrap=True, highlight=False)
        _show(found)
    if not any(one.ok for scores in found.scores.values() for one in scores.values()):
        raise typer.Exit(1)


def _texts(scorer: Scorer, named: Sequence[str], file: Path | None, sample: int | None) -> list[str]:
    """The architectures: those that were named, those of a file, and those that are drawn."""
    from foresee.benchmarks.calibration_table import read_texts
    from foresee.seeds import stream

    if sample is not None and not 0 <= sample <= 100_000:
        raise InputError(f"--sample {sample}: expected how many to draw, at most 100,000")
    texts = [str(scorer.space.find(text)) for text in (*named, *(read_texts(file) if file else ()))]
    rng, drawn = stream(scorer.settings.seed, "sample"), dict[str, None]()
    wanted = sample if sample is not None else 0 if texts else DRAWN
    for _ in range(100 * wanted):  # a small space may not have so many
        if len(drawn) == wanted:
            break
        text = str(scorer.space.sample(rng))
        if text not in texts:
            drawn[text] = None
    if not texts and not drawn:
        raise InputError("no architecture to rank: name some, or say --sample 10")
    return [*texts, *drawn]


def _of_space(scorer: Scorer, texts: Sequence[str]) -> list[list[Score]]:
    from foresee.scoring.scorer import Job

    scorer.check()
    if scorer.ways:
        err.print(escape(scorer.ways), highlight=False)
    answers = scorer(Job(tuple(texts), tuple(scorer.proxies), scorer.settings.seed))
    return [list(one.scores) if one.error is None else _failed(scorer, one.error) for one in answers]


def _of_code(scorer: Scorer, reference: str) -> list[Score]:
    from foresee.seeds import derive

    factory = factory_of(reference)
    if factory is None:
        raise InputError(f"{reference}: expected module:function that makes one network, as the first is")
    try:
        network = make(factory, reference, derive(scorer.settings.seed, "weights"))
    except InputError as error:  # one that cannot be made is last, and stops no other
        return _failed(scorer, said(error).partition(": ")[2])
    return scorer.of_network(scorer.warmed(network))


def _failed(scorer: Scorer, reason: str) -> list[Score]:
    from foresee.proxies.base import Score

    found = scorer.proxies.items()
    return [Score(name, None, "failed", reason, direction=one.direction) for name, one in found]


# -- what is shown ----------------------------------------------------------------------------------------------------
def _plain(found: Ranking, space: str, seed: int) -> dict[str, object]:
    networks = [
        {
            "place": place,
            "network": name,
            "mean_rank": found.mean_ranks[name],
            "log_rank": found.log_ranks[name],
            "scores": {proxy: asdict(one) for proxy, one in found.scores[name].items()},
        }
        for place, name in enumerate(found.order, 1)
    ]
    return {
        **({"space": space} if space else {}),
        "seed": seed,
        "by": found.by,
        "joined": found.joined,
        "networks": networks,
    }


def _show(found: Ranking) -> None:
    several = len(found.votes) > 1
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    baselines = [f"{name} (baseline)" for name in found.baselines]
    for column in ("", *found.votes, *([found.by.replace("_", " ")] if several else []), *baselines):
        grid.add_column(escape(column), justify="right", no_wrap=True)
    grid.add_column("network", overflow="ellipsis" if out.is_terminal else "ignore", no_wrap=True)
    for name, place, scores in found:
        cells = [_cell(scores[vote]) for vote in found.votes]
        cells += [f"{found.joined_ranks[name]:.3g}"] if several else []
        cells += [_cell(scores[baseline]) for baseline in found.baselines]
        grid.add_row(f"{place}", *cells, escape(name))
    print_whole(grid)
    out.print(found.joined, style="dim", markup=False, highlight=False, soft_wrap=True)
    for line in found.problems:
        out.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)


def _cell(score: Score) -> str:
    return score.cell if score.ok else f"[red]{escape(score.cell)}[/red]"
