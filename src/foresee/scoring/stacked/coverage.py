"""How much of its weights each network of a stack shows to a look: what is no layer's has no product that a look hears of."""

from __future__ import annotations

from foresee.probes.coverage import Coverage
from foresee.scoring.stacked.skeleton import Drawing
from foresee.scoring.stacked.transformer import Learnt, Table
from foresee.scoring.stacked.wiring import Wiring


def covered(wiring: Wiring, look: str) -> list[Coverage]:
    """Of each network, as the look says it of one by itself.

    Tables are modules, so `features` sees what they give; `exchanges` leaves them out, for nothing is multiplied with them
    but what was looked up; `weights` of layers they are none. What the network itself holds nobody sees.
    """
    seen, unseen = [0] * wiring.count, [0] * wiring.count
    missing: list[list[tuple[int, str]]] = [[] for _ in range(wiring.count)]
    for part, layer in sorted(wiring.layers.items(), key=lambda one: not isinstance(one[0], Learnt)):
        if look == "exchanges" and _is_table(part):
            continue
        hidden = isinstance(part, Learnt) or (look == "weights" and _is_table(part))
        for place in range(wiring.count) if layer.owners is None else layer.owners.tolist():
            if hidden:
                unseen[place] += part.numbers
                missing[place].append((part.numbers, layer.name))
            else:
                seen[place] += part.numbers
    return [
        Coverage(there / (there + gone), tuple(name for _, name in sorted(names, key=lambda one: -one[0])))
        if gone
        else Coverage()
        for there, gone, names in zip(seen, unseen, missing, strict=True)
    ]


def _is_table(part: Drawing) -> bool:
    return isinstance(part, Table) and not isinstance(part, Learnt)
