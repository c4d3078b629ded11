"""Tiny random checkpoints in Hugging Face form, with a tokenizer of their own.

They load in milliseconds and go through the same code as real ones. The tokenizer is byte-level, so
every text can be written and single tokens may hold part of a character.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

END = "<|end|>"
TURN_END = "<|im_end|>"
SPECIALS = (END, "<|im_start|>", TURN_END)
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n{% endif %}"
    "{% endif %}"
)
CORPUS = (
    "Natalia sold 48 clips in April and half as many in May.",
    "First 48 / 2 = 24. Then 48 + 24 = 72. So the answer is \\boxed{72}.",
    "user assistant system Question: Answer:",
)


def write_tokenizer(path: Path, *, template: bool = True, bos: bool = False) -> Any:
    """Save a byte-level BPE tokenizer of about 330 tokens; `pad` is the end token, as so often."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    specials = [*SPECIALS, *(["<s>"] if bos else [])]
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(CORPUS * 3, trainer)
    if bos:
        bpe.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", bpe.token_to_id("<s>"))]
        )
    names = {"eos_token": END, "pad_token": END, **({"bos_token": "<s>"} if bos else {})}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, **names)
    if template:
        tokenizer.chat_template = ("{{ bos_token }}" if bos else "") + TEMPLATE
    tokenizer.save_pretrained(path)
    return tokenizer


def tiny_config(family: str, vocab_size: int, **changes: Any) -> Any:
    """Config of a model with 2 layers and width 32 of the named family."""
    import transformers

    if family == "gpt2":
        sizes: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 256}
        config_class: Any = transformers.GPT2Config
    elif family == "lfm2":  # short convolutions and attention
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
        sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2}
        sizes["layer_types"] = ["conv", "full_attention"]
        config_class = transformers.Lfm2Config
    elif family == "qwen3_next":  # linear attention, attention and experts
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_experts": 4}
        sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
        sizes |= {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
        sizes |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8}
        sizes |= {"num_experts_per_tok": 2, "moe_intermediate_size": 16}
        sizes["shared_expert_intermediate_size"] = 16
        sizes["layer_types"] = ["linear_attention", "full_attention"]
        config_class = transformers.Qwen3NextConfig
    elif family == "mamba":
        sizes = {"hidden_size": 32, "state_size": 8, "num_hidden_layers": 2}
        config_class = transformers.MambaConfig
    else:
        sizes = {
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 512,
        }
        classes = {
            "llama": transformers.LlamaConfig,
            "qwen2": transformers.Qwen2Config,
            "mistral": transformers.MistralConfig,
            "gemma3": transformers.Gemma3TextConfig,
        }
        config_class = classes[family]
        if family == "gemma3":
            sizes |= {"head_dim": 8, "sliding_window": 8, "num_hidden_layers": 3}
            sizes["layer_types"] = ["sliding_attention", "full_attention", "sliding_attention"]
        if family == "mistral":
            sizes["sliding_window"] = 8
    ids = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    return config_class(vocab_size=vocab_size, **{**sizes, **ids, **changes})


def write_tiny_checkpoint(
    path: Path,
    *,
    family: str = "llama",
    template: bool = True,
    bos: bool = False,
    eos_ids: Sequence[int] = (0, 2),
    seed: int = 0,
    **config: Any,
) -> Path:
    """Save a random model and its tokenizer to `path`; returns `path`."""
    import transformers

    path.mkdir(parents=True, exist_ok=True)
    write_tokenizer(path, template=template, bos=bos)
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(
        tiny_config(family, 336, **config)  # padded, as vocabularies often are
    )
    with torch.no_grad():  # the usual 0.02 makes all tokens alike; wider weights make it a policy
        for name, weight in model.named_parameters():
            if weight.dim() == 2:
                weight.normal_(0.0, 0.3)
            elif name.endswith("bias"):
                weight.normal_(0.0, 0.02)
    model.generation_config.eos_token_id = list(eos_ids)
    model.generation_config.pad_token_id = 0
    model.save_pretrained(path)
    return path


def write_planted_checkpoint(path: Path, logits: torch.Tensor, *, eos_ids: Sequence[int]) -> Path:
    """Save a Llama whose next-token logits are `logits` [V] whatever it has read."""
    import transformers

    path.mkdir(parents=True, exist_ok=True)
    write_tokenizer(path, template=False)
    model = transformers.LlamaForCausalLM(tiny_config("llama", 336, tie_word_embeddings=False))
    planted = torch.full((336,), -40.0)
    planted[: len(logits)] = logits
    with torch.no_grad():
        for layer in model.model.layers:  # nothing is added to the embedding ...
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.zero_()
        model.model.embed_tokens.weight[:, 0] = 1.0  # ... which is e_0, normed to sqrt(32) e_0
        model.lm_head.weight.zero_()
        model.lm_head.weight[:, 0] = planted / 32**0.5
    model.generation_config.eos_token_id = list(eos_ids)
    model.generation_config.pad_token_id = 0
    model.save_pretrained(path)
    return path
