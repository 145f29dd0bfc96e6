"""A space with a one-shot network that costs nothing, as a stranger might write it: two edges, three operations each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from torch import nn

from foresee.errors import InputError
from foresee.spaces.base import Space, spaces
from foresee.spaces.one_shot import Choice, Mixed, OneShot, chosen, one_hot

NAME = "two_edges"
OPS = ("pool", "conv1", "conv3")
EDGES = ("first", "second")


@dataclass(frozen=True)
class Pair:
    ops: tuple[str, str]

    def __str__(self):
        return "-".join(self.ops)


def make(op, channels):
    if op == "pool":
        return nn.AvgPool2d(3, 1, 1)
    kernel = int(op[-1])
    return nn.Sequential(
        nn.Conv2d(channels, channels, kernel, padding=kernel // 2), nn.BatchNorm2d(channels), nn.ReLU()
    )


def network(edges, channels, task):
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, task.outputs))
    return nn.Sequential(nn.Conv2d(task.inputs[0], channels, 1), *edges, head)


class TwoEdges(Space[Pair]):
    name = NAME

    def __init__(self, *, channels=4):
        self.channels = channels

    def sample(self, rng):
        return Pair(tuple(rng.choices(OPS, k=2)))

    def mutate(self, architecture, rng):
        place, ops = rng.randrange(2), list(architecture.ops)
        ops[place] = rng.choice([op for op in OPS if op != ops[place]])
        return Pair(tuple(ops))

    def parse(self, text):
        ops = tuple(text.split("-"))
        if len(ops) != 2 or not set(ops) <= set(OPS):
            raise InputError(f"{text!r}: expected two of {', '.join(OPS)}")
        return Pair(ops)

    @property
    def size(self):
        return 9

    def enumerate(self):
        return map(Pair, itertools.product(OPS, repeat=2))

    def build(self, architecture, task):
        return network([make(op, self.channels) for op in architecture.ops], self.channels, task)

    def one_shot(self, task, *, channels=None):
        return TwoEdgesOneShot(task, channels or self.channels)


class Edge(nn.Module):
    def __init__(self, name, channels, weights):
        super().__init__()
        self.mixed = Mixed({op: make(op, channels) for op in OPS})
        self.weights = lambda: weights(name)

    def forward(self, x):
        return self.mixed(x, self.weights())


class TwoEdgesOneShot(OneShot[Pair]):
    def __init__(self, task, channels):
        super().__init__([Choice(edge, OPS) for edge in EDGES])
        self.network = network([Edge(edge, channels, self.weight) for edge in EDGES], channels, task)

    def forward(self, x):
        return self.network(x)

    def path(self, architecture):
        return {edge: one_hot(OPS.index(op), len(OPS)) for edge, op in zip(EDGES, architecture.ops, strict=True)}

    def derive(self, weights):
        return Pair(tuple(op for _, op in chosen(weights, self.choices)))

    def inherit(self, architecture):
        stem, *edges, head = self.network
        kept = [edge.mixed.options[op] for edge, op in zip(edges, architecture.ops, strict=True)]
        return nn.Sequential(stem, *kept, head)


if NAME not in spaces:
    spaces.add(NAME, TwoEdges)
