from __future__ import annotations

import pytest

from foresee.checks import whole
from foresee.errors import InputError


@pytest.mark.parametrize("value", [0, -1, True, False, 1.0, "1", None])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(InputError) as caught:
        whole("cells", value, of="space toy")
    assert str(caught.value) == f"space toy: cells {value!r}, expected a whole number of at least 1"
    with pytest.raises(InputError) as caught:
        whole("cells", value)
    assert str(caught.value) == f"cells {value!r}: expected a whole number of at least 1"


def test_the_least_is_allowed():
    for least in (0, 1, 4):
        whole("channels", least, least)
        with pytest.raises(InputError, match=f"at least {least}$"):
            whole("channels", least - 1, least)
