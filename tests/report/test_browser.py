"""The pages in a real browser: Chromium, headless, without a network."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.contest.made_up import made_up_contest
from tests.report.made_up_bench import LONG, made_up_bench, made_up_calibration
from tests.report.made_up_ensemble import made_up_comparison, made_up_defence, made_up_ensemble
from tests.report.made_up_own import made_up_own
from tests.report.made_up_profile import made_up_guess, made_up_profile

from foresee.report import bench, calibrate, compare, contest, defence, ensemble, ensembles_compared, profile, render
from foresee.runs.record import Record

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="no chromium with chromedriver is installed"),
]
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

# Relative luminance and contrast as the accessibility guidelines define them, against the nearest opaque background.
CONTRAST = """
const rgb = (text) => { const p = text.match(/[0-9.]+/g).map(Number); return p.length < 4 ? [...p, 1] : p; };
const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const ground = (e) => {
  for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > .99) return c; }
  return [255, 255, 255, 1];
};
return [...document.querySelectorAll(arguments[0])].filter((e) => e.getClientRects().length).map((e) => {
  const style = getComputedStyle(e), ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
  const [a, b] = [light(rgb(ink)), light(ground(e))];
  return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.tagName + " " + e.textContent.slice(0, 40)];
});
"""


# Pairs of neighbours that lie on one another.
OVERLAPS = """
const boxes = [...document.querySelectorAll(arguments[0])].filter((e) => e.offsetHeight && e.nextElementSibling);
return boxes.filter((e) => {
  const [a, b] = [e.getBoundingClientRect(), e.nextElementSibling.getBoundingClientRect()];
  return b.height && a.bottom > b.top + 1 && a.right > b.left + 1 && b.right > a.left + 1;
}).map((e) => e.tagName + " " + e.textContent.slice(0, 40));
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory,
    make_record: Callable[..., Record],
    poison: Callable[[Record, str], Record],
    follow: Callable[..., Record],
    hostile: str,
) -> dict[str, Path]:
    several = follow(make_record(120, proxies=("dextr", "synflow")), "dextr", "params", "synflow", steps=12)
    made = {
        "several": render(several, "runs/a"),
        "cheapest": render(follow(make_record(60, proxies=("dextr", "synflow")), "params"), "runs/a"),
        "hostile several": render(poison(several, hostile), hostile),
        "compare several": compare({"runs/a": several, "runs/b": make_record(60), hostile: make_record(60, seed=2)}),
        "report": render(make_record(200, proxies=("dextr", "synflow")), "runs/a"),
        "interrupted": render(make_record(30, status="interrupted", failures=0.2), "runs/a"),
        "nothing": render(make_record(10, failures=1.0), "runs/a"),
        "hostile": render(poison(make_record(40, failures=0.2), hostile), hostile),
        "compare": compare(
            {"runs/a": make_record(60), "runs/b": make_record(60, seed=2), hostile: make_record(60, data="x")}
        ),
        "own": render(made_up_own(make_record(60, failures=0.2)), "runs/a"),
        "hostile own": render(made_up_own(poison(make_record(40), hostile), hostile), hostile),
        "compare own": compare(
            {"runs/a": made_up_own(make_record(40)), hostile: made_up_own(make_record(40), hostile)}
        ),
        "bench": bench.render(made_up_bench(300, 3, ("dextr", "zico", LONG, "nowhere"))),
        "small bench": bench.render(made_up_bench(12, 1, ("meco",))),
        "hostile bench": bench.render(made_up_bench(40, 2, ("meco", hostile), hostile)),
        "calibration": calibrate.render(made_up_calibration()),
        "hostile calibration": calibrate.render(made_up_calibration(hostile)),
        "contest": contest.render(made_up_contest()),
        "hostile contest": contest.render(made_up_contest(text=hostile)),
        "profile": profile.render(made_up_profile(), made_up_guess()),
        "hostile profile": profile.render(made_up_profile(hostile), made_up_guess(hostile)),
        "ensemble": ensemble.render(made_up_ensemble()),
        "hostile ensemble": ensemble.render(made_up_ensemble(hostile)),
        "ensembles": ensembles_compared.render(made_up_comparison()),
        "hostile ensembles": ensembles_compared.render(made_up_comparison(hostile)),
        "defence": defence.render(made_up_defence(masked=True)),
        "hostile defence": defence.render(made_up_defence(hostile)),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def show(browser: Any, page: Path, *, width: int = 1280, scheme: str = "light") -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(page.as_uri())


SEARCHES = ["report", "interrupted", "nothing", "hostile", "compare"]
SEARCHES += ["several", "cheapest", "hostile several", "compare several", "own", "hostile own", "compare own"]
NAMES = [
    *SEARCHES,
    "bench",
    "small bench",
    "hostile bench",
    "calibration",
    "hostile calibration",
    "contest",
    "hostile contest",
    "profile",
    "hostile profile",
    "ensemble",
    "hostile ensemble",
    "ensembles",
    "hostile ensembles",
    "defence",
    "hostile defence",
]


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_quiet_and_ask_for_nothing(browser: Any, pages: dict[str, Path], name: str) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    show(browser, pages[name])
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert pages[name].as_uri() in urls
    assert [url for url in urls if not url.startswith(("file:", "data:"))] == []


def test_the_sections_are_there_and_seen(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["report"])
    found = browser.execute_script(
        "return [...document.querySelectorAll('section')].map((s) => [s.id, s.offsetHeight])"
    )
    assert [name for name, _ in found] == [
        "answer",
        "why",
        "asked",
        "time",
        "cost",
        "cells",
        "best",
        "outcomes",
        "again",
    ]
    assert min(height for _, height in found) > 50
    assert browser.execute_script("return document.querySelectorAll('svg.chart').length") == 4


@pytest.mark.parametrize(
    ("name", "sections", "charts"),
    [
        ("bench", ["answer", "asked", "table", "scatter", "between", "failures", "again"], 6),
        ("calibration", ["answer", "asked", "next", "trust", "pictures", "again"], 4),
        ("contest", ["answer", "asked", "curves", "table", "picks", "failures", "again"], 2),
        ("ensembles", ["answer", "asked", "table", "budget", "pictures", "failures", "again"], 3),
    ],
)
def test_pages_of_tables_show_their_sections_and_pictures(
    browser: Any, pages: dict[str, Path], name: str, sections: list[str], charts: int
) -> None:
    show(browser, pages[name])
    found = browser.execute_script(
        "return [...document.querySelectorAll('section')].map((s) => [s.id, s.offsetHeight])"
    )
    assert [one for one, _ in found] == sections
    assert min(height for _, height in found) > 50
    drawn = browser.execute_script("return [...document.querySelectorAll('svg.chart')].map((s) => s.clientHeight)")
    assert len(drawn) == charts
    assert min(drawn) > 100
    bars = browser.execute_script("return [...document.querySelectorAll('svg.interval')].map((s) => s.clientWidth)")
    assert bars
    assert min(bars) > 100
    assert browser.execute_script(OVERLAPS, "section > *, .pair > *") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["interrupted", "compare", "several", "compare several", "bench", "calibration", "contest", "profile"]
)
def test_text_stands_out(browser: Any, pages: dict[str, Path], scheme: str, name: str) -> None:
    show(browser, pages[name], scheme=scheme)
    words = (
        "p, li, dt, dd, pre, code, th, td, h1, h2, h3, nav a, .label, .big, .value, .chip, .copy, mark, svg.chart text"
    )
    found = browser.execute_script(CONTRAST, words)
    assert len(found) > 50
    assert [(round(ratio, 2), what) for ratio, what in found if ratio < 4.5] == []
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor") != "rgb(246, 246, 242)"
    assert dark == (scheme == "dark")


def test_the_reader_can_choose_light_or_dark(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["report"], scheme="dark")
    ground = "return getComputedStyle(document.body).backgroundColor"
    dark = browser.execute_script(ground)
    browser.find_element("id", "theme").click()
    light = browser.execute_script(ground)
    assert light != dark
    browser.find_element("id", "theme").click()
    assert browser.execute_script(ground) == dark
    browser.execute_script("localStorage.clear()")


@pytest.mark.parametrize(
    "name", ["hostile", "compare", "hostile several", "hostile bench", "hostile calibration", "hostile contest"]
)
def test_hostile_strings_are_seen_and_not_run(browser: Any, pages: dict[str, Path], name: str, hostile: str) -> None:
    show(browser, pages[name])
    assert browser.title != "pwned"
    assert browser.execute_script("return document.images.length") == 0
    assert browser.execute_script("return document.scripts.length") == (1 if name == "hostile contest" else 2)
    assert hostile in browser.execute_script("return document.body.textContent")


def test_the_policy_stops_scripts_that_slip_in(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    slipped = tmp_path / "slipped.html"
    text = pages["report"].read_text(encoding="utf-8")
    slipped.write_text(text.replace("<main", "<script>document.title='pwned'</script><main", 1), encoding="utf-8")
    show(browser, slipped)
    assert browser.title != "pwned"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


@pytest.mark.parametrize("name", ["report", "several"])
def test_the_table_sorts_by_every_column(browser: Any, pages: dict[str, Path], name: str) -> None:
    show(browser, pages[name])
    many = len(browser.find_elements("css selector", "#best tbody tr"))
    heads = browser.find_elements("css selector", "#best th")
    for column, head in enumerate(heads):
        for way in ("ascending", "descending"):
            if head.get_attribute("aria-sort") == way:  # the rank is sorted already
                continue
            browser.execute_script("arguments[0].querySelector('button').click()", head)
            assert head.get_attribute("aria-sort") == way
            values = browser.execute_script(
                "return [...document.querySelectorAll('#best tbody tr')].map((r) => r.cells[arguments[0]].dataset.value)",
                column,
            )
            known = [v for v in values if v != ""]
            assert values == known + [""] * (len(values) - len(known))
            if column != 1:
                numbers = [float(v) for v in known]
                assert numbers == sorted(numbers, reverse=way == "descending")
            assert len(set(values)) > 1
            assert len(values) == many >= 20


def test_the_marks_of_the_front_are_seen(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["several"])
    marks = browser.execute_script(
        """
        const color = (e) => getComputedStyle(e).backgroundColor;
        return [...document.querySelectorAll("#best td .key")].map((e) => [e.offsetWidth, color(e)]);
        """
    )
    assert marks
    assert {(width, colour) for width, colour in marks} == {(9, "rgb(194, 83, 10)")}
    assert browser.find_element("css selector", "details summary").text == "12 parts"
    assert not browser.find_element("css selector", "details .list").is_displayed()
    to_see = "document.querySelector('details summary').scrollIntoView({block: 'center', behavior: 'instant'})"
    browser.execute_script(to_see)  # the page scrolls smoothly, and a driver does not wait for that
    browser.find_element("css selector", "details summary").click()
    assert browser.find_element("css selector", "details .list").is_displayed()


def test_a_single_chart_is_not_blown_up(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["cheapest"])
    widths = browser.execute_script("return [...document.querySelectorAll('svg.chart')].map((s) => s.clientWidth)")
    assert len(widths) == 3
    assert max(widths) < 560


@pytest.mark.parametrize(
    ("name", "start", "number"),
    [
        ("report", "Candidate", "params"),
        ("bench", "Architecture", "dextr"),
        ("calibration", "Architecture", "predicted"),
    ],
)
def test_the_dot_under_the_pointer_tells_its_candidate(
    browser: Any, pages: dict[str, Path], name: str, start: str, number: str
) -> None:
    show(browser, pages[name])
    told = browser.execute_script(
        """
        const svg = document.querySelector("svg.chart"), path = svg.querySelector(".dots");
        const [x, y] = path.getAttribute("d").split("M")[1].split("h")[0].split(" ").map(Number);
        const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
        svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x * scale, clientY: box.top + y * scale}));
        const tip = document.getElementById("tip");
        return [path.dataset.ids.split(" ")[0], tip.hidden, tip.textContent];
        """
    )
    assert told[1] is False
    assert told[2].startswith(f"{start} {told[0]}:")
    assert number in told[2]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_sticks_out_on_a_phone(browser: Any, pages: dict[str, Path], name: str) -> None:
    show(browser, pages[name], width=390)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    wide = browser.execute_script(
        """
        return [...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, nav, svg, .skip, .hidden, #tip"))
          .filter((e) => e.getBoundingClientRect().right > 391).map((e) => e.tagName + "." + e.className);
        """
    )
    assert wide == []


def test_the_page_is_readable_without_scripts(browser: Any, pages: dict[str, Path]) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(browser, pages["report"])
        buttons = browser.find_elements("css selector", "button.js")
        assert buttons
        assert not any(button.is_displayed() for button in buttons)
        assert browser.find_element("css selector", "#best tbody tr").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_print_is_on_white(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["report"], scheme="dark")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    style = browser.execute_script(
        """
        const [body, head] = [document.body, document.querySelector(".top")].map((e) => getComputedStyle(e));
        return [body.backgroundColor, body.color, head.display];
        """
    )
    assert style == ["rgb(255, 255, 255)", "rgb(28, 33, 39)", "none"]
