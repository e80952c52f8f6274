"""Encoder-decoders of two models: BERT with GPT-2, ViT with TrOCR (EncoderDecoderModel, VisionEncoderDecoderModel).

Encoder and decoder keep the config and the tensor names of their own families; cross-attention is added to the decoder
(Rothe et al. 2020, "Leveraging Pre-trained Checkpoints for Sequence Generation Tasks"; Li et al. 2023, TrOCR).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import bert, encoder_decoders, gpt, vit
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, block_rules, language_head, padding_id, sizes
from headlight.checkpoints.file_rules import PARTS
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    ConversionPlan,
    Family,
    HeadMapping,
    WeightRule,
    WeightRules,
    chunk,
    join_names,
    make_plan,
    rule,
    skip_rows,
    transpose,
)
from headlight.config import Config, DecoderConfig, EmbeddingConfig, EncoderConfig, ImageConfig, SinusoidalConfig
from headlight.errors import CheckpointError, shortened

TEXT_PAIR, IMAGE_PAIR = "encoder-decoder", "vision-encoder-decoder"


def _as_decoder(family: Family) -> Family:
    """A family of encoders as a decoder with cross-attention: causal, and with its head for the next token."""
    masked = family.heads_by_class["ForMaskedLM"]

    def head_values(fields: ConfigReader) -> ConfigValues:
        values = masked.config_values(fields)
        answer = replace(values["output_head_config"], transform="dense-norm")
        return values | {"output_head": "language-model", "output_head_config": answer}

    def config_values(fields: ConfigReader) -> ConfigValues:
        return family.config_values(fields) | {"architecture": "decoder", "masks": ("causal",)}

    weights = {name.replace("encoder.", "decoder.", 1): row for name, row in family.weights.items()}
    return replace(
        family,
        config_values=config_values,
        weights=weights | block_rules("decoder", "encoder.layer.{i}.", _BERT_CROSS),
        heads_by_class={"Model": replace(masked, config_values=head_values)},
    )


_BERT_CROSS: WeightRules = {
    **{f"cross_attention.{name}": f"crossattention.self.{name}" for name in ("query", "key", "value")},
    "cross_attention.output": "crossattention.output.dense",
    "cross_attention_residual.norm": "crossattention.output.LayerNorm",
}
_GPT2_CROSS: WeightRules = {
    "cross_attention.query": rule("crossattention.q_attn", transpose),
    "cross_attention.key": rule("crossattention.c_attn", transpose, chunk(0, 2)),
    "cross_attention.value": rule("crossattention.c_attn", transpose, chunk(1, 2)),
    "cross_attention.output": rule("crossattention.c_proj", transpose),
    "cross_attention_residual.norm": "ln_cross_attn",
}
_GPT2 = replace(
    gpt.GPT2,
    weights=gpt.GPT2.weights | block_rules("decoder", "h.{i}.", _GPT2_CROSS),
    heads_by_class={"Model": language_head()},
    ignored_tensors=(*gpt.GPT2.ignored_tensors, "h.*.crossattention.bias", "h.*.crossattention.masked_bias"),
)


def trocr(fields: ConfigReader) -> ConfigValues:
    """BART's decoder; its positions may be sinusoids instead."""
    names = {"layers": "decoder_layers", "heads": "decoder_attention_heads", "d_ff": "decoder_ffn_dim"}
    found = sizes(fields, 50_265, 512, 1024, 12, 16, 4096, d_model="d_model", **names)
    learned = fields.boolean("use_learned_position_embeddings", True)
    waves = SinusoidalConfig(first_position=padding_id(fields) + 1, reaches_base=True)
    return found | {
        "architecture": "decoder",
        "embedding": EmbeddingConfig(
            scale=found["d_model"] ** 0.5 if fields.boolean("scale_embedding", False) else 1.0,
            norm=fields.boolean("layernorm_embedding", True),
        ),
        "feed_forward": fields.choice("activation_function", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_placement": "post",
        "bias": True,
        "positional_encoding": "learned" if learned else "sinusoidal-halves",
        "sinusoidal": SinusoidalConfig() if learned else waves,
    }


_TROCR = Family(
    trocr,
    {
        "embedding": "embed_tokens",
        "decoder.positional_encoding.table": rule("embed_positions", skip_rows(2)),
        "decoder.embedding_norm": "layernorm_embedding",
        **block_rules("decoder", "layers.{i}.", encoder_decoders.BLOCK | encoder_decoders.CROSS),
    },
    {"Model": language_head("output_projection")},
    base_model_prefix="model.decoder.",
    ignored_tensors=("embed_positions._float_tensor",),
    ignored_fields=encoder_decoders.IGNORED_FIELDS,
    attribute_map={
        "num_attention_heads": "decoder_attention_heads",
        "hidden_size": "d_model",
        "num_hidden_layers": "decoder_layers",
    },
    uncounted_id=lambda fields: (
        None if fields.values.get("use_learned_position_embeddings", True) else padding_id(fields)
    ),
)

ENCODERS: Mapping[str, Mapping[str, Family]] = {
    TEXT_PAIR: {
        "bert": bert.BERT,
        "roberta": bert.ROBERTA,
        "xlm-roberta": bert.XLM_ROBERTA,
        "camembert": bert.XLM_ROBERTA,
        "distilbert": bert.DISTILBERT,
        "electra": bert.ELECTRA,
    },
    IMAGE_PAIR: {"vit": vit.VIT, "deit": vit.DEIT, "beit": vit.BEIT, "dinov2": vit.DINOV2},
}
DECODERS: Mapping[str, Family] = {
    "bert": _as_decoder(bert.BERT),
    "roberta": _as_decoder(bert.ROBERTA),
    "xlm-roberta": _as_decoder(bert.XLM_ROBERTA),
    "camembert": _as_decoder(bert.XLM_ROBERTA),
    "gpt2": _GPT2,
    "trocr": _TROCR,
}
_NO_FLAGS: Mapping[str, tuple[str, ...]] = {"gpt2": ("is_decoder",), "trocr": ("is_decoder", "add_cross_attention")}
_ROBERTA = ("roberta", "xlm-roberta", "camembert")
# The first token of a text, if no file says, by the decoder's family.
_FIRST_TOKENS = {"trocr": 2, "gpt2": 50_256, **dict.fromkeys(_ROBERTA, 0)}
# Fields that transformers 4 wrote into the config of each part, besides those of any config.
_OF_ANY_PART = (
    "begin_suppress_tokens", "diversity_penalty", "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty",
    "is_decoder", "num_beam_groups", "output_scores", "problem_type", "remove_invalid_values",
    "return_dict_in_generate", "suppress_tokens", "tf_legacy_loss", "typical_p",
)  # fmt: skip
_SOURCE_NAMES = {
    "embedding": "source_embedding",
    "embedding.weight": "source_embedding.weight",
    "segment_embedding": "source_segment_embedding",
}


def two_models(fields: ConfigReader) -> tuple[Family, ConfigReader, tuple[str, ...]]:
    """The family of an encoder-decoder of two models, the fields for it, and notes.

    Raises CheckpointError for a model that does not open as one of the two.
    """
    known = {"encoder": ENCODERS[fields.string("model_type")], "decoder": DECODERS}
    encoder, decoder = (_plan_of(fields, part, known[part]) for part in PARTS)
    values = _whole_config(encoder, decoder, fields)
    head: WeightRules = {name: _moved(row, ("decoder.",), decoder.fields) for name, row in decoder.head.weights.items()}
    base = decoder.family.base_model_prefix
    family = Family(
        lambda _: values,
        {"encoder.project_out": "enc_to_dec_proj", **_weights(encoder, decoder, fields)},
        {"EncoderDecoderModel": HeadMapping(lambda _: {"embedding.tied": values["embedding.tied"]}, head)},
        ignored_tensors=(
            *(f"encoder.{name}" for name in encoder.family.ignored_tensors),
            *(f"decoder.{start}{name}" for start in ("", base) for name in decoder.family.ignored_tensors),
            *(f"decoder.{name}" for name in decoder.head.ignored_tensors),
        ),
        ignored_fields=(*PARTS, *_OF_ANY_PART),
        any_image_size=encoder.family.any_image_size,
        uncounted_id=lambda _: decoder.family.uncounted_id(decoder.fields),
        source_uncounted_id=lambda _: encoder.family.uncounted_id(encoder.fields),
    )
    return family, fields, (*_unknown_notes("encoder", encoder), *_unknown_notes("decoder", decoder))


def _plan_of(fields: ConfigReader, part: str, known: Mapping[str, Family]) -> ConversionPlan:
    """The conversion of the encoder or of the decoder, as a model of its own."""
    inner = fields.nested(part) or ConfigReader({}, f"{fields.name}, {part}")
    model_type = inner.string("model_type", "")
    if model_type not in known:
        raise CheckpointError(
            f"{fields.name}: its {part} is {shortened(model_type) or 'of no family'}, which does not open as the "
            f"{part} of an encoder-decoder of two models; known are {', '.join(known)}."
        )
    flags = ("is_decoder", "add_cross_attention") if part == "decoder" else ()
    for flag in flags:
        if flag not in _NO_FLAGS.get(model_type, ()) and not inner.boolean(flag, False):
            raise CheckpointError(f"{inner.name}: its {flag} is not true, so it does not read the encoder's output.")
    inner = inner.without(*flags, *(["cross_attention_hidden_size"] if model_type == "trocr" else []))
    inner.values = {**inner.values, "architectures": ["Model"]}
    return make_plan(known[model_type], inner, LazyTensors({}))


def _whole_config(encoder: ConversionPlan, decoder: ConversionPlan, fields: ConfigReader) -> ConfigValues:
    """The values of the whole model's Config: the decoder's, with the encoder's config as it is."""
    inner = fields.nested("decoder")
    given = inner.integer("cross_attention_hidden_size", 0) if inner else 0  # the decoder reads it without projection
    width = encoder.config.d_model
    if given not in (0, width):
        raise CheckpointError(
            f"{fields.name}: the decoder's cross_attention_hidden_size is {given}; its encoder has {width} channels."
        )
    own = {each.name: getattr(decoder.config, each.name) for each in fields_of(Config)}
    return own | {
        "architecture": "encoder-decoder",
        "own_encoder": encoder.config.replace(image=ImageConfig()),
        "image": encoder.config.image,
        "encoder": EncoderConfig(projected=not given and width != decoder.config.d_model),
        "decoder": DecoderConfig(),
        "decoder.start_token_id": first_token(fields.values) or 0,
        "embedding.tied": decoder.config.embedding.tied,
    }


def first_token(values: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> int | None:
    """The token that begins the decoder's text, from a config.json and a generation_config.json; None if none says."""
    names, inner = ("decoder_start_token_id", "bos_token_id"), values.get("decoder") or {}
    usual = {"bos_token_id": _FIRST_TOKENS.get(str(inner.get("model_type")))}
    stated = [group for group in (given or {},) if any(type(group.get(name)) is int for name in names)]
    groups = stated or [values, inner, usual]
    numbers = [group.get(name) for name in names for group in groups]
    return next((number for number in numbers if type(number) is int), None)


def require_first_token(values: Mapping[str, Any], given: Mapping[str, Any], name: str) -> int:
    """The same. Raises CheckpointError for none, for one that is no number, or for one without a position."""
    token, inner = first_token(values, given), values["decoder"]
    for group in (given, values, inner):
        for field in ("decoder_start_token_id", "bos_token_id"):
            ConfigReader(group, name).integer(field, 0)
    if token is None:
        raise CheckpointError(
            f"{name}: no file says which token begins its decoder's text; give decoder_start_token_id in config.json."
        )
    kind, padding = str(inner.get("model_type")), inner.get("pad_token_id", 1)
    skips_padding = kind in _ROBERTA or (kind == "trocr" and inner.get("use_learned_position_embeddings") is False)
    if skips_padding and token == padding:
        raise CheckpointError(
            f"{name}: its decoder begins with the padding token {token}, which it gives no position; that is not "
            "supported."
        )
    return token


def _weights(encoder: ConversionPlan, decoder: ConversionPlan, fields: ConfigReader) -> WeightRules:
    """The rules of both models, with the prefixes of their tensors; tied ones may be stored in either."""
    places = ("encoder.", f"decoder.{decoder.family.base_model_prefix}")
    kinds = {part.fields.values["model_type"] for part in (encoder, decoder)}
    is_shared = fields.boolean("tie_encoder_decoder", False) and len(kinds) == 1
    options = (places, places[::-1]) if is_shared else (places[:1], places[1:])
    rules: WeightRules = {name: _moved(row, options[1], decoder.fields) for name, row in decoder.family.weights.items()}
    for name, row in encoder.family.weights.items():
        rules[_SOURCE_NAMES.get(name, name)] = _moved(row, options[0], encoder.fields)
    return rules


def _moved(row: str | WeightRule, prefixes: Sequence[str], fields: ConfigReader) -> WeightRule:
    """A rule of one of the two models, for its tensors with a prefix; `fields` are that model's."""
    row = row if isinstance(row, WeightRule) else WeightRule(row)

    def placed(source: str) -> str:
        return "|".join(prefix + option for prefix in prefixes for option in source.split("|") if source)

    has_second = row.has_second
    return replace(row, source=placed(row.source), second=placed(row.second), has_second=lambda _: has_second(fields))


def _unknown_notes(part: str, plan: ConversionPlan) -> tuple[str, ...]:
    unknown = [shortened(name, 40) for name in plan.unknown_fields if name not in _OF_ANY_PART]
    names = join_names(unknown, 4)
    return (f"Fields of its {part}'s config that are unknown in its family and ignored: {names}.",) if unknown else ()
