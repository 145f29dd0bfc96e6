"""Every example runs, as a user would run it, and prints what its text promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from foresee.proxies.base import STATUSES

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
NUMBER = r"-?\d+(\.\d+)?"
#: what each example promises: lines, in this order, others may stand between
PROMISES = {
    "add_a_proxy": [rf"logit_spread = {NUMBER}$", "network .*logit_spread", "1 .*width", "2 .*width", "best .*width"],
    "add_a_searcher": [r"3 steps, 6 candidates, best \|.*\|$"],
    "bench_on_own_trainings": [
        *(rf"{name} +Spearman {NUMBER} \[{NUMBER}, {NUMBER}\]$" for name in ("foresee", "naswot", "params")),
        *[rf"mlp\(.*\) +{NUMBER} in {NUMBER} to {NUMBER}, never trained$"] * 5,
    ],
    "clicks_to_a_model": [
        r"click +label ",
        r"visitor +category .*hashes$",
        rf"[\d,]+ rows, {NUMBER} % clicked$",
        r"\d+ malformed rows, the first in line \d+: \d+ fields, expected 15$",
        r"best (linear|dot)",
        *(rf"{name}: +log loss {NUMBER}, AUC {NUMBER}$" for name in ("found", "logistic", "the best")),
        rf"chance of a click: {NUMBER} %$",
    ],
    "defended_ensemble": [
        *[rf"{place} \|.* {NUMBER} % +{NUMBER} %$" for place in range(3)],
        rf"ensemble +{NUMBER} % +{NUMBER} %$",
        rf"the best member errs in {NUMBER} %, all together in {NUMBER} %$",
        rf"fgsm +{NUMBER} ± {NUMBER} +{NUMBER} ± {NUMBER}",
        rf"pgd +{NUMBER} ± {NUMBER} +{NUMBER} ± {NUMBER}",
        rf"under pgd the attacked member knows {NUMBER} %, the ensemble {NUMBER} %$",
        r"the program is right on \d+ of 100 pictures$",
        r"reports .*report\.html and .*defence.report\.html$",
    ],
    "explain_a_network": [
        r"ResNet: 559 k params, 78\.6 M MACs$",
        rf"foresee +{NUMBER} +higher",
        r"cell: width and depth 1c, 3;",
        r"page: resnet\.html$",
        rf"look at \d: it reads {NUMBER} and is told {NUMBER}$",
    ],
    "from_images_to_a_model": [
        r"best \|.*\|, \d+ % of the test images right$",
        r"safetensors: model\.safetensors, largest difference 0\.0e\+00$",
        r"torch_export: model\.pt2, largest difference \d\.\de[+-]\d+$",
        r"the program says digit_\d$",
        r"the network says digit_\d$",
    ],
    "own_resnet_on_a_folder": [
        "<images: 120 samples of 3x24x24, 10 outputs",
        "best .*stages",
        rf"[\d,]+ params, dextr {NUMBER}$",
        r"logits \(2, 10\)$",
    ],
    "own_space": ["best .*width", r"logits \(1, 10\)$"],
    "score_any_module": [
        rf"dextr = {NUMBER} \({NUMBER} s\)$",
        r"snip: unsupported \(no labels in the batch: hand over \(inputs, labels\)\)$",  # its text: a proxy says so
        r"network +dextr +naswot +mean rank +params \(baseline\)",
        *(f"{place} +width" for place in (1, 2, 3)),
    ],
    "search_and_build": [
        rf"best of 30: \|.*\|, dextr {NUMBER}, [\d,]+ params$",
        r"logits \(2, 10\)$",
        r"report report\.html$",
    ],
    "two_gaussians": [
        *(
            rf"delta +{delta}: mean distance {NUMBER}, mean log density {NUMBER}$"
            for delta in ("-1.00", "0.00", "1.00")
        ),
        r"picture two_gaussians\.svg, numbers two_gaussians\.json$",
    ],
    "warmup": [
        rf"after 0%: best \|.*\|, sigeo {NUMBER}$",
        rf"after 10%: best \|.*\|, sigeo {NUMBER}$",
        rf"inherited: {NUMBER} % right, loss {NUMBER}, of 1,797$",
    ],
}


def test_every_example_promises_something():
    assert sorted(PROMISES) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_keeps_its_promise(name, tmp_path):
    script = ROOT / "examples" / f"{name}.py"
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = iter(line.strip() for line in done.stdout.splitlines())
    others = []
    for promise in PROMISES[name]:
        for line in printed:
            if re.match(promise, line):
                break
            others.append(line)
        else:
            pytest.fail(f"no line {promise!r} in its place:\n{done.stdout}")
    others += printed
    bad = re.compile(rf"\b({'|'.join(status for status in STATUSES if status != 'ok')})\b")
    assert not [line for line in others if bad.search(line)], done.stdout  # a score that is a status is no example


def test_the_quick_start_of_the_readme_runs(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [part.split("```", 1)[0] for part in text.split("```python\n")[1:]]
    assert blocks
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(rf"foresee = {NUMBER}", lines[0])
    assert lines[-1].endswith("torch.Size([1, 10])")
    assert not [line for line in lines if any(status in line for status in STATUSES if status != "ok")]
