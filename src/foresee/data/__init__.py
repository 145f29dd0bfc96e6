"""What a network looks at: synthetic batches, the embedded digits, arrays, image folders, CIFAR files."""

from __future__ import annotations

from foresee.data.arrays import NPZ, Arrays
from foresee.data.base import Data, Format, Statistics, Wanted, formats, load, sets
from foresee.data.cifar import CIFAR
from foresee.data.digits import Digits
from foresee.data.folders import IMAGES, Images
from foresee.data.given import GivenBatches
from foresee.data.synthetic import Synthetic

# The most particular first: a folder with CIFAR files is a folder too.
formats.extend((NPZ, CIFAR, IMAGES))

__all__ = [
    "Data",
    "load",
    "Synthetic",
    "Digits",
    "Arrays",
    "Images",
    "GivenBatches",
    "Statistics",
    "Wanted",
    "Format",
    "formats",
    "sets",
]
