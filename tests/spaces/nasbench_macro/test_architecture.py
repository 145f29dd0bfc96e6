"""Eight layers and their text; which texts are one network is in `test_space`."""

from __future__ import annotations

import pytest

from foresee.errors import InputError
from foresee.spaces.nasbench_macro import Architecture


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0000000", "7 digits, expected 8"),
        ("000000000", "9 digits, expected 8"),
        ("00030000", "layer 4: '3', expected 0, 1 or 2"),
        ("0000000٢", "layer 8: '٢'"),
        ("1.0e7", "layer 2: '.'"),
    ],
)
def test_malformed_text_names_the_layer(text, message):
    with pytest.raises(InputError, match=message):
        Architecture.parse(text)


def test_wrong_architectures_cannot_be_made():
    with pytest.raises(InputError, match="7 layers: expected 8"):
        Architecture(("e3k3",) * 7)
    with pytest.raises(InputError, match="operation of layer 2"):
        Architecture(("e3k3", "e3k5", *("e3k3",) * 6))
