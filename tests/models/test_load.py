"""Loading: what comes out is right, and what cannot be right is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from hara_viz.errors import FormatError, InvalidInputError, ModelError, UnsafeError
from hara_viz.models import load_policy
from hara_viz.models.policy import Policy
from tests.tiny_models import write_tiny_checkpoint


@pytest.fixture
def checkpoint(tiny_policy_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_policy_dir, tmp_path / "model"))


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_the_card_of_a_checkpoint(tiny_policy_dir: Path) -> None:
    policy = load_policy(tiny_policy_dir)
    info = policy.info
    assert (info.n_layers, info.hidden_size, info.dtype) == (2, 32, "float32")
    assert info.path == str(tiny_policy_dir) and len(info.fingerprint) == 16
    assert policy.eos_ids == {0, 2} and policy.special_ids == {0, 1, 2}
    assert policy.max_positions == 512
    assert not policy.model.training
    assert not any(p.requires_grad for p in policy.model.parameters())


def test_text_survives_whole(llama: Policy) -> None:
    text = "<|im_start|>a  b\n é🙂 <|im_end|>"
    assert llama.decode(llama.tokenizer(text)["input_ids"]) == text


def test_turn_ends_are_ends_even_if_no_config_names_them(tmp_path: Path) -> None:
    path = write_tiny_checkpoint(tmp_path / "m", eos_ids=[0])
    assert load_policy(path).eos_ids == {0, 2}  # 2 is <|im_end|>


def test_fingerprints_follow_content(checkpoint: Path, tiny_policy_dir: Path) -> None:
    original = load_policy(tiny_policy_dir).info
    assert load_policy(checkpoint).info.fingerprint == original.fingerprint
    weights = load_file(checkpoint / "model.safetensors")
    weights["model.norm.weight"][3] += 1e-3
    save_file(weights, checkpoint / "model.safetensors", metadata={"format": "pt"})
    changed = load_policy(checkpoint).info
    assert changed.fingerprint != original.fingerprint
    assert changed.tokenizer_fingerprint == original.tokenizer_fingerprint


def test_tokenizers_differ_by_vocabulary(policies: dict[str, Policy]) -> None:
    plain, with_bos = policies["llama"].info, policies["gemma3"].info
    assert plain.tokenizer_fingerprint != with_bos.tokenizer_fingerprint
    assert plain.tokenizer_fingerprint == policies["gpt2"].info.tokenizer_fingerprint


def test_dtype_and_device(tiny_policy_dir: Path) -> None:
    assert load_policy(tiny_policy_dir, dtype="bfloat16").info.dtype == "bfloat16"
    with pytest.raises(InvalidInputError, match="dtype 'int3' is unknown"):
        load_policy(tiny_policy_dir, dtype="int3")
    for device in ("cuda:7", "tpu"):
        with pytest.raises(InvalidInputError, match=f"device '{device}' is not available"):
            load_policy(tiny_policy_dir, device=device)


def test_loading_is_silent(tiny_policy_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_policy(tiny_policy_dir)
    out, err = capfd.readouterr()
    assert out == "" and err == ""


def test_a_hub_id_out_of_reach_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="owner/no-such-model is no directory or file here"):
        load_policy("owner/no-such-model")
    assert capfd.readouterr().err == ""


def test_weights_that_lack_a_layer_are_refused(checkpoint: Path) -> None:
    weights = load_file(checkpoint / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, checkpoint / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"does not fit its config: 1 weights .*up_proj"):
        load_policy(checkpoint)


def test_weights_of_another_size_are_refused(checkpoint: Path) -> None:
    edit(checkpoint / "config.json", intermediate_size=48)
    with pytest.raises(ModelError, match="model"):
        load_policy(checkpoint)


def test_a_tokenizer_larger_than_the_model_is_refused(checkpoint: Path) -> None:
    weights = load_file(checkpoint / "model.safetensors")
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        weights[name] = weights[name][:300].clone()
    save_file(weights, checkpoint / "model.safetensors", metadata={"format": "pt"})
    edit(checkpoint / "config.json", vocab_size=300)
    with pytest.raises(ModelError, match=r"ids up to 329.*300"):
        load_policy(checkpoint)


def test_code_in_a_checkpoint_does_not_run(checkpoint: Path) -> None:
    proof = checkpoint / "ran"
    (checkpoint / "evil.py").write_text(f"open({str(proof)!r}, 'w').close()\nclass C: ...\n")
    auto = {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.C"}
    edit(checkpoint / "config.json", model_type="no_such_model", auto_map=auto)
    with pytest.raises(UnsafeError, match="not run unless asked"):
        load_policy(checkpoint)
    assert not proof.exists()


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"model_type": "no_such_family"}',
        '{"model_type": "llama", "hidden_size": "wide"}',
        '{"model_type": "llama", "hidden_size": 32, "num_attention_heads": 0}',
        '{"model_type": "llama", "rope_parameters": 3}',
        '{"model_type": "t5"}',
    ],
)
def test_configs_that_say_nothing(checkpoint: Path, content: str) -> None:
    (checkpoint / "config.json").write_text(content)
    with pytest.raises(ModelError):
        load_policy(checkpoint)


def test_a_base_without_an_adapter_is_refused(checkpoint: Path) -> None:
    with pytest.raises(InvalidInputError, match="not an adapter"):
        load_policy(checkpoint, base="owner/name")


@pytest.fixture
def adapter(tiny_policy_dir: Path, tmp_path: Path) -> Path:
    """A random LoRA of the tiny model."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_policy_dir)
    tuned = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "down_proj"]))
    torch.manual_seed(0)
    for name, weight in tuned.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(weight, std=0.2)
    tuned.save_pretrained(str(tmp_path / "adapter"))
    tuned.eval()
    torch.save(tuned(torch.tensor([[5, 6, 7]])).logits.detach(), tmp_path / "expected.pt")
    return tmp_path / "adapter"


def test_an_adapter_is_merged_into_its_base(adapter: Path, tiny_policy_dir: Path) -> None:
    policy = load_policy(adapter)
    expected = torch.load(adapter.parent / "expected.pt", weights_only=True)
    logits = policy.model(torch.tensor([[5, 6, 7]])).logits
    torch.testing.assert_close(logits, expected, atol=1e-4, rtol=1e-4)
    base = load_policy(tiny_policy_dir)
    assert policy.info.fingerprint != base.info.fingerprint
    assert policy.eos_ids == base.eos_ids
    assert type(policy.model).__name__ == "LlamaForCausalLM"


def test_a_dead_base_path_can_be_replaced(adapter: Path, tiny_policy_dir: Path) -> None:
    edit(adapter / "adapter_config.json", base_model_name_or_path="/gone/on/this/machine")
    with pytest.raises(ModelError, match="--base"):
        load_policy(adapter)
    policy = load_policy(adapter, base=str(tiny_policy_dir))
    assert policy.info.n_layers == 2
    edit(adapter / "adapter_config.json", base_model_name_or_path=str(adapter))
    with pytest.raises(ModelError, match="adapter itself"):
        load_policy(adapter)


def test_an_adapter_may_not_point_anywhere(adapter: Path, tiny_policy_dir: Path) -> None:
    with pytest.raises(UnsafeError, match="outside the allowed"):
        load_policy(adapter, roots=[adapter])
    assert load_policy(adapter, roots=[tiny_policy_dir.parent]).info.n_layers == 2
    assert load_policy(adapter, roots=[adapter], base=str(tiny_policy_dir)).info.n_layers == 2


def test_an_adapter_with_added_tokens_grows_its_base(adapter: Path, tiny_policy_dir: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_policy_dir)
    tokenizer.add_tokens([f"<new{i}>" for i in range(20)], special_tokens=True)
    tokenizer.save_pretrained(adapter)
    policy = load_policy(adapter)
    assert policy.model.get_input_embeddings().weight.shape[0] == 350
    assert 349 in policy.special_ids and policy.decode([349]) == "<new19>"


def test_a_broken_adapter_config(adapter: Path) -> None:
    (adapter / "adapter_config.json").write_text("{")
    with pytest.raises(FormatError, match="not JSON"):
        load_policy(adapter)
