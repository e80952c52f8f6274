"""The families of checkpoints that can be opened, by the model_type of their config.json."""

import re

from headlight.checkpoints.families import (
    bert,
    deepseek,
    encoder_decoders,
    experts,
    gemma,
    gemma3n,
    gemma4,
    gpt,
    llama,
    llama_like,
    modernbert,
    qwen_hybrid,
    speech,
    vit,
)
from headlight.checkpoints.families.vision import timm, towers
from headlight.checkpoints.weight_mapping import Family
from headlight.registry import Registry

FAMILIES: Registry[Family] = Registry(
    "checkpoint family",
    {
        "gpt2": gpt.GPT2,
        "gpt_neo": gpt.GPT_NEO,
        "gptj": gpt.GPTJ,
        "codegen": gpt.CODEGEN,
        "gpt_bigcode": gpt.GPT_BIGCODE,
        "mpt": gpt.MPT,
        "gpt_neox": gpt.GPT_NEOX,
        "llama": llama.LLAMA,
        "eurobert": llama.EUROBERT,
        "mistral": llama.MISTRAL,
        "qwen2": llama.QWEN2,
        "qwen3": llama.QWEN3,
        "smollm3": llama.SMOLLM3,
        "mixtral": experts.MIXTRAL,
        "qwen3_moe": experts.QWEN3_MOE,
        "olmoe": experts.OLMOE,
        "granitemoe": experts.GRANITEMOE,
        "gpt_oss": experts.GPT_OSS,
        "llama4_text": experts.LLAMA4,
        "qwen3_next": qwen_hybrid.QWEN3_NEXT,
        "qwen3_5_text": qwen_hybrid.QWEN3_5,
        "qwen3_5_moe_text": qwen_hybrid.QWEN3_5_MOE,
        "deepseek_v2": deepseek.DEEPSEEK_V2,
        "deepseek_v3": deepseek.DEEPSEEK_V3,
        "olmo": llama_like.OLMO,
        "olmo2": llama_like.OLMO2,
        "olmo3": llama_like.OLMO3,
        "exaone4": llama_like.EXAONE4,
        "granite": llama_like.GRANITE,
        "stablelm": llama_like.STABLELM,
        "cohere": llama_like.COHERE,
        "cohere2": llama_like.COHERE2,
        "glm": llama_like.GLM,
        "glm4": llama_like.GLM4,
        "starcoder2": llama_like.STARCODER2,
        "nanochat": llama_like.NANOCHAT,
        "phi3": llama.PHI3,
        "gemma": gemma.GEMMA,
        "gemma2": gemma.GEMMA2,
        "gemma3_text": gemma.GEMMA3,
        "gemma3n_text": gemma3n.GEMMA3N,
        "gemma4_text": gemma4.GEMMA4,
        "opt": gpt.OPT,
        "bloom": gpt.BLOOM,
        "falcon": gpt.FALCON,
        "phi": gpt.PHI,
        "bert": bert.BERT,
        "roberta": bert.ROBERTA,
        "xlm-roberta": bert.XLM_ROBERTA,
        "camembert": bert.XLM_ROBERTA,
        "mpnet": bert.MPNET,
        "esm": bert.ESM,
        "nomic_bert": bert.NOMIC_BERT,
        "distilbert": bert.DISTILBERT,
        "electra": bert.ELECTRA,
        "albert": bert.ALBERT,
        "modernbert": modernbert.MODERNBERT,
        "deberta-v2": bert.DEBERTA,
        "t5": encoder_decoders.T5,
        "mt5": encoder_decoders.MT5,
        "umt5": encoder_decoders.UMT5,
        "bart": encoder_decoders.BART,
        "mbart": encoder_decoders.MBART,
        "m2m_100": encoder_decoders.M2M_100,
        "pegasus": encoder_decoders.PEGASUS,
        "blenderbot": encoder_decoders.BLENDERBOT,
        "whisper": encoder_decoders.WHISPER,
        "wav2vec2": speech.WAV2VEC2,
        "hubert": speech.HUBERT,
        "nanogpt": gpt.NANOGPT,
        "llama2.c": llama.LLAMA2C,
        "marian": encoder_decoders.MARIAN,
        "clip_text_model": towers.CLIP_TEXT,
        "clip_vision_model": towers.CLIP_VISION,
        "chinese_clip_text_model": towers.CHINESE_CLIP_TEXT,
        "chinese_clip_vision_model": towers.CLIP_VISION,
        "siglip_text_model": towers.SIGLIP_TEXT,
        "siglip_vision_model": towers.SIGLIP_VISION,
        "vit": vit.VIT,
        "timm_wrapper": timm.timm_family(),
        "deit": vit.DEIT,
        "beit": vit.BEIT,
        "dinov2": vit.DINOV2,
        "dinov2_with_registers": vit.DINOV2_WITH_REGISTERS,
        "dinov3_vit": vit.DINOV3,
    },
)

_CLASS_ENDING = re.compile(r"(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|MTModel|EncoderModel|Model)$")


def model_type_of_class(name: str) -> str:
    """The family that a class of transformers is named after, as GPTNeoXForCausalLM after gpt_neox; "" if none is.

    TF and Flax in front name another library for the same family.
    """
    name = re.sub(r"^(TF|Flax)(?=[A-Z])", "", name)
    stems = {_letters(name), _letters(_CLASS_ENDING.sub("", name)), f"{_letters(_CLASS_ENDING.sub('', name))}text"}
    return next((family for family in FAMILIES if _letters(family) in stems), "")


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
