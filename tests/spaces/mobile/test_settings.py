"""Settings of the mobile space that do not fit; those that do are in `test_space`."""

from __future__ import annotations

import pytest

from foresee.errors import InputError
from foresee.spaces import get


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"design": "mobilenet"}, "unknown design of space mobile 'mobilenet': did you mean mobilenet_v"),
        ({"widths": []}, r"widths \[\], expected a list"),
        ({"widths": [8, 0]}, "widths 0, expected a whole number"),
        ({"widths": "8"}, "widths '8', expected a list"),
        ({"strides": [1, 2]}, "2 strides for 6 widths, expected one for each"),
        ({"strides": [3] * 6}, "strides 3"),
        ({"expansions": [0.5]}, r"expansions \[0.5\], expected numbers from 1 to 100"),
        ({"expansions": [3, 3]}, "expected each once"),
        ({"kernels": [4]}, r"kernels \[4\], expected odd numbers"),
        ({"layers": [0]}, "layers 0"),
        ({"squeeze": "maybe"}, "unknown squeeze of space mobile 'maybe'"),
        ({"squeeze": ["no"]}, "1 squeeze for 6 widths"),
        ({"each": "block"}, "unknown each of space mobile"),
        ({"activation": "tanh"}, "unknown activation"),
        ({"stem": 0}, "stem 0"),
        ({"stem_stride": 3}, "stem_stride 3"),
        ({"features": -1}, "features -1"),
    ],
)
def test_settings_that_do_not_fit(wrong, message):
    with pytest.raises(InputError, match=message):
        get("mobile", **wrong)
