"""The one reweighting code: what the heatmap shows is what the optimizer got.

A trainer calls `assign_credit` (padded) or `assign_credit_packed`; the app calls the same. The
room needs torch and numba alone and knows no tokenizer, file or screen. In the order of the
computation:

    config        every choice, checked
    batch         inputs, packed and checked
    baseline      rewards → A_r
    outcomes      groups → outcome classes
    states        normalised states and locations
    novelty       HarA: each token's share of the FGW cost          (6)
    signals       its rivals: position, entropy, surprisal, shear
    granularity   token, step, rollout and their mixes
    weights       standardise, clip, conserve                       (7)
    diagnostics   what a reader should know
    assign        the doors                                         (8)

and, on request, how far a colour can be believed:

    stability     novelty from several starts of the solver
    null          spans against shuffled outcomes or shuffled time: p and q
    shuffles      the shuffled copies, solved many at a time
"""

from hara_viz.credit.assign import assign_credit, assign_credit_packed
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.null import NoveltyNull, novelty_null
from hara_viz.credit.record import Credit, GroupDiagnostics, OutcomeClass
from hara_viz.credit.stability import NoveltyStability, novelty_stability

__all__ = [
    "Credit",
    "CreditConfig",
    "GroupDiagnostics",
    "NoveltyNull",
    "NoveltyStability",
    "OutcomeClass",
    "assign_credit",
    "assign_credit_packed",
    "novelty_null",
    "novelty_stability",
]
