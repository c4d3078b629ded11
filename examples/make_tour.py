"""Makes the animated tour of the README: screenshots of the app on the demo, one after another.

    python -m examples.make_tour

Needs Chromium (HARA_VIZ_CHROMIUM or on the path) and Pillow, which Streamlit brings along.
"""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

from examples.make_pictures import (
    PICTURES,
    Shot,
    address_of,
    demo_run,
    find_chromium,
    running_app,
    shoot,
)

STOPS = (
    ("Each rollout of a group, coloured by novelty", Shot()),
    (
        "A token pinned: what it gains or loses against uniform GRPO",
        Shot(query=(("rollout", "0"), ("token", "24"), ("signal", "shift"))),
    ),
    ("The plan that moves a rollout onto its barycenter", Shot("transport")),
    (
        "The barycenter as text: what the policy usually does",
        Shot("transport", tab="What it usually does"),
    ),
    ("Hidden states, rollouts as lines, atoms as diamonds", Shot("embedding")),
    ("What changed between checkpoints", Shot("compare")),
    ("The method, step by step, on your own group", Shot("learn", tab="Barycenter and plan")),
)
SIZE, CAPTION = (960, 600), 34
SECONDS = 2.6
MOST_BYTES = 2_000_000


def frame(png: bytes, caption: str, number: int) -> Image.Image:
    """A screenshot with a line below it."""
    picture = Image.open(io.BytesIO(png)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    whole = Image.new("RGB", (SIZE[0], SIZE[1] + CAPTION), "#1c2430")
    whole.paste(picture, (0, 0))
    words = ImageDraw.Draw(whole)
    font = ImageFont.load_default(size=18)
    words.text((14, SIZE[1] + 6), f"{number}/{len(STOPS)}  {caption}", fill="#ffffff", font=font)
    return whole


def save(frames: list[Image.Image], path: Path) -> None:
    """As a GIF with one palette, so that what stays still stays equal and costs nothing.

    Raises:
        SystemExit: it is larger than a README should load.
    """
    sheet = Image.new("RGB", (SIZE[0], len(frames) * (SIZE[1] + CAPTION)))
    for number, one in enumerate(frames):
        sheet.paste(one, (0, number * one.height))
    palette = sheet.quantize(colors=200, method=Image.Quantize.MAXCOVERAGE)
    reduced = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
    reduced[0].save(
        path,
        save_all=True,
        append_images=reduced[1:],
        duration=int(1000 * SECONDS),
        loop=0,
        optimize=True,
    )
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes; take fewer stops or colours")


def main() -> None:
    run, chromium = demo_run(), find_chromium()
    PICTURES.mkdir(parents=True, exist_ok=True)
    with running_app() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        frames = [
            frame(shoot(page, address_of(base, shot, run), shot.tab), caption, number)
            for number, (caption, shot) in enumerate(STOPS, 1)
        ]
        browser.close()
    save(frames, PICTURES / "tour.gif")


if __name__ == "__main__":
    main()
