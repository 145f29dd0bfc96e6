from __future__ import annotations

import torch
from tests.stacking import CPU

from foresee.scoring.stacked.transformer import Attention, Learnt, Patches, Table
from foresee.scoring.stacked.weights import Stream, truncated


def test_patches_draw_what_a_convolution_of_torch_draws():
    patches = Patches("patches", 3, 5, 4)
    torch.manual_seed(2)
    conv = torch.nn.Conv2d(3, 5, 4, stride=4)
    assert (patches.numbers, patches.drawn, patches.stride) == (conv.weight.numel(), 245, 4)
    after = Stream(2, 300, CPU).biases(torch.tensor([patches.drawn]), 1, 1)[0]
    assert torch.equal(after, torch.nn.init.uniform_(torch.empty(1), -1, 1))


def test_what_is_learnt_is_drawn_when_all_modules_are_there_and_a_table_when_it_is_made():
    table, learnt = Table("keys", 6, 4, 0.02), Learnt("cls", 6, 4, 0.02)
    assert (table.numbers, table.drawn) == (24, truncated(24))
    assert (learnt.numbers, learnt.drawn) == (24, 0)


def test_tables_are_made_in_order():
    one, two, three, four = (Table(name, 6, 4, 0.02) for name in "abcd")
    assert Attention(2, 4, (one, two), (three, four), torch.zeros(2, 7, 7)).tables == (one, two, three, four)
