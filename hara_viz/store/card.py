"""`README.md` of a run: the dataset card that lets 🤗 datasets (and people) open it."""

from __future__ import annotations

from pathlib import Path

from hara_viz.store import layout
from hara_viz.store.files import write_text
from hara_viz.types import RunInfo

FILE_NAME = "README.md"


def write_card(run: Path, info: RunInfo) -> None:
    """Write the card for what the run holds now: rollouts, and credit where it was computed."""
    write_text(run / FILE_NAME, "\n".join([*_front_matter(run), *_body(run, info)]) + "\n")


def _front_matter(run: Path) -> list[str]:
    lines = [
        "---",
        "tags: [hara-viz, rlvr, rollouts]",
        "configs:",
        "- config_name: rollouts",
        f'  data_files: "{layout.ROLLOUTS}/*.parquet"',
        "  default: true",
    ]
    credit = run / layout.CREDIT
    # A configuration without files would make the whole card unreadable, so only what exists.
    for folder in sorted(credit.iterdir()) if credit.is_dir() else []:
        if layout.list_parts(folder, ".parquet"):
            lines += [
                f"- config_name: credit-{folder.name}",
                f'  data_files: "{layout.CREDIT}/{folder.name}/*.parquet"',
            ]
    return [*lines, "---"]


def _body(run: Path, info: RunInfo) -> list[str]:
    checkpoint = "no checkpoint (imported)"
    if info.checkpoint is not None:
        checkpoint = f"`{_plain(info.checkpoint.path)}`"
    problems = f"`{_plain(info.problem_set)}`" if info.problem_set else "an unnamed problem set"
    return [
        "",
        f"# {_plain(run.name)}",
        "",
        f"Rollouts of {checkpoint} on {problems}, in groups: several samples of each problem,",
        f"verified. Success means a reward of at least {info.success_threshold:g}.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'rollouts = load_dataset(".", "rollouts")["train"]',
        "",
        "import hara_viz",
        "",
        'run = hara_viz.open_run(".")  # groups as pandas, hidden states memory-mapped',
        "```",
        "",
        "Null means unknown, 0 means zero. Spans and offsets are code points of `completion_text`.",
    ]


def _plain(text: str) -> str:
    """Text that cannot break out of the card's one line of code."""
    return "".join(c if c.isprintable() and c != "`" else " " for c in text)
