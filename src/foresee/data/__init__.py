"""What a network looks at and learns from: synthetic batches, the embedded digits, arrays, click logs, image folders,
files of CIFAR, ImageNet16 and Tiny-ImageNet, batches, data sets and loaders handed over.

A file in this room that registers a data set in `sets` or a kind of file in `formats` is found by itself.
"""

from __future__ import annotations

from foresee.data.arrays import Arrays
from foresee.data.base import Data, Part
from foresee.data.clicks.clicks import Clicks
from foresee.data.clicks.preparing.prepare import prepare
from foresee.data.clicks.preprocessing import Preprocessing
from foresee.data.clicks.schema import Schema, schema
from foresee.data.datasets import GivenDataset
from foresee.data.digits import Digits
from foresee.data.features import Features
from foresee.data.folders import Images
from foresee.data.given import GivenBatches
from foresee.data.loading import Format, Wanted, formats, load, sets
from foresee.data.normalising import Statistics
from foresee.data.streams import GivenStream
from foresee.data.synthetic import Synthetic
from foresee.data.taking import as_data

__all__ = [
    "Data",
    "Part",
    "load",
    "as_data",
    "Synthetic",
    "Digits",
    "Arrays",
    "Features",
    "Clicks",
    "Schema",
    "schema",
    "Preprocessing",
    "prepare",
    "Images",
    "GivenBatches",
    "GivenDataset",
    "GivenStream",
    "Statistics",
    "Wanted",
    "Format",
    "formats",
    "sets",
]
