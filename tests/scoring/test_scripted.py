"""TorchScript and compiled networks: the scores of the module they were made from, or a reason that is true."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.probes.looks import SCRIPTED

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
BATCH = (torch.randn(8, 3, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 4)
#: what looks at tensors, gradients and the graph, where hooks of layers are not needed
SEEN = ["foresee", "snip", "grad_norm", "plain", "l2_norm", "grasp", "jacov", "epe_nas", "nasi", "zico", "sigeo"]
SEEN += ["fisher_rao", "synflow_bn", "curvature", "params", "macs", "m_grad", "current_loss"]


def plain():
    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 6, 3), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)),
    )


@pytest.fixture(params=["script", "trace"])
def scripted(request):
    net = plain()
    return torch.jit.script(net) if request.param == "script" else torch.jit.trace(net, BATCH[0], check_trace=False)


def test_scores_are_those_of_the_module_also_after_many_runs(scripted):
    expected = fs.scores(plain(), BATCH, SEEN)
    for _ in range(3):  # the optimiser of TorchScript begins its work with the second run
        found = fs.scores(scripted, BATCH, SEEN)
        assert {name: one.status for name, one in found.items()} == dict.fromkeys(SEEN, "ok")
        for name, one in found.items():
            assert one.value == pytest.approx(expected[name].value, rel=1e-6), name


def test_what_needs_hooks_says_so(scripted):
    found = fs.scores(scripted, BATCH, "every")
    rest = {name: one for name, one in found.items() if name not in SEEN and not one.ok}
    assert {"naswot", "dextr", "meco", "ntk_cond", "fisher", "m_trace", "zen", "synflow"} <= set(rest)
    assert {name: one.status for name, one in rest.items()} == dict.fromkeys(rest, "unsupported")
    unlike = {name for name, one in rest.items() if SCRIPTED not in one.reason}
    assert unlike <= {"dss", "knas"}  # these would not apply to the module either


def test_weights_are_not_pretended_to_be_drawn(scripted):
    found = fs.score(scripted, BATCH, "snip", initialise="he")
    assert found.status == "unsupported"
    assert "not drawn anew" in found.reason


def test_a_network_with_a_scripted_part_is_left_as_found():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = torch.jit.script(plain()), nn.Linear(4, 4)

        def forward(self, x):
            return self.head(self.body(x))

    net = Mixed()
    before = torch._C._get_graph_executor_optimize()
    assert fs.score(net, BATCH, "snip").ok
    assert torch._C._get_graph_executor_optimize() == before


def test_compiled_networks_have_the_scores_of_the_eager_ones():
    names = [*SEEN, "naswot", "dextr", "meco", "ntk_cond", "fisher", "synflow", "az_trainability", "zen"]
    expected = fs.scores(plain(), BATCH, names)
    for net in (torch.compile(plain()), plain()):
        if not isinstance(net, torch._dynamo.OptimizedModule):
            net.compile()  # in place: the same module with a compiled call
        found = fs.scores(net, BATCH, names)
        assert {name: one.value for name, one in found.items()} == {name: one.value for name, one in expected.items()}
