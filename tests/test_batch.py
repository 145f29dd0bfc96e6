"""Batches: one tensor, several, or several by name; cut, moved, rebuilt and handed to networks alike."""

from __future__ import annotations

import pickle
import re

import pytest
import torch

from foresee.batch import Batch, alike, call, parts_of
from foresee.errors import DataError, InputError
from foresee.handed import as_batches

X, C = torch.arange(6.0).view(3, 2), torch.arange(3)
STRUCTURES = {"one": X, "tuple": (X, C), "names": {"x": X, "c": C}}


@pytest.fixture(params=STRUCTURES)
def batch(request):
    return Batch(STRUCTURES[request.param], torch.tensor([0, 1, 2]))


def test_batches_are_checked_at_the_door():
    with pytest.raises(DataError, match="NaN"):
        Batch(torch.tensor([[float("nan")]]))
    with pytest.raises(DataError, match="NaN"):
        Batch({"c": C, "x": X / 0})
    with pytest.raises(DataError, match="2 inputs but 3 labels"):
        Batch(torch.zeros(2, 1), torch.zeros(3))
    with pytest.raises(DataError, match="at least one"):
        Batch(torch.zeros(0, 3))
    with pytest.raises(DataError, match=r"inputs of \[2, 3\] samples"):
        Batch({"x": X, "c": C[:2]})
    with pytest.raises(DataError, match="empty mapping"):
        Batch({})
    with pytest.raises(DataError, match="part 1 is a Tensor; expected a name and a tensor"):
        Batch({1: X})
    with pytest.raises(DataError, match="part 'x' is a list"):
        Batch({"x": [1, 2]})


UNUSABLE = {
    "a single number": lambda: torch.tensor(1.0),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "sparse (torch.sparse_csr)": lambda: torch.eye(3).to_sparse_csr(),
    "on the meta device": lambda: torch.empty(3, 2, device="meta"),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(3, 2), 0.1, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2), torch.ones(3)]),
    "nested; pad": lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], layout=torch.jagged),
    "complex": lambda: torch.ones(3, 2, dtype=torch.complex64),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", UNUSABLE)
@pytest.mark.parametrize("place", ["inputs", "labels", "one of two", "by name"])
def test_tensors_that_cannot_be_used_are_refused_in_one_line(what, place):
    wrong = UNUSABLE[what]()
    given = {"inputs": (wrong, C), "labels": (X, wrong), "one of two": ((X, wrong), C), "by name": ({"x": wrong}, C)}
    with pytest.raises(DataError, match=re.escape(what)) as caught:
        as_batches(given[place])
    assert "\n" not in str(caught.value)
    assert ("labels" if place == "labels" else "inputs") in str(caught.value)


def test_numbers_of_eight_bits_are_checked_too():
    assert len(Batch(torch.ones(3, 2).to(torch.float8_e4m3fn))) == 3
    with pytest.raises(DataError, match="NaN"):
        Batch(torch.full((3, 2), float("nan")).to(torch.float8_e4m3fn))


def test_parts_names_and_structure(batch):
    assert type(batch.inputs) in (torch.Tensor, tuple, dict)
    assert batch.names == (("c", "x") if isinstance(batch.inputs, dict) else None)
    assert {tuple(part.shape) for part in batch.parts} <= {(3, 2), (3,)}
    again = batch.rebuilt(batch.parts)
    assert type(again.inputs) is type(batch.inputs)
    assert all(one is other for one, other in zip(batch.parts, again.parts, strict=True))
    assert again.labels is batch.labels


def test_names_are_in_a_fixed_order_and_the_batchs_own():
    given = {"x": X, "c": C}
    batch = Batch(given)
    given["y"] = X
    assert batch.names == Batch({"c": C, "x": X}).names == ("c", "x")
    assert batch.parts[1] is X


def test_everything_keeps_the_structure(batch):
    for other in (batch.first(2), batch[1:], batch[torch.tensor([2, 0])], batch.to("cpu", torch.float64)):
        assert type(other.inputs) is type(batch.inputs)
        assert other.names == batch.names
        assert len(other.labels) == len(other)
        for part in other.parts:
            assert part.dtype in (torch.float32, torch.float64) or part.dtype == torch.int64
    assert batch[torch.tensor([2, 0])].labels.tolist() == batch[[2, 0]].labels.tolist() == [2, 0]
    assert len(batch.first(2)) == 2


def test_whole_numbers_stay_whole_when_moved():
    moved = Batch({"x": X, "c": C}, torch.tensor([0, 1, 2])).to("cpu", torch.float64)
    assert {name: part.dtype for name, part in moved.inputs.items()} == {"c": torch.int64, "x": torch.float64}
    assert moved.labels.dtype == torch.int64


def test_a_network_is_called_by_position_or_by_name():
    def network(x, c=None):
        return x if c is None else x * c[:, None]

    assert torch.equal(Batch(X).call(network), X)
    for inputs in ((X, C), {"c": C, "x": X}):
        batch = Batch(inputs)
        assert torch.equal(batch.call(network), X * C[:, None])
        assert torch.equal(batch.call(network, [2 * part for part in batch.parts]), 4 * X * C[:, None])
        assert torch.equal(call(network, inputs), X * C[:, None])
    with pytest.raises(TypeError):
        Batch({"other": X}).call(network)


def test_rebuilt_with_other_parts_and_labels():
    batch = Batch({"x": X, "c": C}, torch.tensor([0, 1, 2]))
    half = batch.rebuilt([part[:1] for part in batch.parts], batch.labels[:1])
    assert (len(half), half.names) == (1, ("c", "x"))
    assert batch.rebuilt(batch.parts, None).labels is None
    with pytest.raises(InputError, match="1 parts in the place of 2"):
        batch.rebuilt([X])
    with pytest.raises(InputError, match="3 parts in the place of 2"):
        alike((X, C), [X, C, X])
    with pytest.raises(DataError, match="1 inputs but 3 labels"):
        batch.rebuilt([part[:1] for part in batch.parts])


def test_parts_of_inputs_that_are_no_batch_yet():
    assert parts_of({"x": X, "c": C}) == (X, C)
    assert list(alike({"x": X, "c": C}, (C, X))) == ["x", "c"]


def test_named_batches_travel_between_processes():
    again = pickle.loads(pickle.dumps(Batch({"x": X, "c": C}, C)))
    assert again.names == ("c", "x")
    assert torch.equal(again.inputs["x"], X)


def test_placed_keeps_structure_and_looks_at_nothing():
    batch = Batch({"b": torch.ones(2, 3), "a": torch.zeros(2, 1)}, torch.tensor([0, 1]))
    made = batch.placed(lambda tensor: tensor.clone())
    assert made.names == ("a", "b")
    assert all(torch.equal(one, other) for one, other in zip(made.parts, batch.parts, strict=True))
    assert made.labels is not batch.labels
    assert torch.equal(made.labels, batch.labels)
    assert Batch(torch.ones(2, 1)).placed(lambda tensor: tensor * float("nan")).labels is None
