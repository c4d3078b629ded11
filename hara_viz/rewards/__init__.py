"""REWARDS: the text of an answer to a reward, with the answer's place and the reason.

| file | question |
|---|---|
| `spec.py` | how is a reward named, alone or in a weighted sum? |
| `pool.py`, `process.py`, `worker.py` | how is a verifier kept within time and memory? |
| `registry.py` | which function stands behind a name? |
| `final_answer.py`, `numerals.py` | where is the answer, and which number is it? |
| `math_verify_reward.py`, `second_opinion.py`, `arithmetic.py` | is it equal mathematically? |
| `number.py`, `exact.py`, `choice.py`, `pattern.py`, `format_check.py` | the other rewards |
| `own_function.py` | how is a function for TRL or verl called? |

    with RewardPool("math + 0.2*format") as pool:
        judgements = pool.judge([(text, gold), ...])

Importing this package loads no verifier and no torch; workers load what they need. This room knows
no tokens: spans are code points of the text it was given.
"""

from hara_viz.rewards.pool import RewardPool, parsed_gold
from hara_viz.rewards.spec import REWARD_NAMES, RewardTerm, names_code, parse_reward
from hara_viz.rewards.verdict import RewardItem

__all__ = [
    "REWARD_NAMES",
    "RewardItem",
    "RewardPool",
    "RewardTerm",
    "names_code",
    "parse_reward",
    "parsed_gold",
]
