"""The three written forms: round trips, the table's own cells, and what is refused."""

from __future__ import annotations

import pytest

from foresee.errors import InputError, UnknownNameError
from foresee.seeds import stream
from foresee.spaces.darts import DARTS, to_config, to_pairs
from foresee.spaces.darts.cells import OPS
from foresee.spaces.darts.counts import count
from foresee.spaces.darts.named import NAMED
from foresee.spaces.darts.network import Form, places
from foresee.spaces.darts.text import parse
from foresee.task import Task

V2 = NAMED["DARTS_V2"]
PREFIX = "NetworkSelectorDatasetInfo:darts:"


def test_the_genotype_of_the_darts_code():
    text = (
        "Genotype(normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_3x3', 1), "
        "('sep_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 0), ('dil_conv_3x3', 2)], "
        "normal_concat=range(2, 6), "
        "reduce=[('max_pool_3x3', 0), ('max_pool_3x3', 1), ('skip_connect', 2), ('max_pool_3x3', 1), "
        "('max_pool_3x3', 0), ('skip_connect', 2), ('skip_connect', 2), ('max_pool_3x3', 1)], "
        "reduce_concat=range(2, 6))"
    )
    assert parse(text) == V2 == parse(f"  {text}\n") == parse(text.replace("range(2, 6)", "[2, 3, 4, 5]"))
    assert str(V2) == text


@pytest.mark.parametrize("name", NAMED)
def test_named_architectures_round_trip(name):
    assert parse(str(NAMED[name])) == NAMED[name]


def test_all_forms_say_the_same():
    space = DARTS()
    for number in range(20):
        one = space.sample(stream(number))
        config = to_config(one)
        assert len(config) == 2 * (8 + 3)
        assert parse(str(config)) == one  # sampled edges are in order of their inputs, as those of a configuration
        assert parse(str(to_pairs(one))) == one
        assert space.canonical(parse(str(one))) == space.canonical(parse(str(config)))


def test_configuration_of_darts_v2():
    config = to_config(V2)
    assert config[f"{PREFIX}edge_normal_0"] == "sep_conv_3x3"
    assert config[f"{PREFIX}edge_normal_11"] == "dil_conv_3x3"  # node 5 reads node 2: 9 + 2
    assert config[f"{PREFIX}inputs_node_normal_5"] == "0_2"
    assert config[f"{PREFIX}inputs_node_reduce_3"] == "1_2"
    assert f"{PREFIX}inputs_node_normal_2" not in config


def test_cells_outside_the_space_have_no_other_form():
    for write in (to_config, to_pairs):
        with pytest.raises(InputError, match="outside"):
            write(NAMED["NASNet_A"])


def test_operation_indices_agree_with_the_table(nasbench301_rows):
    """Its networks: C = 32, 8 cells, no auxiliary head, norms with scale and shift at the cells' inputs only."""
    task, form = Task((3, 32, 32), 10), Form(32, 8, search=True)
    norms = sum(4 * place.channels for place in places(form, lambda kind: 4))
    space = DARTS()
    for row in nasbench301_rows:
        one = space.parse(row["arch"])
        assert space.contains(one)
        assert count(one, task, form).params + norms == round(1e6 * float(row["params"])), row["arch"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sep_conv_3x3", "sep_conv_3x"), r"normal cell, operation on edge 0.*did you mean sep_conv_3x3"),
        (("'dil_conv_3x3', 2", "'dil_conv_3x3', 5"), r"normal cell, edge 7: node 5 reads node 5"),
        (("('max_pool_3x3', 0)", "(0, 'max_pool_3x3')"), r"reduce cell, edge 0: \[0, 'max_pool_3x3'\]"),
        (("normal_concat=range(2, 6)", "normal_concat=range(2, 9)"), "joined node 6"),
        (("normal_concat=range(2, 6)", "normal_concat='all'"), "expected range"),
        (("normal_concat=range(2, 6), ", ""), "normal_concat missing"),
        (("normal_concat", "normal_cat"), "part of a genotype.*normal_concat"),
        (("range(2, 6)", "open('x')"), "is no text"),
        (("('max_pool_3x3', 0)", "('max_pool_3x3', -1)"), "is no text"),
        (("('max_pool_3x3', 0)", "('max_pool_3x3', True)"), "is no text"),
        (("range(2, 6))", "range(2, 6)"), "at character|never closed"),
        (("Genotype(", "Genotype(1, "), "is no text"),
        (("Genotype(", "__import__("), "is no text"),
    ],
)
def test_wrong_genotypes_are_refused_precisely(change, message):
    text = str(V2)
    assert change[0] in text
    with pytest.raises(InputError, match=message):
        parse(text.replace(*change))


@pytest.mark.parametrize("text", ["", "  ", "x", "3", "'DARTS'", "[", "((((", "(" * 5000, "\0", "[]" * 20_000, "{**a}"])
def test_nonsense_is_refused(text):
    with pytest.raises(InputError):
        parse(text)


def test_wrong_configurations_are_refused_precisely():
    config = to_config(V2)

    def refused(message, **changes):
        changed = {**config, **{PREFIX + key: value for key, value in changes.items()}}
        with pytest.raises(InputError, match=message):
            parse(str({key: value for key, value in changed.items() if value != "absent"}))

    refused("edge_normal_11 missing", edge_normal_11="absent")
    refused("inputs_node_reduce_4", inputs_node_reduce_4="absent")
    refused("inputs_node_reduce_4: '2_2'", inputs_node_reduce_4="2_2")
    refused("inputs_node_reduce_4: '0_9'", inputs_node_reduce_4="0_9")
    refused("edge_normal_4: that edge is not among the inputs", edge_normal_4=OPS[0])
    refused("NAS-Bench-301 entry 'edge_normal_14'", edge_normal_14=OPS[0])
    refused("normal cell, operation on edge 0", edge_normal_0="none")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[(0, 1)] * 8], "1 cells"),
        ([[(0, 1)] * 7, [(0, 1)] * 8], "normal cell"),
        ([[(0, 1)] * 8, [(0, 7)] * 8], "reduce cell, edge 0"),
        ([[(2, 1)] * 8, [(0, 1)] * 8], "normal cell, edge 0: node 2 reads node 2"),
        ([[(0, "skip_connect")] * 8, [(0, 1)] * 8], "normal cell, edge 0"),
    ],
)
def test_wrong_pairs_are_refused_precisely(pairs, message):
    with pytest.raises(InputError, match=message):
        parse(str(pairs))


def test_names_near_an_unknown_operation():
    with pytest.raises(UnknownNameError) as caught:
        parse(str(V2).replace("dil_conv_3x3", "none"))
    assert set(OPS) < set(caught.value.known)
