"""A column of texts as bytes, and what is made of them without a loop over rows: keys and numbers.

A category is known by its *key*, 64 bits of its text, the same on every machine and in every process:

    h = length of the text in bytes · 0x9E3779B97F4A7C15
    for each 8 bytes of it (little-endian, the last ones filled up with zeros):  h = mix(h xor these)

in whole numbers modulo 2⁶⁴, where mix is the finaliser of SplitMix64. Texts of one length up to 8 bytes never meet; n others
do with probability n²/2⁶⁵ (a million: 3 in 10⁸). The key 0 is kept for missing values. Keys are all that is kept of a
category: what people's rows said cannot be read off a model.

Numbers are decimals as everybody writes them, and nothing else: `[+-]digits[.digits][e[+-]digits]`, and finite in float32.
Columns of decimal commas are told as such (a schema's `decimal_commas`): nobody can tell whether 1.234 is a thousand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]

#: what is cut off at both ends of a text
BLANKS = " \t\n\r\v\f"
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: the same with a comma before the decimals, and points between thousands or none
COMMAS = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]*)?([eE][+-]?[0-9]+)?")
#: the largest number that float32 holds
LARGEST = float(np.finfo(np.float32).max)
_GOLDEN, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
#: of the last 8 bytes, those that belong to the text, by how many do
_WITHIN = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)


class Texts:
    """Texts one after another: text `i` is `data[starts[i] : starts[i] + lengths[i]]`, in UTF-8, without blanks around.

    >>> texts = Texts.of(["a1", "", "b"])
    >>> texts[0], texts.lengths.tolist(), len(set(texts.keys().tolist()))
    ('a1', [2, 0, 1], 3)
    """

    def __init__(self, data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        self.data, self.starts, self.lengths = data, starts, lengths

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """From texts in a list, stripped of blanks."""
        pieces = [text.strip(BLANKS).encode("utf-8", "replace") for text in texts]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        return cls(np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str:
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])].tobytes().decode("utf-8", "replace")

    def keys(self) -> Keys:
        """The key of every text; never 0."""
        # Eight zeros behind the last text, so that eight bytes can be taken from any place.
        padded = np.concatenate([self.data, np.zeros(8, np.uint8)])
        words = np.ndarray((len(padded) - 7,), np.dtype("<u8"), padded.data, strides=(1,))
        keys = self.lengths.astype(np.uint64) * _GOLDEN
        longest = int(self.lengths.max(initial=0))
        for at in range(0, longest, 8):
            rows: Any = slice(None) if int(self.lengths.min()) > at else np.flatnonzero(self.lengths > at)
            left = self.lengths[rows] - at
            taken = words[self.starts[rows] + at] & _WITHIN[np.minimum(left, 8)]
            keys[rows] = mixed(keys[rows] ^ taken)
        keys[keys == 0] = 1
        return keys

    def among(self, some: Sequence[str]) -> Flags:
        """Which of them are one of these."""
        longest = max((len(one.encode()) for one in some), default=-1)
        found = np.zeros(len(self), np.bool_)
        rows = np.flatnonzero(self.lengths <= longest)
        if len(rows):
            few = Texts(self.data, self.starts[rows], self.lengths[rows])
            found[rows] = np.isin(few.keys(), Texts.of(some).keys())
        return found

    def numbers(self, missing: Flags, *, commas: bool = False) -> NDArray[np.float64]:
        """The number of every text, one by one; NaN where it is none, or where it is `missing`."""
        found = (np.nan if missing[row] else number(self[row], commas=commas) for row in range(len(self)))
        return np.fromiter(found, np.float64, len(self))


def mixed(words: Keys) -> Keys:
    """The finaliser of SplitMix64: every bit decides over every other, and no two words become one."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def key(text: str) -> int:
    """The key of one text.

    >>> key("68fd1e64") == key(" 68fd1e64 "), key("68fd1e64") == key("68fd1e65")
    (True, False)
    """
    return int(Texts.of([text]).keys()[0])


def number(text: str, *, commas: bool = False) -> float:
    """The number that a text says; NaN where it says none, or one that is beyond float32.

    >>> number("-1.5e3"), number("0x10"), number("1e39")
    (-1500.0, nan, nan)
    >>> number("1.234,5", commas=True), number("1.5", commas=True)
    (1234.5, nan)
    """
    if commas:
        text = text.replace(".", "").replace(",", ".") if COMMAS.fullmatch(text) else ""
    value = float(text) if NUMBER.fullmatch(text) else np.nan
    return value if abs(value) <= LARGEST else np.nan
