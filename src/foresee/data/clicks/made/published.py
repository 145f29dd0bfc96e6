"""The forms in which click logs are published, each with a made-up world that fills its columns (see `planted.py`).

criteo   tab-separated, no header line: label, 13 counts, 26 hashed categories; empty is missing
avazu    a CSV with a header line: id, click, hour as YYMMDDHH, then categories as codes and hashes, rows in the order of time
kdd2012  KDD Cup 2012, track 2: tab-separated, no header line: clicks, impressions, then ids, and depth and position of the ad
csv      a log of nobody in particular: a header line, 6 numbers, 8 categories
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import numpy as np
from numpy.typing import NDArray

from foresee.data.clicks.made.planted import DAY, Category, Hours, Number, Whole, World

Texts = Sequence[str]
Table = NDArray[np.object_]


@dataclass(frozen=True)
class Piece:
    """Rows that were drawn: the number of the first one, ranks of categories and counts by column (-1: missing), and whether
    each was clicked; `rng` draws what else a form has to say and the truth does not look at.
    """

    world: World
    first: int
    ranks: list[Whole]
    counts: list[Whole]
    clicked: Whole
    rng: np.random.Generator

    def hashes(self, place: int) -> Texts:
        """A category as eight hexadecimal digits."""
        return texts(_hashes(self.world.categories[place].size, place), self.ranks[place])

    def codes(self, place: int, start: int = 0, gap: int = 1) -> Texts:
        """A category as whole numbers that are no quantities."""
        return texts(_codes(self.world.categories[place].size, start, gap), self.ranks[place])

    def numbers(self, place: int) -> Texts:
        """A count as itself."""
        return texts(_codes(self.world.counts[place].most + 1, 0, 1), self.counts[place])


@dataclass(frozen=True)
class Form:
    """A form: its delimiter, its header line (None: it has none), where its label stands, where a number stands (None: there
    is none that must be one), the world of a seed, and how a piece becomes columns of text, in the order of the file.
    """

    name: str
    delimiter: str
    header: Texts | None
    label: int
    number: int | None
    world: Callable[[int], World]
    columns: Callable[[Piece], list[Texts]]


def texts(table: Table, places: Whole) -> Texts:
    """What stands in a table at these places; the last entry is that of a missing value, whose place is -1."""
    found: list[str] = table[places].tolist()
    return found


@cache
def _hashes(size: int, column: int) -> Table:
    # An odd factor makes a permutation of all 32-bit numbers, so no two values of a column are written alike.
    mixed = ((np.arange(size, dtype=np.uint64) + 1) * 2_654_435_761 + column * 0x9E3779B1) % 2**32
    return np.array([*(f"{one:08x}" for one in mixed.tolist()), ""], dtype=object)


@cache
def _codes(size: int, start: int, gap: int) -> Table:
    return np.array([*map(str, range(start, start + size * gap, gap)), ""], dtype=object)


@cache
def _prices(most: int) -> Table:
    return np.array([*(f"{cents / 100:.2f}" for cents in range(most + 1)), ""], dtype=object)


# -- a log of nobody in particular ----------------------------------------------------------------------------------------
NUMBERS = (
    Number("price", 6.5, 0.9), Number("views", 3.0, 1.3), Number("visits", 1.6, 1.2, missing=0.15),
    Number("age_days", 4.0, 1.0, missing=0.05), Number("stock", 3.0, 1.4, missing=0.3), Number("rank", 2.5, 0.9),
)  # fmt: skip
CATEGORIES = (
    Category("visitor", 800), Category("item", 300), Category("seller", 20_000, missing=0.02), Category("category", 300),
    Category("site", 2000, missing=0.1), Category("campaign", 150), Category("device", 12, 0.9), Category("place", 6, 0.8),
)  # fmt: skip
DEVICES = ("phone", "tablet", "laptop", "tv", "console", "watch", "car", "reader", "box", "kiosk", "ship", "fridge")
PLACES = ("top", "side", "feed", "bottom", "popup", "mail")


def _csv_columns(piece: Piece) -> list[Texts]:
    numbers = [texts(_prices(65_535), piece.counts[0]), *(piece.numbers(place) for place in range(1, len(NUMBERS)))]
    categories = [piece.hashes(place) for place in range(len(CATEGORIES) - 2)]
    return [
        texts(_codes(2, 0, 1), piece.clicked), *numbers, *categories,
        texts(_words(*DEVICES), piece.ranks[6]), texts(_words(*PLACES), piece.ranks[7]),
    ]  # fmt: skip


@cache
def _words(*words: str) -> Table:
    return np.array([*words, ""], dtype=object)


# -- Criteo ---------------------------------------------------------------------------------------------------------------
_SIZES = (1400, 550, 200_000, 100_000, 300, 16, 12_000, 620, 3, 60_000, 5000, 180_000, 3100, 26, 11_000, 140_000, 10, 4600,
          2000, 4, 160_000, 15, 15, 60_000, 80, 40_000)  # fmt: skip
_GAPS = (
    0,
    0,
    0.04,
    0.04,
    0,
    0.12,
    0,
    0,
    0,
    0,
    0,
    0.04,
    0,
    0,
    0,
    0.04,
    0,
    0,
    0.44,
    0.44,
    0.04,
    0.76,
    0,
    0.04,
    0.44,
    0.44,
)


def _criteo(seed: int) -> World:
    categories = [
        Category(f"C{k + 1}", size, missing=gap) for k, (size, gap) in enumerate(zip(_SIZES, _GAPS, strict=True))
    ]
    middles = (1.0, 1.5, 2.0, 1.8, 7.5, 3.5, 2.0, 2.3, 4.0, 0.5, 1.0, 0.6, 1.9)
    gaps = (0.45, 0, 0.2, 0.2, 0.03, 0.22, 0.04, 0, 0.04, 0.45, 0.04, 0.76, 0.2)
    counts = [Number(f"I{k + 1}", middle, 1.2, gap) for k, (middle, gap) in enumerate(zip(middles, gaps, strict=True))]
    return World(categories, counts, pair=(0, 1), low=16, numbers=(7, 1, 4, 8), seed=seed)


def _criteo_columns(piece: Piece) -> list[Texts]:
    return [
        texts(_codes(2, 0, 1), piece.clicked),
        *(piece.numbers(place) for place in range(13)),
        *(piece.hashes(place) for place in range(26)),
    ]


# -- Avazu ----------------------------------------------------------------------------------------------------------------
#: hashed columns and columns of codes, with the sizes of their worlds
_HASHED = {"site_id": 2600, "site_domain": 2900, "site_category": 22, "app_id": 3900, "app_domain": 230, "app_category": 28,
           "device_id": 60_000, "device_ip": 200_000, "device_model": 5200}  # fmt: skip
_CODED = {"C1": (7, 1001, 1), "banner_pos": (7, 0, 1), "device_type": (5, 0, 1), "device_conn_type": (4, 0, 1),
          "C14": (2200, 375, 11), "C15": (8, 120, 100), "C16": (9, 20, 30), "C17": (420, 112, 6), "C18": (4, 0, 1),
          "C19": (66, 33, 32), "C20": (160, 100000, 3), "C21": (60, 1, 4)}  # fmt: skip
_AVAZU = ("C1", "banner_pos", *_HASHED, "device_type", "device_conn_type", *(f"C{k}" for k in range(14, 22)))


def _avazu(seed: int) -> World:
    sizes = {**_HASHED, **{name: size for name, (size, _, _) in _CODED.items()}}
    categories = [*(Category(name, sizes[name]) for name in _AVAZU), Hours("hour")]
    pair = _AVAZU.index("site_id"), _AVAZU.index("C17")
    return World(categories, (), pair, _AVAZU.index("banner_pos"), dial=len(_AVAZU), seed=seed)


def _avazu_columns(piece: Piece) -> list[Texts]:
    rows = np.arange(piece.first, piece.first + len(piece.clicked))
    ids = (1_000_000_000_000_000_000 + rows * 9_973_000_039 + piece.rng.integers(0, 9_973_000_000, len(rows))).tolist()
    hours = piece.ranks[len(_AVAZU)].tolist()
    days = [(datetime(2014, 10, 21) + timedelta(days=day)).strftime("%y%m%d") for day in range(rows[-1] // DAY + 1)]
    return [
        list(map(str, ids)),
        texts(_codes(2, 0, 1), piece.clicked),
        [f"{days[day]}{hour:02}" for day, hour in zip((rows // DAY).tolist(), hours, strict=True)],
        *(
            piece.codes(place, *_CODED[name][1:]) if name in _CODED else piece.hashes(place)
            for place, name in enumerate(_AVAZU)
        ),
    ]


# -- KDD Cup 2012, track 2 ------------------------------------------------------------------------------------------------
#: ids of the columns after the first two, with the sizes of their worlds; Depth and Position count from 1
_KDD = {"DisplayURL": 12_000, "AdID": 30_000, "AdvertiserID": 3000, "Depth": 3, "Position": 3, "QueryID": 50_000,
        "KeywordID": 20_000, "TitleID": 40_000, "DescriptionID": 40_000, "UserID": 50_000}  # fmt: skip


def _kdd2012(seed: int) -> World:
    categories = [
        Category(name, size, 0.8 if size == 3 else 1.05, 0.05 * (name == "UserID")) for name, size in _KDD.items()
    ]
    names = list(_KDD)
    return World(
        categories,
        (),
        (names.index("AdvertiserID"), names.index("KeywordID")),
        names.index("Position"),
        dial=names.index("Depth"),
        seed=seed,
    )


def _kdd_columns(piece: Piece) -> list[Texts]:
    # A row stands for so many showings; whoever clicked did so once. An unknown visitor has the id 0, as published.
    shown = np.where(piece.rng.random(len(piece.clicked)) < 0.9, 1, piece.rng.integers(2, 6, len(piece.clicked)))
    columns = [piece.codes(place, 1, 1 if size == 3 else 7) for place, size in enumerate(_KDD.values())]
    columns[-1] = [text or "0" for text in columns[-1]]
    return [texts(_codes(2, 0, 1), piece.clicked), texts(_codes(6, 0, 1), shown), *columns]


_CSV_NAMES = ("click", *(one.name for one in NUMBERS), *(one.name for one in CATEGORIES))
FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form("csv", ",", _CSV_NAMES, 0, 2, lambda seed: World(CATEGORIES, NUMBERS, (0, 1), 7, (1, 5, 0, 3), seed=seed),
             _csv_columns),
        Form("criteo", "\t", None, 0, 3, _criteo, _criteo_columns),
        Form("avazu", ",", ("id", "click", "hour", *_AVAZU), 1, None, _avazu, _avazu_columns),
        Form("kdd2012", "\t", None, 0, 1, _kdd2012, _kdd_columns),
    )
}  # fmt: skip
