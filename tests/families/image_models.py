"""Tiny models that read images."""

from tests.families.decoders import BLOCK, NEOX, WIDTH
from tests.families.reference import Case
from tests.families.timm_files import write_timm

IMAGE = {"image_size": 24, "patch_size": 8}
VIT = BLOCK | IMAGE
LABELS = {"id2label": {0: "cat", 1: "house", 2: "chess board"}, "label2id": {"cat": 0, "house": 1, "chess board": 2}}
NORMED = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}

DINO = WIDTH | IMAGE | {"mlp_ratio": 2}
DINO3 = VIT | {"query_bias": True}
SMALLER = {"size": {"shortest_edge": 44}, "crop_size": 40, "do_center_crop": True, "resample": 3, **NORMED}

EVAL = {"size": {"shortest_edge": 26}, "crop_size": 24, "do_center_crop": True, "resample": 3, **NORMED}
SQUASHED = EVAL | {"size": {"height": 28, "width": 28}, "resample": 2}
TIMM = {"layer_norm_eps": 1e-6, "intermediate_size": 60}

BOTH = {"text_config": NEOX | {"num_hidden_layers": 1}, "vision_config": VIT | {"num_attention_heads": 2}}

IMAGE_MODELS: dict[str, list[Case]] = {
    "vit": [
        Case("ViTForImageClassification", VIT | LABELS | {"layer_norm_eps": 0.1}, image=(40, 31)),
        Case("ViTModel", VIT | {"qkv_bias": False, "hidden_act": "relu"}, image=(24, 24)),
        Case(
            "ViTModel",
            VIT | {"image_size": [16, 40], "patch_size": [4, 10], "hidden_act": "gelu_new"},
            image=(50, 70),
            prepare={"size": {"height": 16, "width": 40}, "resample": 3, **NORMED},
        ),
        Case(
            "ViTForImageClassification",
            VIT | {"num_channels": 1, "image_size": 27, "num_labels": 5, "hidden_act": "quick_gelu"},
            image=(9, 12),
            prepare={"size": 27, "image_mean": [0.3], "image_std": [0.7], "resample": 0},
        ),
        Case(
            "ViTForImageClassification",
            VIT | {"num_labels": 2, "num_attention_heads": 4, "num_hidden_layers": 3},
            image=(60, 33),
            prepare={"do_resize": True, "size": {"shortest_edge": 28}, "do_center_crop": True, "crop_size": 24,
                     "do_rescale": True, "rescale_factor": 0.01, "do_normalize": False},
            dtype="bfloat16",
            shards=True,
        ),
    ],
    "timm_wrapper": [
        Case("ViTForImageClassification", VIT | LABELS | TIMM, image=(40, 31), prepare=EVAL, rewrite=write_timm),
        Case("ViTModel", VIT | TIMM | {"qkv_bias": False, "num_attention_heads": 4}, image=(50, 60), prepare=SQUASHED,
             rewrite=write_timm),
        Case("Dinov2WithRegistersModel", DINO | TIMM | {"num_register_tokens": 3}, image=(40, 31), prepare=EVAL,
             rewrite=write_timm),
        Case("BeitForImageClassification", VIT | LABELS | TIMM | {"use_absolute_position_embeddings": True},
             image=(40, 31), prepare=EVAL, rewrite=write_timm),
    ],
    "clip_text_model": [
        Case("CLIPTextModel", NEOX | {"layer_norm_eps": 0.1}),
        Case("CLIPTextModelWithProjection", NEOX | {"projection_dim": 10, "hidden_act": "gelu"}),
    ],
    "clip_vision_model": [
        Case("CLIPVisionModel", VIT | {"layer_norm_eps": 0.1}, image=(40, 31)),
        Case("CLIPVisionModelWithProjection", VIT | {"hidden_act": "gelu"}, image=(50, 60)),
    ],
    "clip": [Case("CLIPModel", BOTH, tower="text"), Case("CLIPModel", BOTH, tower="vision", image=(40, 31))],
    "chinese_clip_text_model": [
        Case("ChineseCLIPTextModel", NEOX | {"layer_norm_eps": 0.1}, special=True),
        Case("ChineseCLIPTextModel", NEOX | {"hidden_act": "relu", "type_vocab_size": 1}),
    ],
    "chinese_clip_vision_model": [
        Case("ChineseCLIPVisionModel", VIT | {"layer_norm_eps": 0.1}, image=(40, 31)),
        Case("ChineseCLIPVisionModel", VIT | {"hidden_act": "gelu", "num_attention_heads": 4}, image=(50, 60)),
    ],
    "chinese_clip": [
        Case("ChineseCLIPModel", BOTH, tower="text", special=True),
        Case("ChineseCLIPModel", BOTH, tower="vision", image=(40, 31)),
    ],
    "siglip_text_model": [Case("SiglipTextModel", NEOX), Case("SiglipTextModel", NEOX | {"hidden_act": "relu"})],
    "siglip_vision_model": [
        Case("SiglipVisionModel", VIT, image=(40, 31)),
        Case("SiglipVisionModel", VIT | {"layer_norm_eps": 0.1, "vision_use_head": False}, image=(50, 60)),
    ],
    "siglip": [Case("SiglipModel", BOTH, tower="text"), Case("SiglipModel", BOTH, tower="vision", image=(40, 31))],
    "deit": [
        Case("DeiTForImageClassification", VIT | LABELS, image=(40, 31)),
        Case("DeiTForImageClassificationWithTeacher", VIT | LABELS, image=(31, 40)),
        Case("DeiTModel", VIT | {"qkv_bias": False, "image_size": 32, "patch_size": 16}, image=(24, 24)),
    ],
    "beit": [
        Case("BeitForImageClassification", VIT | LABELS | {"use_relative_position_bias": True}, image=(40, 31)),
        Case("BeitForImageClassification",
             VIT | {"num_labels": 4, "use_shared_relative_position_bias": True, "use_mean_pooling": False,
                    "use_absolute_position_embeddings": True}, image=(50, 60)),
        Case("BeitModel", VIT | {"use_relative_position_bias": True, "image_size": 32}, image=(24, 24)),
        Case("BeitModel", VIT | {"use_absolute_position_embeddings": True, "use_mask_token": True}, image=(24, 24)),
        Case("BeitForImageClassification", VIT | LABELS | {"layer_scale_init_value": 0.0}, image=(40, 31)),
    ],
    "dinov2": [
        Case("Dinov2Model", DINO, image=(40, 31)),
        Case("Dinov2ForImageClassification", DINO | LABELS | {"image_size": 40}, image=(50, 60)),
        Case("Dinov2ForImageClassification", DINO | {"num_labels": 5, "use_swiglu_ffn": True}, image=(40, 31)),
        Case("Dinov2Model", DINO | {"mlp_ratio": 3, "use_swiglu_ffn": True}, image=(24, 24), dtype="bfloat16"),
        Case("Dinov2Model", DINO | {"qkv_bias": False, "num_attention_heads": 4}, image=(50, 60), prepare=SMALLER),
    ],
    "dinov2_with_registers": [
        Case("Dinov2WithRegistersModel", DINO | {"num_register_tokens": 3}, image=(40, 31)),
        Case("Dinov2WithRegistersForImageClassification", DINO | LABELS | {"num_register_tokens": 3}, image=(50, 60)),
        Case("Dinov2WithRegistersModel", DINO | {"mlp_ratio": 3}, image=(50, 60), prepare=SMALLER),
    ],
    "dinov3_vit": [
        Case("DINOv3ViTModel", DINO3 | {"num_register_tokens": 2, "rope_theta": 50.0}, image=(40, 31)),
        Case("DINOv3ViTModel", DINO3 | {"use_gated_mlp": True, "hidden_act": "silu", "key_bias": True,
                                        "mlp_bias": False, "num_attention_heads": 2}, image=(24, 24)),
        Case("DINOv3ViTModel", DINO3 | {"num_register_tokens": 1, "proj_bias": False}, image=(50, 60), prepare=SMALLER),
    ],
}  # fmt: skip
