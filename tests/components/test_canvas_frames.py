"""Frames of the transport plan and of the map: round trips, damage, and the browser's readers."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz.components import barycenter_text, embedding_map, rollout_pair, transport_plan
from hara_viz.components.embedding_map import (
    Colouring,
    MapAnchor,
    MapAtom,
    MapFrame,
    MapRollout,
    MapSlice,
)
from hara_viz.components.shared.cells import ShownCell, shown_cells
from hara_viz.components.transport_plan import AtomLabel, plan_frame
from hara_viz.errors import FormatError, InvalidInputError, SchemaError, ShapeError
from tests.small_runs import HOSTILE, HOSTILE_TEXTS, group_of

ROOT = Path(__file__).parents[2] / "hara_viz" / "components"
NODE = shutil.which("node")
HOSTILE_CELLS = (
    ShownCell("<script>alert(1)</script>", 1, False),
    ShownCell(" 家\n", 3, False),
    ShownCell("</style>", 1, False),
    ShownCell("<|end|>", 1, True),
)
READER = """
import { readFileSync } from "node:fs";
const [module, name, file] = process.argv.slice(2);
const parse = (await import(module))[name];
const frame = parse(new Uint8Array(readFileSync(file)));
const plain = (value) =>
  ArrayBuffer.isView(value) ? Array.from(value, (v) => (Number.isFinite(v) ? v : null)) : value;
console.log(JSON.stringify(frame, (_, value) => plain(value)));
"""


def plan() -> transport_plan.PlanFrame:
    rng = np.random.default_rng(0)
    own = np.array([True, True, False, True, True, True])
    mass = rng.random((5, 3))
    mass /= 5 * mass.sum(axis=1, keepdims=True)
    return plan_frame(
        sample=7,
        success=False,
        cells=HOSTILE_CELLS,
        atoms=(
            AtomLabel(2, 0.1, 0.3, 0.02, "<b>first</b>"),
            AtomLabel(0, 0.5, 0.3, 0.1, "second / 2nd"),
            AtomLabel(1, 0.9, 0.4, 0.0, ""),
        ),
        plan=mass,
        own=own,
        feature=rng.random(6),
        structure=rng.random(6),
        steps=(0, 4),
    )


def state_map() -> MapFrame:
    return MapFrame(
        name="0123",
        rollouts=(
            MapRollout(4, True, HOSTILE_CELLS),
            MapRollout(9, None, HOSTILE_CELLS[:1], group="<b>step 3</b>", here=False),
        ),
        x=np.array([0.5, -1.0, 2.0]),
        y=np.array([1.0, 3.0, -2.5]),
        row=np.array([0, 1, 0]),
        token=np.array([1, 0, 4]),
        span=np.array([3, 1, 2]),
        colouring=Colouring(
            label="Weight − 1", kind="signed", values=np.array([0.5, np.nan, -2.0]), domain=(-2, 2)
        ),
        atoms=(MapAtom(True, 3, "<i>x</i>", 0.25, -0.75, "<u>pens</u>"),),
        paths=(1, 0),
        anchors=(MapAnchor(2, 1), MapAnchor(0, 0)),
    )


def sliced_map() -> MapFrame:
    frame = state_map()
    other = MapSlice("<b>step 9</b>", np.array([4.0, 5.0, 6.0]), np.array([7.0, 8.0, 9.0]))
    return replace(frame, slices=(other, MapSlice("step 0", frame.x, frame.y)), slice=1)


def test_a_plan_is_normalised_ordered_and_silent_where_nothing_was_sampled() -> None:
    frame = plan()
    np.testing.assert_allclose(frame.shares[frame.own].sum(axis=1), 1.0)
    assert not frame.shares[~frame.own].any()
    assert np.isnan(frame.feature[2]) and np.isfinite(frame.feature[3])
    rng = np.random.default_rng(0)
    mass = rng.random((5, 3))
    np.testing.assert_allclose(frame.shares[0], (mass[0] / mass[0].sum())[[2, 0, 1]])


def test_a_plan_survives_the_way_and_back() -> None:
    frame = plan()
    again = transport_plan.decode(transport_plan.encode(frame))
    assert (again.sample, again.success) == (7, False)
    assert (again.cells, again.atoms) == (frame.cells, frame.atoms)
    np.testing.assert_allclose(again.shares, frame.shares, atol=1 / 65535)
    np.testing.assert_array_equal(again.own, frame.own)
    np.testing.assert_allclose(again.feature, frame.feature, rtol=1e-6)
    np.testing.assert_allclose(again.structure, frame.structure, rtol=1e-6)


def test_a_map_survives_the_way_and_back() -> None:
    frame = state_map()
    again = embedding_map.decode(embedding_map.encode(frame))
    assert (again.name, again.rollouts, again.atoms) == (frame.name, frame.rollouts, frame.atoms)
    for name in ("x", "y", "row", "token", "span"):
        np.testing.assert_array_equal(getattr(again, name), getattr(frame, name))
    np.testing.assert_array_equal(again.colouring.values, frame.colouring.values)
    assert again.colouring.domain == (-2.0, 2.0)
    assert again.paths == (1, 0) and again.slices == ()


def test_slices_of_a_map_survive_too() -> None:
    frame = sliced_map()
    again = embedding_map.decode(embedding_map.encode(frame))
    assert again.slice == 1 and [s.name for s in again.slices] == ["<b>step 9</b>", "step 0"]
    for one, other in zip(again.slices, frame.slices, strict=True):
        np.testing.assert_array_equal(np.stack([one.x, one.y]), np.stack([other.x, other.y]))
    for changes in (
        {"slices": frame.slices[:1], "slice": 0},
        {"slice": 2},
        {"slices": (frame.slices[0], MapSlice("short", frame.x[:1], frame.y[:1]))},
        {"paths": (2,)},
    ):
        with pytest.raises(ShapeError):
            embedding_map.encode(replace(frame, **changes))


def test_sixteen_thousand_tokens_by_64_atoms_stay_below_two_and_a_half_megabytes() -> None:
    n_tokens, n_atoms = 16_384, 64
    frame = plan_frame(
        sample=0,
        success=True,
        cells=(ShownCell(" word", 1, False),) * n_tokens,
        atoms=tuple(AtomLabel(k, k / n_atoms, 1 / n_atoms, 0.1, "w") for k in range(n_atoms)),
        plan=np.full((n_tokens, n_atoms), 1 / n_tokens / n_atoms),
        own=np.ones(n_tokens, bool),
        feature=np.ones(n_tokens),
        structure=np.ones(n_tokens),
    )
    assert len(transport_plan.encode(frame)) < 2_600_000


@pytest.mark.parametrize("component", [transport_plan, embedding_map])
def test_damage_is_told_in_a_sentence(component) -> None:
    good = component.encode(plan() if component is transport_plan else sliced_map())
    with pytest.raises(FormatError, match="no such frame"):
        component.decode(b"HARAHEAT" + good[8:])
    with pytest.raises(SchemaError, match="version 9"):
        component.decode(good[:8] + (9).to_bytes(4, "little") + good[12:])
    for place in range(16, len(good), 37):
        hurt = good[:place] + bytes([good[place] ^ 0x40]) + good[place + 1 :]
        with pytest.raises(FormatError):
            component.decode(hurt)
    for length in (0, 5, 15, 60, len(good) - 4):
        with pytest.raises(FormatError):
            component.decode(good[:length])


def test_parts_that_do_not_fit_are_refused() -> None:
    frame = state_map()
    for changes in (
        {"row": np.array([0, 2, 0])},
        {"token": np.array([1, 0, 5])},
        {"span": np.array([3, 0, 2])},
        {"y": np.array([1.0])},
    ):
        with pytest.raises(ShapeError):
            embedding_map.encode(replace(frame, **changes))
    with pytest.raises(InvalidInputError, match="NaN"):
        atom = AtomLabel(2, float("nan"), 0.3, 0.02, "x")
        transport_plan.encode(replace(plan(), atoms=(atom, *plan().atoms[1:])))
    with pytest.raises(ShapeError):
        transport_plan.encode(replace(plan(), cells=HOSTILE_CELLS[:2]))
    for steps in ((3, 1), (0, 6), (-1,)):
        with pytest.raises(ShapeError, match="sentences"):
            transport_plan.encode(replace(plan(), steps=steps))


def test_cells_hold_every_token_and_no_control_characters() -> None:
    for rollout in group_of(HOSTILE, HOSTILE_TEXTS).rollouts:
        cells = shown_cells(rollout)
        assert sum(cell.n_tokens for cell in cells) == len(rollout.completion_ids)
        text = "".join(cell.text for cell in cells)
        assert not set(text) & set("\x1b\u202e\u202c")
        uncut = shown_cells(replace(rollout, cell_start=None))
        assert [cell.n_tokens for cell in uncut] == [len(rollout.completion_ids)]


def read_by_node(component, function: str, data: bytes, folder: Path) -> dict:
    if NODE is None:
        pytest.skip("node is not installed (Debian: apt-get install nodejs)")
    (folder / "frame.bin").write_bytes(data)
    (folder / "reader.mjs").write_text(READER, encoding="utf-8")
    module = str(ROOT / component.__name__.rsplit(".", 1)[1] / "frame.js")
    done = subprocess.run(
        [NODE, str(folder / "reader.mjs"), module, function, str(folder / "frame.bin")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_browser_reads_the_same_plan(tmp_path: Path) -> None:
    frame = plan()
    shown = read_by_node(transport_plan, "parsePlan", transport_plan.encode(frame), tmp_path)
    assert (shown["sample"], shown["success"], shown["tokens"]) == (7, False, 6)
    assert shown["cells"]["texts"] == [cell.text for cell in frame.cells]
    assert shown["cells"]["first"] == [0, 1, 4, 5, 6]
    assert [atom["text"] for atom in shown["atoms"]] == [atom.text for atom in frame.atoms]
    shares = np.asarray(shown["shares"]).reshape(6, 3) / 65535
    np.testing.assert_allclose(shares, frame.shares, atol=1 / 65535)
    assert shown["feature"][2] is None
    assert shown["steps"] == [0, 4]
    np.testing.assert_allclose(shown["structure"][3:], frame.structure[3:], rtol=1e-6)


def test_the_browser_reads_the_same_map(tmp_path: Path) -> None:
    frame = state_map()
    shown = read_by_node(embedding_map, "parseMap", embedding_map.encode(frame), tmp_path)
    for name in ("x", "y", "row", "token", "span"):
        assert shown[name] == list(getattr(frame, name))
    assert shown["value"] == [0.5, None, -2.0]
    assert [rollout["sample"] for rollout in shown["rollouts"]] == [4, 9]
    (atom,) = shown["atoms"]
    assert atom == {"success": True, "name": 3, "text": "<i>x</i>", "group": "<u>pens</u>",
                    "x": 0.25, "y": -0.75}  # fmt: skip
    assert (shown["paths"], shown["slices"]) == ([1, 0], [])


def test_the_browser_reads_the_same_slices(tmp_path: Path) -> None:
    data = embedding_map.encode(sliced_map())
    shown = read_by_node(embedding_map, "parseMap", data, tmp_path)
    assert shown["slices"] == [
        {"name": "<b>step 9</b>", "x": [4, 5, 6], "y": [7, 8, 9]},
        {"name": "step 0", "x": [0.5, -1, 2], "y": [1, 3, -2.5]},
    ]
    assert shown["slice"] == 1


@pytest.mark.parametrize(
    "component", [transport_plan, embedding_map, barycenter_text, rollout_pair]
)
def test_the_joined_modules_are_one_script_with_one_entry(component, tmp_path: Path) -> None:
    script = component.assets().js
    assert script.count("export default function") == 1
    assert "http" not in script, "a component fetches nothing"
    for word in ("innerHTML", "insertAdjacentHTML", "outerHTML", "document.write"):
        assert word not in script
    if NODE is None:
        pytest.skip("node is not installed (Debian: apt-get install nodejs)")
    (tmp_path / "bundle.mjs").write_text(script, encoding="utf-8")
    (tmp_path / "entry.mjs").write_text(
        'import entry from "./bundle.mjs"; console.log(typeof entry);', encoding="utf-8"
    )
    done = subprocess.run(
        [NODE, str(tmp_path / "entry.mjs")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "function", done.stderr
    folder = component.FOLDER
    modules = {p.stem for p in folder.glob("*.js") if not p.name.endswith(".test.js")}
    assert modules == {name for name in component.MODULES if "/" not in name}


@pytest.mark.parametrize(
    "name", ["shared", "transport_plan", "embedding_map", "barycenter_text", "rollout_pair"]
)
def test_its_own_tests_pass(name: str) -> None:
    if NODE is None:
        pytest.skip("node is not installed (Debian: apt-get install nodejs)")
    files = sorted(str(path) for path in (ROOT / name).glob("*.test.js"))
    assert files
    done = subprocess.run(
        [NODE, "--test", *files], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
