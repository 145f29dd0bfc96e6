"""Numbers as people write them: 600k, 1.5M, 8ms."""

from __future__ import annotations

import math
import re

from foresee.errors import InputError, shown

_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9, "t": 1e12}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def parse_quantity(text: str) -> float:
    """`600k`, `1.5M`, `2G`, `1e6` or `600_000` to a number.

    >>> parse_quantity("600k"), parse_quantity("1.5M")
    (600000.0, 1500000.0)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:_[0-9]+)*\.?[0-9]*(?:[eE][+-]?[0-9]+)?)\s*([kKmMgGbBtT]?)\s*", text)
    value = float(match[1]) * _FACTORS[match[2].lower()] if match else math.nan
    if not math.isfinite(value):
        raise InputError(f"quantity {shown(text)}: expected a number such as 600k, 1.5M or 2e9")
    return value


def parse_duration(text: str) -> float:
    """`8ms`, `2s` or `250us` to seconds.

    >>> parse_duration("8ms")
    0.008
    """
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(s|ms|us)\s*", text)
    value = float(match[1]) * _SECONDS[match[2]] if match else math.nan
    if not math.isfinite(value):
        raise InputError(f"duration {shown(text)}: expected a number with s, ms or us, such as 8ms")
    return value


def parse_share(given: str | float) -> float:
    """`10%`, `0.5 %`, or a number from 0 to 1, to a share.

    >>> parse_share("10%"), parse_share("100 %"), parse_share(0.25), parse_share("0")
    (0.1, 1.0, 0.25, 0.0)
    """
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(%?)\s*", str(given))
    share = float(match[1]) / (100 if match[2] else 1) if match and not isinstance(given, bool) else math.nan
    if not 0 <= share <= 1:
        raise InputError(f"share {shown(given)}: expected one from 0% to 100%, such as 10%")
    return share


def format_share(share: float) -> str:
    """A share for people and for settings.

    >>> format_share(0.1), format_share(parse_share("0.25%")), format_share(1.0)
    ('10%', '0.25%', '100%')
    """
    return f"{100 * share:.10g}%"


def parse_bytes(given: str | float) -> float:
    """`8GiB`, `512MB`, `1.5 TiB` or a number of bytes.

    >>> parse_bytes("8GiB") == 8 * 2**30, parse_bytes("512MB"), parse_bytes(1e6)
    (True, 512000000.0, 1000000.0)
    """
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?)\s*(?:([kKmMgGtT])(i?))?[bB]?\s*", str(given))
    plain = isinstance(given, int | float) and not isinstance(given, bool) and given > 0
    value = float(given) if plain else math.nan
    if match and not plain:
        value = float(match[1]) * (1024 if match[3] else 1000) ** (" kmgt".index((match[2] or " ").lower()))
    if not value > 0:
        raise InputError(f"memory {shown(given)}: expected a number of bytes such as 8GiB or 512MB")
    return value


def format_bytes(value: float, digits: int = 3) -> str:
    """Bytes for people, in powers of 1024, rounded up in the last digit.

    >>> format_bytes(24.2 * 2**30), format_bytes(3000), format_bytes(10 * 2**20 + 1, digits=2), format_bytes(math.inf)
    ('24.2 GiB', '2.93 KiB', '11 MiB', 'any number of bytes')
    """
    if not math.isfinite(value):
        return "any number of bytes"
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if value >= 1024**power:
            step = 10.0 ** (math.floor(math.log10(value / 1024**power)) + 1 - digits)
            return f"{float(f'{math.ceil(value / 1024**power / step - 1e-9) * step:.{digits}g}'):g} {unit}"
    return f"{math.ceil(value)} bytes"


def format_quantity(value: float) -> str:
    """A count for people: three significant digits and a unit.

    >>> format_quantity(559386), format_quantity(78_561_930), format_quantity(12)
    ('559 k', '78.6 M', '12')
    """
    for factor, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor * 0.9995:
            return f"{float(f'{value / factor:.3g}'):g} {unit}"
    return f"{value:g}"


def format_cost(name: str, value: float) -> str:
    """What a network costs, by the name of the cost, with its unit: latency in seconds, memory in bytes, else a count.

    >>> format_cost("params", 559386), format_cost("latency", 0.0012345), format_cost("memory", 5.2e8)
    ('559 k', '1.23 ms', '520 MB')
    """
    if name == "latency":
        factor, unit = next((pair for pair in ((1.0, "s"), (1e-3, "ms")) if value >= pair[0]), (1e-6, "µs"))
        return f"{float(f'{value / factor:.3g}'):g} {unit}"
    return f"{format_quantity(value)}{' ' if name == 'memory' and value < 1e3 else ''}{'B' if name == 'memory' else ''}"


def format_seconds(seconds: float) -> str:
    """A duration for people.

    >>> format_seconds(0.0123), format_seconds(75), format_seconds(7300)
    ('12 ms', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
