"""NASRec architectures: text, errors, liveness, token."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import InputError
from foresee.seeds import stream
from foresee.spaces.nasrec import Architecture, NASRecFull, NASRecSmall
from foresee.spaces.nasrec.architecture import liveness

TWO = "linear2d:256@0 linear3d:48@0 interact / dot:16@0,1 transformer:16@1 pair@1,0 fm"


@given(
    st.integers(0, 2**40),
    st.sampled_from([NASRecSmall, NASRecFull]),
    st.sampled_from(["uniform", "published"]),
)
@examples(40)
def test_text_round_trip(seed, kind, sampling):
    architecture = kind(sampling=sampling).sample(stream(seed))
    assert Architecture.parse(str(architecture)) == architecture


def test_fields_of_the_text():
    first, second = Architecture.parse(TWO).blocks
    assert (first.dense, first.dense_width, first.dense_inputs, first.interact, first.fm) == (
        *("linear2d", 256, (0,)),
        *(True, False),
    )
    assert (second.sparse, second.sparse_width, second.sparse_inputs) == ("transformer", 16, (1,))
    assert (second.left, second.right, second.interact, second.fm) == (1, 0, False, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "block 1: '' is too short"),
        ("linear2d:16@0", "block 1: 'linear2d:16@0' is too short"),
        ("liner2d:16@0 linear3d:16@0", "unknown dense operation of block 1 'liner2d': did you mean linear2d"),
        ("linear3d:16@0 linear3d:16@0", "unknown dense operation of block 1 'linear3d'"),
        (
            "linear2d:16@0 linear3d16@0",
            "block 1: sparse part 'linear3d16@0', expected operation:width@inputs",
        ),
        ("linear2d:16@1 linear3d:16@0", "block 1 reads input 1: expected 0 to 0"),
        ("linear2d:16@0 linear3d:16@0 / dot:16@1,0 linear3d:16@0", "block 2: dense inputs '1,0'"),
        ("linear2d:16@0 linear3d:16@0 / dot:16@0 linear3d:16@0,0", "block 2: sparse inputs '0,0'"),
        ("linear2d:16@0 linear3d:16@0 pair@0", "block 1: 'pair@0', expected the two inputs"),
        ("linear2d:16@0 linear3d:16@0 pair@0,3", "block 1 reads input 3"),
        ("linear2d:16@0 linear3d:16@0 interac", "unknown word in block 1 'interac': did you mean interact"),
        ("linear2d:16@0 linear3d:16@0 fm interact", "expected each word once, in the order interact fm"),
        ("linear2d:16@0 linear3d:16@0 fm fm", "expected each word once"),
        ("linear2d:0@0 linear3d:16@0", "block 1: widths 0 and 16"),
    ],
)
def test_precise_errors(text, message):
    with pytest.raises(InputError) as caught:
        Architecture.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("linear2d:256", "linear2d:255"), "block 1: dense width 255, expected one of 16, 32"),
        (("linear3d:48@0 ", "linear3d:17@0 "), "block 1: sparse width 17, expected one of 16, 32, 48, 64"),
        (("linear2d:256@0 ", "gate:256@0 "), "dense operation of block 1 in nasrec_small 'gate'"),
        (("@0,3,5 ", "@0,1,2,3,5 "), "block 7: 5 dense inputs, expected at most 4"),
        ((" / linear2d:1024@0,3,5 linear3d:64@0,1,2,5", ""), "6 blocks joined by /, expected 7"),
    ],
)
def test_outside_the_space(change, message):
    space = NASRecSmall()
    text = str(space.named["Criteo_Small_best"])
    assert change[0] in text
    with pytest.raises(InputError) as caught:
        space.parse(text.replace(*change))
    assert message in str(caught.value)


def test_what_lives_by_gradient(task, clicks):
    """The embeddings and parts called alive are those that the logit depends on."""
    space = NASRecFull(blocks=4, dense_widths=(16, 32), sparse_widths=(4, 8))
    for number in range(15):
        architecture = space.sample(stream(3, number))
        live, embeddings = liveness(architecture)
        network = space.build(architecture, task)
        dense, sparse = clicks(task)
        network(dense, sparse).sum().backward()
        assert embeddings == (network.embeddings.tables[0].weight.grad is not None)
        for block, alive in zip(network.blocks, live, strict=True):
            for part in ("dense", "sparse"):
                gradients = [p.grad is not None for p in getattr(block, part).parameters()]
                assert gradients == [getattr(alive, part)] * len(gradients), f"{architecture}: {part}"


def test_token_digits():
    space = NASRecSmall(blocks=2)
    architecture = space.parse("linear2d:256@0 linear3d:48@0 interact / dot:16@0,1 linear3d:16@1 pair@1,0 fm")
    wires = "10101010" + "11010110"
    choices = "101420110" + "011001001"
    assert space.token(architecture) == wires + choices


def test_token_of_the_published_space_has_its_length():
    small, full = NASRecSmall(), NASRecFull()
    assert len(small.token(small.sample(stream(0)))) == 7 * (4 * 7 + 3 + 1 + 1 + 2 + 2)
    assert len(full.token(full.sample(stream(0)))) == 7 * (4 * 7 + 6 + 1 + 1 + 2 + 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # the pair of an operation that reads its inputs, and the inputs of one that reads the pair
        ("dot:16@0,1 linear3d:4@1 pair@1,0", "dot:16@0,1 linear3d:4@1"),
        ("gate:16@0 linear3d:4@1 pair@1,0", "gate:16@1 linear3d:4@1 pair@1,0"),
        ("sum:16@0 linear3d:4@1 pair@1,0", "sum:16@0 linear3d:4@1 pair@0,1"),
    ],
)
def test_equal_functions_have_one_identity(one, other, task, clicks):
    first = "linear2d:16@0 linear3d:4@0 / "
    space = NASRecFull(blocks=2, dense_widths=(16, 32), sparse_widths=(4, 8))
    one, other = space.parse(first + one), space.parse(first + other)
    assert space.canonical(one) == space.canonical(other)
    assert space.token(one) != space.token(other)
    outputs = []
    for architecture in (one, other):
        torch.manual_seed(0)
        outputs.append(space.build(architecture, task)(*clicks(task)))
    assert torch.equal(outputs[0], outputs[1])


def test_dead_blocks_do_not_count():
    space = NASRecFull(blocks=3, dense_widths=(16, 32), sparse_widths=(4, 8))
    text = "linear2d:16@0 linear3d:4@0 / {} / linear2d:16@0,1 linear3d:4@1"
    dead = [space.parse(text.format(block)) for block in ("dot:16@1 linear3d:4@1 fm", "gate:32@0 transformer:8@0")]
    assert space.canonical(dead[0]) == space.canonical(dead[1])
    alive = [space.parse(str(one).replace("@0,1 linear3d:4@1", "@0,1 linear3d:4@2")) for one in dead]
    assert space.canonical(alive[0]) != space.canonical(alive[1])
    by_token = NASRecFull(blocks=3, dense_widths=(16, 32), sparse_widths=(4, 8), identity="token")
    assert by_token.canonical(dead[0]) != by_token.canonical(dead[1])


def test_every_read_gene_has_its_own_identity():
    """Changing a gene that is read changes the identity: a mutation of a fully alive block never keeps it."""
    space = NASRecFull(blocks=2, dense_widths=(16, 32), sparse_widths=(4, 8))
    base = space.parse("linear2d:16@0 linear3d:4@0 / dot:16@0,1 linear3d:4@1")
    seen = {str(base): space.canonical(base)}
    for seed in range(200):
        other = space.mutate(base, stream(seed))
        seen[str(other)] = space.canonical(other)
    assert len(seen) > 12
    assert len(set(seen.values())) == len(seen)
