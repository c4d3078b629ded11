"""Damaged, missing, foreign and newer files: named in one sentence, never a wrong number."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hara_viz.errors import FormatError, MissingInputError, SchemaError, UnsafeError
from hara_viz.store import RunWriter, confine, list_runs, open_run
from hara_viz.store.schema import table_to_rollouts
from tests.store.builders import make_group, make_info, make_states


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with RunWriter(tmp_path / "r", make_info()) as writer:
        for p in range(2):
            groups = [make_group(2 * p), make_group(2 * p + 1)]
            writer.write_part(groups, [make_states(groups)])
        writer.finish()
    return tmp_path / "r"


def edit_header(path: Path, **changes: object) -> None:
    file = path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_a_newer_schema_is_refused(path: Path) -> None:
    edit_header(path, schema_version=2)
    with pytest.raises(SchemaError, match=r"newer HarA-Viz \(schema 2, .* up to 1\); upgrade"):
        open_run(path)
    with pytest.raises(SchemaError, match="newer"):
        RunWriter(path, make_info())
    assert "newer" in (list_runs(path.parent)[0].error or "")


def test_unknown_fields_of_the_header_are_left_out(path: Path) -> None:
    edit_header(path, colour="blue")
    assert open_run(path).info == make_info()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not JSON"),
        ("[]", "no JSON object"),
        ("{}", "names no schema_version"),
        ('{"schema_version": "1"}', "names no schema_version"),
        ('{"schema_version": 1, "sampling": {"group_size": 0}}', "group_size is 0"),
        ('{"schema_version": 1, "sampling": 3}', "not a run's header"),
        ('{"schema_version": 1, "checkpoint": {"revision": "x"}}', "not a run's header"),
        ('{"schema_version": 1, "success_threshold": "high"}', "success_threshold is 'high'"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_headers_that_are_none(path: Path, content: str, why: str) -> None:
    (path / "run.json").write_text(content)
    with pytest.raises(FormatError, match=why):
        open_run(path)
    assert why in (list_runs(path.parent)[0].error or "")


def test_no_run_there(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="does not exist"):
        open_run(tmp_path / "nothing")
    with pytest.raises(MissingInputError, match=r"holds no run\.json"):
        open_run(tmp_path)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(MissingInputError):
        open_run(file)
    (tmp_path / "broken" / "rollouts").mkdir(parents=True)
    assert "holds no run.json" in (list_runs(tmp_path)[0].error or "")


def test_a_missing_part_is_named_and_the_rest_is_there(path: Path) -> None:
    lost = path / "rollouts/part-00001.parquet"
    lost.unlink()
    run = open_run(path)
    assert len(run.keys()) == 4
    assert run.load_group(make_group(0).key) == make_group(0)
    with pytest.raises(MissingInputError, match=r"part-00001\.parquet is missing"):
        run.load_group(make_group(2).key)
    assert run.warnings() == ("r: rollouts/part-00001.parquet is missing",)


@pytest.mark.parametrize("keep", [0, 3, 500, -1])
def test_a_cut_part_is_named(path: Path, keep: int) -> None:
    part = path / "rollouts/part-00001.parquet"
    part.write_bytes(part.read_bytes()[:keep])
    run = open_run(path)
    with pytest.raises(FormatError, match=r"part-00001\.parquet is damaged"):
        run.load_group(make_group(2).key)
    assert "part-00001.parquet has" in run.warnings()[0]
    with pytest.raises(FormatError, match=r"part-00001\.parquet is damaged"):
        RunWriter(path, make_info())
    RunWriter(path.parent / "other", make_info()).close()  # the lock was let go


def test_cut_states_are_named(path: Path) -> None:
    part = path / "states/3/part-00000.safetensors"
    part.write_bytes(part.read_bytes()[:-1])
    run = open_run(path)
    with pytest.raises(FormatError, match=r"3/part-00000\.safetensors is damaged"):
        run.load_states(make_group(0).key, 3)
    assert run.load_group(make_group(0).key) == make_group(0)


def test_states_of_another_part_are_refused(path: Path) -> None:
    states = path / "states/3"
    groups = [make_group(0, size=1), make_group(1, size=1)]
    with RunWriter(path.parent / "other", make_info()) as writer:
        writer.write_part(groups, [make_states(groups)])
    other = path.parent / "other/states/3/part-00000.safetensors"
    (states / "part-00000.safetensors").write_bytes(other.read_bytes())
    with pytest.raises(FormatError, match=r"does not (hold|belong)"):
        open_run(path).load_states(make_group(1).key, 3)


def test_one_flipped_bit_is_found(path: Path) -> None:
    part = path / "states/3/part-00000.safetensors"
    data = bytearray(part.read_bytes())
    data[-1] ^= 1
    part.write_bytes(data)
    run = open_run(path)
    assert run.warnings() == ()
    assert run.verify() == (
        "states/3/part-00000.safetensors does not have the bytes that were written",
    )


def test_parts_that_were_swapped_are_noticed(path: Path) -> None:
    first, second = (path / f"rollouts/part-0000{i}.parquet" for i in (0, 1))
    first.rename(path / "swap")
    second.rename(first)
    (path / "swap").rename(second)
    with pytest.raises(FormatError, match="does not hold the group"):
        open_run(path).load_group(make_group(0).key)


def test_a_damaged_complete_file(path: Path) -> None:
    (path / "COMPLETE").write_text('{"files": 3}')
    with pytest.raises(FormatError, match="COMPLETE is damaged"):
        open_run(path).verify()


def test_a_part_name_from_the_index_cannot_leave_the_run(path: Path) -> None:
    table = pq.read_table(path / "groups.parquet")
    names = pa.array(["../../etc/part-00000"] * table.num_rows)
    table = table.set_column(table.column_names.index("part"), "part", names)
    pq.write_table(table, path / "groups.parquet")
    with pytest.raises(FormatError, match="not the name of a part"):
        open_run(path).load_group(make_group(0).key)


def test_tables_of_other_programs() -> None:
    required = {
        "problem_id": ["p"],
        "group": [0],
        "sample": [0],
        "prompt_text": ["?"],
        "completion_text": ["!"],
        "completion_ids": [[1, 2]],
        "finish": ["stop"],
        "tokens_source": ["dump"],
    }
    (rollout,) = table_to_rollouts(pa.table({**required, "mood": ["good"]}), "x")
    assert rollout.reward is None and rollout.completion_ids == (1, 2)
    with pytest.raises(SchemaError, match=r"x lacks the column\(s\) sample, finish"):
        kept = {k: v for k, v in required.items() if k not in ("sample", "finish")}
        table_to_rollouts(pa.table(kept), "x")
    for bad in (
        {"finish": ["bored"]},
        {"logprobs": [[0.5]]},
        {"prompt_messages": ["{"]},
        {"completion_ids": ["many"]},
        {"completion_ids": [[1, None]]},
    ):
        with pytest.raises(SchemaError, match="breaks the schema"):
            table_to_rollouts(pa.table({**required, **bad}), "x")
    with pytest.raises(SchemaError, match="completion_text holds nulls"):
        nulls = pa.array([None], pa.string())
        table_to_rollouts(pa.table({**required, "completion_text": nulls}), "x")


def test_paths_stay_within_the_roots(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "good").symlink_to(inside)
    (inside / "loop").symlink_to(inside / "loop")
    assert confine(inside / "a/../b", [inside]) == inside / "b"
    assert confine(inside / "good/x", [outside, inside]) == inside / "x"
    assert confine(inside, [str(inside)]) == inside
    for path in ("..", "../out", "link", "link/x", "a/../../out", "nul\0", "/etc/passwd", "../in2"):
        with pytest.raises(UnsafeError):
            confine(inside / path, [inside])
    with pytest.raises(UnsafeError, match="none"):
        confine(inside, [])


def test_flipped_bits_of_a_table_are_refused_when_they_are_read(path: Path) -> None:
    part = path / "rollouts" / "part-00000.parquet"
    content = bytearray(part.read_bytes())
    for place in range(len(content) // 3, len(content) // 3 + 200):
        content[place] ^= 0x10
    part.write_bytes(content)
    with pytest.raises(FormatError, match="damaged"):
        open_run(path).load_part("part-00000")


def test_a_layer_without_any_part_is_not_held(path: Path) -> None:
    (path / "states" / "7").mkdir()
    assert open_run(path).layers == (3,)
