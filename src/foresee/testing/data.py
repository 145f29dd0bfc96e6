"""What every data set must do, as tests.

    class TestMine(DataSuite):
        def data(self):
            return Mine("a small one")

pytest finds the tests in the subclass. Every assertion says what was expected of which batch.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np
import torch

from foresee.batch import Batch
from foresee.data import Data
from foresee.errors import ForeseeError
from foresee.testing.samples import fingerprint_elsewhere, labels_of, pickled, random_states, raw, same, samples, whole


class DataSuite:
    """Base class; a subclass gives `data` and, where the defaults do not fit, the rest."""

    #: samples of a batch; no divisor of the number of samples, so that the last batch of an epoch is smaller
    size: ClassVar[int] = 4
    #: numbers of batches that are asked for singly
    indices: ClassVar[tuple[int, ...]] = (0, 1, 7)
    #: whether the seed decides which samples a batch holds; batches handed over are as they are
    drawn: ClassVar[bool] = True
    seed: ClassVar[int] = 0

    def data(self) -> Data:
        """The data set under test, made anew and always the same: small, with at least 10 samples."""
        raise NotImplementedError("give the suite its data: def data(self): return ...")

    def others(self) -> Iterable[Data]:
        """Data sets that hand out something else, and so must have other fingerprints."""
        return ()

    # -- for looking --------------------------------------------------------------------------------------------------
    def test_same_numbers_same_batch(self) -> None:
        """A batch depends on size, seed and number only; not on what was asked before, nor on global random numbers."""
        first, second = self.data(), self.data()
        for index in reversed(self.indices):
            torch.rand(3), random.random(), np.random.rand()  # noqa: NPY002
            second.batch(self.size, seed=self.seed, index=index)
            second.batch(self.size, seed=self.seed + 1, index=0)
        for index in self.indices:
            one, other = (data.batch(self.size, seed=self.seed, index=index) for data in (first, second))
            assert same(one, other), f"batch {index} is another one when asked for in another order"
        together = first.batches(max(self.indices) + 1, self.size, self.seed)
        for index in self.indices:
            alone = second.batch(self.size, seed=self.seed, index=index)
            assert same(together[index], alone), f"batch {index} of `batches` is not that of `batch`"

    def test_the_seed_decides(self) -> None:
        """Other seeds give other batches."""
        if self.drawn:
            data = self.data()
            several = {tuple(samples([data.batch(self.size, seed=seed)])) for seed in range(10)}
            assert len(several) > 1, "ten seeds gave the same batch"

    def test_a_lap_is_disjoint(self) -> None:
        """Batches 0, 1, 2, ... hold no sample twice until all are through."""
        data = self.data()
        every = None if data.endless else Counter(whole(data))
        count = 5 if every is None else len(data) // self.size
        seen = samples(data.batches(count, self.size, self.seed))
        if every is None:
            assert len(set(seen)) == len(seen), "a sample of endless data came twice"
            return
        strange = [sample for sample in seen if sample not in every]
        assert not strange, f"{len(strange)} samples of batches are not those that `read` and `normalised` give"
        twice = sum((Counter(seen) - every).values())
        assert not twice, f"{twice} samples came again within one lap"

    # -- for training -------------------------------------------------------------------------------------------------
    def test_an_epoch_is_everything_once(self) -> None:
        """All samples, each once, in as many batches as `steps` says, only the last one smaller."""
        data = self.data()
        batches = list(data.epoch(self.size, seed=self.seed))
        assert len(batches) == data.steps(self.size), f"{len(batches)} batches, `steps` says {data.steps(self.size)}"
        full, rest = divmod(data.epoch_samples, self.size)
        expected = [self.size] * full + [rest] * bool(rest)
        assert [len(batch) for batch in batches] == expected, f"batches of {[len(b) for b in batches]}, not {expected}"
        seen = samples(batches)
        if data.endless:
            assert len(set(seen)) == len(seen), "a sample of endless data came twice"
        else:
            assert data.epoch_samples == len(data), f"an epoch of {data.epoch_samples} of {len(data)} samples"
            missing, extra = Counter(whole(data)) - Counter(seen), Counter(seen) - Counter(whole(data))
            assert not missing, f"{sum(missing.values())} samples are missing from an epoch"
            assert not extra, f"{sum(extra.values())} samples are in an epoch that should not be, or came twice"

    def test_epochs(self) -> None:
        """The seed and the number decide over the order; without shuffling it is that of the samples' numbers."""
        data = self.data()
        orders = [samples(data.epoch(self.size, seed=seed, number=n)) for seed, n in ((0, 0), (0, 1), (1, 0), (0, 0))]
        assert orders[0] == orders[3], "the same epoch came in another order when asked for again"
        assert orders[0] != orders[1], "two epochs came in the same order"
        assert orders[0] != orders[2], "two seeds gave the same order"
        dropped = list(data.epoch(self.size, seed=self.seed, drop_last=True))
        kept = [batch for batch in data.epoch(self.size, seed=self.seed) if len(batch) == self.size]
        assert len(dropped) == data.steps(self.size, drop_last=True), "`steps` counts a batch that is dropped"
        assert samples(dropped) == samples(kept), "dropping the smaller batch changed the others"
        if not data.endless:
            in_order = samples(data.epoch(self.size, seed=self.seed, shuffle=False))
            assert in_order == whole(data), "without shuffling, samples do not come by their numbers"

    def test_an_epoch_is_resumed(self) -> None:
        """From any batch on, a new process gives what the whole epoch gives there."""
        all_of_it = list(self.data().epoch(self.size, seed=self.seed, number=2))
        for start in {0, 1, len(all_of_it) // 2, len(all_of_it)}:
            rest = list(self.data().epoch(self.size, seed=self.seed, number=2, start=start))
            goes_on = len(rest) == len(all_of_it) - start and all(map(same, rest, all_of_it[start:]))
            assert goes_on, f"begun at batch {start} of {len(all_of_it)}, an epoch goes on with other batches"

    # -- parts --------------------------------------------------------------------------------------------------------
    def test_splits(self) -> None:
        """Parts are disjoint and together everything, the same for the same seed, normalised by the training part."""
        data = self.data()
        shares = {"train": 0.5, "val": 0.3, "test": 0.2}
        if data.endless:
            self._refused(lambda: data.split(shares), "splitting data without an end")
            return
        for ordered in (False, True):
            parts, again = (one.split(shares, seed=self.seed, ordered=ordered) for one in (data, self.data()))
            assert list(parts) == list(shares), f"asked for {list(shares)}, got {list(parts)}"
            rows = {name: raw(part) for name, part in parts.items()}
            joined = [row for several in rows.values() for row in several]
            order = "ordered" if ordered else "drawn"
            assert Counter(joined) == Counter(raw(data)), f"{order} parts are not disjoint or not everything together"
            assert not ordered or joined == raw(data), "ordered parts are not one after the other"
            for name, part in parts.items():
                quota = shares[name] * len(data)
                assert abs(len(part) - quota) < 1, f"{name} has {len(part)} samples, {quota:g} were asked for"
                assert raw(again[name]) == rows[name], f"{name} has other samples when split again"
                assert again[name].fingerprint == part.fingerprint, f"{name} has another fingerprint when split again"
                assert part.task == data.task, f"{name} is for {part.task}, the whole for {data.task}"
                if data.normalise is not False:
                    alike = part.statistics == parts["train"].statistics
                    assert alike, f"{name} is normalised by {part.statistics}, not as the training part"
            prints = [data.fingerprint, *(part.fingerprint for part in parts.values())]
            assert len(set(prints)) == len(prints), f"the whole and its {order} parts share a fingerprint: {prints}"

    # -- identity -----------------------------------------------------------------------------------------------------
    def test_fingerprint(self) -> None:
        """16 hexadecimal digits: the same when made again, when pickled and in another process; another for other data."""
        data = self.data()
        known = data.fingerprint
        sound = isinstance(known, str) and len(known) == 16 and set(known) <= set("0123456789abcdef")
        assert sound, f"the fingerprint {known!r} is not 16 hexadecimal digits"
        assert self.data().fingerprint == known, "made again, the data has another fingerprint"
        data.batch(self.size, seed=self.seed)
        assert data.fingerprint == known, "a batch changed the fingerprint"
        # A new one each time: one that was asked already may carry its answer along.
        assert pickled(self.data()).fingerprint == known, "pickled, it has another fingerprint"
        there = fingerprint_elsewhere(self.data())
        assert there == known, f"in another process the fingerprint is {there}, here it is {known}"
        for other in self.others():
            assert other.fingerprint != known, f"{other} has the same fingerprint as {data}"

    def test_pickling(self) -> None:
        """In another process the same batches come."""
        data = self.data()
        data.batch(self.size, seed=self.seed)
        again = pickled(data)
        for index in self.indices:
            batches = (one.batch(self.size, seed=self.seed, index=index) for one in (data, again))
            assert same(*batches), f"pickled, the data gives another batch {index}"

    # -- what is handed out -------------------------------------------------------------------------------------------
    def test_shapes_and_types(self) -> None:
        """Batches are as the task says."""
        data = self.data()
        every = [
            *(data.batch(self.size, seed=self.seed, index=index) for index in self.indices),
            *data.epoch(self.size),
        ]
        for batch in every:
            self._check(batch, data)
        assert [len(batch) for batch in every[: len(self.indices)]] == [self.size] * len(self.indices), "a wrong size"

    def test_nothing_global_is_touched(self) -> None:
        """The random states of Python, numpy and torch are as before."""
        before = random_states()
        data = self.data()
        uses: dict[str, Callable[[], object]] = {
            "making it": lambda: None,
            "a batch": lambda: data.batch(self.size, seed=self.seed),
            "an epoch": lambda: list(data.epoch(self.size, seed=self.seed)),
            "the fingerprint": lambda: data.fingerprint,
            "a split": lambda: None if data.endless else data.split({"train": 0.5, "test": 0.5}),
        }
        for use, do in uses.items():
            do()
            assert random_states() == before, f"{use} moved a global random state"

    def test_a_batch_is_the_callers_own(self) -> None:
        """Writing into a batch changes nothing that is handed out later."""
        data = self.data()
        ways: dict[str, Callable[[], list[Batch]]] = {
            "batch": lambda: [data.batch(self.size, seed=self.seed)],
            "batches": lambda: data.batches(2, self.size, self.seed),
            "epoch": lambda: list(data.epoch(self.size, seed=self.seed)),
        }
        if not data.endless:
            ways["read"] = lambda: [data.read(torch.arange(self.size))]
        for way, ask in ways.items():
            kept = [batch.each(lambda tensor: tensor.clone()) for batch in ask()]
            for batch in ask():
                for tensor in (*batch.parts, *labels_of(batch)):
                    tensor.fill_(1)
                    tensor.sub_(1)
            assert all(map(same, ask(), kept)), f"writing into what `{way}` gave changed what it gives next"

    def test_senseless_draws_are_refused(self) -> None:
        """Batches and epochs that cannot be are errors of ours, at once."""
        data = self.data()
        steps = data.steps(self.size)
        asked: dict[str, Callable[[], object]] = {
            "a batch of no samples": lambda: data.batch(0),
            "a batch before the first": lambda: data.batch(self.size, index=-1),
            "an epoch in batches of no samples": lambda: data.epoch(0),
            "an epoch before the first": lambda: data.epoch(self.size, number=-1),
            "an epoch from a batch beyond its end": lambda: data.epoch(self.size, start=steps + 1),
            "an epoch from a batch before its first": lambda: data.epoch(self.size, start=-1),
        }
        for what, ask in asked.items():
            self._refused(ask, what)

    # -- help -----------------------------------------------------------------------------------------------------------
    def _refused(self, ask: Callable[[], object], what: str) -> None:
        try:
            ask()
        except ForeseeError:
            return
        raise AssertionError(f"{what}: expected an error of foresee's")

    def _check(self, batch: Batch, data: Data) -> None:
        task, count = data.task, len(batch)
        floating = [part for part in batch.parts if part.is_floating_point()]
        main = floating[0] if task.vocabularies and floating else batch.parts[0]
        shape = tuple(main.shape)
        assert shape == (count, *task.inputs), f"inputs of shape {shape}, the task says {(count, *task.inputs)}"
        assert main.dtype == torch.float32, f"inputs of type {main.dtype}, expected float32"
        if task.vocabularies:
            integers = [part for part in batch.parts if part.dtype == torch.int64]
            assert len(integers) == 1, f"{len(integers)} parts of int64, expected one: the sparse features"
            [sparse] = integers
            expected = (count, len(task.vocabularies))
            assert tuple(sparse.shape) == expected, f"sparse features of shape {tuple(sparse.shape)}, not {expected}"
            inside = bool(((sparse >= 0) & (sparse < torch.tensor(task.vocabularies))).all())
            assert inside, f"sparse features outside their vocabularies {task.vocabularies}"
        for labels in labels_of(batch):
            if labels.dtype == torch.int64:
                assert labels.shape == (count,), f"classes of shape {tuple(labels.shape)}, expected ({count},)"
                low, high = int(labels.min()), int(labels.max())
                assert 0 <= low <= high < task.outputs, f"classes from {low} to {high}, for {task.outputs} outputs"
            else:
                assert labels.dtype == torch.float32, f"labels of type {labels.dtype}, expected int64 or float32"
                right = tuple(labels.shape) == (count, task.outputs)
                assert right, f"labels of shape {tuple(labels.shape)}, expected {(count, task.outputs)}"
