from __future__ import annotations

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.probes.splitting import out_of_memory, predicted_bytes

SIZES: list[int] = []


class Hungry(nn.Module):
    """Runs out of memory on more than `most` samples."""

    def __init__(self, most, norm=False):
        super().__init__()
        self.most = most
        self.net = nn.Sequential(
            nn.Conv2d(3, 4, 3),
            nn.BatchNorm2d(4) if norm else nn.GroupNorm(2, 4),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(144, 5),
        )

    def forward(self, x):
        SIZES.append(len(x))
        if len(x) > self.most:
            raise torch.OutOfMemoryError("no room")
        return self.net(x)


BATCH = (torch.randn(11, 3, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(11) % 5)


@pytest.mark.parametrize("name", ["grad_norm", "snip", "plain", "jacov", "epe_nas", "current_loss"])
def test_a_split_batch_gives_the_same_score(name):
    torch.manual_seed(0)
    large, small = Hungry(100).double(), Hungry(3).double()
    small.load_state_dict(large.state_dict())
    batch = (BATCH[0].double(), BATCH[1])
    whole = fs.score(large, batch, name)
    SIZES.clear()
    split = fs.score(small, batch, name)
    assert 0 < min(SIZES) <= 3
    assert split.status == "ok"
    assert split.value == pytest.approx(whole.value, rel=1e-9)


def test_batch_statistics_cannot_be_split():
    found = fs.score(Hungry(3, norm=True), BATCH, "grad_norm")
    assert found.status == "out_of_memory"
    assert "no room" in found.reason


def test_one_sample_that_does_not_fit_is_a_status():
    assert fs.score(Hungry(0), BATCH, "grad_norm").status == "out_of_memory"


def test_the_prediction_is_what_autograd_stores():
    torch.manual_seed(0)
    net = Hungry(100).net
    own = {p.untyped_storage().data_ptr() for p in net.parameters()}
    saved = {}

    def keep(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        kept = net(BATCH[0])
    gradients = sum(p.numel() * 4 for p in net.parameters())
    assert kept is not None
    assert predicted_bytes(net, BATCH) == sum(saved.values()) + gradients


def test_out_of_memory_is_recognised():
    assert out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert out_of_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."))
    assert out_of_memory(RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"))
    assert out_of_memory(RuntimeError("std::bad_alloc"))
    assert out_of_memory(MemoryError())
    assert not out_of_memory(RuntimeError("shapes"))


def test_out_of_memory_on_a_cpu_is_a_status():
    class Greedy(nn.Linear):
        def forward(self, x):
            return super().forward(x) + torch.empty(2**60).sum()

    found = fs.score(Greedy(2, 2), torch.zeros(4, 2), "jacov")
    assert found.status == "out_of_memory"
