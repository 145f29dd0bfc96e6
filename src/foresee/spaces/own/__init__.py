"""Spaces over the user's own code: a function that calls `pick` wherever it has a choice is a space.

    def make_net(pick):
        widths = [20] + [pick(f"width{i}", [32, 64, 128]) for i in range(pick.int("depth", 1, 4))]
        layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(widths, widths[1:])]
        return nn.Sequential(*layers, nn.Linear(widths[-1], 2))

    space = foresee.spaces.own(make_net)

Nothing is traced. Sampling runs the function and answers its picks at random; mutating runs it again with one answer
changed; reading a text runs it with the answers of the text. An architecture is the picks that were asked. When only
picks are wanted the function runs on the meta device, where building costs little. `pick.reject("why")` turns a combination
down; what fails otherwise is an architecture that a search records as failed.
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
