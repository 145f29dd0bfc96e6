"""A map halved by two convolutions, which DARTS and TransNAS-Bench-101 have in common."""

from __future__ import annotations

from foresee.scoring.stacked.skeleton import Chain, Concat, Conv, Norm, Step


def reduced(name: str, inputs: int, outputs: int) -> Chain:
    """Two convolutions that look at every second position, the other one shifted by one pixel; one channel needs no two.

    >>> [type(part).__name__ for part in reduced("edge", 4, 6)]
    ['Step', 'Concat', 'Norm']
    """
    half = outputs // 2
    odd: Chain = (Step.SHIFT, Conv(f"{name}.odd", inputs, outputs - half, 1, stride=2))
    both = ((Conv(f"{name}.even", inputs, half, 1, stride=2),), odd) if half else (odd,)
    return Step.RELU, Concat(both), Norm(f"{name}.norm")
