"""Hostile values: texts, numbers and bytes that somebody might hand in, drawn or made from valid ones."""

from __future__ import annotations

import random
import re
from typing import Any

#: texts that programs stumble over: markup, quotes, escapes, names of odd meaning, wrong kinds of letters
TEXTS = (
    "", " ", "\t", "\n", "\r\n", "\0", "\x1b[31mred\x1b[0m", "\x07", "\u202e", "\ufeff", "\ud800", "\u0000x",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'\"><b>", "]]>", "{{7*7}}", "{% raw %}", "${HOME}",
    "$(touch canary)", "`id`", "; rm -rf x", "%s%n", "%(x)s", "{0.__class__}", "\\", "\\x", "--", "-", "-1", "--help",
    "nan", "inf", "-inf", "None", "null", "true", "[]", "{}", "()", "0x10", "1e999", "1_000", "٣", "Ⅷ", "é", "💥", "ﬁ",
    "A" * 300, "x" * 5000, "(" * 2000, "[" * 2000, "{" * 500, "../x", "nothing/there", "file.py:make", "os:system",
    "[red]", "[/red]", "[bold", "a,b;c", "a=b=c", ".", "..x", ":", "::", "=", "~", "|", "+", "@", "#", "&", "*", "?",
)  # fmt: skip

#: numbers at the edges of what machines can hold
NUMBERS = (
    "0", "-0", "-1", "1", "2", "3", "7", "255", "256", "65536", "2147483647", "2147483648", "-2147483649",
    "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
    "18446744073709551616", "1" + "0" * 40, "9" * 400, "9" * 5000, "0.5", "1.5", "1e308", "1.7e308", "-1.7e308", "1e309",
    "1e-320", "nan", "inf", "-inf", "1e5", "1k", "1M", "-3k", "1e99k", "00017", "+5", "5.", ".5", "1,5", "٣", "５",
)  # fmt: skip

_ALPHABET = [*map(chr, range(32, 127)), *"\n\t\0\x1b\x7f\x85é\u0301\u2028\u202e\ufeff𝟙💥\ud800"]
_BRACKETS = ("()", "[]", "{}", "''", '""', "||", "<>")


def word(rng: random.Random) -> str:
    """A hostile text."""
    draw = rng.random()
    if draw < 0.6:
        return rng.choice(TEXTS)
    if draw < 0.8:
        return rng.choice(NUMBERS)
    return "".join(rng.choices(_ALPHABET, k=rng.randrange(1, 40)))


def text(rng: random.Random, valid: str, many: int = 3) -> str:
    """A valid text with one or some things done to it."""
    for _ in range(rng.randint(1, many)):
        valid = rng.choice(_TEXT_CHANGES)(rng, valid)
    return valid


def value(rng: random.Random, depth: int = 3) -> Any:
    """A plain value of any type, as JSON or TOML can hold it."""
    draw = rng.random()
    if depth and draw < 0.15:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if depth and draw < 0.3:
        return {word(rng): value(rng, depth - 1) for _ in range(rng.randrange(4))}
    return rng.choice(
        [
            None, True, False, 0, 1, -1, 3, 10**6, 2**31, 2**63, -(2**63) - 1, 10**40, 0.0, -0.0, 0.5, 1.7e308, -1.7e308,
            5e-324, float("nan"), float("inf"), word(rng), word(rng), "synthetic", "cpu", "params",
        ]
    )  # fmt: skip


def content(rng: random.Random, valid: bytes, many: int = 4) -> bytes:
    """Valid bytes with one or some things done to them."""
    for _ in range(rng.randint(1, many)):
        valid = rng.choice(_BYTE_CHANGES)(rng, valid)
    return valid


# -- changes of texts -----------------------------------------------------------------------------------------------------
def _span(rng: random.Random, size: int, longest: int = 12) -> tuple[int, int]:
    start = rng.randrange(size + 1)
    return start, min(size, start + rng.randint(1, longest))


def _cut(rng: random.Random, valid: str) -> str:
    start, end = _span(rng, len(valid))
    return valid[:start] + valid[end:]


def _truncate(rng: random.Random, valid: str) -> str:
    return valid[: rng.randrange(len(valid) + 1)]


def _double(rng: random.Random, valid: str) -> str:
    start, end = _span(rng, len(valid), 40)
    return valid[:end] + valid[start:end] * int(rng.choice([1, 1, 2, 20, 500])) + valid[end:]


def _insert(rng: random.Random, valid: str) -> str:
    place = rng.randrange(len(valid) + 1)
    return f"{valid[:place]}{rng.choice([word(rng), rng.choice(_ALPHABET)])}{valid[place:]}"


def _replace(rng: random.Random, valid: str) -> str:
    start, end = _span(rng, len(valid), 3)
    return valid[:start] + "".join(rng.choices(_ALPHABET, k=end - start)) + valid[end:]


def _renumber(rng: random.Random, valid: str) -> str:
    found = list(re.finditer(r"\d+", valid))
    if not found:
        return _insert(rng, valid)
    one = rng.choice(found)
    return valid[: one.start()] + rng.choice(NUMBERS) + valid[one.end() :]


def _reword(rng: random.Random, valid: str) -> str:
    """One word of the text in the place of another, or a hostile one."""
    found = list(re.finditer(r"[A-Za-z_]\w*", valid))
    if not found:
        return _insert(rng, valid)
    one, other = rng.choice(found), rng.choice(found)
    fresh = rng.choice([other.group(), word(rng), one.group().upper(), one.group()[::-1], one.group() + "_"])
    return valid[: one.start()] + fresh + valid[one.end() :]


def _swap(rng: random.Random, valid: str) -> str:
    if len(valid) < 2:
        return valid
    first, second = sorted(rng.sample(range(len(valid)), 2))
    middle = valid[first + 1 : second]
    return valid[:first] + valid[second] + middle + valid[first] + valid[second + 1 :]


def _nest(rng: random.Random, valid: str) -> str:
    pair, depth = rng.choice(_BRACKETS), rng.choice([1, 2, 50, 1000, 100_000])
    return pair[0] * depth + valid + pair[1] * rng.choice([depth, depth - 1, 0])


def _pad(rng: random.Random, valid: str) -> str:
    return rng.choice([" ", "\n", "\t", "\u00a0", "\0"]) * rng.randint(1, 3) + valid + rng.choice(["", " ", "\n", "\r"])


_TEXT_CHANGES = (_cut, _truncate, _double, _insert, _replace, _renumber, _renumber, _reword, _swap, _nest, _pad)


# -- changes of bytes -----------------------------------------------------------------------------------------------------
def _flip(rng: random.Random, valid: bytes) -> bytes:
    changed = bytearray(valid)
    for _ in range(rng.choice([1, 1, 3, 30])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _shorten(rng: random.Random, valid: bytes) -> bytes:
    return valid[: rng.choice([0, 1, len(valid) // 2, max(0, len(valid) - 1), rng.randrange(len(valid) + 1)])]


def _blank(rng: random.Random, valid: bytes) -> bytes:
    start = rng.randrange(len(valid) + 1)
    size = min(len(valid) - start, rng.choice([1, 16, 512, 4096]))
    return valid[:start] + rng.choice([b"\0", b"\xff"]) * size + valid[start + size :]


def _splice(rng: random.Random, valid: bytes) -> bytes:
    place = rng.randrange(len(valid) + 1)
    return valid[:place] + rng.randbytes(rng.choice([1, 8, 200])) + valid[place:]


def _copy(rng: random.Random, valid: bytes) -> bytes:
    start, place = rng.randrange(len(valid) + 1), rng.randrange(len(valid) + 1)
    piece = valid[start : start + rng.choice([4, 64, 1024])]
    return valid[:place] + piece + valid[place + len(piece) :]


def _remove(rng: random.Random, valid: bytes) -> bytes:
    start = rng.randrange(len(valid) + 1)
    return valid[:start] + valid[start + rng.choice([1, 2, 50]) :]


_BYTE_CHANGES = (_flip, _flip, _shorten, _blank, _splice, _copy, _remove)
