"""The room's front: what is listed, and what is imported when."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from contextlib import suppress

import pytest

from foresee import spaces
from foresee.errors import InputError


def test_names():
    assert "nasbench201" in spaces.names()
    assert spaces.names("nasbench2*") == ["nasbench201"]
    assert spaces.spaces["nasbench201"] is spaces.NASBench201


def test_own_is_the_function_though_it_is_a_folder_too():
    from foresee.spaces.own import load, own

    assert spaces.own is own
    assert callable(load)


def test_every_class_of_the_room_is_here_by_its_name():
    kinds = [spaces.spaces[name] for name in spaces.names()]
    for kind in (kind for kind in kinds if kind.__module__.startswith("foresee.")):  # other tests register some, too
        assert getattr(spaces, kind.__name__) is kind
        assert kind.__name__ in dir(spaces)
    for name in ("Nothing", "nothing"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(spaces, name)


def test_files_of_spaces_are_imported_when_a_space_is_asked_for():
    code = """
import sys
import foresee.spaces
from foresee.spaces import blocks, counting, get, own  # neither files nor functions are spaces

before = "foresee.spaces.nasbench201" in sys.modules
from foresee.spaces import NASBench201
print(before, NASBench201().size)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "15625"]


@pytest.mark.parametrize("name", spaces.names())
def test_a_number_of_thousands_of_digits_is_a_mistake_like_any_other(name):
    """Python refuses to read more than 4,300 digits, with an error of its own."""
    space = spaces.get(name)
    text = str(space.sample(random.Random(0)))
    for place in re.finditer(r"\d+", text):
        with suppress(InputError):  # behind a point so many digits may be right
            space.parse(f"{text[: place.start()]}{'9' * 5000}{text[place.end() :]}")
