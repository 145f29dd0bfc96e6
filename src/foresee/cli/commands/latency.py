"""`foresee latency`: measure the blocks of a space on this device, once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from foresee.cli.app import app, err, out
from foresee.cli.options import SpaceOption, one_space, parse_settings
from foresee.errors import InputError
from foresee.quantities import format_seconds
from foresee.scoring.settings import MOST_THREADS
from foresee.task import Task, parse_shape


@app.command()
def latency(
    space: Annotated[str | None, typer.Argument(help="a space, or module:function for your own")] = None,
    space_: SpaceOption = None,
    out_: Annotated[Path, typer.Option("--out", help="the table to write")] = Path("latency.json"),
    input_: Annotated[str, typer.Option("--input", help="shape of one sample")] = "3x32x32",
    outputs: Annotated[int, typer.Option(help="outputs of the network")] = 10,
    samples: Annotated[int, typer.Option(help="architectures whose blocks are measured")] = 50,
    seed: Annotated[int, typer.Option(help="decides which architectures")] = 0,
    threads: Annotated[int, typer.Option(help="torch threads")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda, ...")] = "cpu",
    set_: Annotated[list[str] | None, typer.Option("--set", help="space.key=value")] = None,
) -> None:
    """Measure every block of SPACE on this device and write a table that `foresee search --latency-table` sums."""
    space = one_space(space, space_)
    if space is None:
        raise InputError("name the space to measure (`foresee spaces` lists them)")
    if samples < 1 or not 1 <= threads <= MOST_THREADS:
        raise InputError(
            f"--samples {samples} --threads {threads}: expected at least 1 sample, and 1 to {MOST_THREADS} threads"
        )
    if out_.is_dir() or not out_.parent.is_dir():  # said before minutes are spent on measuring
        raise InputError(f"--out {out_}: expected a file to write, in a folder that is there")
    from foresee.budgets import LatencyTable
    from foresee.devices import usable
    from foresee.seeds import stream
    from foresee.spaces import get

    usable(device)
    pairs = parse_settings(set_ or [])
    made = get(space, **{**pairs.get("space", {}), **pairs.get(space, {})})
    task = Task(parse_shape(input_), outputs)
    rng = stream(seed, "latency")
    drawn = [made.sample(rng) for _ in range(samples)]
    with err.status("measuring blocks") as status:
        table = LatencyTable.measure(
            made, task, drawn, device=device, threads=threads, told=lambda n: status.update(f"measured {n} blocks")
        )
    table.save(out_)
    summed = sorted(table.sum_of(partial(made.build, one, task), task) for one in drawn[:10])
    out.print(f"{len(table.blocks)} blocks, sums calibrated by {table.calibrated:.2f}", highlight=False)
    out.print(f"networks from {format_seconds(summed[0])} to {format_seconds(summed[-1])}", highlight=False)
    out.print(escape(str(out_)), highlight=False, soft_wrap=True)
