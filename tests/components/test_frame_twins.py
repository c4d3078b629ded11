"""The two readers of a frame, Python's and the browser's, on random frames and on damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hara_viz.components.token_heatmap import Frame, FrameRow, Kind, decode, encode
from hara_viz.components.token_heatmap.build import available
from hara_viz.errors import FormatError
from tests.components.test_javascript import ROOT, node

# Reads every file of a folder: what is in it, or the sentence that refuses it.
READER = """
import { readdirSync, readFileSync } from "node:fs";
const [folder, files] = process.argv.slice(2);
const { parseFrame } = await import(`${folder}/frame.js`);
const { halfToFloat } = await import(`${folder}/values.js`);
const { FrameError } = await import(`${folder}/../shared/envelope.js`);
const told = {};
for (const name of readdirSync(files)) {
  try {
    const frame = parseFrame(new Uint8Array(readFileSync(`${files}/${name}`)));
    told[name] = {
      texts: Array.from(frame.cells, (kind) => frame.kinds[kind].text),
      ids: Array.from(frame.cells, (kind) => frame.kinds[kind].ids),
      channels: Object.fromEntries([...frame.channels].map(([channel, { bits, scale }]) =>
        [channel, Array.from(bits, (b) => String(halfToFloat(b) * scale))])),
      rows: frame.rows.map((row) => ({ sample: row.sample, tokens: row.tokens, think: row.think,
        steps: [...row.steps], answer: row.answer, advantage: row.advantage })),
    };
  } catch (error) {
    told[name] = { refused: error instanceof FrameError, why: String(error) };
  }
}
console.log(JSON.stringify(told));
"""


def random_frame(seed: int) -> Frame:
    """Any frame: empty rollouts, shared cells, odd text, unknown values, all sizes of numbers."""
    rng = np.random.default_rng(seed)
    texts = ["a", "", "\n\n", "家", "‹U+202E›", "</script>", "🙂", '"\\', " "]
    kinds = tuple(
        Kind(
            str(rng.choice(texts)) + str(i),
            tuple(rng.integers(0, 10**6, rng.integers(1, 4)).tolist()),
            bool(rng.integers(2)),
        )
        for i in range(rng.integers(1, 30))
    )
    rows: list[FrameRow] = []
    cells: list[int] = []
    for sample in range(rng.integers(1, 5)):
        own = rng.integers(0, len(kinds), rng.integers(0, 40)).tolist()
        n_tokens = sum(len(kinds[kind].ids) for kind in own)
        cells += own
        ends = sorted(rng.integers(0, len(own) + 1, 2).tolist())
        steps = np.unique(rng.integers(0, n_tokens, 4)).tolist() if n_tokens else []
        rows.append(
            FrameRow(
                sample=sample * 3,
                n_cells=len(own),
                n_tokens=n_tokens,
                advantage=None if rng.integers(2) else float(rng.normal()),
                answer=(ends[0], ends[1]) if rng.integers(2) else None,
                think=((ends[0], ends[1]),) if rng.integers(2) else (),
                steps=tuple(sorted({0, *steps})) if n_tokens else (),
            )
        )
    n = sum(row.n_tokens for row in rows)
    names = ("feature", "structure", "weight", "logprob", "entropy")[: rng.integers(0, 6)]
    channels = {name: rng.normal(size=n) * 10.0 ** rng.integers(-9, 9) for name in names}
    for values in channels.values():
        values[rng.random(n) < 0.1] = np.nan
    return Frame(
        rows=tuple(rows),
        kinds=kinds,
        cells=np.asarray(cells, int),
        channels=channels,
        signals=available(names),
    )


def read_by_node(folder: Path, tmp_path: Path) -> dict[str, dict]:
    (tmp_path / "reader.mjs").write_text(READER, encoding="utf-8")
    done = node(str(tmp_path / "reader.mjs"), str(ROOT / "token_heatmap"), str(folder))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "frames").mkdir()
    return tmp_path / "frames"


def test_both_read_the_same(folder: Path, tmp_path: Path) -> None:
    frames = {f"{seed}.bin": random_frame(seed) for seed in range(60)}
    for name, frame in frames.items():
        (folder / name).write_bytes(encode(frame))
    told = read_by_node(folder, tmp_path)
    for name in frames:
        frame, shown = decode((folder / name).read_bytes()), told[name]
        assert "why" not in shown, shown
        assert shown["texts"] == [frame.kinds[kind].text for kind in frame.cells]
        assert shown["ids"] == [list(frame.kinds[kind].ids) for kind in frame.cells]
        assert set(shown["channels"]) == set(frame.channels)
        for channel, values in frame.channels.items():
            got = np.asarray([float(value) for value in shown["channels"][channel]])
            np.testing.assert_allclose(got, values, rtol=1e-12)
        for row, seen in zip(frame.rows, shown["rows"], strict=True):
            assert (seen["sample"], seen["tokens"]) == (row.sample, row.n_tokens)
            assert seen["steps"] == list(row.steps)
            assert seen["think"] == [list(part) for part in row.think]
            assert seen["answer"] == (None if row.answer is None else list(row.answer))
            assert seen["advantage"] == row.advantage


def test_damage_is_refused_by_python_and_never_stumbled_over_by_the_browser(
    folder: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    for number in range(300):
        data = bytearray(encode(random_frame(number % 20)))
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] ^= int(rng.integers(1, 256))
        if number % 3 == 0:
            del data[int(rng.integers(0, len(data))) :]
        (folder / f"{number}.bin").write_bytes(data)
    told = read_by_node(folder, tmp_path)
    for name, shown in told.items():
        # Python checks the digest; the browser the structure, so values alone may differ there.
        with pytest.raises(FormatError):
            decode((folder / name).read_bytes())
        assert shown.get("refused", True), shown
    assert sum("why" in shown for shown in told.values()) > 150
