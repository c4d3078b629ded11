"""The formulas of the Learn page with the current numbers in them. Pure; no Streamlit, no text
of the model: what is written here is TeX.
"""

from __future__ import annotations

import numpy as np

from hara_viz.backend.lesson import BarycenterFilm
from hara_viz.ui.learn_view import LearnView

_STANDARD = r"\frac{{r - \bar r}}{{s + FLOOR}} = \frac{{{r:g} - {mean:.3f}}}{{{std:.3f} + FLOOR}}"
_RULES = {
    "grpo": _STANDARD.replace("FLOOR", "10^{{-4}}"),
    "grpo_verl": _STANDARD.replace("FLOOR", "10^{{-6}}"),
    "dr_grpo": r"r - \bar r = {r:g} - {mean:.3f}",
    "rloo": r"r - \bar r_{{\text{{others}}}} = {r:g} - {others:.3f}",
    "maxrl": r"\frac{{r - \bar r}}{{\bar r}} = \frac{{{r:g} - {mean:.3f}}}{{{mean:.3f}}}",
}


def baseline_numbers(shown: LearnView) -> str:
    """A_r of the chosen rollout by the group's rule."""
    rewards = [r.reward for r in shown.found.group.rollouts]
    scored = np.array([r for r in rewards if r is not None and r == r], dtype=float)
    own, value = rewards[shown.row], float(shown.found.credit.baseline[shown.row])
    rule = shown.config.baseline
    if own is None or len(scored) < 2 or scored.max() == scored.min() or rule not in _RULES:
        return rf"A_{{\#{shown.rollout.sample}}} = {value:.3f}"
    numbers = {
        "r": own,
        "mean": scored.mean(),
        "std": scored.std(ddof=1),
        "others": (scored.sum() - own) / (len(scored) - 1),
    }
    return rf"A_{{\#{shown.rollout.sample}}} = {_RULES[rule].format(**numbers)} = {value:.3f}"


def objective(shown: LearnView) -> str:
    """(4) and (5) with α, ε and K."""
    alpha, epsilon = shown.config.alpha, shown.config.epsilon
    outcome = shown.outcome
    k = outcome.plans[0].shape[1] if outcome is not None and outcome.plans else "K"
    return (
        rf"M_{{ik}} = {1 - alpha:g}\,\lVert h_i - y_k\rVert^2 + {alpha:g}\,L_{{ik}}, \qquad "
        rf"\pi = \arg\min_{{\pi \in \Pi(p, q)}} \langle M, \pi\rangle + \varepsilon\,"
        rf"\mathrm{{KL}}(\pi \,\|\, p q^\top), \qquad K = {k},\; "
        rf"\varepsilon = {epsilon:g}\,\overline{{M}}"
    )


def round_numbers(film: BarycenterFilm, at_round: int) -> str:
    """How far the solver is, in words."""
    shown = f"{100 * film.explained:.0f} % of the states' variance is in this plane."
    if at_round == 0:
        return f"The start: each atom is the mean of an equal share of time. {shown}"
    change = film.changes[at_round - 1] if at_round <= len(film.changes) else float("nan")
    end = "converged" if film.converged else "NOT converged"
    last = f", the last one: {end}" if at_round == film.n_rounds else ""
    moved = f"the atoms moved by {100 * change:.1f} % of their spread"
    return f"Round {at_round} of {film.n_rounds}{last}; {moved}. {shown}"


def novelty_numbers(shown: LearnView) -> str:
    """(6) at the rollout's most novel token."""
    feature, structure = shown.values("novelty_feature"), shown.values("novelty_structure")
    t = int((feature + structure).argmax())
    whole = feature[t] + structure[t]
    return (
        rf"n_t = \frac1{{p_t}} \sum_k \pi_{{tk}} M_{{tk}}, \qquad "
        rf"n_{{{t}}} = \underbrace{{{feature[t]:.3f}}}_{{\text{{states}}}} + "
        rf"\underbrace{{{structure[t]:.3f}}}_{{\text{{structure}}}} = {whole:.3f}"
    )


def weight_numbers(shown: LearnView) -> str:
    """(7) with the strength and the bounds, at the most novel token."""
    novelty, weights = shown.values("novelty"), shown.values("weights")
    t = int(novelty.argmax())
    low, high = shown.config.weight_range
    return (
        rf"w_t = \mathrm{{clip}}\big(1 + {shown.config.strength:g}\,z_t + c,\; {low:g},\; "
        rf"{high:g}\big), \qquad w_{{{t}}} = {weights[t]:.3f}, \qquad "
        rf"\overline{{w}} = {weights.mean():.3f}"
    )


def advantage_numbers(shown: LearnView) -> str:
    """(8) at the most novel token."""
    t = int(shown.values("novelty").argmax())
    before = float(shown.found.credit.baseline[shown.row])
    weight, after = shown.values("weights")[t], shown.values("advantages")[t]
    return rf"\hat A_{{{t}}} = A_r\, w_{{{t}}} = {before:.3f} \times {weight:.3f} = {after:.3f}"


def gradient_numbers(shown: LearnView) -> str:
    """The effective weight of the most novel token's gradient, under two norms of the loss."""
    t = int(shown.values("novelty").argmax())
    after, own = float(shown.values("advantages")[t]), len(shown.words)
    rollouts = shown.found.group.rollouts
    size, all_tokens = len(rollouts), sum(shown.n_own_tokens(row) for row in range(len(rollouts)))
    return (
        rf"\text{{GRPO: }} \frac{{\hat A_{{{t}}}}}{{G\,T_r}} = \frac{{{after:.3f}}}"
        rf"{{{size} \cdot {own}}} = {after / (size * own):.5f}, \qquad \text{{DAPO: }} "
        rf"\frac{{\hat A_{{{t}}}}}{{\sum_r T_r}} = \frac{{{after:.3f}}}{{{all_tokens}}} = "
        rf"{after / all_tokens:.5f}"
    )


def case_notes(shown: LearnView) -> list[str]:
    """What is special about the settings or the group that are looked at; plain sentences."""
    notes, config = [], shown.config
    rewards = {r.reward for r in shown.found.group.rollouts if r.reward is not None}
    if len(rewards) == 1:
        notes.append(
            "All rewards are equal, so every advantage is 0: whatever its weights, this group "
            "teaches nothing."
        )
    outcome = shown.outcome
    if outcome is not None and outcome.plans:
        n_atoms = outcome.plans[0].shape[1]
        novelty = shown.values("novelty")
        spread = 100 * float(novelty.std() / novelty.mean()) if novelty.mean() > 0 else 0.0
        if n_atoms > len(shown.words):
            notes.append(
                f"K = {n_atoms} atoms for T = {len(shown.words)} tokens: a token's mass is split, "
                f"and atoms follow single rollouts. Novelty varies by {spread:.0f} % of its mean."
            )
        if config.epsilon >= 1:
            notes.append(
                f"ε = {config.epsilon:g} blurs each plan towards p qᵀ: all atoms become one mean. "
                f"Novelty varies by {spread:.0f} % of its mean."
            )
    elif outcome is not None and len(outcome.rows) == 1:
        notes.append("This rollout stands alone in its outcome: no pattern, novelty 0, weights 1.")
    return notes
