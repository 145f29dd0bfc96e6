"""`foresee score`: what the proxies say about one network."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, out
from foresee.cli.groups import ScoringOptions, usually
from foresee.cli.networks import alone, factory_of, make, prepared, threads_of
from foresee.errors import InputError
from foresee.quantities import format_seconds


@app.command()
@usually(data="digits; synthetic for a network of your own", threads="torch's own choice")
def score(
    scoring: ScoringOptions,
    space: Annotated[str, typer.Argument(help="a space, or module:function that returns a network (or takes `pick`)")],
    architecture: Annotated[
        str | None,
        typer.Argument(
            help="the architecture's text, or the name of a published one", show_default="a sample of the space"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Score one architecture of a space, or any network your code makes; the exit code is 1 where nothing could be scored.

    Example: foresee score nasbench201 '|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|' --proxy dextr

    Example: foresee score mobile MobileNetV2 --set mobile.design=mobilenet_v2 --input 3x96x96

    Example: foresee score mypackage.models:make_net --input 3x32x32 --proxy dextr --proxy synflow
    """
    from foresee.proxies.base import names_of
    from foresee.scoring.scorer import scorer_of
    from foresee.seeds import derive, stream

    names = names_of(scoring.proxy or ["foresee"])
    said = scoring.sorted(space, proxies=names)
    factory = factory_of(space)
    if scoring.stacked:
        raise InputError(
            "--stacked: one network is looked at by itself; `foresee rank` and `bench` look at many at once"
        )
    if factory is not None and architecture is not None:
        raise InputError(f"{space} makes one network and has no choices: leave the architecture out")
    defaults = {"data": "digits" if factory is None else "synthetic", "proxy_settings": said.proxies}
    settings = alone(scoring.settings(names, **defaults)) if factory else scoring.settings(names, **defaults)
    scorer = scorer_of(space, settings, space_settings=said.space)
    warmth = prepared(scorer)
    if factory is None:
        space_ = scorer.space
        meant = space_.find(architecture) if architecture else space_.sample(stream(0, "sample"))
        candidate = scorer.candidate(str(meant))
        network = candidate.build() if not settings.warms else scorer.network(str(candidate.architecture))
        counts = scorer.space.counts(candidate.architecture, scorer.task)
        facts = {
            "space": space,
            "architecture": str(candidate.architecture),
            "params": counts.params,
            "macs": counts.macs,
        }
    else:
        network, facts = make(factory, space, derive(settings.seed, "weights")), {"network": space}
        network = scorer.warmed(network)
    facts |= warmth
    with threads_of(scoring):
        found = {one.proxy: one for one in scorer.of_network(network, memory=settings.memory)}
    if as_json:
        plain = {name: asdict(one) for name, one in found.items()}
        print(json.dumps({**facts, "seed": settings.seed, "scores": plain}, indent=2))
    else:
        _show(facts, found)
    if not any(one.ok for one in found.values()):
        raise typer.Exit(1)


def _show(facts: dict[str, Any], found: dict[str, Any]) -> None:
    for key, value in facts.items():
        out.print(
            f"[bold]{key:>12}[/bold]  {escape(f'{value:,}' if isinstance(value, int) else str(value))}",
            soft_wrap=True,
            highlight=False,
        )
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("proxy", "score", "better", "time", ""):
        table.add_column(column, justify="right" if column in ("score", "time") else "left")
    for name, s in found.items():
        value = f"{s.value:.6g}" if s.ok else f"[red]{s.status}[/red]"
        if s.ok and s.spread is not None:
            value += f" ± {s.spread:.2g}"
        table.add_row(name, value, s.direction, format_seconds(s.seconds), escape(s.reason))
    out.print(table)
