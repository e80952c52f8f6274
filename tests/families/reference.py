"""Reference checkpoints: tiny random models of the `transformers` library, saved as folders, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers
from tokenizers import models, pre_tokenizers, processors

SENTENCE = "[UNK] [CLS] [SEP] the cat sat on a mat and saw two dogs run far away from an old red house by sea"
WORDS = tuple(SENTENCE.split())
TEXT = "the cat sat on a mat and saw two dogs run far away"
TARGET = "an old red house by the sea"
VOCABULARY = len(WORDS) + 3  # more rows than tokens, as files often have


@dataclass(frozen=True)
class Case:
    """One tiny model: a class of `transformers` and the fields of its config that are not the family's default."""

    kind: str
    config: dict[str, Any] = field(default_factory=dict)
    special: bool = False  # [CLS] and [SEP] around the text
    text: str = TEXT
    dtype: str = "float32"
    shards: bool = False
    implementation: str = "eager"  # "sdpa" tells no attentions, and is asked where the other is known to be wrong

    def __str__(self) -> str:
        told = ",".join(f"{name}={value}" for name, value in self.config.items() if not isinstance(value, dict))
        return f"{self.kind}({told})"[:80]


def build(case: Case, folder: Path) -> Any:
    """Save the case's model as a folder, with a tokenizer; gives the model."""
    kind = getattr(transformers, case.kind)
    torch.manual_seed(0)
    config = kind.config_class(**{"vocab_size": VOCABULARY, **case.config})
    model = kind._from_config(config, attn_implementation=case.implementation).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:  # sinusoids are given, and not saved
                parameter.copy_(_large(name, parameter))
    model = model.to(getattr(torch, case.dtype))
    model.save_pretrained(folder, **({"max_shard_size": "20KB"} if case.shards else {}))
    tokenizer(case.special).save(str(folder / "tokenizer.json"))
    return model.float()


def _large(name: str, parameter: torch.Tensor) -> torch.Tensor:
    """Numbers large enough that a wrong norm, scale or bias would show."""
    noise = torch.randn_like(parameter)
    if parameter.dim() > 1:
        return noise * (0.7 if "emb" in name or "wte" in name or "shared" in name else parameter[0].numel() ** -0.5)
    return 0.3 * noise + 1 if name.endswith("weight") else 0.3 * noise


def tokenizer(special: bool) -> tokenizers.Tokenizer:
    """A word-level tokenizer over WORDS."""
    backend = tokenizers.Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.add_special_tokens(["[UNK]", "[CLS]", "[SEP]"])
    if special:
        marks = [("[CLS]", 1), ("[SEP]", 2)]
        backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    return backend


@torch.no_grad()
def answers(model: Any, case: Case) -> dict[str, np.ndarray]:
    """What the reference answers, under the names of `headlight trace`."""
    ids = torch.tensor([tokenizer(case.special).encode(case.text).ids])
    asked: dict[str, torch.Tensor] = {"input_ids": ids}
    told: dict[str, torch.Tensor] = {"input_ids": ids[0]}
    if model.config.is_encoder_decoder and case.kind != "T5EncoderModel":
        start = [model.config.decoder_start_token_id]
        target = torch.tensor([start + tokenizer(False).encode(TARGET).ids])
        asked["decoder_input_ids"] = told["target_ids"] = target
        told["target_ids"] = target[0]
    eager = case.implementation == "eager"
    whole = model(**asked, output_attentions=eager, output_hidden_states=True, use_cache=False)
    if model.config.is_encoder_decoder and case.kind != "T5EncoderModel":
        for stack in ("encoder", "decoder", "cross"):
            told[f"{stack}_attention"] = torch.cat(whole[f"{stack}_attentions"])
    elif eager:
        told["attention"] = torch.cat(whole.attentions)
    logits = whole.get("logits", whole.get("prediction_logits"))
    if logits is None:
        told["last_hidden"] = whole.last_hidden_state[0]
    else:
        told["logits"] = logits[0]
        if "decoder_hidden_states" not in whole:
            told["last_hidden"] = whole.hidden_states[-1][0]
    return {name: tensor.numpy() for name, tensor in told.items()}
