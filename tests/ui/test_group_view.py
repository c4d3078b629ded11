"""What the parts of a page read off the selected group."""

from __future__ import annotations

from typing import Any

import pytest

from hara_viz.types import GroupKey
from hara_viz.ui.group_view import GroupView


def view_of(run_name: str, key: GroupKey) -> GroupView:
    """A view of which no more than its place is asked."""
    names = ("run", "stamp", "group", "credit", "config", "layer", "columns", "refused")
    nothing: dict[str, Any] = dict.fromkeys(names)
    return GroupView(run_name=run_name, key=key, **nothing)


@pytest.mark.parametrize(
    ("run_name", "key", "stem"),
    [
        ("grpo", GroupKey(None, "ab12", 0), "grpo-ab12"),
        ("demo/grpo", GroupKey(150, "ab12", 0), "demo-grpo-ab12-step150"),
        ("grpo", GroupKey(0, "ab12", 2), "grpo-ab12-step0-group2"),
    ],
)
def test_downloads_of_two_groups_never_share_a_name(
    run_name: str, key: GroupKey, stem: str
) -> None:
    assert view_of(run_name, key).file_stem == stem
