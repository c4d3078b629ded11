"""Makes the animated tour of the README out of the screenshots that `make_pictures` took.

    python -m examples.make_tour

Needs Pillow, which Streamlit brings along.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from examples.make_pictures import PICTURES

STOPS = {
    "rollouts": "Each rollout of a group, coloured by novelty",
    "pinned": "A token pinned: what it gains or loses against uniform GRPO",
    "transport": "The plan that moves a rollout onto its barycenter",
    "transport-text": "The barycenter as text: what the policy usually does",
    "embedding": "Hidden states of all rollouts, atoms as diamonds",
    "compare": "What changed between checkpoints",
    "learn": "The method, step by step, on your own group",
}
"""Picture -> the line below it."""

SIZE, CAPTION = (960, 600), 34
SECONDS = 2.6
MOST_BYTES = 2_000_000


def frame(screenshot: Image.Image, caption: str, number: int) -> Image.Image:
    """A screenshot with a line below it."""
    picture = screenshot.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
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
    palette = sheet.quantize(colors=255, method=Image.Quantize.MEDIANCUT)
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
    frames = [
        frame(Image.open(PICTURES / f"{name}.png"), caption, number)
        for number, (name, caption) in enumerate(STOPS.items(), 1)
    ]
    save(frames, PICTURES / "tour.gif")


if __name__ == "__main__":
    main()
