from __future__ import annotations

import pytest

from foresee import spaces
from foresee.errors import InputError, UnknownNameError


def test_get():
    space = spaces.get("nasbench201", cells=1)
    assert spaces.get(space) is space
    with pytest.raises(UnknownNameError, match="did you mean nasbench201"):
        spaces.get("nasbench210")
    with pytest.raises(InputError, match="wide"):
        spaces.get("nasbench201", wide=3)
