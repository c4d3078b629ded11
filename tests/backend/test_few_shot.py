"""Few-shot turns from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.backend.few_shot import read_few_shot
from hara_viz.errors import FormatError, MissingInputError
from hara_viz.types import Message

TURNS = (Message("user", "1+1?"), Message("assistant", "2"))


@pytest.mark.parametrize(
    "text",
    [
        '{"role": "user", "content": "1+1?"}\n\n{"role": "assistant", "content": "2"}\n',
        '[{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]',
        '{"question": "1+1?", "answer": "2"}',
    ],
)
def test_turns_and_examples_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "shots.jsonl"
    path.write_text(text, encoding="utf-8")
    assert read_few_shot(path) == TURNS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"role": "user", "content": "a"}\n{"role"', "line 2 of .* is not JSON"),
        ("[1", "is not JSON"),
        ('{"text": "a"}', "entry 1 of .* is no turn"),
        ('{"role": "user", "content": 3}', "entry 1 of .* is no turn"),
        ("\n", "holds no turns"),
        ("[]", "holds no turns"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "shots.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_few_shot(path)


def test_a_missing_or_binary_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="no few-shot file"):
        read_few_shot(tmp_path / "none.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="UTF-8"):
        read_few_shot(tmp_path / "binary")
