"""The three parts of the data: disjoint, by the seed, the data's own where it has them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.ensembles.finding.tiny import images

from foresee.data import Arrays
from foresee.ensembles.finding.parts import parts_of
from foresee.errors import InputError


def rows(data):
    return {tuple(one.flatten()[:20].tolist()) for one in data.read(torch.arange(len(data))).inputs}


def test_shares_are_disjoint_and_all_there_is():
    data = images()
    parts = parts_of(data, share=0.25, test_share=0.2, seed=3)
    sizes = [len(one) for one in (parts.train, parts.val, parts.test)]
    assert sizes == [72, 24, 24]
    found = [rows(one) for one in (parts.train, parts.val, parts.test)]
    assert len(set.union(*found)) == 120
    assert parts.val.statistics == parts.train.statistics == parts.statistics


def test_the_seed_draws_them():
    data = images()
    assert parts_of(data, seed=1).words == parts_of(data, seed=1).words
    assert parts_of(data, seed=1).words != parts_of(data, seed=2).words


def test_what_is_handed_over_is_taken():
    data, other = images(), images(30)
    parts = parts_of(data, test=other, share=0.5)
    assert (len(parts.train), len(parts.val), len(parts.test)) == (60, 60, 30)
    whole = parts_of(data, val=other, test=other)
    assert (len(whole.train), len(whole.val)) == (120, 30)


def test_a_file_with_splits_is_taken_as_it_is(tmp_path):
    data = images()
    batch = data.read(torch.arange(120))
    pixels = batch.inputs.mul(255).round().byte().numpy()
    arrays = {"x_train": pixels[:80], "y_train": batch.labels[:80].numpy(), "x_test": pixels[80:]}
    np.savez(tmp_path / "images.npz", **arrays, y_test=batch.labels[80:].numpy())
    parts = parts_of(tmp_path / "images.npz", share=0.25)
    assert (len(parts.train), len(parts.val), len(parts.test)) == (60, 20, 40)


def test_yes_or_no_is_refused():
    labels = np.arange(20, dtype=np.float32)[:, None] % 2
    with pytest.raises(InputError, match="no classes"):
        parts_of(Arrays(np.zeros((20, 3, 4, 4), np.uint8), labels))


def test_all_parts_are_normalised_by_what_is_learnt_from(tmp_path):
    """Of data with a test split too, of which the training split normalises the test split where nothing is kept back."""
    labels = np.arange(40) % 4
    pixels = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3), dtype=np.uint8)
    np.savez(tmp_path / "own.npz", x_train=pixels, y_train=labels, x_test=pixels[:12] // 2, y_test=labels[:12])
    for data in ("digits", tmp_path / "own.npz"):
        parts = parts_of(data, inputs=(3, 8, 8))
        assert parts.val.statistics == parts.test.statistics == parts.statistics
        batch = parts.test.read(torch.arange(4))
        assert torch.equal(parts.test.normalised(batch).inputs, parts.train.normalised(batch).inputs)
        assert len({one["fingerprint"] for one in parts.words.values()}) == 3
    mine = Arrays(pixels[:12], labels[:12])
    assert parts_of(tmp_path / "own.npz", test=mine).test is mine, "what is handed over as data stays as it is"
