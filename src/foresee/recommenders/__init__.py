"""Recommenders by hand: the networks of the papers that a found one has to beat, and an outsider that is none.

>>> from foresee import recommenders
>>> from foresee.task import Task
>>> recommenders.names()
['autoint', 'deepfm', 'dlrm', 'logistic', 'trees', 'xdeepfm']
>>> network = recommenders.make("deepfm", Task((13,), 1, vocabularies=(100, 50)), deep=(64, 64))

A further one is one new file in this room, or the entry point of another package (group `foresee.recommenders`).
"""

from __future__ import annotations

from foresee.recommenders.base import Handmade, make, names, recommenders

__all__ = ["Handmade", "make", "names", "recommenders"]
