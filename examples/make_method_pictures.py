"""Makes the pictures of docs/method.md: every one is computed by the solver that it explains.

    python -m examples.make_method_pictures [--fidelity FILE]

`--fidelity` is what `python -m benchmarks.fidelity --json FILE` wrote; without it that one picture
is left as it is.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor

from examples.svg import BLUE, GREY, INK, PALE, RED, SERIES, Drawing
from hara_viz.credit import CreditConfig, assign_credit
from hara_viz.ot import BarycenterSolution, fgw_barycenter

PICTURES = Path(__file__).parents[1] / "docs" / "pictures" / "method"
STRANGE = slice(22, 27)
"""Where rollout 1 has an idea of its own."""
LENGTHS, SUPPORT = (40, 48, 36), 10


def rollouts() -> tuple[list[Tensor], list[Tensor]]:
    """Three walks in the plane past the same five stages; the second makes a detour."""
    generator = torch.Generator().manual_seed(4)
    stages = torch.tensor([[0.0, 0.0], [1.0, 0.7], [2.0, 0.1], [3.0, 0.9], [4.0, 0.2]])
    features: list[Tensor] = []
    for length in LENGTHS:
        place = torch.linspace(0, len(stages) - 1.001, length)
        before = place.long()
        # They linger at the stages and pass quickly between them.
        share = (place - before).unsqueeze(1)
        share = share**3 / (share**3 + (1 - share) ** 3)
        h = stages[before] * (1 - share) + stages[before + 1] * share
        features.append(h + 0.09 * torch.randn(length, 2, generator=generator))
    features[1][STRANGE] += torch.tensor([0.15, -1.0])
    return features, [torch.arange(n) / (n - 1) for n in LENGTHS]


def solve(**options: object) -> BarycenterSolution:
    features, locations = rollouts()
    return fgw_barycenter(features, locations, n_support=SUPPORT, **options)  # pyright: ignore[reportArgumentType]


def barycenter_picture() -> None:
    """States of three rollouts and the pattern that they share."""
    features, _ = rollouts()
    solution, drawing = solve(), Drawing(720, 300)

    def at(h: Tensor) -> tuple[float, float]:
        return 50 + 150 * float(h[0]), 150 - 95 * float(h[1])

    for h, color in zip(features, SERIES, strict=False):
        drawing.line([at(x) for x in h], color, 1, opacity=0.35)
        for x in h:
            drawing.dot(*at(x), color, 2.5, 0.7)
    support = [at(y) for y in solution.features]
    drawing.line(support, INK, 2)
    for k, (x, y) in enumerate(support):
        drawing.ring(x, y, INK, 7)
        drawing.text(x, y + 3.5, str(k), anchor="middle", size=9)
    detour = at(features[1][STRANGE].mean(0))
    drawing.text(detour[0] + 48, detour[1] + 4, "an idea of its own", color=RED)
    drawing.text(12, 22, "Three rollouts (dots: states of tokens) and their barycenter", bold=True)
    drawing.save(PICTURES / "barycenter.svg", "Three rollouts in the plane and their barycenter")


def plans_picture() -> None:
    """Plans of rollout 1: blurred more or less, and exact."""
    chosen = {
        "ε = 0.005": solve(epsilon=0.005),
        "ε = 0.02, the default": solve(),
        "ε = 0.2": solve(epsilon=0.2),
        "exact (POT)": solve(solver="exact"),
    }
    drawing = Drawing(720, 300)
    for place, (name, solution) in enumerate(chosen.items()):
        plan = solution.plans[1]
        left, cell_x, cell_y = 30 + 175 * place, 14.5, 4.6
        drawing.text(left, 42, name, size=12)
        drawing.box(left, 50, cell_x * SUPPORT, cell_y * len(plan), PALE, 0.6)
        top = float(plan.max())
        for i, row in enumerate(plan.tolist()):
            color = RED if STRANGE.start <= i < STRANGE.stop else BLUE
            for k, value in enumerate(row):
                if value > 0.02 * top:
                    where = (left + k * cell_x, 50 + i * cell_y)
                    drawing.box(*where, cell_x, cell_y, color, value / top)
        drawing.text(left, 50 + cell_y * len(plan) + 16, "support points →", color=GREY, size=10)
    drawing.text(12, 22, "Where the tokens of rollout 1 go (down: time; red: detour)", bold=True)
    drawing.save(PICTURES / "plans.svg", "Transport plans at three blurs and exact")


def novelty_picture() -> None:
    """Novelty of each token, by part, and the weights that come of it."""
    features, _ = rollouts()
    hidden, mask = torch.zeros(3, max(LENGTHS), 2), torch.zeros(3, max(LENGTHS), dtype=torch.bool)
    for row, h in enumerate(features):
        hidden[row, : len(h)], mask[row, : len(h)] = h, True
    config = CreditConfig(normalize="none", n_support=SUPPORT)
    credit = assign_credit(hidden, mask, torch.ones(3), torch.zeros(3, dtype=torch.long), config)
    drawing, width = Drawing(720, 330), 13.5
    top = float(credit.novelty.max())
    for i in range(LENGTHS[1]):
        x = 50 + i * width
        whole, bilinear = float(credit.novelty[1, i]), float(credit.novelty_structure[1, i])
        high, low = 120 * whole / top, 120 * bilinear / top
        color = RED if STRANGE.start <= i < STRANGE.stop else BLUE
        drawing.box(x, 160 - high, width - 2, high - low, color)
        drawing.box(x, 160 - low, width - 2, low, INK)
    drawing.line([(50, 160), (50 + width * LENGTHS[1], 160)], GREY, 1)
    drawing.text(12, 22, "Novelty of the tokens of rollout 1 (black: structure part)", bold=True)
    drawing.text(12, 195, "Their weights: clipped to 0.2 … 3, mean exactly 1", bold=True)

    def height(weight: float) -> float:
        return 315 - 35 * weight

    for bound in (0.2, 1.0, 3.0):
        drawing.line(
            [(50, height(bound)), (50 + width * LENGTHS[1], height(bound))],
            GREY, 1, dashed=bound != 1.0, opacity=0.7,
        )  # fmt: skip
        drawing.text(44, height(bound) + 4, f"{bound:g}", anchor="end", color=GREY, size=10)
    drawing.line(
        [(50 + (i + 0.5) * width, height(float(credit.weights[1, i]))) for i in range(LENGTHS[1])],
        BLUE, 2,
    )  # fmt: skip
    drawing.save(PICTURES / "novelty.svg", "Novelty and weights of a rollout, token by token")


def starts_picture() -> None:
    """Ranks of the tokens of rollout 1 from eight starts."""
    drawing, width = Drawing(720, 230), 13.5
    found = [torch.cat(solve(seed=seed).costs) for seed in range(8)]
    ranks = [costs.argsort().argsort() / (len(costs) - 1) for costs in found]
    first = LENGTHS[0]
    drawing.text(12, 22, "Rank of each token's novelty in its class, from eight starts", bold=True)
    for bound, name in ((0.0, "least"), (1.0, "most")):
        y = 200 - 150 * bound
        drawing.line([(60, y), (60 + width * LENGTHS[1], y)], GREY, 1, opacity=0.6)
        drawing.text(54, y + 4, name, anchor="end", color=GREY, size=10)
    for i in range(LENGTHS[1]):
        own = [float(r[first + i]) for r in ranks]
        x = 60 + (i + 0.5) * width
        color = RED if STRANGE.start <= i < STRANGE.stop else BLUE
        drawing.line([(x, 200 - 150 * min(own)), (x, 200 - 150 * max(own))], color, 3, opacity=0.35)
        for rank in own:
            drawing.dot(x, 200 - 150 * rank, color, 2)
    drawing.save(PICTURES / "starts.svg", "Ranks of novelty from eight starts of the solver")


def fidelity_picture(path: Path) -> None:
    """Ours and the ceiling, by run and layer."""
    found = json.loads(path.read_text(encoding="utf-8"))["agreement"]
    places = list(dict.fromkeys((a["source"], a["layer"]) for a in found))
    drawing = Drawing(720, 90 + 24 * len(places))
    fields = (("same_start", BLUE), ("other_start", RED), ("ceiling", INK))
    said = ("ours, same start", "ours, other start", "ceiling: exact, other start")

    def x(rho: float) -> float:
        return 150 + 520 * (rho - 0.5) / 0.5

    drawing.text(12, 22, "Rank agreement of token novelty with exact FGW", bold=True)
    for place, (name, (_, color)) in enumerate(zip(said, fields, strict=True)):
        drawing.dot(156 + 180 * place, 42, color, 4)
        drawing.text(166 + 180 * place, 46, name, size=11)
    for tick in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        drawing.line([(x(tick), 58), (x(tick), 62 + 24 * len(places))], PALE, 1)
        drawing.text(x(tick), 78 + 24 * len(places), f"{tick:g}", anchor="middle", color=GREY)
    for row, (source, layer) in enumerate(places):
        y = 76 + 24 * row
        own = [a for a in found if (a["source"], a["layer"]) == (source, layer)]
        label = source if layer is None else f"{source}, layer {layer}"
        drawing.text(140, y + 4, label, anchor="end", size=11)
        for name, color in fields:
            drawing.dot(x(fmean(a[name] for a in own)), y, color, 5, 0.85)
    drawing.save(PICTURES / "fidelity.svg", "Agreement with exact FGW, by run and layer")


def main(arguments: list[str] | None = None) -> None:
    """Make them all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--fidelity", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    PICTURES.mkdir(parents=True, exist_ok=True)
    barycenter_picture()
    plans_picture()
    novelty_picture()
    starts_picture()
    if options.fidelity:
        fidelity_picture(options.fidelity)


if __name__ == "__main__":
    main()
