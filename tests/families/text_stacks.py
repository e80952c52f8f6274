"""Tiny multimodal models of which only the text stack is opened."""

from typing import Any

from tests.families.decoders import GEMMA, GEMMA4, LLAMA, MIXED, SHARING, WIDE
from tests.families.llama_like import HYBRID, LAYERS, NEXT
from tests.families.reference import Case

SIDE = {"hidden_size": 12, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 10,
        "image_size": 16, "patch_size": 8}  # fmt: skip
QWEN_SIDE = {"depth": 1, "embed_dim": 8, "hidden_size": 24, "num_heads": 2, "patch_size": 4}
GEMMA4_SIDE = {
    "hidden_size": 12,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "num_hidden_layers": 1,
    "intermediate_size": 10,
    "position_embedding_size": 16,
}
SECTIONS = {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0, "mrope_section": [1, 2, 1]}}


def beside(text: dict[str, Any], kind: str = "", side: dict[str, Any] = SIDE, **fields: Any) -> dict[str, Any]:
    """A config with a text stack and a small vision part."""
    named = {"model_type": kind} if kind else {}
    return {"text_config": text | named, "vision_config": side, **fields}


CLIP, SIGLIP = ({**SIDE, "model_type": kind} for kind in ("clip_vision_model", "siglip_vision_model"))

TEXT_STACKS: dict[str, list[Case]] = {
    "gemma3": [
        Case("Gemma3ForConditionalGeneration", beside(GEMMA | LAYERS, "gemma3_text", SIGLIP)),
        Case("Gemma3Model", beside(GEMMA | {"sliding_window": 3}, "gemma3_text", SIGLIP)),
    ],
    "gemma4": [
        Case("Gemma4ForConditionalGeneration", beside(GEMMA4 | SHARING | MIXED, "gemma4_text", GEMMA4_SIDE)),
        Case("Gemma4Model", beside(GEMMA4 | {"attention_k_eq_v": True}, "gemma4_text", GEMMA4_SIDE)),
    ],
    "paligemma": [
        Case("PaliGemmaForConditionalGeneration", beside(GEMMA, "gemma", SIGLIP, projection_dim=24)),
        Case("PaliGemmaForConditionalGeneration",
             beside(GEMMA | {"sliding_window": 4}, "gemma2", SIGLIP, projection_dim=24)),
    ],
    "qwen2_vl": [Case("Qwen2VLForConditionalGeneration", beside(LLAMA | SECTIONS, side=QWEN_SIDE))],
    "qwen2_5_vl": [
        Case("Qwen2_5_VLForConditionalGeneration",
             beside(LLAMA | SECTIONS | {"num_key_value_heads": 1}, tie_word_embeddings=True,
                    side={"depth": 1, "hidden_size": 8, "out_hidden_size": 24, "num_heads": 2, "patch_size": 4})),
    ],
    "qwen3_vl": [
        Case("Qwen3VLForConditionalGeneration",
             beside(LLAMA | SECTIONS | {"head_dim": 8, "attention_bias": True},
                    side={"depth": 1, "hidden_size": 8, "out_hidden_size": 24, "num_heads": 2, "patch_size": 4,
                          "deepstack_visual_indexes": [0], "num_position_embeddings": 16})),
    ],
    "qwen3_5": [
        Case("Qwen3_5ForConditionalGeneration",
             beside(LLAMA | HYBRID, side={"depth": 1, "hidden_size": 8, "out_hidden_size": 24, "num_heads": 2,
                                          "patch_size": 4, "num_position_embeddings": 16})),
    ],
    "qwen3_5_moe": [
        Case("Qwen3_5MoeForConditionalGeneration",
             beside(LLAMA | HYBRID | NEXT, side={"depth": 1, "hidden_size": 8, "out_hidden_size": 24, "num_heads": 2,
                                                 "patch_size": 4, "num_position_embeddings": 16})),
    ],
    "mistral3": [
        Case("Mistral3ForConditionalGeneration",
             beside(LLAMA | WIDE | {"sliding_window": 4}, "mistral", {**SIDE, "model_type": "pixtral"})),
    ],
    "llava": [
        Case("LlavaForConditionalGeneration", beside(LLAMA, "llama", CLIP)),
        Case("LlavaForConditionalGeneration", beside(LLAMA | WIDE, "qwen2", SIGLIP)),
        Case("LlavaModel", beside(LLAMA | {"sliding_window": 4}, "mistral", CLIP)),
    ],
    "idefics3": [Case("Idefics3ForConditionalGeneration", beside(LLAMA | WIDE, "llama"))],
}  # fmt: skip
