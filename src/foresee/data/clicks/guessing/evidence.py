"""What a column of text looks like: a number, a code that is only written as one, a time, a split, words.

A column of whole numbers may be a quantity or a code (`site_id`, a postal code, a hash). Its name tells where it has a
known word in it; else its values do: counts have their small values most often, quantities are as frequent as their
neighbours are, and codes are neither. Columns that are numbered alike (I1 to I13) are judged together, by whoever guesses
(`guessing.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal

import numpy as np

from foresee.data.clicks.guessing.sampling import NUMBER
from foresee.data.clicks.schema import MISSING
from foresee.statistics.ranks import ranks_of


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: words in a column's name that say a quantity, and words that say a code; a name's last word counts most
QUANTITIES = _set("""
    price amount count cnt counts num number qty quantity age ages income gain loss hours minutes seconds days duration dur
    score rate ratio clicks views visits impressions depth width height length distance budget bid cost spend salary weight
    temperature stock balance revenue rank total sum avg mean max min median std percent pct share floor ceiling lat latitude
    lon longitude size speed frequency recency tenure sales discount rating likes dwell value
    alter preis anzahl menge betrag gebot edad precio cantidad prix montant
""")
CODES = _set("""
    id ids uid uuid guid code codes hash zip zipcode postal postcode type category cat cate class brand region city country
    state site app domain ip model campaign advertiser ad creative user item sku gender sex weekday hour dow month banner slot
    exchange os browser tag tags channel pid cms group adgroup customer device publisher shop store seller segment cluster
    topic keyword query title url language lang platform network carrier position pos visibility format method key flag
""")
#: first words of a name that say a quantity whatever follows
COUNTED = _set("num n nb number count cnt total avg mean max min sum log")
#: the same at the end of words that are written together, as in slotprice and userid
GLUED = {
    "quantity": ("price", "count", "amount", "width", "height", "length"),
    "code": ("id", "code", "type", "category"),
}
#: what stands for no value in some logs, in small letters, beside what every schema takes for it
ABSENT = _set("n/a na n.a. #n/a nan null (null) <null> nil none missing undefined . -- \\n")
#: what a column is called that only numbers the rows
ROW_NAMES = _set("id rowid row index idx unnamed0 impressionid bidid requestid eventid logid uuid guid recordid")
#: formats of times, by the pattern of their texts; the schema's words
FORMATS = (
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:?\d\d|Z)?", "iso"),
    (r"\d{4}-\d\d-\d\d", "iso"),
    (r"\d{4}/\d\d?/\d\d? \d\d?:\d\d:\d\d", "%Y/%m/%d %H:%M:%S"),
    (r"\d{4}/\d\d?/\d\d?", "%Y/%m/%d"),
    (r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", "%d/%m/%Y %H:%M:%S"),
    (r"\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d", "%d.%m.%Y %H:%M:%S"),
    (r"\d\d\.\d\d\.\d{4} \d\d:\d\d", "%d.%m.%Y %H:%M"),
    (r"\d\d\.\d\d\.\d{4}", "%d.%m.%Y"),
    (r"(19|20)\d{12}", "%Y%m%d%H%M%S"),
    (r"(19|20)\d{15}", "%Y%m%d%H%M%S%f"),
    (r"(19|20)\d{10}", "%Y%m%d%H%M"),
    (r"(19|20)\d{8}", "%Y%m%d%H"),
    (r"(19|20)\d{6}", "%Y%m%d"),
    (r"[012]\d[01]\d[0-3]\d[0-2]\d", "%y%m%d%H"),
    (r"[12]\d{12}", "unix_ms"),
    (r"1\d{9}(\.\d+)?", "unix"),
)  # fmt: skip
#: formats without an hour in them
DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%Y%m%d")
#: words in a name without which ten digits are no seconds and eight no day
TIMES = re.compile(r"time|date|day|hour|stamp|when|_at$|^ts$|_ts$|^dt$|^t$|seen|created", re.IGNORECASE)
SPLIT_WORDS = _set("train training val valid validation dev test testing")
PARTING = _set("split set subset fold part partition")

Shape = Literal["counts", "smooth", "code", "few", "spread"]


@dataclass(frozen=True)
class Column:
    """A column of a sample, and what is to be seen of it."""

    name: str
    values: Sequence[str]
    absent: Collection[str] = MISSING

    @cached_property
    def there(self) -> list[str]:
        """The values that are not missing."""
        return [value for value in self.values if value not in self.absent]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each value is there."""
        return Counter(self.there)

    @property
    def missing(self) -> float:
        """Share of missing values."""
        return 1 - len(self.there) / max(len(self.values), 1)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name, in small letters.

        >>> Column("adSlotID_2", ()).words
        ('ad', 'slot', 'id')
        """
        parted = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", self.name)
        return tuple(word for word in re.split(r"[^a-z]+", parted.lower()) if word)

    @property
    def plain_name(self) -> str:
        """The name as letters and digits alone."""
        return re.sub(r"[^a-z0-9]", "", self.name.lower())

    @property
    def blanks(self) -> tuple[str, ...]:
        """Further texts that say that there is no value, where all else (nearly) are numbers.

        >>> Column("price", ["1.5", "n/a", "2", "NULL"]).blanks, Column("site", ["n/a", "b"]).blanks
        (('n/a',), ())
        """
        said = tuple(sorted(value for value in self.counts if value.lower() in ABSENT))
        if not said:
            return ()
        rest = Column(self.name, [value for value in self.there if value not in said])
        return said if rest.numbers is not None or rest.european else ()

    # -- kinds ------------------------------------------------------------------------------------------------------------
    @cached_property
    def numbers(self) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        """The values as numbers, where nearly all of them are."""
        found = [float(value) for value in self.there if NUMBER.fullmatch(value)]
        return np.array(found) if found and len(found) >= 0.98 * len(self.there) else None

    @property
    def whole(self) -> bool:
        """Whether all are whole numbers, written with or without a point."""
        return self.numbers is not None and bool((self.numbers == np.round(self.numbers)).all())

    @property
    def padded(self) -> bool:
        """Whether digits begin with a 0, as no quantity is written."""
        return any(len(value) > 1 and value[0] == "0" and value.isdigit() for value in self.counts)

    @property
    def european(self) -> bool:
        """Whether these are numbers with a comma before their decimals."""
        fit = sum(re.fullmatch(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+", value) is not None for value in self.there)
        return bool(fit) and fit >= 0.5 * len(self.there) and all(
            re.fullmatch(r"[+-]?[\d.]+(,\d+)?", value) for value in self.counts
        )  # fmt: skip

    @cached_property
    def time(self) -> str | None:
        """The format of a time, in the words of a schema; None: it is none."""
        named = TIMES.search(self.name) is not None
        for pattern, form in FORMATS:
            if all(re.fullmatch(pattern, value) for value in self.counts) and self.counts:
                short = form.startswith(("%Y%m", "%y%m", "unix"))
                if (named or not short) and all(_parses(value, form) for value in list(self.counts)[:200]):
                    return form
        return None

    @property
    def clocked(self) -> bool:
        """Whether its times have hours."""
        day = self.time in DAYS or (self.time == "iso" and all(len(value) == 10 for value in list(self.counts)[:50]))
        return self.time is not None and not day

    @property
    def split(self) -> bool:
        """Whether its values say which part of the data a row belongs to."""
        known = {value.lower() for value in self.counts}
        return len(known) > 1 and known <= SPLIT_WORDS and any(word.startswith("train") for word in known)

    @property
    def parting(self) -> bool:
        """Whether it names parts of the data in other words than these."""
        known = {value.lower() for value in self.counts}
        return len(known) <= 20 and bool(known & {"train", "training"}) and bool(set(self.words) & PARTING)

    # -- whole numbers: quantities or codes -------------------------------------------------------------------------------
    @property
    def said(self) -> Literal["quantity", "code", ""]:
        """What the name says.

        >>> [Column(name, ()).said for name in ("item_price", "price_category", "num_sites", "hours_per_week", "C14")]
        ['quantity', 'code', 'quantity', 'quantity', '']
        """
        if not self.words:
            return ""
        last = self.words[-1]
        if last in QUANTITIES or last.endswith(GLUED["quantity"]) or (self.words[0] in COUNTED and len(self.words) > 1):
            return "quantity"
        if set(self.words) & CODES or last.endswith(GLUED["code"]):
            return "code"
        return "quantity" if set(self.words) & QUANTITIES else ""

    @cached_property
    def shape(self) -> Shape:
        """How whole numbers lie: see `SHAPES` for what each means."""
        assert self.numbers is not None
        values, often = np.unique(self.numbers, return_counts=True)
        if len(values) <= 20:
            return "few"
        if values[0] > 0.5 * values[-1] or values[-1] >= 1e9:  # a long way from 0, or a hash
            return "code"
        if len(values) > 0.5 * len(self.numbers):
            crowd = np.histogram(self.numbers, bins=20)[0]
            return "spread" if crowd.max() > 2.5 * crowd.mean() else "code"
        if np.corrcoef(ranks_of(values), ranks_of(often))[0, 1] < -0.5:
            return "counts"
        logs = np.log(often)
        alike = np.corrcoef(logs[1:], logs[:-1])[0, 1] if np.ptp(logs) > 0 else 1.0
        return "smooth" if alike > 0.5 else "code"


#: what the shapes of whole numbers are called where a reason is told, and whether each is a quantity
SHAPES: dict[Shape, tuple[bool, str]] = {
    "counts": (True, "whole numbers, the small ones most often: counts"),
    "smooth": (True, "whole numbers, each as frequent as its neighbours: a quantity"),
    "spread": (True, "whole numbers, nearly all different, most of them small: a quantity"),
    "code": (False, "whole numbers that lie like codes, not like a quantity"),
    "few": (False, "few whole numbers, taken as categories"),
}


def _parses(value: str, form: str) -> bool:
    if form.startswith("unix"):
        return 9e8 < float(value) / (1000 if form == "unix_ms" else 1) < 4.2e9
    try:
        datetime.fromisoformat(value) if form == "iso" else datetime.strptime(value, form)
    except ValueError:
        return False
    return True
