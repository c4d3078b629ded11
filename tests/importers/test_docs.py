"""What docs/import.md says, the importers do."""

from __future__ import annotations

import re
from pathlib import Path

from hara_viz.backend.import_run import look_at
from hara_viz.importers import FORMATS
from hara_viz.importers.formats import generic

PAGE = (Path(__file__).parents[2] / "docs" / "import.md").read_text(encoding="utf-8")


def test_every_format_has_its_line() -> None:
    named = re.findall(r"^\| `([a-z][a-z-]*)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(format_.name for format_ in FORMATS)


def test_the_plain_records_shown_are_read(tmp_path: Path) -> None:
    example = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    (tmp_path / "dump.jsonl").write_text(example[1])
    report = look_at(tmp_path / "dump.jsonl")
    assert (report.format, report.n_rollouts, report.skipped) == ("generic", 3, ())


def test_every_field_that_is_read_is_named() -> None:
    for name in (*generic.PROMPTS, *generic.COMPLETIONS, *generic.MANY, *generic.REWARDS):
        assert f"`{name}`" in PAGE, name
