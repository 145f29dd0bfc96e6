"""What training can add to an explanation: the lines to type."""

from __future__ import annotations

import json
import shlex
from typing import Any

from foresee.spaces.base import Space
from foresee.spaces.darts.space import DARTS

#: cells that a study trains, and for how long
VARIANTS, EPOCHS = 12, "5ep"


def further(
    space: Space[Any] | None, architecture: Any, *, name: str = "", data: str = "digits"
) -> tuple[tuple[str, str], ...]:
    """Words and lines; `name` is what the person called the architecture, or the code that makes their network.

    >>> from foresee.spaces import get
    >>> darts = get("darts")
    >>> further(darts, darts.named["DARTS_V2"], name="DARTS_V2")[0][1]
    'foresee train darts DARTS_V2 --data digits --out runs/trained'
    """
    if space is None:
        what = [name]
        read = "network = ...  # yours"
    else:
        text = name if name in space.named else str(architecture)
        what = [space.reference, text]
        read = 'network = fs.build("runs/trained")'
    lines = []
    if space is not None or name:
        lines.append(("How well it does: train it", _line("train", *what, "--data", data, "--out", "runs/trained")))
    if isinstance(space, DARTS):
        study = ("--variants", str(VARIANTS), "--train", EPOCHS, "--data", data)
        words = "Whether its shape makes it learn fast: train it beside cells of the same operations"
        lines.append((words, _line("explain", *what, *study)))
    around = (
        "import foresee as fs\nfrom foresee.insight.landscape import landscape, near_convex\n\n"
        f"{read}\nbatches = fs.data.load({json.dumps(data)}).batches(4, 64)\n"
        "print(landscape(network, batches).centre, near_convex(network, batches))"
    )
    lines.append(("How the loss lies around what was learnt: the landscape of the trained network, in Python", around))
    return tuple(lines)


def _line(*words: str) -> str:
    return shlex.join(["foresee", *words])
