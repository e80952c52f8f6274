"""Reference checkpoints: tiny random models of `transformers`, saved as folders, and their outputs."""

import json
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers
from PIL import Image
from tokenizers import models, pre_tokenizers, processors
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from headlight.config import Config
from headlight.sound.frames import process_sound
from headlight.sound.recording import Recording
from headlight.tracing.inputs import ModelInput
from headlight.vision.image import process_image

SENTENCE = "[UNK] [CLS] [SEP] the cat sat on a mat and saw two dogs run far away from an old red house by sea"
WORDS = tuple(SENTENCE.split())
TEXT = "the cat sat on a mat and saw two dogs run far away"
TARGET = "an old red house by the sea"
PHOTO, SOUND = "photo.png", "sound.wav"
VOCABULARY = len(WORDS) + 3  # more rows than tokens, as is common in files


@dataclass(frozen=True)
class Case:
    """A tiny model: a class of `transformers`, and the config fields that differ from the family's defaults."""

    kind: str
    config: dict[str, Any] = field(default_factory=dict)
    special: bool = False  # [CLS] and [SEP] around the text
    text: str = TEXT
    dtype: str = "float32"
    shards: bool = False
    implementation: str = "eager"  # "sdpa" returns no attentions; used if eager is known to be wrong
    image: tuple[int, int] | None = None  # height and width of a picture read instead of the text
    audio: tuple[int, int] | None = None  # number of samples of a sound read instead, and its sampling rate
    prepare: dict[str, Any] = field(default_factory=dict)  # contents of preprocessor_config.json
    tower: str = ""  # for a model with two: "text" or "vision"
    rewrite: Callable[[Path, Any], None] | None = None  # writes the saved folder as another program would

    def __str__(self) -> str:
        told = ",".join(f"{name}={value}" for name, value in self.config.items() if not isinstance(value, dict))
        return f"{self.kind}({told})"[:80]


def build(case: Case, folder: Path) -> Any:
    """Save the case's model as a folder, with a tokenizer; returns the model."""
    kind = getattr(transformers, case.kind)
    torch.manual_seed(0)
    config = kind.config_class(**with_vocabulary(case))
    model = kind._from_config(config, attn_implementation=case.implementation, experts_implementation="eager").eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:  # sinusoids are fixed and not saved
                parameter.copy_(_large(name, parameter))
        for name, buffer in model.named_buffers():
            if name.endswith("correction_bias"):
                buffer.copy_(0.1 * torch.randn_like(buffer))
            elif name.endswith("layer_scalar"):
                buffer.copy_(1 + 0.3 * torch.randn_like(buffer))
    _cast(model, getattr(torch, case.dtype))
    model.save_pretrained(folder, **({"max_shard_size": "20KB"} if case.shards else {}))
    if case.image is None or has_decoder(case, model):
        tokenizer(case.special).save(str(folder / "tokenizer.json"))
    _write_signal(case, folder)
    if case.rewrite:
        case.rewrite(folder, case)
    return _cast(model, torch.float32)


def _write_signal(case: Case, folder: Path) -> None:
    """Save the case's picture or sound, and how it is prepared."""
    if case.image:
        photo(case).save(folder / PHOTO)
    if case.audio:
        write_sound(case, folder / SOUND)
    if case.prepare:
        (folder / "preprocessor_config.json").write_text(json.dumps(case.prepare))


def opened_path(case: Case, folder: Path) -> Path:
    """The path to open in a case's folder."""
    return folder / case.tower if case.tower else folder


def with_vocabulary(case: Case) -> dict[str, Any]:
    """The config's fields with the vocabulary size, inside text_config if there is one."""
    if (case.image and not case.tower) or "encoder" in case.config:
        return case.config
    if "text_config" in case.config:
        return case.config | {"text_config": {"vocab_size": VOCABULARY, **case.config["text_config"]}}
    return {"vocab_size": VOCABULARY, **case.config}


def change_config(folder: Path, **fields: Any) -> None:
    """Change fields of a folder's config.json; None removes a field."""
    path = folder / "config.json"
    values = json.loads(path.read_text()) | fields
    path.write_text(json.dumps({name: value for name, value in values.items() if value is not None}))


def build_pickle(case: Case, folder: Path, **tensors: torch.Tensor) -> Any:
    """Like `build`, with the weights and further `tensors` in a pytorch_model.bin written by torch.save."""
    model = build(case, folder)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict() | tensors, folder / "pytorch_model.bin")
    return model


NANOGPT = Case(
    "GPT2LMHeadModel", {"n_embd": 24, "n_head": 3, "n_layer": 2, "n_positions": 20, "activation_function": "gelu"}
)


def build_nanogpt(folder: Path, prefix: str = "") -> Any:
    """Save NANOGPT in nanoGPT's own file format, with transposed linear layers; returns the model."""
    model = build(NANOGPT, folder)
    for path in folder.iterdir():
        if path.name != "tokenizer.json":
            path.unlink()
    linear = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")
    weights = {prefix + name: each.t() if name.endswith(linear) else each for name, each in model.state_dict().items()}
    sizes = {"n_layer": 2, "n_head": 3, "n_embd": 24, "block_size": 20, "bias": True, "vocab_size": 26, "dropout": 0.0}
    torch.save({"model": weights, "model_args": sizes, "iter_num": 5, "config": {"a": 1}}, folder / "ckpt.pt")
    return model


def build_adapter(
    folder: Path, base: str, shapes: Sequence[tuple[int, ...]] = ((2, 24), (72, 2)), **fields: Any
) -> None:
    """Save a LoRA adapter of ones for the first layer of a GPT-2 case, whose folder is named `base`."""
    folder.mkdir(exist_ok=True)
    module = "base_model.model.transformer.h.0.attn.c_attn"
    parts = {f"{module}.lora_{side}.weight": torch.ones(shape) for side, shape in zip("AB", shapes, strict=True)}
    torch.save(parts, folder / "adapter_model.bin")
    settings = {"peft_type": "LORA", "r": 2, "base_model_name_or_path": base, "fan_in_fan_out": True}
    (folder / "adapter_config.json").write_text(json.dumps(settings | fields))


def _cast(model: Any, dtype: torch.dtype) -> Any:
    """Convert all stored parameters to a dtype; computed ones (frequencies) keep theirs."""
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(dtype)
    return model


def photo(case: Case) -> Image.Image:
    """A blurred random image, determined by its size."""
    assert case.image is not None
    height, width = case.image
    spots = np.random.default_rng(height * width).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    grey = case.config.get("num_channels") == 1
    return Image.fromarray(spots).resize((width, height), Image.Resampling.BICUBIC).convert("L" if grey else "RGB")


def inputs(case: Case, config: Config) -> dict[str, Any]:
    """The arguments of `run` for a case: its picture or text, with TARGET for an encoder-decoder."""
    given: ModelInput = case.text
    if case.image:
        given = process_image(np.asarray(photo(case)), config.image)
    if case.audio:
        given = process_sound(Recording(samples(case) / 2**15, case.audio[1]), config.sound)
    return {"text": TARGET, "source": given} if config.has_cross_attention else {"text": given}


def command(case: Case, folder: Path) -> list[str]:
    """The arguments of `headlight trace` for a case."""
    if case.image or case.audio:
        return ["--image", str(folder / PHOTO)] if case.image else ["--audio", str(folder / SOUND)]
    return [case.text]


def _large(name: str, parameter: torch.Tensor) -> torch.Tensor:
    """Random values large enough to reveal a wrong norm, scale or bias."""
    noise = torch.randn_like(parameter)
    if parameter.dim() > 1:
        return noise * (
            0.7
            if (parameter.dim() < 4 and "emb" in name) or "wte" in name or "shared" in name
            else parameter[0].numel() ** -0.5
        )
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


def has_decoder(case: Case, model: Any) -> bool:
    """Whether the case is an encoder-decoder."""
    return bool(model.config.is_encoder_decoder) and not case.kind.endswith(
        ("T5EncoderModel", "T5ForTokenClassification", "ForAudioClassification")
    )


def has_target(case: Case, model: Any) -> bool:
    """Whether its decoder reads a separate target text."""
    return has_decoder(case, model) and not case.kind.endswith("ForSequenceClassification")


@torch.no_grad()
def outputs(model: Any, case: Case) -> dict[str, np.ndarray]:
    """The outputs of transformers, under the names of `headlight trace`."""
    model = getattr(model, f"{case.tower}_model") if case.tower else model
    if case.image and not has_decoder(case, model):
        return image_outputs(model, case)
    asked, told = asked_and_told(model, case)
    if has_target(case, model):
        start = [model.config.decoder_start_token_id]
        target = torch.tensor([start + tokenizer(False).encode(TARGET).ids])
        asked["decoder_input_ids"] = target
        told["target_ids"] = target[0]
    elif has_decoder(case, model):  # a classifier, whose decoder reads the shifted source
        ids = asked["input_ids"]
        first = (
            ids[0, -1:] if model.config.model_type == "mbart" else torch.tensor([model.config.decoder_start_token_id])
        )
        told["target_ids"] = torch.cat([first, ids[0, :-1]])
    eager = case.implementation == "eager"
    whole = model(**asked, output_attentions=eager, output_hidden_states=True, use_cache=False)
    if has_decoder(case, model):
        for stack in ("encoder", "decoder", "cross"):
            told[f"{stack}_attention"] = torch.cat(whole[f"{stack}_attentions"])
    elif eager:
        told["attention"] = torch.cat(whole.attentions)
    logits = logits_of(whole)
    if logits is None:
        told["last_hidden"] = whole.last_hidden_state[0]
    else:
        told["logits"] = logits[0][:, None] if case.kind == "ElectraForPreTraining" else logits[0]
        if "decoder_hidden_states" not in whole:
            told["last_hidden"] = last_hidden(model, case, asked, whole)[0]
    return {name: tensor.numpy() for name, tensor in told.items()}


def asked_and_told(model: Any, case: Case) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """What the model reads of a case, as its own arguments and under the names of `headlight trace`."""
    if case.image:
        asked = dict(processor(case)(photo(case), return_tensors="pt"))
        return asked, {"pixel_values": asked["pixel_values"][0]}
    if case.audio:
        name, heard = heard_features(case, model)
        return {name: heard}, {"input_features": heard.reshape(-1, heard.shape[-1])}
    ids = torch.tensor([tokenizer(case.special).encode(case.text).ids])
    return {"input_ids": ids}, {"input_ids": ids[0]} | contacts(model, ids)


def logits_of(whole: Any) -> torch.Tensor | None:
    """The logits of an output; those of the first and the last token of an answer beside each other."""
    if "start_logits" in whole:
        return torch.stack((whole.start_logits, whole.end_logits), dim=-1)
    logits: torch.Tensor | None = whole.get("logits", whole.get("prediction_logits"))
    return logits


def last_hidden(model: Any, case: Case, asked: dict[str, torch.Tensor], whole: Any) -> torch.Tensor:
    """The last hidden states; the base model's for sounds and if the output has unmerged residual streams."""
    if case.audio or whole.hidden_states[-1].dim() > 3:
        base = getattr(model, model.base_model_prefix, None) or model.encoder
        own: torch.Tensor = base(**asked).last_hidden_state
        return own
    last: torch.Tensor = whole.hidden_states[-1]
    return last


def contacts(model: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """The output of the contact head; empty without one."""
    base = getattr(model, "esm", model)
    if not hasattr(base, "contact_head"):
        return {}
    touching = base.predict_contacts(ids, torch.ones_like(ids))[0]
    return {"contacts": torch.nn.functional.pad(touching, (1, 1, 1, 1))}  # for the first and the last token


def samples(case: Case) -> np.ndarray:
    """Two tones and some noise as 16-bit samples."""
    assert case.audio
    count, rate = case.audio
    seconds, noise = np.arange(count) / rate, np.random.default_rng(0).normal(size=count)
    wave_form = 0.4 * np.sin(2 * np.pi * 440 * seconds) + 0.2 * np.sin(2 * np.pi * 1_300 * seconds**2) + 0.02 * noise
    return np.round(wave_form * 2**15).astype("<i2")


def write_sound(case: Case, path: Path) -> None:
    """Save the sound as a WAV file."""
    assert case.audio
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, case.audio[1], 0, "NONE", ""))
        file.writeframes(samples(case).tobytes())


def heard_features(case: Case, model: Any) -> tuple[str, torch.Tensor]:
    """The sound's features from transformers' feature extractor, with their argument name in the model."""
    assert case.audio
    heard, rate = samples(case).astype(np.float32) / 2**15, case.audio[1]
    if model.config.model_type != "whisper":
        samples_extractor = transformers.Wav2Vec2FeatureExtractor(**case.prepare)  # type: ignore[no-untyped-call]
        return "input_values", samples_extractor(heard, sampling_rate=rate, return_tensors="pt").input_values
    said = {"feature_size": model.config.num_mel_bins} | case.prepare
    extractor = transformers.WhisperFeatureExtractor(**said)  # type: ignore[no-untyped-call]
    length = model.config.max_source_positions * 2 * extractor.hop_length
    features = extractor(heard, sampling_rate=rate, return_tensors="pt", max_length=length).input_features
    return "input_features", features


def processor(case: Case) -> Any:
    """The image processor of transformers; without a config file it resizes to the model's size."""
    size = case.config.get("vision_config", case.config.get("encoder", case.config)).get("image_size", 224)
    height, width = size if isinstance(size, list) else (size, size)
    return ViTImageProcessorPil(**({"size": {"height": height, "width": width}} | case.prepare))


def image_outputs(model: Any, case: Case) -> dict[str, np.ndarray]:
    """`outputs` for an image; `last_hidden` is that of the base model."""
    prepared = processor(case)(photo(case), return_tensors="pt")
    whole = model(**prepared, output_attentions=True)
    # The base_model_prefix of DINOv3's base model names its encoder.
    base_model = model if case.kind.endswith("Model") else getattr(model, model.base_model_prefix, model)
    base = base_model(**prepared)
    told = {"pixel_values": prepared["pixel_values"][0], "attention": torch.cat(whole.attentions)}
    last_norm = base_model.post_layernorm if "clip_vision" in model.config.model_type else torch.nn.Identity()
    told["last_hidden"] = last_norm(base.last_hidden_state[0])  # CLIP applies it only to the class token
    if "logits" in whole:
        told["logits"] = whole.logits[0]
    return {name: tensor.numpy() for name, tensor in told.items()}
