"""A space in which any single thing can go wrong with an architecture: whole numbers, each a network of that width."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

from torch import nn

from foresee.spaces.base import Space
from foresee.spaces.counting import Counts

#: what can be wrong with one architecture
FAULTS = (
    "sample",
    "mutate",
    "text",
    "surrogate",
    "parse",
    "canonical",
    "counts",
    "nan",
    "negative",
    "build",
    "forward",
    "exit",
    "exit in forward",
)


class StrangeError(Exception):
    """An error whose own text cannot be had."""

    def __str__(self):
        raise RuntimeError("no text")


class Broken(nn.Module):
    def forward(self, inputs):
        raise ValueError("no way forward: \ud800")


class Leaving(nn.Module):
    def forward(self, inputs):
        sys.exit("enough")


@dataclass(frozen=True)
class Width:
    width: int
    fault: str = ""

    def __str__(self):
        if self.fault == "text":
            raise StrangeError
        return f"{self.width}" + ("\ud800" if self.fault == "surrogate" else "")


class Impossible(Space[Width]):
    """Every `every`-th width has the fault."""

    name = "impossible"

    def __init__(self, *, fault: str = "", every: int = 3, widths: int = 60):
        self.fault, self.every, self.widths = fault, every, widths

    def made(self, width):
        return Width(width, self.fault if width % self.every == 0 else "")

    def sample(self, rng: random.Random):
        found = self.made(rng.randint(1, self.widths))
        if found.fault == "sample":
            raise StrangeError
        return found

    def mutate(self, architecture, rng):
        found = self.made(1 + (architecture.width + rng.choice([-2, 0, 1])) % self.widths)
        if "mutate" in (architecture.fault, found.fault):
            raise RuntimeError("cannot be changed")
        return found

    def parse(self, text):
        found = self.made(int(text))
        if found.fault == "parse":
            raise RuntimeError("cannot be read")
        return found

    def canonical(self, architecture):
        if architecture.fault == "canonical":
            raise ZeroDivisionError
        return str(architecture)

    def counts(self, architecture, task):
        if architecture.fault == "counts":
            raise StrangeError
        many = {"nan": float("nan"), "negative": -5}.get(architecture.fault, architecture.width)
        return Counts(many, many)  # type: ignore[arg-type]

    def build(self, architecture, task):
        if architecture.fault == "build":
            raise MemoryError
        if architecture.fault == "exit":
            sys.exit(3)
        if architecture.fault == "exit in forward":
            return Leaving()
        if architecture.fault == "forward":
            return Broken()
        return nn.Sequential(
            nn.Flatten(), nn.Linear(192, architecture.width), nn.ReLU(), nn.Linear(architecture.width, 4)
        )


class Listed(Impossible):
    """The same, and it can be listed."""

    name = "impossible_listed"

    @property
    def size(self):
        return self.widths

    def enumerate(self):
        return map(self.made, range(1, self.widths + 1))
