"""Which files are opened, which never, and what hostile files come to."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hara_viz.backend.import_run import look_at
from hara_viz.errors import (
    FormatError,
    HaraError,
    InvalidInputError,
    MissingInputError,
    UnsafeError,
)
from hara_viz.importers import collect, open_source, records
from hara_viz.importers.values import number, shown, step_in, whole
from tests.importers.dumps import QUESTION, RIGHT, trl_group, write_lines, write_trl
from tests.small_runs import write_run

ROW = {"prompt": QUESTION, "completion": RIGHT, "reward": 1.0, "step": 1}


class Exploit:
    """What a pickle could do on being read."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (self.witness,))


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    witness = tmp_path / "owned"
    (tmp_path / "dump").mkdir()
    for name in ("rollout_3.pt", "batch.pkl"):
        (tmp_path / "dump" / name).write_bytes(pickle.dumps(Exploit(witness)))
    for source in (tmp_path / "dump", tmp_path / "dump" / "rollout_3.pt"):
        with pytest.raises(UnsafeError, match=r"pickle.*not opened; load it where you trust it"):
            look_at(source)
    write_lines(tmp_path / "dump" / "good.jsonl", [ROW])
    report = look_at(tmp_path / "dump")
    assert report.n_rollouts == 1
    assert any("pickle" in left.reason and left.count == 2 for left in report.files_left_out)
    # A pickle under an honest name is bytes that are no JSON.
    (tmp_path / "x.jsonl").write_bytes(pickle.dumps(Exploit(witness)))
    (tmp_path / "x.parquet").write_bytes(pickle.dumps(Exploit(witness)))
    for name in ("x.jsonl", "x.parquet"):
        with pytest.raises(FormatError):
            look_at(tmp_path / name)
    assert not witness.exists()


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = write_lines(tmp_path / "secret" / "a.jsonl", [ROW] * 5)
    write_lines(tmp_path / "dump" / "1.jsonl", [ROW])
    (tmp_path / "dump" / "2.jsonl").symlink_to(secret)
    (tmp_path / "dump" / "more").symlink_to(tmp_path / "secret")
    report = look_at(tmp_path / "dump")
    assert report.n_rollouts == 1
    assert report.files_left_out[0].reason == "a link that leads out of the folder"


def test_files_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for step in (100, 9, 20):
        write_lines(tmp_path / f"{step}.jsonl", [ROW])
    assert [str(path) for path in open_source(tmp_path).files] == [
        "9.jsonl", "20.jsonl", "100.jsonl",
    ]  # fmt: skip


def test_a_folder_of_two_kinds_asks_which(tmp_path: Path) -> None:
    write_trl(tmp_path, 1, trl_group(QUESTION, [1, 0]))
    write_lines(tmp_path / "verl" / "1.jsonl", [{"input": "p", "output": "o", "score": 1}])
    with pytest.raises(FormatError, match=r"several kinds: .*choose one with --format"):
        look_at(tmp_path)
    assert look_at(tmp_path, "trl").n_rollouts == 2
    assert look_at(tmp_path, "verl").n_rollouts == 1


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda p: p / "none", MissingInputError, "there is no"),
        (lambda p: p, FormatError, "holds no .jsonl"),
        (lambda p: _write(p / "a.txt", "hello"), FormatError, "no known kind"),
        (lambda p: _write(p / "a.jsonl", ""), FormatError, "is empty"),
        (lambda p: _write(p / "a.jsonl", '{"spam": 1}\n'), FormatError, "spam"),
        (lambda p: _write(p / "a.jsonl", "[" * 100_000), FormatError, "no dump of a known layout"),
        (lambda p: _write(p / "a.parquet", "hello"), FormatError, "no Parquet file"),
        (lambda p: _write(p / "a.parquet", "PAR1 hello"), FormatError, "no readable Parquet"),
        (lambda p: _write(p / "a.jsonl", "version https://git-lfs.x\n"), FormatError, "LFS"),
        (lambda p: write_run(p / "run"), InvalidInputError, "a run of HarA-Viz already"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(
    tmp_path: Path, make: Callable[[Path], Path], error: type[HaraError], says: str
) -> None:
    with pytest.raises(error) as caught:
        look_at(make(tmp_path))
    message = str(caught.value)
    assert says in message and "\n" not in message and len(message) < 500


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


HOSTILE_LINES = [
    b"null", b"3", b'"text"', b"[1, 2]", b"{", b'{"prompt": "p", "completion":', b"\xff\xfe",
    b"[" * 50_000, b'{"a":' * 50_000, b'{"prompt": ' + b"9" * 10_000 + b', "completion": "c"}',
    b'{"prompt": null, "completion": "c"}', b'{"prompt": "", "completion": "c"}',
    b'{"prompt": "p"}', b'{"prompt": {"a": 1}, "completion": "c"}',
    b'{"prompt": "p", "completion": 7}', b'{"prompt": [], "completion": "c"}',
    b'{"prompt": "p", "completion": "c", "step": "../../etc/passwd"}',
    b'{"prompt": "p", "completion": "c", "reward": [1]}',
    b'{"prompt": "p", "completion": "c", "completion_ids": "1 2"}',
]  # fmt: skip


def test_hostile_lines_are_counted_skips(tmp_path: Path) -> None:
    good = json.dumps(ROW).encode()
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"\n".join([good, *HOSTILE_LINES, b"", good]) + b"\n")
    report = look_at(path)
    assert report.n_rollouts == 2
    assert sum(left.count for left in report.skipped) == len(HOSTILE_LINES)
    assert report.n_rows == len(HOSTILE_LINES) + 2, "blank lines are no rows"
    assert all(len(left.example) < 200 for left in report.skipped)


def test_a_line_without_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_LINE", 1000)
    path = tmp_path / "dump.jsonl"
    long = json.dumps({**ROW, "completion": "x" * 5000})
    path.write_text(f"{json.dumps(ROW)}\n{long}\n{json.dumps(ROW)}\n")
    report = look_at(path)
    assert (report.n_rows, report.n_rollouts) == (3, 2)
    assert "longer than" in report.skipped[0].reason


def test_a_column_that_was_not_understood_makes_no_giant_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hara_viz.importers.grouping.MAX_GROUP", 10)
    path = write_lines(tmp_path / "dump.jsonl", [ROW] * 11)
    with pytest.raises(FormatError, match="share one prompt"):
        look_at(path)


def test_a_look_stops_where_it_is_told(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "dump.jsonl", [{**ROW, "step": i} for i in range(50)])
    report = look_at(path, limit=20)
    assert (report.n_rows, report.whole) == (20, False)
    assert "the first 20 rows" in report.sentences()[0]


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dump.parquet"
    pq.write_table(pa.Table.from_pylist([ROW] * 5000), path)
    content = bytearray(path.read_bytes())
    content[20:400] = bytes(380)
    path.write_bytes(bytes(content))
    with pytest.raises(FormatError, match=r"dump\.parquet"):
        look_at(path)


@settings(max_examples=60, deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["prompt", "completion", "reward", "step", "messages", "role", "content",
                         "completions", "rewards", "completion_ids", "traces", "nodes", "input",
                         "output", "score", "token_ids", "task", "responses", "scores"]),
        inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_no_record_breaks_a_reader(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.mktemp("dump") / "1.jsonl"
    write_lines(path, [ROW, value])
    for name in ("auto", "verl", "prime-rl", "verifiers", "nemo-rl", "open-instruct", "roll"):
        try:
            report = look_at(path, name)
        except FormatError:
            continue
        assert report.n_rollouts + sum(left.count for left in report.skipped) >= 1


def test_numbers_as_dumps_write_them() -> None:
    given_ = [1, True, "True", "0.5", " nan ", "None", None, float("inf")]
    assert [number(v, "x") for v in given_] == [1, 1, 1, 0.5, None, None, None, None]
    assert whole("12", "x") == 12 and whole(2**60, "x") == 2**60
    with pytest.raises(ValueError, match="out of range"):
        number(10**400, "x")
    assert step_in("exp/step_3/global_step_40_evals/x.jsonl") == 40
    assert len(shown(10**50)) < 40


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    """A look at a dump of 60 MB keeps places and digests, not rows."""
    import tracemalloc

    path = tmp_path / "dump.jsonl"
    with path.open("w") as file:
        for i in range(3000):
            file.write(
                json.dumps({**ROW, "prompt": f"q{i // 8}", "completion": "x" * 20_000}) + "\n"
            )
    tracemalloc.start()
    report = collect(open_source(path)).report
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.n_groups == 375
    assert peak < path.stat().st_size / 10


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text("{}\n")
    assert [str(path) for path in open_source(tmp_path).files] == ["b.jsonl"]
