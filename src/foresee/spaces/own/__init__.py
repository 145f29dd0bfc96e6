"""Spaces over the user's own code: a function that calls `pick` wherever it has a choice is a space.

    def make_net(pick):
        widths = [20] + [pick(f"width{i}", [32, 64, 128]) for i in range(pick.int("depth", 1, 4))]
        layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(widths, widths[1:])]
        return nn.Sequential(*layers, nn.Linear(widths[-1], 2))

    space = foresee.spaces.own(make_net)

Nothing is traced. Sampling runs the function and answers its picks at random; mutating runs it again with one answer
changed; reading a text runs it with the answers of the text. An architecture is the picks that were asked, as JSON. When only
picks are wanted the function runs on the meta device, where building costs little.

    pick(name, choices)                 one of a list of plain values
    pick.int(name, low, high, step=1)   a whole number, both ends included
    pick.number(name, low, high)        a real number
    pick.log(name, low, high)           a number drawn evenly in the logarithm, whole where both ends are
    pick.sub(name)                      the same pick for a part: what is asked there is called `name.…`
    pick.reject(why)                    not this combination: another is drawn, and it counts as no candidate

A pick under an `if` or in a loop exists only there; mutation and crossover keep what is still asked. A `ValueError` rejects
as `pick.reject` does. Any other error is an architecture that fails: a search records it with its picks and the reason and
goes on, and gives up only when nearly all fail, with what they have in common. `foresee space module:function` shows the
choices, the size and some samples. A run of a function in a notebook cell can be kept and resumed (`out=`) as long as its
source is the same; the source lies beside the run as text and is never run from there.
"""

from __future__ import annotations

from foresee.spaces.own.loading import load_object
from foresee.spaces.own.picks import Interval, Listed, Pick, Picks, RejectedError
from foresee.spaces.own.source import source_of
from foresee.spaces.own.space import GIVEN, OwnSpace, load, own

__all__ = [
    "GIVEN",
    "Interval",
    "Listed",
    "OwnSpace",
    "Pick",
    "Picks",
    "RejectedError",
    "load",
    "load_object",
    "own",
    "source_of",
]
