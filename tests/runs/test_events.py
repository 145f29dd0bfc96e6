from __future__ import annotations

from foresee.runs import Announcer, Event


def test_a_failing_observer_is_left_out_and_the_others_go_on():
    seen = []

    def bad(event):
        raise RuntimeError("boom")

    announce = Announcer([bad, seen.append])
    announce(Event("scored", 1, 2))
    announce(Event("finished", 2, 2))
    assert [event.kind for event in seen] == ["scored", "finished"]
