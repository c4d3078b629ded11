"""From messages to the very ids that the policy reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hara_viz.errors import InvalidInputError, ModelError
from hara_viz.models.deadline import call_with_deadline
from hara_viz.models.policy import Policy
from hara_viz.models.reader import PromptReader
from hara_viz.types import Message, SamplingConfig

TEMPLATE_SECONDS = 5.0
"""A chat template is a program that came with the checkpoint; a sane one takes milliseconds."""


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """A prompt as the policy reads it."""

    text: str
    """Decoded `ids`, special tokens written out."""
    ids: tuple[int, ...]
    templated: bool
    """True: the checkpoint's chat template wrote it; False: plain text."""


def render_prompt(
    policy: Policy | PromptReader, messages: Sequence[Message], sampling: SamplingConfig
) -> RenderedPrompt:
    """Put system prompt and few-shot turns before `messages` and encode them.

    A checkpoint with a chat template gets its own format, up to where the assistant begins, and
    exactly the special tokens that the template writes. Any other gets plain text, with the special
    tokens that its tokenizer puts before a text. A doubled BOS (template and tokenizer both wrote
    one) is cut to one.

    Raises:
        InvalidInputError: No messages; template arguments without a template.
        ModelError: The template refused the messages, or took more than `TEMPLATE_SECONDS`.
    """
    system = () if sampling.system is None else (Message("system", sampling.system),)
    turns = (*system, *sampling.few_shot, *messages)
    if not messages:
        raise InvalidInputError("a prompt needs at least one message; got none")
    templated = bool(policy.tokenizer.chat_template)
    if templated:
        ids = _from_template(policy.tokenizer, turns, dict(sampling.template_kwargs))
    elif sampling.template_kwargs:
        raise InvalidInputError(
            f"template arguments {sorted(sampling.template_kwargs)} were given, but this "
            "checkpoint has no chat template; leave them out"
        )
    else:
        ids = list(policy.tokenizer(plain_text(turns), add_special_tokens=True)["input_ids"])
    bos = policy.tokenizer.bos_token_id
    while bos is not None and ids[:2] == [bos, bos]:
        ids = ids[1:]
    if not ids:
        raise InvalidInputError("the prompt is empty once rendered; the policy needs a token")
    return RenderedPrompt(text=policy.decode(ids), ids=tuple(ids), templated=templated)


def plain_text(turns: Sequence[Message]) -> str:
    """Turns as plain text for a model without a template: paragraphs, and nothing added.

    A prompt is given to a base model as it is. Few-shot turns alternate question and answer, so
    the text goes on where the next answer is due.
    """
    return "\n\n".join(turn.content for turn in turns) + ("\n\n" if len(turns) > 1 else "")


def _from_template(
    tokenizer: Any, turns: Sequence[Message], arguments: dict[str, Any]
) -> list[int]:
    from jinja2.exceptions import TemplateError

    conversation = [{"role": turn.role, "content": turn.content} for turn in turns]

    def render() -> str:
        return tokenizer.apply_chat_template(
            conversation, tokenize=False, add_generation_prompt=True, **arguments
        )

    try:
        text = call_with_deadline(render, TEMPLATE_SECONDS)
    except TimeoutError:
        raise ModelError(
            f"the checkpoint's chat template did not finish within {TEMPLATE_SECONDS:.0f} s; "
            "it may be hostile or broken: check chat_template.jinja before using this checkpoint"
        ) from None
    except (TemplateError, TypeError, ValueError, KeyError) as error:
        roles = ", ".join(turn.role for turn in turns)
        raise ModelError(
            f"the checkpoint's chat template refused a prompt with the turns {roles}: {error}; "
            "leave out the system prompt or few-shot turns, or check the template arguments"
        ) from error
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
