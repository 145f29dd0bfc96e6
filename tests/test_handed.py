"""Whatever a batch is: tensors, arrays, pairs, mappings, loaders and data sets become batches, or one line says why not."""

from __future__ import annotations

import random
from collections import UserDict

import numpy as np
import pandas
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import foresee as fs
from foresee.batch import Batch
from foresee.errors import DataError, ForeseeError, InputError
from foresee.handed import LABELS, as_batches, read

X, C = torch.arange(6.0).view(3, 2), torch.arange(3)
IMAGES, CLASSES = torch.randn(20, 3, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(20) % 4


def states():
    return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002


# -- tensors, pairs, mappings, lists ----------------------------------------------------------------------------------------
def test_what_may_be_handed_over():
    named, positional = {"x": X, "c": C}, (X, C)
    labels = torch.zeros(3)
    [batch] = as_batches((named, labels))
    assert (batch.names, batch.labels is labels) == (("c", "x"), True)
    [batch] = as_batches((positional, labels))
    assert (batch.names, len(batch.parts)) == (None, 2)
    [batch] = as_batches(positional)  # a pair of tensors is inputs and labels, as ever
    assert batch.labels is C
    assert len(as_batches([(named, labels), Batch(X), X])) == 3
    [batch] = as_batches(Batch(named))
    assert batch.labels is None


@pytest.mark.parametrize("handed", ["images", [], None, 5, (X, C, X), ((), X), (([X]), X), (X, "labels"), ("x", X)])
def test_what_may_not(handed):
    with pytest.raises(InputError, match="expected a tensor or array") as caught:
        as_batches(handed)
    assert "\n" not in str(caught.value)


def test_arrays_are_tensors_also_as_labels_and_by_name():
    images, classes = IMAGES.numpy(), CLASSES.numpy()
    images.flags.writeable = False
    [batch] = as_batches((images, classes))
    assert torch.equal(batch.inputs, IMAGES)
    assert torch.equal(batch.labels, CLASSES)
    [batch] = as_batches(images)
    assert batch.labels is None
    [batch] = as_batches({"x": images, "y": classes})
    assert batch.names == ("x",)
    assert torch.equal(batch.labels, CLASSES)
    [batch] = as_batches([images, classes])
    assert torch.equal(batch.labels, CLASSES)
    with pytest.raises(DataError, match="array of object"):
        as_batches(np.array([object()]))


def test_a_frame_of_pandas_says_what_to_write():
    with pytest.raises(InputError, match=r"write \(frame\[columns\].to_numpy\(\), frame\[label\].to_numpy\(\)\)"):
        as_batches(pandas.DataFrame({"a": [1.0]}))


@pytest.mark.parametrize("name", LABELS)
def test_a_mapping_has_its_labels_inside(name):
    [batch] = as_batches(UserDict({"input_ids": C.view(3, 1), "attention_mask": torch.ones(3, 1), name: C}))
    assert batch.names == ("attention_mask", "input_ids")
    assert batch.labels is C
    [batch] = as_batches({"input_ids": C.view(3, 1)})
    assert batch.labels is None


def test_a_mapping_that_leaves_a_doubt_is_refused():
    with pytest.raises(InputError, match=r"labels and y are both names of labels; write \(mapping, labels\)"):
        as_batches({"x": X, "labels": C, "y": C})
    with pytest.raises(InputError, match=r"labels alone; write Batch\(mapping\)"):
        as_batches({"labels": C})
    with pytest.raises(InputError, match=r'input_ids is a list; .*return_tensors="pt"'):
        as_batches({"input_ids": [[1, 2], [3]]})
    with pytest.raises(DataError, match="empty mapping"):
        as_batches({})


@pytest.mark.parametrize(
    ("inputs", "labels"),
    [
        (IMAGES, CLASSES),
        (IMAGES, torch.rand(20)),
        (IMAGES, torch.randint(3, (20, 8, 8))),  # a map of classes
        (torch.randn(20, 5), torch.randn(20, 2)),  # several targets
        (torch.randint(9, (20, 7)), CLASSES),  # tokens
        (torch.randn(20, 1), torch.randint(2, (20, 1))),
    ],
)
def test_a_list_of_inputs_and_labels_as_loaders_give_it(inputs, labels):
    [batch] = as_batches([inputs, labels])
    assert batch.inputs is inputs
    assert batch.labels is labels


def test_a_list_of_several_inputs_or_named_ones_and_labels():
    [batch] = as_batches([[X, C], torch.zeros(3)])
    assert len(batch.parts) == 2
    [batch] = as_batches([{"x": X}, C])
    assert batch.names == ("x",)


def test_a_list_of_batches_stays_one():
    assert [len(batch) for batch in as_batches([X, X[:2]])] == [3, 2]
    assert [len(batch) for batch in as_batches([X, X, X])] == [3, 3, 3]
    assert [batch.labels is C for batch in as_batches([(X, C), (X, C)])] == [True, True]
    assert [batch.labels for batch in as_batches([Batch(X), Batch(X)])] == [None, None]


def test_a_list_that_leaves_a_doubt_is_refused():
    with pytest.raises(
        InputError, match=r"two tensors alike; write \(inputs, labels\), or \[Batch\(first\), Batch\(sec"
    ):
        as_batches([X, X])
    with pytest.raises(InputError, match=r"3 tensors of different kinds; write \(\(first, second\), labels\)"):
        as_batches([X, C.view(3, 1), C])
    with pytest.raises(DataError, match="3 inputs but 2 labels"):
        as_batches([X, C[:2]])


SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@examples(150)
@given(shapes=st.lists(SHAPES, min_size=1, max_size=3), whole=st.lists(st.booleans(), min_size=3, max_size=3))
def test_a_list_of_any_tensors_is_batches_or_our_own_error(shapes, whole):
    parts = [
        torch.zeros(shape, dtype=torch.int64 if w else torch.float32) for shape, w in zip(shapes, whole, strict=False)
    ]
    try:
        found = as_batches(parts)
    except ForeseeError:
        return
    used = [id(part) for batch in found for part in (*batch.parts, batch.labels) if part is not None]
    assert sorted(used) == sorted(map(id, parts))  # nothing is lost, and nothing is read twice


# -- loaders and data sets --------------------------------------------------------------------------------------------------
class Counted(Dataset):
    """Counts what is read of it."""

    def __init__(self, length=1000):
        self.length, self.read = length, []

    def __len__(self):
        return self.length

    def __getitem__(self, number):
        if number >= self.length:
            raise IndexError
        self.read.append(number)
        return torch.full((2,), float(number)), number % 3


def test_of_a_loader_the_first_batches_are_taken_and_no_more():
    data = Counted()
    batches = as_batches(DataLoader(data, batch_size=5), count=3)
    assert [batch.parts[0][:, 0].tolist() for batch in batches] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
        [10, 11, 12, 13, 14],
    ]
    assert batches[0].labels.tolist() == [0, 1, 2, 0, 1]
    assert len(data.read) == 15
    assert len(as_batches(DataLoader(data, batch_size=400), count=9)) == 3  # as many as there are


@pytest.mark.parametrize("own", [True, False])
def test_reading_a_loader_leaves_every_random_state_and_gives_the_same_again(own):
    generator = torch.Generator().manual_seed(5) if own else None
    loader = DataLoader(Counted(), batch_size=5, shuffle=True, generator=generator)
    before, own_before = states(), generator.get_state().tolist() if own else None
    first, again = as_batches(loader, seed=1), as_batches(loader, seed=1)
    assert torch.equal(first[0].inputs, again[0].inputs)
    assert states() == before
    if own:
        assert generator.get_state().tolist() == own_before
    else:
        assert not torch.equal(first[0].inputs, as_batches(loader, seed=2)[0].inputs)


def test_a_loader_that_is_being_read_goes_on_where_it_was():
    loader = DataLoader(Counted(), batch_size=2, num_workers=1, persistent_workers=True)
    going = iter(loader)
    next(going)
    as_batches(loader)
    assert next(going)[0][:, 0].tolist() == [2, 3]


def test_of_a_data_set_samples_are_drawn_by_the_seed():
    data = Counted()
    [one], [again], [other] = (as_batches(data, size=16, seed=seed) for seed in (0, 0, 1))
    assert len(one) == 16
    assert torch.equal(one.inputs, again.inputs)
    assert not torch.equal(one.inputs, other.inputs)
    assert len(set(one.inputs[:, 0].tolist())) == 16
    assert len(data.read) == 48
    assert [len(batch) for batch in as_batches(data, count=3, size=5)] == [5, 5, 5]
    assert [len(batch) for batch in as_batches(Counted(12), count=3, size=5)] == [5, 5]
    assert [len(batch) for batch in as_batches(Counted(3), count=3, size=5)] == [3]


def test_data_sets_of_all_kinds():
    class Stream(IterableDataset):
        def __iter__(self):
            return ({"x": torch.ones(2), "label": number % 2} for number in range(10**9))

    class Alike:
        def __len__(self):
            return 4

        def __getitem__(self, number):
            return {"input_ids": np.arange(3), "labels": number % 2}

    [batch] = as_batches(Stream(), size=3)
    assert (batch.names, batch.labels.tolist()) == (("x",), [0, 1, 0])
    [batch] = as_batches(Alike())
    assert (batch.names, len(batch)) == (("input_ids",), 4)
    [batch] = as_batches(TensorDataset(X), size=2)
    assert batch.labels is None
    [batch] = as_batches(TensorDataset(IMAGES, CLASSES), size=2)
    assert batch.labels.dtype == torch.int64


def test_several_readers_share_one_reading():
    data = Counted()
    handed = read(data, [(1, 16), (4, 8), (2, 16)])
    assert len(data.read) == 32
    assert [len(batch) for batch in handed.wanted(4, 8)] == [8, 8, 8, 8]
    assert torch.equal(handed.wanted(1, 16)[0].inputs, handed.wanted(2, 16)[0].inputs)
    data.read.clear()
    loader = read(DataLoader(data, batch_size=4), [(1, 16), (1, 64), (3, 64)])
    assert len(data.read) == 12
    assert loader.wanted(1, 16) is loader.wanted(1, 64)
    assert read(loader) is loader


class Broken(Counted):
    def __getitem__(self, number):
        raise ValueError("a file is gone\nand more of it")


@pytest.mark.parametrize(
    ("handed", "line"),
    [
        (Broken(), "the data set Broken cannot be read: and more of it"),
        (DataLoader(Broken(), num_workers=1), "the DataLoader cannot be read: and more of it"),
        (DataLoader(Counted(0)), "the DataLoader is empty"),
        (Counted(0), "the data set Counted is empty"),
        (TensorDataset(X, X, C), "samples of 3 parts; expected inputs and labels"),
    ],
)
def test_what_cannot_be_read_is_one_line(handed, line):
    with pytest.raises(ForeseeError, match=line) as caught:
        as_batches(handed)
    assert "\n" not in str(caught.value)


def test_samples_that_cannot_be_put_together_say_what_to_do():
    class Pictures(Counted):
        def __getitem__(self, number):
            return object(), 1

    class Ragged(Counted):
        def __getitem__(self, number):
            return torch.zeros(1 + number % 3), 1

    for data in (Pictures(), Ragged()):
        with pytest.raises(DataError, match=r"cannot be put together .*let its transform make tensors of one shape"):
            as_batches(data)


# -- and scores of them -----------------------------------------------------------------------------------------------------
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))


def test_scores_are_those_of_the_same_tensors():
    net, names = network(), ["foresee", "snip", "naswot", "synflow"]
    expected = fs.scores(net, (IMAGES, CLASSES), names)
    for handed in (
        [IMAGES, CLASSES],
        (IMAGES.numpy(), CLASSES.numpy()),
        DataLoader(TensorDataset(IMAGES, CLASSES), batch_size=20),
        {"input": IMAGES, "labels": CLASSES},
    ):
        found = fs.scores(net, handed, names)
        if isinstance(handed, dict):  # an input made by the proxy has no name
            found["synflow"] = expected["synflow"]
        assert {n: s.value for n, s in found.items()} == {n: s.value for n, s in expected.items()}


def test_each_proxy_gets_as_many_samples_of_a_data_set_as_it_asks_for():
    seen = set()

    class Spy(nn.Linear):
        def forward(self, x):
            seen.add(len(x))
            return super().forward(x)

    data = Counted()
    found = fs.scores(Spy(2, 3), data, ["foresee", "snip", "zico", "dextr"])
    assert {16, 64, 128, 1} <= seen
    assert list(found) == ["foresee", "snip", "zico", "dextr"]
    assert len(data.read) == 256  # two batches of 128, and the others out of them
    assert all(one.status != "failed" for one in found.values())


def test_a_score_of_a_data_set_does_not_depend_on_its_company():
    net = network()
    data = TensorDataset(IMAGES, CLASSES)
    together = fs.scores(net, data, ["zico", "snip", "fisher_rao", "foresee"])
    for name, one in together.items():
        assert fs.score(net, data, name).value == pytest.approx(one.value, rel=1e-6)


def test_networks_are_ranked_on_one_reading_of_a_loader():
    data = Counted()
    found = fs.rank({"a": nn.Linear(2, 3), "b": nn.Linear(2, 3)}, DataLoader(data, batch_size=4, shuffle=True), "snip")
    assert len(data.read) == 4
    assert all(one["snip"].ok for one in found.scores.values())


def test_a_proxy_that_wants_more_than_there_is_stops_no_other():
    net = network()
    for handed in ((IMAGES, CLASSES), TensorDataset(IMAGES, CLASSES), DataLoader(TensorDataset(IMAGES, CLASSES), 5)):
        asked = {"hnas": {"metric_batch": 64}}
        found = fs.scores(net, handed, ["knas", "hnas", "snip"], settings=asked)
        assert found["snip"].ok
        assert found["knas"].status == found["hnas"].status == "unsupported"
        assert "50 batches are needed" in found["knas"].reason
        assert "64 samples are needed" in found["hnas"].reason


def test_the_three_parts_of_a_click_log_are_one_batch():
    dense, sparse, labels = torch.rand(6, 3), torch.arange(12).view(6, 2), torch.arange(6) % 2
    for handed in ((dense, sparse, labels), (dense.numpy(), sparse.numpy(), labels.float().view(6, 1).numpy())):
        (batch,) = as_batches(handed)
        assert torch.equal(batch.parts[0], dense)
        assert torch.equal(batch.parts[1], sparse)
        assert len(batch.labels) == 6
    loader = DataLoader(TensorDataset(dense, sparse, labels), batch_size=4)
    assert [len(batch) for batch in as_batches(loader, count=2)] == [4, 2]
    for wrong in (
        (sparse, dense, labels),
        (dense, sparse, labels[:5]),
        (dense, dense, labels),
        (dense[0], sparse, labels),
    ):
        with pytest.raises(InputError, match="for several inputs"):
            as_batches(wrong)


def test_a_data_set_of_foresee_hands_out_its_own_batches():
    from foresee.data.features import Features

    data = Features(np.random.default_rng(0).normal(size=(20, 3)), np.arange(40).reshape(20, 2) % 5, np.arange(20) % 2)
    first, second = as_batches(data, count=2, size=8, seed=3)
    assert torch.equal(first.parts[0], data.batch(8, seed=3).parts[0])
    assert torch.equal(second.parts[1], data.batch(8, seed=3, index=1).parts[1])
    assert len(as_batches(data, size=500)[0]) == 20
