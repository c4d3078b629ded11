"""The demo's tokenizer: whole words and whole numbers, and single characters for all other ASCII.

A word takes the space before it along, so decoding is plain concatenation. The vocabulary is the
words of the generator, the numbers up to 60 with and without a space, and printable ASCII; within
an unknown word the longest known piece is taken, so any ASCII text survives a round trip.
"""

from __future__ import annotations

import random
import re
import string

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from examples.demo.kinds import KINDS
from examples.demo.problems import draw_problem
from examples.demo.solutions import MAX_NUMBER, Noise, write_solution

PAD, UNKNOWN, END = "<|pad|>", "<|unknown|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
SPECIAL = (PAD, UNKNOWN, END, *ROLES)
PIECE = r" ?\\boxed\{| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]|\s"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def vocabulary() -> list[str]:
    """All tokens, the special ones first; the same list on every machine."""
    rng = random.Random(0)
    pieces: set[str] = set()
    for kind in KINDS:
        for _ in range(1000):
            problem = draw_problem(rng, kind)
            text = f"{problem.question}\n{write_solution(problem, rng, Noise()).text}"
            pieces.update(re.findall(PIECE, text))
    words = {piece for piece in pieces if not re.fullmatch(r" ?[0-9]+", piece)}
    characters = set(string.digits + string.ascii_letters + string.punctuation + " \n\t")
    numbers = [space + str(n) for space in ("", " ") for n in range(MAX_NUMBER + 1)]
    return [*SPECIAL, *numbers, *sorted((words | characters) - set(numbers))]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """The tokenizer with its chat template, as `AutoTokenizer` loads it."""
    vocab = {token: i for i, token in enumerate(vocabulary())}
    core = Tokenizer(models.WordPiece(vocab, unk_token=UNKNOWN, continuing_subword_prefix=""))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(PIECE), "isolated")
    core.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=PAD, unk_token=UNKNOWN, eos_token=END,
        additional_special_tokens=list(ROLES), model_max_length=512,
        clean_up_tokenization_spaces=False,
    )  # fmt: skip
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def prompt_ids(tokenizer: PreTrainedTokenizerFast, question: str) -> list[int]:
    """Ids of the prompt, ready for the assistant's turn."""
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
    )
    return tokenizer.encode(text, add_special_tokens=False)
