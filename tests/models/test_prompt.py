"""What the policy reads: the checkpoint's own format, one BOS at most and at least."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hara_viz.errors import InvalidInputError, MissingInputError, ModelError
from hara_viz.models import Policy, load_policy, load_reader, prompt, render_prompt
from hara_viz.types import Message, SamplingConfig
from tests.tiny_models import TEMPLATE, write_tiny_checkpoint

QUESTION = [Message("user", "7*6?")]
SHOTS = (Message("user", "1+1?"), Message("assistant", "2"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """No chat template, no BOS."""
    return load_policy(write_tiny_checkpoint(tmp_path_factory.mktemp("m"), template=False))


@pytest.fixture(scope="module")
def plain_bos(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """No chat template; the tokenizer puts a BOS before a text."""
    path = tmp_path_factory.mktemp("m")
    return load_policy(write_tiny_checkpoint(path, template=False, bos=True))


@pytest.fixture
def templated(llama: Policy) -> Iterator[Policy]:
    """A policy whose template a test may replace."""
    yield llama
    llama.tokenizer.chat_template = TEMPLATE


def test_the_template_writes_the_prompt(llama: Policy) -> None:
    found = render_prompt(llama, QUESTION, SamplingConfig())
    assert found.text == "<|im_start|>user\n7*6?<|im_end|>\n<|im_start|>assistant\n"
    assert found.templated and llama.decode(found.ids) == found.text
    assert found.ids[0] == 1 and found.ids.count(2) == 1


def test_system_and_few_shot_come_first(llama: Policy) -> None:
    found = render_prompt(llama, QUESTION, SamplingConfig(system="Be brief.", few_shot=SHOTS))
    turns = ["system\nBe brief.", "user\n1+1?", "assistant\n2", "user\n7*6?"]
    body = "".join(f"<|im_start|>{turn}<|im_end|>\n" for turn in turns)
    assert found.text == body + "<|im_start|>assistant\n"


def test_template_arguments_reach_the_template(llama: Policy, plain: Policy) -> None:
    quick = SamplingConfig(template_kwargs={"enable_thinking": False})
    assert render_prompt(llama, QUESTION, quick).text.endswith("<think>\n\n</think>\n")
    with pytest.raises(InvalidInputError, match=r"enable_thinking.*no chat template"):
        render_prompt(plain, QUESTION, quick)


def test_without_a_template_the_text_is_the_prompt(plain: Policy) -> None:
    found = render_prompt(plain, QUESTION, SamplingConfig())
    assert found.text == "7*6?" and not found.templated
    shots = render_prompt(plain, QUESTION, SamplingConfig(system="Answer.", few_shot=SHOTS))
    assert shots.text == "Answer.\n\n1+1?\n\n2\n\n7*6?\n\n"


def test_one_bos_never_two_never_none(plain_bos: Policy, policies: dict[str, Policy]) -> None:
    bos = plain_bos.tokenizer.bos_token_id
    for text in ("7*6?", "<s>7*6?"):  # the second writes its own
        ids = render_prompt(plain_bos, [Message("user", text)], SamplingConfig()).ids
        assert ids[0] == bos and ids.count(bos) == 1
    gemma = policies["gemma3"]  # its template writes BOS, and its tokenizer would add one
    ids = render_prompt(gemma, QUESTION, SamplingConfig()).ids
    assert ids[0] == gemma.tokenizer.bos_token_id and ids.count(ids[0]) == 1


def test_a_templates_refusal_is_explained(templated: Policy) -> None:
    templated.tokenizer.chat_template = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role') }}{% endif %}"
    )
    with pytest.raises(ModelError, match=r"turns system, user: No system role; leave out"):
        render_prompt(templated, QUESTION, SamplingConfig(system="x"))


def test_a_broken_template_is_explained(templated: Policy) -> None:
    templated.tokenizer.chat_template = "{% for %}"
    with pytest.raises(ModelError, match="refused a prompt"):
        render_prompt(templated, QUESTION, SamplingConfig())


def test_a_hostile_template_is_stopped(templated: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "TEMPLATE_SECONDS", 0.5)
    loop = "{% for i in range(99999) %}"
    templated.tokenizer.chat_template = loop * 3 + "x" + "{% endfor %}" * 3
    start = time.monotonic()
    with pytest.raises(ModelError, match="did not finish within"):
        render_prompt(templated, QUESTION, SamplingConfig())
    assert time.monotonic() - start < 20


def test_a_template_may_not_reach_python(templated: Policy) -> None:
    templated.tokenizer.chat_template = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    with pytest.raises(ModelError, match="refused"):
        render_prompt(templated, QUESTION, SamplingConfig())


def test_empty_prompts_are_refused(llama: Policy, plain: Policy, plain_bos: Policy) -> None:
    with pytest.raises(InvalidInputError, match="at least one message"):
        render_prompt(llama, [], SamplingConfig())
    empty = [Message("user", "")]
    with pytest.raises(InvalidInputError, match="empty once rendered"):
        render_prompt(plain, empty, SamplingConfig())
    assert len(render_prompt(plain_bos, empty, SamplingConfig()).ids) == 1


def test_the_template_of_a_file_is_used(tmp_path: Path) -> None:
    path = write_tiny_checkpoint(tmp_path / "m", template=False)
    (path / "chat_template.jinja").write_text("Q: {{ messages[-1]['content'] }} A:")
    found = render_prompt(load_policy(path), QUESTION, SamplingConfig())
    assert found.text == "Q: 7*6? A:" and found.templated


def test_a_tokenizer_alone_renders_what_the_policy_reads(llama: Policy) -> None:
    folder = Path(llama.info.path)
    bare = folder.parent / "bare"
    reader = load_reader(folder)
    sampling = SamplingConfig(system="Be brief.", few_shot=SHOTS)
    assert render_prompt(reader, QUESTION, sampling) == render_prompt(llama, QUESTION, sampling)
    with pytest.raises(MissingInputError, match="bare"):
        load_reader(bare)
