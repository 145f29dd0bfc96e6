from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'foresee[ray]'")

from foresee.runs.engines.sealed import answer, opened, sealed


def test_values_are_what_they_were_and_arrays_can_be_written_to():
    there = opened(sealed({"array": np.arange(100_000.0), "function": lambda one: one + 1}))
    there["array"][0] = 7.0
    assert there["array"].sum() == np.arange(100_000.0).sum() + 7.0
    assert there["function"](1) == 2


class NoWay:
    def __reduce__(self):
        raise TypeError("it stays here")


class NotBack:
    def __reduce__(self):
        return fail, ("no way back",)


def fail(text):
    raise LookupError(text)


def test_what_goes_wrong_is_the_answer():
    assert opened(answer(abs, sealed(-3))[0]) == 3
    assert answer(abs, sealed("a")) == (None, "TypeError: bad operand type for abs(): 'str'")
    assert answer(lambda one: NoWay(), sealed(1)) == (
        None,
        "the value cannot be handed back (TypeError: it stays here)",
    )
    assert answer(abs, sealed(NotBack())) == (None, "the payload cannot be read (LookupError: no way back)")
