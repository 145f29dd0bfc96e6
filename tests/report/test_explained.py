"""The page of an explanation: self-contained, escaped, red where it has to be, and side by side with exact marks."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.insight.distributions import Distribution
from foresee.insight.explaining import explain
from foresee.insight.explanation import Cell, Explanation
from foresee.insight.kernels import KernelSpectrum
from foresee.insight.layers import Layer, Layers
from foresee.insight.pictures import STILL
from foresee.insight.standing import Standing
from foresee.insight.topology import shape_of
from foresee.report.explained import called, lead, render, save
from foresee.report.folders import kind_at, page_at, page_of
from foresee.spaces import get

EVIL = '<script>alert("x")</script>'


def made_up(text: str = "ResNet", name: str = "ResNet") -> Explanation:
    space = get("nasbench201")
    architecture = space.named[text] if text in space.named else space.parse(text)
    graph = space.graph(architecture)[0]
    spread = Distribution({(1.0, 3): 3, (1.5, 3): 6, (2.0, 2): 1}, "all 10", whole=True)
    rows = (
        Layer("stem", "Conv2d", 432, 4000, 9.0, 0.9, 0.8),
        Layer("dead", "Conv2d", 256, 2000, 16.0, 0.8, 0.0),
        Layer("norm", "BatchNorm2d", 32, 0),
    )
    return Explanation(
        name,
        space="nasbench201",
        architecture=str(architecture),
        facts=(("Seed", "0"),),
        params=720,
        macs=6000,
        cells=(Cell(graph, shape_of(graph), spread),),
        layers=Layers(rows),
        standings=(
            Standing(
                "foresee", 2.0, percentile=75.0, low=0.5, median=1.0, high=3.0, others=8, without=2, why="nan: no"
            ),
            Standing("dss", None, "unsupported", "no attention layer"),
        ),
        others="10 random architectures of nasbench201",
        looked="samples of digits",
        further=(("Train it", "foresee train nasbench201 ResNet --data digits"),),
        reasons={"kernel": "too large"},
    )


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for key, value in attrs if key in ("src", "href", "srcset", "action", "data")]


def links(page: str) -> list[str]:
    parser = Links()
    parser.feed(page)
    return parser.found


def test_the_page_needs_nothing_from_elsewhere() -> None:
    for page in (render(made_up()), render(made_up(), made_up("NATS_SSS", "other"))):
        assert all(link.startswith(("#", "data:")) for link in links(page))
        assert "@import" not in page
        assert not re.search(r"url\((?!#|data:)", page)


def test_it_says_what_there_is_and_what_there_is_not() -> None:
    page = render(made_up())
    assert "better than 75 % of 8 random ones" in page
    assert "dead is told nothing" in page
    assert page.count('class="num red"') == 1  # one layer, told
    assert "no attention layer" in page
    assert "too large" in page
    assert "foresee train nasbench201" in re.sub("<[^>]*>", "", page)
    assert re.search(r'class="num spot here"[^>]*>3\s*<', page)  # its own width and depth, and no other
    assert page.count("spot here") == 1


def test_two_without_short_names_are_told_apart() -> None:
    spectrum = KernelSpectrum(2, "label", "all", (1.0, 2.0), 3.0, 1.2, 2.0, 1.8)
    long = "|avg_pool_3x3~0|+|avg_pool_3x3~0|skip_connect~1|+|none~0|avg_pool_3x3~1|skip_connect~2|"
    one, other = (replace(made_up(), name=name, spectrum=spectrum) for name in (long, long.replace("avg", "max")))
    assert called([one, other]) == ["network 1", "network 2"]
    assert called([one]) == ["an architecture of nasbench201"]
    page = render(one, other)
    assert "Network 1 beside network 2" in page
    for name in ("network 1", "network 2"):
        assert f"{name}: trace 3" in page  # both spectra are drawn
    assert "cell of an architecture of nasbench201" in render(one)


def test_a_network_whose_outputs_stand_still_is_said_first() -> None:
    said = "Its outputs are the same whatever goes in"
    assert said in lead([replace(made_up(), reasons={"output curve": STILL})])
    assert said not in lead([made_up()])


def test_a_cell_without_connections_has_no_operations() -> None:
    page = render(made_up("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"))
    assert 'class="legend"' not in page.partition("What it looks like")[2].partition("Its shape")[0]


def test_a_stranger_s_text_is_escaped() -> None:
    bad = replace(
        made_up(),
        name=EVIL,
        facts=((EVIL, EVIL),),
        reasons={EVIL: EVIL},
        others=EVIL,
        looked=EVIL,
        further=((EVIL, EVIL),),
        layers=Layers((Layer(EVIL, EVIL, 1, 1, 4.0, 0.5, 0.0), Layer("b", "Linear", 1, 1, 4.0, 0.5, 0.5))),
        standings=(Standing(EVIL, None, "failed", EVIL),),
    )
    assert EVIL not in render(bad)
    assert EVIL not in render(bad, bad)


def test_side_by_side_marks_what_differs_and_nothing_else() -> None:
    one = made_up()
    same = render(one, one)
    assert 'class="differs"' not in same
    assert "the same, edge by edge" in same
    two = replace(
        made_up("|nor_conv_3x3~0|+|none~0|nor_conv_1x1~1|+|skip_connect~0|none~1|skip_connect~2|", "mine"),
        layers=Layers((one.layers.rows[0], replace(one.layers.rows[1], params=9))),  # type: ignore[union-attr]
        standings=(replace(one.standings[0], value=3.0), one.standings[1]),
    )
    page = render(one, two)
    marked = re.findall(r'<tr class="differs">\s*<t[hd][^>]*>(?:<[^>]*>)*([^<]+)', page)
    assert marked == ["Architecture", "foresee", "dead", "dead"]
    assert "became nor_conv_1x1" in page


def test_an_own_network_without_others(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    found = explain(net, (torch.randn(4, 3, 8, 8), torch.arange(4) % 3), proxies=["params", "synflow"])
    page = found.save(tmp_path / "a" / "mine.html")
    text = page.read_text()
    assert "No percentiles: a network of one&#39;s own" in text
    assert "Conv2d 3×3" in text
    assert '<section id="shape">' not in text
    plain = json.loads(page.with_suffix(".json").read_text())
    assert Explanation.from_json(plain) == found


def test_into_a_folder_and_two_at_once(tmp_path: Path) -> None:
    assert save(made_up(), tmp_path / "one") == tmp_path / "one" / "explain.html"
    save([made_up(), made_up("NATS_SSS", "other")], tmp_path / "two")
    plain = json.loads((tmp_path / "two" / "explain.json").read_text())
    assert plain["second"]["name"] == "other"
    with pytest.raises(InputError, match="two are put side by side"):
        render(made_up(), made_up(), made_up())


def test_many_layers_are_folded_away() -> None:
    rows = tuple(Layer(f"layer{i}", "Linear", 1, 1, 4.0, 0.5, 0.5) for i in range(70))
    page = render(replace(made_up(), layers=Layers(rows)))
    assert "All 70 layers" in page
    assert "No layer is uneven" in page


@pytest.mark.parametrize("texts", [["mlp(24)"], ["mlp(24)", "mlp(8)"]])
def test_a_page_is_made_again_from_its_numbers(texts, tmp_path):
    ones = [
        explain(("mlp", text), samples=3, proxies=["params"], parts=["cells", "layers", "proxies"]) for text in texts
    ]
    page = save(ones, tmp_path)
    before = page.read_text()
    assert kind_at(tmp_path) == kind_at(tmp_path / "explain.json") == "explanation"
    assert page_at(tmp_path) == page
    assert page_of(tmp_path) == before
