from __future__ import annotations

import importlib.metadata

import pytest

from foresee import registry as registry_module
from foresee.errors import InputError, UnknownNameError
from foresee.registry import Registry


class Entry:
    def __init__(self, name, load):
        self.name, self.load = name, load


def broken():
    raise ImportError("no such library")


def test_plugins_are_found_and_a_broken_one_harms_nobody(monkeypatch):
    entries = [Entry("theirs", lambda: 42), Entry("bad", broken)]
    monkeypatch.setattr(registry_module, "entry_points", lambda group: entries if group == "foresee.toys" else [])
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
