"""Small layers join their neighbours, repeated parts are drawn once, and nothing is said that is not so."""

from __future__ import annotations

from foresee.spaces.own.boxes import Box, Drawing, Repeat
from foresee.spaces.own.folding import fold, join_small


def chain(*titles, lines=(), params=1):
    boxes = tuple(
        Box(title, "join" if title == "+" else "layer", params=0 if title in "+ ReLU" else params) for title in titles
    )
    return Drawing(boxes, tuple(sorted({*((n, n + 1) for n in range(len(titles) - 1)), *lines})))


def titles(drawing):
    return [box.title for box in drawing.boxes]


def test_a_plain_chain_is_folded():
    assert fold(chain("a", "b", "b", "b", "c")) == Drawing(
        chain("a", "b", "c").boxes, ((0, 1), (1, 2)), (Repeat(1, 1, 3),)
    )
    assert titles(fold(chain("x", "a", "b", "a", "b", "a", "b"))) == ["x", "a", "b"]


def test_the_longest_saving_is_taken():
    made = fold(chain("x", "a", "a", "b", "a", "a", "b", "a", "a", "b"))
    assert titles(made) == ["x", "a", "a", "b"]
    assert made.repeats == (Repeat(1, 3, 3),)


def test_what_is_read_from_far_is_not_folded_away():
    """The second of three equal boxes is read by the last one: a picture with × 3 could not say which."""
    made = fold(chain("a", "b", "b", "b", "c", lines=[(2, 4)]))
    assert titles(made) == ["a", "b", "b", "c"] or made.repeats == ()
    assert any(end - start > 1 for start, end in made.lines)


def test_the_last_of_repeated_boxes_may_be_read_from_far():
    made = fold(chain("a", "b", "b", "c", "d", lines=[(2, 4)]))
    assert titles(made) == ["a", "b", "c", "d"]
    assert (1, 3) in made.lines


def test_activations_stay_with_a_join_and_norms_go_on():
    made = join_small(chain("a", "+", "ReLU", "LayerNorm", "b", lines=[(0, 1)]))
    assert [(box.title, box.before, box.after) for box in made.boxes] == [
        ("a", (), ()), ("+", (), ("ReLU",)), ("b", ("LayerNorm",), ()),
    ]  # fmt: skip


def test_a_small_layer_that_two_read_keeps_its_box():
    made = join_small(chain("+", "LayerNorm", "b", "c", lines=[(0, 3), (1, 3)]))
    assert "LayerNorm" in titles(made)
