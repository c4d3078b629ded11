"""The JavaScript of the components: its own tests, and its agreement with Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hara_viz.components import key_map, selection_bus, token_card, token_heatmap, token_table
from hara_viz.components.bundle import join_modules
from tests.components import groups

ROOT = Path(__file__).parents[2] / "hara_viz" / "components"
NODE = shutil.which("node")

# Reads a frame and prints each signal, the domains, and two levels, as JSON.
READER = """
import { readFileSync } from "node:fs";
const [folder, file] = process.argv.slice(2);
const { parseFrame } = await import(`${folder}/frame.js`);
const { autoDomain, levelValues, signalValues } = await import(`${folder}/values.js`);
const frame = parseFrame(new Uint8Array(readFileSync(file)));
const list = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : String(v)));
const names = frame.signals.map((signal) => signal.name);
const by = (make) => Object.fromEntries(names.map((name) => [name, make(name)]));
console.log(JSON.stringify({
  content: frame.content,
  texts: Array.from(frame.cells, (kind) => frame.kinds[kind].text),
  signals: by((name) => list(signalValues(frame, name))),
  steps: by((name) => list(levelValues(frame, name, "step"))),
  domains: by((name) => autoDomain(frame, name, "token")),
}));
"""


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    if NODE is None and os.environ.get("HARA_VIZ_REQUIRE_BROWSER") == "1":
        pytest.fail("no node found, and HARA_VIZ_REQUIRE_BROWSER=1 says that there must be one")
    if NODE is None:
        pytest.skip("no node found; install Node.js 20 or newer to test the JavaScript")
    return subprocess.run(
        [NODE, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("name", ["token_heatmap", "selection_bus", "token_card", "token_table"])
def test_its_own_tests_pass(name: str) -> None:
    files = sorted(str(path) for path in (ROOT / name).glob("*.test.js"))
    assert files
    done = node("--test", *files)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize(
    "assets",
    [
        token_heatmap.assets,
        token_heatmap.carrier_assets,
        token_card.assets,
        token_card.carrier_assets,
        selection_bus.assets,
        key_map.assets,
        token_table.assets,
    ],
)
def test_the_joined_modules_are_one_script_with_one_entry(assets, tmp_path: Path) -> None:
    script = assets().js
    assert script.count("export default function") == 1
    assert "import " not in {line[:7] for line in script.splitlines()}
    assert "http" not in script, "a component fetches nothing"
    (tmp_path / "bundle.mjs").write_text(script, encoding="utf-8")
    (tmp_path / "entry.mjs").write_text(
        'import entry from "./bundle.mjs"; console.log(typeof entry);', encoding="utf-8"
    )
    done = node(str(tmp_path / "entry.mjs"))
    assert done.stdout.strip() == "function", done.stderr


def test_every_module_is_in_the_bundle() -> None:
    folder = ROOT / "token_heatmap"
    modules = {p.stem for p in folder.glob("*.js") if not p.name.endswith(".test.js")}
    own = {name for name in token_heatmap.MODULES if "/" not in name}
    assert modules - {"sample_frame"} == own | set(token_heatmap.CARRIER)


def test_an_import_that_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import x from "https://elsewhere";\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.js has 'import x"):
        join_modules(tmp_path, ["a"])


def test_browser_and_python_read_the_same_numbers(tmp_path: Path) -> None:
    group = groups.small_group()
    data = token_heatmap.encode(
        token_heatmap.frame_of(group, groups.credit_for(group), special_ids=[groups.END_ID])
    )
    (tmp_path / "frame.bin").write_bytes(data)
    (tmp_path / "reader.mjs").write_text(READER, encoding="utf-8")
    done = node(
        str(tmp_path / "reader.mjs"), str(ROOT / "token_heatmap"), str(tmp_path / "frame.bin")
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    frame = token_heatmap.decode(data)
    assert shown["texts"] == [frame.kinds[kind].text for kind in frame.cells]
    assert set(shown["signals"]) == {signal.name for signal in frame.signals}
    for signal in frame.signals:
        expected = token_heatmap.signal_values(frame, signal.name)
        got = np.asarray([float(v) for v in shown["signals"][signal.name]])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        _same_domain(shown["domains"][signal.name], expected, signal.signed)
        _same_steps(shown["steps"][signal.name], expected, frame)


def _same_domain(got: list[float], values: np.ndarray, signed: bool) -> None:
    low, high = np.quantile(values[np.isfinite(values)], [0.02, 0.98])
    if signed:
        high = max(abs(low), abs(high))
        low = -high
    np.testing.assert_allclose(got, [low, high], rtol=1e-5, atol=1e-7)


def _same_steps(got: list[float], values: np.ndarray, frame: token_heatmap.Frame) -> None:
    start = 0
    for row in frame.rows:
        own = values[start : start + row.n_tokens]
        bounds = [*row.steps, row.n_tokens] if row.steps else [0, row.n_tokens]
        for a, b in pairwise(bounds):
            known = own[a:b][~np.isnan(own[a:b])]
            mean = known.mean() if known.size else np.nan
            shown = np.asarray([float(v) for v in got[start + a : start + b]])
            np.testing.assert_allclose(shown, mean, rtol=1e-4, atol=1e-5)
        start += row.n_tokens
