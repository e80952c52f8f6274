"""The families of checkpoints that can be opened, by the model_type of their config.json."""

from headlight.checkpoints.families import bart, bert, deberta, gemma, gpt, llama, misc, modernbert, t5, vit
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
        "gemma": gemma.GEMMA,
        "gemma2": gemma.GEMMA2,
        "gemma3_text": gemma.GEMMA3,
        "opt": misc.OPT,
        "bloom": misc.BLOOM,
        "falcon": misc.FALCON,
        "phi": misc.PHI,
        "bert": bert.BERT,
        "roberta": bert.ROBERTA,
        "distilbert": bert.DISTILBERT,
        "electra": bert.ELECTRA,
        "albert": bert.ALBERT,
        "modernbert": modernbert.MODERNBERT,
        "deberta-v2": deberta.DEBERTA,
        "t5": t5.T5,
        "bart": bart.BART,
        "nanogpt": gpt.NANOGPT,
        "llama2.c": llama.LLAMA2C,
        "marian": bart.MARIAN,
        "vit": vit.VIT,
    },
)
