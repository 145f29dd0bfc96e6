"""Chapter 5 in pieces: what its pages are made of, by several processes at once, on a machine with little more than torch.

    python -m foresee.papers.nesbs_pieces PIECE --seed 0 --data cifar10.npz --work DIR --device cuda channels=16 epochs=20 ...

One process for each piece and seed, all started together: what one needs and another makes is waited for, nothing is made
twice, and one that was killed goes on. Afterwards `foresee paper NAME --data ... --device cuda --repeats 3 --set
table.work=DIR --set table.channels=16 ...` puts each page together from `DIR/results`, on any machine: with the same
settings, for others are other work.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from foresee.errors import UnknownNameError
from foresee.papers.base import load_all
from foresee.papers.nesbs_rows import ENSEMBLES, ensembles
from foresee.papers.pages import reproduce
from foresee.papers.workshop import Workshop

#: what a piece does, in order: ensembles of a sampler, or a page
PIECES: Mapping[str, tuple[str, ...]] = {
    "nesbs": ("mc", "svgd_rd", "uniform", "thesis-figure-5.3"),
    "pool": ("nes_rs", "thesis-table-5.6", "thesis-figure-5.6"),
    "cells": (
        "deep:ENAS",
        "deep:DARTS_V2",
        "droppath:ENAS",
        "droppath:DARTS_V2",
        "deep:RobNet_free",
        "thesis-table-5.4",
    ),
    "responses": ("thesis-figure-5.5", "thesis-table-5.7", "thesis-figure-5.7"),
    "small": ("thesis-table-5.1",),
    "rest": ("thesis-table-5.2", "thesis-table-5.5", "thesis-figure-5.4"),
}


def work(
    piece: str,
    settings: Mapping[str, Any],
    *,
    told: Callable[[str, float], object] = lambda what, seconds: None,
    **workshop: Any,
) -> None:
    """Make a piece.

    Args:
        piece: of `PIECES`.
        settings: of the chapter's tables; each takes those that it has.
        told: hears of each thing that is done, and how many seconds it took.
        workshop: of `Workshop`: data, seed, device.
    """
    known = load_all()
    there = set(ENSEMBLES).union(*(known[what].settings for one in PIECES.values() for what in one if what in known))
    for key in settings:
        if key not in there:
            raise UnknownNameError("setting of chapter 5", key, sorted(there))
    for what in PIECES[piece]:
        began = time.monotonic()
        usual = known[what].settings if what in known else ENSEMBLES
        shop = Workshop(table_settings={key: one for key, one in settings.items() if key in usual}, **workshop)
        if what in known:
            reproduce(what, shop)
        else:
            ensembles(shop, shop.own(ENSEMBLES), what)
        told(what, time.monotonic() - began)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    read = argparse.ArgumentParser(prog="python -m foresee.papers.nesbs_pieces", description=__doc__)
    read.add_argument("piece", choices=list(PIECES))
    for name in ("--data", "--work"):
        read.add_argument(name, required=True)
    read.add_argument("--seed", type=int, default=0)
    read.add_argument("--device", default="cpu")
    read.add_argument("settings", nargs="*", metavar="key=value", help="of the chapter's tables")
    said = read.parse_intermixed_args(arguments)
    settings = {"work": said.work, **dict(map(_read, said.settings))}

    def told(what: str, seconds: float) -> None:
        print(f"{said.piece} seed {said.seed}: {what} {seconds:.1f} s", flush=True)

    where = {"data": said.data, "seed": said.seed, "device": said.device, "cache": Path(said.work) / "scores.sqlite"}
    work(said.piece, settings, told=told, **where)


def _read(text: str) -> tuple[str, Any]:
    """`key=value`, the value as JSON where it is such.

    >>> _read("epochs=20"), _read("recipe=fast"), _read("sizes=[3, 5]")
    (('epochs', 20), ('recipe', 'fast'), ('sizes', [3, 5]))
    """
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


if __name__ == "__main__":
    main()
