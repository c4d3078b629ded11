"""One training, by as many processes as the launcher started; started by its test.

    torchrun --nproc-per-node N -m tests.integrations.two_processes OUT GROUP_SIZE CREDIT

What is drawn is fixed beforehand, since sampling hangs on how rows are batched: completions are
words of the demo's vocabulary, drawn by the row's number in the global batch.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

from hara_viz.credit import CreditConfig
from hara_viz.integrations.trl import HaraGRPOTrainer, Recording
from tests.integrations.demo_training import demo_trainer

N_ROWS = 12
LENGTHS = (6, 40)


class FixedRollouts(HaraGRPOTrainer):
    """Draws what the row's number says, so that one process draws what two draw."""

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        found = super()._generate(prompts)  # for the form; its completions are replaced
        first = self.accelerator.process_index * len(prompts)
        ids = [fixed_ids(self.state.global_step, first + row) for row in range(len(prompts))]
        texts = [[{"role": "assistant", "content": self._tokenizer.decode(row)}] for row in ids]
        return (found[0], ids, found[2], texts, *found[4:])


def fixed_ids(step: int, row: int) -> list[int]:
    """The completion of a row of the global batch; rows share wording, as rollouts do."""
    rng = random.Random(1000 * step + row)
    wording = [random.Random(step).randrange(6, 400) for _ in range(LENGTHS[1])]
    length = rng.randint(*LENGTHS)
    return [w if rng.random() < 0.7 else rng.randrange(6, 400) for w in wording[:length]]


def odd_length(completion_ids: list[list[int]], **_: Any) -> list[float]:
    """A reward that splits most groups."""
    return [float(len(ids) % 2) for ids in completion_ids]


def main(out: Path, group_size: int, credit: str) -> None:
    """Train two steps and record them."""
    world = int(os.environ["WORLD_SIZE"])
    trainer = demo_trainer(
        out / "out",
        trainer=FixedRollouts,
        reward_funcs=odd_length,
        settings={
            # One row at a time: padding beside other rows would round its states otherwise.
            "per_device_train_batch_size": 1,
            "gradient_accumulation_steps": N_ROWS // world,
            "num_generations": group_size,
            "max_completion_length": LENGTHS[1] + 1,
            "max_steps": 2,
            "learning_rate": 0.0,  # weights after a step hang on the order of sums
        },
        credit=CreditConfig.from_json(credit),
        record=Recording(path=out / "run", states="all"),
    )
    trainer.train()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
