"""The animated tour: what is shipped, and what the script makes of screenshots."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from examples import make_tour
from examples.make_pictures import PICTURES, SHOTS
from examples.make_tour import CAPTION, MOST_BYTES, SIZE, STOPS, frame, save


def screenshot(colour: str) -> Image.Image:
    return Image.new("RGB", (1280, 800), colour)


def test_every_stop_is_a_screenshot() -> None:
    assert set(STOPS) <= set(SHOTS)


def test_the_shipped_tour_is_whole_and_small() -> None:
    path = PICTURES / "tour.gif"
    assert path.stat().st_size <= MOST_BYTES
    with Image.open(path) as tour:
        assert getattr(tour, "n_frames", 1) == len(STOPS)
        assert tour.size == (SIZE[0], SIZE[1] + CAPTION)


def test_frames_keep_their_colours(tmp_path: Path) -> None:
    colours = ["#d0312d", "#2f5fb3", "#fdf0c2"]
    frames = [frame(screenshot(c), f"stop {c}", n) for n, c in enumerate(colours, 1)]
    save(frames, tmp_path / "tour.gif")
    with Image.open(tmp_path / "tour.gif") as tour:
        for number, colour in enumerate(colours):
            tour.seek(number)
            shown = tour.convert("RGB").getpixel((480, 300))
            wanted = tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
            assert isinstance(shown, tuple)
            assert max(abs(a - b) for a, b in zip(shown, wanted, strict=True)) <= 4
            assert tour.info["duration"] == 2600


def test_a_tour_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_tour, "MOST_BYTES", 100)
    with pytest.raises(SystemExit, match="fewer stops"):
        save([frame(screenshot("#ffffff"), "x", 1)], tmp_path / "tour.gif")


def test_every_screenshot_is_shipped() -> None:
    missing = [name for name in SHOTS if not (PICTURES / f"{name}.png").exists()]
    assert not missing and (PICTURES / "heatmap.svg").exists()
