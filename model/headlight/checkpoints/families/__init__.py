"""The families of checkpoints that can be opened, by the model_type of their config.json."""

from headlight.checkpoints.families import bert, encoder_decoders, gpt, llama, modernbert, vit
from headlight.checkpoints.weight_mapping import Family
from headlight.registry import Registry

FAMILIES: Registry[Family] = Registry(
    "checkpoint family",
    {
        "gpt2": gpt.GPT2,
        "gpt_neo": gpt.GPT_NEO,
        "gptj": gpt.GPTJ,
        "gpt_neox": gpt.GPT_NEOX,
        "llama": llama.LLAMA,
        "eurobert": llama.EUROBERT,
        "mistral": llama.MISTRAL,
        "qwen2": llama.QWEN2,
        "qwen3": llama.QWEN3,
        "smollm3": llama.SMOLLM3,
        "olmo2": llama.OLMO2,
        "phi3": llama.PHI3,
        "gemma": llama.GEMMA,
        "gemma2": llama.GEMMA2,
        "gemma3_text": llama.GEMMA3,
        "opt": gpt.OPT,
        "bloom": gpt.BLOOM,
        "falcon": gpt.FALCON,
        "phi": gpt.PHI,
        "bert": bert.BERT,
        "roberta": bert.ROBERTA,
        "xlm-roberta": bert.XLM_ROBERTA,
        "camembert": bert.XLM_ROBERTA,
        "mpnet": bert.MPNET,
        "nomic_bert": bert.NOMIC_BERT,
        "distilbert": bert.DISTILBERT,
        "electra": bert.ELECTRA,
        "albert": bert.ALBERT,
        "modernbert": modernbert.MODERNBERT,
        "deberta-v2": bert.DEBERTA,
        "t5": encoder_decoders.T5,
        "bart": encoder_decoders.BART,
        "nanogpt": gpt.NANOGPT,
        "llama2.c": llama.LLAMA2C,
        "marian": encoder_decoders.MARIAN,
        "vit": vit.VIT,
    },
)
