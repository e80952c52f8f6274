"""Families that do not open: the difference to the nearest one that does, and advice."""

from __future__ import annotations

from collections.abc import Mapping

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import FAMILIES, model_type_of_class
from headlight.checkpoints.families.two_models import ENCODERS
from headlight.checkpoints.source import TWO_TOWERS
from headlight.checkpoints.text_stacks import READABLE_METHOD, TEXT_STACKS
from headlight.errors import CheckpointError, shortened

OPEN_FAMILIES = (*FAMILIES, *TEXT_STACKS, *TWO_TOWERS, *ENCODERS)
LISTING = "`headlight models --families` lists the families that open."

_NO_ATTENTION = "it has no attention, so there are no weights to see"
_MIXED = "most of its layers have no attention, only a recurrent state"
_BLOCKS = "its attention is limited to blocks of tokens and global tokens"
_SOUND = "it reads sound"
# model_type -> the nearest family that opens (empty if none is near), and the difference.
DIFFERENCES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "rwkv", "fnet", "xlstm"), ("", _NO_ATTENTION)),
    **dict.fromkeys(("jamba", "zamba", "zamba2", "bamba", "nemotron_h", "recurrent_gemma"), ("llama", _MIXED)),
    **dict.fromkeys(("falcon_h1", "granitemoehybrid"), ("llama", _MIXED)),
    "lfm2": ("llama", "most of its layers are short convolutions, which have no attention"),
    **dict.fromkeys(("longformer", "big_bird"), ("roberta", _BLOCKS)),
    **dict.fromkeys(("led", "bigbird_pegasus"), ("bart", _BLOCKS)),
    "longt5": ("t5", _BLOCKS),
    "reformer": ("", "its attention is limited to tokens with the same hash"),
    "minicpm3": ("deepseek_v3", "it scales its residual stream and its embeddings unlike any family that opens"),
    **dict.fromkeys(("speech_to_text", "seamless_m4t"), ("whisper", _SOUND)),
    **dict.fromkeys(("wavlm", "data2vec-audio"), ("wav2vec2", _SOUND)),
    "qwen2_moe": ("qwen3_moe", "its shared expert has its own gate"),
    **dict.fromkeys(
        ("glm4_moe", "ernie4_5_moe", "dots1"),
        ("deepseek_v3", "its experts are like those of deepseek_v3, but its keys are not compressed"),
    ),
    "deepseek_v32": ("deepseek_v3", "a second attention chooses the tokens that each query may look at"),
    "deberta": ("deberta-v2", "its queries, keys and values are one fused tensor with unusual biases"),
    "xlnet": ("bert", "it has two-stream attention with relative positions"),
    "openai-gpt": ("gpt2", "its norms come after the sublayers"),
    **dict.fromkeys(("chatglm", "glm4v"), ("glm", "its files need their own programs")),
    "siglip2": ("siglip", "it reads images of any shape, with positions fitted to the shape"),
    **dict.fromkeys(("blip", "blip-2"), ("clip", "its text stack reads the image by cross-attention")),
    "speech-encoder-decoder": ("whisper", "its encoder and its decoder are two models, and the encoder reads sound"),
    "dinov3_convnext": ("dinov3_vit", "it is a convolutional network"),
    "data2vec-vision": ("beit", "the tensors in its files have other names than those of beit"),
    **dict.fromkeys(("swin", "swinv2", "segformer", "convnext", "resnet"), ("vit", "it uses windows or convolutions")),
}


# A family that opens -> families that do not open, and whose layers are most like those of the first.
KIN: Mapping[str, tuple[str, ...]] = {
    "bert": (
        "bert-generation", "bros", "canine", "convbert", "ernie", "flaubert", "funnel", "layoutlm",
        "lxmert", "megatron-bert", "mobilebert", "mra", "nezha", "nystromformer", "realm", "rembert", "roc_bert",
        "roformer", "splinter", "squeezebert", "tapas", "vilt", "visual_bert", "xlm", "yoso",
    ),
    "roberta": ("data2vec-text", "ibert", "layoutlmv3", "luke", "roberta-prelayernorm", "xmod"),
    "xlm-roberta": ("ernie_m", "layoutlmv2", "mluke", "xlm-roberta-xl"),
    "gpt2": ("ctrl", "decision_transformer", "imagegpt", "transfo-xl"),
    "gpt_neox": ("gpt_neox_japanese", "persimmon"),
    "opt": ("biogpt", "xglm"),
    "falcon": ("RefinedWeb", "RefinedWebModel"),
    "llama": (
        "apertus", "arcee", "baichuan", "bitnet", "diffllama", "doge", "ernie4_5", "exaone", "helium",
        "hunyuan_v1_dense", "internlm2", "minicpm", "mllama", "nemotron", "seed_oss",
    ),
    "qwen2": ("qwen", "qwen2_audio", "qwen2_5_omni"),
    "mixtral": ("arctic", "dbrx", "grok-1", "jetmoe", "minimax", "phimoe"),
    "bart": ("fsmt", "mvp", "prophetnet", "speecht5"),
    "blenderbot": ("blenderbot-small",),
    "mbart": ("plbart",),
    "m2m_100": ("nllb-moe",),
    "pegasus": ("pegasus_x",),
    "t5": ("pix2struct", "pop2piano", "switch_transformers", "udop"),
    "wav2vec2": ("sew", "sew-d", "unispeech", "unispeech-sat", "wav2vec2-bert", "wav2vec2-conformer"),
    "whisper": ("moonshine",),
    "vit": (
        "conditional_detr", "deformable_detr", "detr", "dpt", "ijepa", "mobilevit", "pvt", "rt_detr", "sam", "sam2",
        "timesformer", "videomae", "vit_hybrid", "vit_mae", "vit_msn", "vivit", "yolos",
    ),
    "dinov2": ("depth_anything",),
    "clip": ("align", "altclip", "clipseg", "flava", "groupvit", "owlv2", "owlvit", "x-clip"),
}  # fmt: skip


def reject_unsupported(fields: ConfigReader) -> None:
    """Raise CheckpointError for a quantisation that cannot be read, or for a family that does not open."""
    quantised = fields.nested("quantization_config")
    method = quantised.string("quant_method", "an unknown method") if quantised else ""
    if quantised and method != READABLE_METHOD:
        raise CheckpointError(f"{fields.name} is quantised ({shortened(method)}); open the original weights.")
    model_type = fields.string("model_type", "")
    if model_type not in OPEN_FAMILIES:
        raise CheckpointError(f"{fields.name}: {refusal(model_type, *fields.list_of('architectures', str)[:1])}")


def refusal(model_type: str, model_class: str = "") -> str:
    """Why a family does not open, the nearest one that does, and advice."""
    if not model_type:
        which = f"its class {shortened(model_class)} is of no family that opens" if model_class else "names no class"
        return f"its config has no model_type, and {which}. {LISTING}"
    told = shortened(model_type)
    nearest, difference = DIFFERENCES.get(model_type, ("", ""))
    if not difference:
        kin = next((family for family, names in KIN.items() if model_type in names), model_type_of_class(model_class))
        hint = f" The nearest family that opens is {kin}." if kin else ""
        return f"its config says model_type {told!r}, which is not a supported family.{hint} {LISTING}"
    advice = f" The nearest family that opens is {nearest}; use a model of that family." if nearest else ""
    return f"{told} does not open: {difference}.{advice} {LISTING}"
