from __future__ import annotations

import importlib
import importlib.metadata
import sys

import pytest

from foresee.errors import InputError, UnknownNameError
from foresee.registry import Registry


class Entry:
    def __init__(self, name, load):
        self.name, self.load = name, load


def broken():
    raise ImportError("no such library")


def test_plugins_are_found_and_a_broken_one_harms_nobody(monkeypatch):
    entries = [Entry("theirs", lambda: 42), Entry("bad", broken)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries if group == "foresee.toys" else [])
    toys = Registry("toy", group="foresee.toys")
    toys.add("ours", 1)
    assert toys.names() == ["ours", "theirs"]
    assert toys["theirs"] == 42
    assert toys.broken == {"bad": "ImportError: no such library"}
    assert importlib.metadata is not None


def test_wildcards_hyphens_and_unknown_names():
    toys = Registry("toy", group="foresee.none")
    toys.register("red_ball")(1)
    toys.register("red_bat")(2)
    assert toys.names("red-*") == ["red_ball", "red_bat"]
    assert toys["red-ball"] == 1
    with pytest.raises(UnknownNameError, match="unknown toy 'red_bal': did you mean red_ball, red_bat"):
        toys["red_bal"]


def test_a_name_is_taken_once():
    toys = Registry("toy", group="foresee.none")
    toys.add("ball", 1)
    with pytest.raises(InputError, match="already"):
        toys.add("ball", 2)
    with pytest.raises(InputError, match="underscores"):
        toys.add("bad name", 2)


ROOM = {
    "__init__.py": """
from foresee.registry import Registry

things = Registry("thing", group="foresee.none", home="{room}")
""",
    "a_reader.py": """
from {room} import things

things.add("twice", 2 * things["once"])  # registered by a file that comes later in the alphabet
""",
    "folder/__init__.py": "",
    "folder/one.py": """
from {room} import things

things.add("once", 1)
""",
}


@pytest.fixture
def room(tmp_path, monkeypatch, request):
    """A new package of two files that register something."""
    name = f"room_{request.node.name.partition('[')[0]}"
    for file, text in ROOM.items():
        path = tmp_path / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(room=name))
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / name


def test_all_files_of_the_home_are_imported_on_the_first_look_up(room):
    things = importlib.import_module(room.name).things
    assert f"{room.name}.a_reader" not in sys.modules
    assert things.names() == ["once", "twice"]
    assert things["twice"] == 2


def test_a_mistake_in_a_file_of_the_home_is_raised_at_every_look_up(room):
    (room / "mistaken.py").write_text("1 / 0\n")
    things = importlib.import_module(room.name).things
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            things.names()
