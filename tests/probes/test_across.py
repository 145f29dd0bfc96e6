from __future__ import annotations

import torch

from foresee.probes.across import Among, Many, across


def rows(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def spread(gradients):
    return gradients.std(-2).sum(-1)


def along(parameter, gradients):
    return (parameter * gradients).sum(-1)


def test_a_formula_goes_over_the_batches_of_each_parameter():
    first, second = ({"w": rows(seed, 3, 2), "b": rows(seed + 9, 4)} for seed in (1, 2))
    found = across([first, second], spread, ["w"])
    assert list(found) == ["w"]
    assert torch.equal(found["w"], torch.stack([first["w"].flatten(), second["w"].flatten()]).std(0).sum())
    theta = {"w": rows(5, 3, 2), "b": rows(6, 4)}
    products = across([first, second], along, ["b", "w"], theta)
    for name, one in products.items():
        expected = torch.stack([(theta[name] * own[name]).sum() for own in (first, second)])
        torch.testing.assert_close(one, expected)


class Known(Many):
    """Says what it was asked."""

    def __init__(self):
        self.asked = []

    def across(self, batches, formula, parameters):
        self.asked.append((list(batches), formula, parameters))
        return [{"w": torch.tensor(float(place)), "b": torch.tensor(7.0)} for place in range(3)]


def test_one_of_many_reads_what_all_were_asked_for():
    first, second = Known(), Known()
    batches = [Among({"w": rows(1, 2)}, many, 2) for many in (first, second)]
    assert across(batches, spread, ["w"]) == {"w": 2.0}
    assert across(batches, along, ["w"], {"w": rows(3, 2)}) == {"w": 2.0}
    assert first.asked == [([first, second], spread, False), ([first, second], along, True)]
    assert second.asked == []
    assert float(across([dict(one) for one in batches], spread, ["w"])["w"]) == 0  # by themselves: equal in both
