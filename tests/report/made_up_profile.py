"""A profile that nobody measured, and the guess that goes with it, for pages."""

from __future__ import annotations

from foresee.data.clicks.guessing.guess import Guess
from foresee.data.clicks.guessing.roles import Guessed
from foresee.data.clicks.profile.profiling import Profile
from foresee.data.clicks.profile.tallies import Categories, Numbers, Rate
from foresee.data.clicks.reading.blocks import Malformed
from foresee.data.clicks.schema import Schema


def made_up_profile(text: str = "site", **changes) -> Profile:
    name = text.strip() or "site"
    schema = Schema(label="click", numeric=("price", "empty"), categories=(name, "same"), name="made up")
    tenths = tuple(Rate(f"{k} to {k + 1}", 100, 5 * k) for k in range(10))
    values = tuple(Rate(f"{text} {k}", 200 - 20 * k, 10 * k) for k in range(4))
    plain = {
        "path": "clicks.csv",
        "schema": schema,
        "rows": 1000,
        "yes": 225,
        "numbers": (
            Numbers(
                "price", 0, 900, True, 0.5, 10.0, 5.0, 2.5, (0.6, 2.5, 5.0, 7.5, 9.9), tenths, Rate("missing", 0, 0)
            ),
            Numbers("empty", 1000, 0, True, *[float("nan")] * 4, (), (), Rate("missing", 1000, 225)),
        ),
        "categories": (
            Categories(name, 12, 123_456, False, values, Rate("others", 320, 165), 3),
            Categories("same", 0, 1, True, (Rate("x", 1000, 225),), Rate("others", 0, 0), 0),
        ),
        "parts": (Rate("train", 800, 200), Rate("test", 200, 25)),
        "along": tuple(Rate(f"rows {k}", 100, 20 + k) for k in range(10)),
        "malformed": 7,
        "named": (Malformed(17, "3 fields, expected 5"), Malformed(99, f"price is {text!r}: not a number")),
        "whole": True,
    }
    return Profile(**{**plain, **changes})


def made_up_guess(text: str = "site") -> Guess:
    found = made_up_profile(text)
    columns = (
        Guessed("click", "label", "its name, and its values; 1 means yes", ("0", "1"), 2),
        Guessed(found.schema.categories[0], "category", f"words such as {text}", (text,), 123),
        Guessed("id", "left out", "another value in every row: nothing to learn from", (), 1000),
    )
    return Guess(found.schema, columns, (f"id is left out: {text}",), 1000)
