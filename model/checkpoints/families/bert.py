"""BERT and its kin: RoBERTa, DistilBERT, ELECTRA, ALBERT."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import PLAIN, SUMMARY, block, classifier
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows, cut
from model.checkpoints.weight_ops import last
from model.config_groups import Answer, Embed


def sizes(fields: Fields, vocabulary: int = 30_522, width: int = 768, act: str = "gelu") -> Choices:
    """Both ways, learned positions, norms after the sum, biases everywhere."""
    return {
        "architecture": "encoder",
        "vocabulary": fields.size("vocab_size", vocabulary),
        "context": fields.size("max_position_embeddings", 512),
        "width": fields.size("hidden_size", width),
        "layers": fields.depth("num_hidden_layers", 12),
        "heads": fields.size("num_attention_heads", 12),
        "inner": fields.size("intermediate_size", 3072),
        "feedforward": fields.choice("hidden_act", act, PLAIN),
        "norm_epsilon": fields.number("layer_norm_eps", 1e-12),
        "embed": Embed(segments=fields.size("type_vocab_size", 2)),
        **BOTH_WAYS,
    }


BOTH_WAYS = {
    "norm": "layernorm",
    "placement": "post",
    "embedding_norm": True,
    "position": "learned",
    "masks": (),
    "bias": True,
}


def bert(fields: Fields) -> Choices:
    """As in the paper."""
    return sizes(fields)


def roberta(fields: Fields) -> Choices:
    """Positions are counted from one past the padding token's number."""
    choices = sizes(fields, vocabulary=50_265)
    first = fields.size("pad_token_id", 1) + 1
    return choices | {"context": max(choices["context"] - first, 1)}


def distilbert(fields: Fields) -> Choices:
    """Other names, no segments."""
    return {
        "architecture": "encoder",
        "vocabulary": fields.size("vocab_size", 30_522),
        "context": fields.size("max_position_embeddings", 512),
        "width": fields.size("dim", 768),
        "layers": fields.depth("n_layers", 6),
        "heads": fields.size("n_heads", 12),
        "inner": fields.size("hidden_dim", 3072),
        "feedforward": fields.choice("activation", "gelu", PLAIN),
        "norm_epsilon": 1e-12,
        **BOTH_WAYS,
    }


def electra(fields: Fields) -> Choices:
    """Embeddings may be narrower than the stream, and are widened after their norm."""
    choices = sizes(fields.filled(num_attention_heads=4, intermediate_size=1024), width=256)
    narrow = fields.size("embedding_size", 128)
    project = "none" if narrow == choices["width"] else "all"
    return choices | {"embed": Embed(width=narrow, project=project, segments=choices["embed"].segments)}


def albert(fields: Fields) -> Choices:
    """Layers share their weights in groups; embeddings are always widened."""
    usual = {"num_attention_heads": 64, "intermediate_size": 16_384}
    choices = sizes(fields.filled(**usual), vocabulary=30_000, width=4096, act="gelu_new")
    narrow = fields.size("embedding_size", 128)
    inside = fields.size("inner_group_num", 1)
    return choices | {
        "layers": choices["layers"] * min(inside, 2000),
        "embed": Embed(width=narrow, project="all", segments=choices["embed"].segments),
    }


def shared(fields: Fields, layer: int) -> dict[str, int]:
    """Which group of ALBERT's layers, and which in the group, layer number `layer` of the stack is."""
    inside = max(fields.size("inner_group_num", 1), 1)
    layers, groups = fields.size("num_hidden_layers", 12), fields.size("num_hidden_groups", 1)
    return {"group": layer // inside * groups // max(layers, 1), "inside": layer % inside}


def masked(
    transform: str, norm: str, project: str, bias: str, act: str | None = "hidden_act", usual: str = "gelu"
) -> Head:
    """A head that says which token was masked; `act` is the field of its activation (None: always gelu)."""

    def config(fields: Fields) -> Choices:
        activation = fields.choice(act, usual, PLAIN) if act else "gelu"
        tied = fields.flag("tie_word_embeddings", True)
        return {"top": "masked-language", "tied": tied, "answer": Answer(activation=activation)}

    weights: Rows = {
        "top.transform": transform,
        "top.norm": norm,
        "top.project": project,
        "top.project.bias": f"{project}.bias|{bias}",
    }
    return Head(config, weights, ignored=(bias, "pooler.*"))


def pooled(dense: str, project: str, activation: str = "tanh") -> Head:
    """A classifier of texts that bends the first token's hidden state first."""
    answer = Answer(transform="dense", activation=activation)
    return classifier(project, rows={"top.transform.dense": dense}, answer=answer)


def replaced(fields: Fields) -> Choices:
    """ELECTRA's own head: was this token replaced?"""
    answer = Answer(transform="dense", activation=fields.choice("hidden_act", "gelu", PLAIN))
    return {"top": "token-classifier", "labels": ("replaced",), "answer": answer}


_LAYER: Rows = {
    "self_attention.query": "attention.self.query",
    "self_attention.key": "attention.self.key",
    "self_attention.value": "attention.self.value",
    "self_attention.output": "attention.output.dense",
    "self_residual.norm": "attention.output.LayerNorm",
    "feedforward.rise": "intermediate.dense",
    "feedforward.fall": "output.dense",
    "feedforward_residual.norm": "output.LayerNorm",
}
AROUND: Rows = {
    "embedding": "embeddings.word_embeddings",
    "encoder.position.table": "embeddings.position_embeddings",
    "segment": "embeddings.token_type_embeddings",
    "encoder.embedding_norm": "embeddings.LayerNorm",
}
_STACK = block("encoder", "encoder.layer.{i}.", _LAYER)
_TOKENS = classifier("classifier", top="token-classifier")
_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
_PREDICTIONS = masked(
    "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder",
    "cls.predictions.bias",
)  # fmt: skip
_ONE_WAY = {"is_decoder": False, "position_embedding_type": "absolute"}
BERT = Family(
    bert,
    AROUND | _STACK,
    {
        "ForMaskedLM": _PREDICTIONS,
        "ForPreTraining": _PREDICTIONS,
        "ForSequenceClassification": pooled("pooler.dense", "classifier"),
        "ForTokenClassification": _TOKENS,
    },
    base="bert.",
    ignored=(*_BUFFERS, "pooler.*", "cls.seq_relationship.*"),
    accepted=_ONE_WAY,
)


ROBERTA = Family(
    roberta,
    AROUND | _STACK | {"encoder.position.table": cut("embeddings.position_embeddings", last)},
    {
        "ForMaskedLM": masked("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias", act=None),
        "ForSequenceClassification": pooled("classifier.dense", "classifier.out_proj"),
        "ForTokenClassification": _TOKENS,
    },
    base="roberta.",
    ignored=(*_BUFFERS, "pooler.*"),
    accepted=_ONE_WAY,
)
DISTILBERT = Family(
    distilbert,
    {name: theirs for name, theirs in AROUND.items() if name != "segment"}
    | block(
        "encoder",
        "transformer.layer.{i}.",
        {
            "self_attention.query": "attention.q_lin",
            "self_attention.key": "attention.k_lin",
            "self_attention.value": "attention.v_lin",
            "self_attention.output": "attention.out_lin",
            "self_residual.norm": "sa_layer_norm",
            "feedforward.rise": "ffn.lin1",
            "feedforward.fall": "ffn.lin2",
            "feedforward_residual.norm": "output_layer_norm",
        },
    ),
    {
        "ForMaskedLM": masked("vocab_transform", "vocab_layer_norm", "vocab_projector", "-", act="activation"),
        "ForSequenceClassification": pooled("pre_classifier", "classifier", "relu"),
        "ForTokenClassification": _TOKENS,
    },
    base="distilbert.",
    ignored=_BUFFERS,
    inert=("sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout"),  # sinusoids are stored as a table
    also={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
)
ELECTRA = Family(
    electra,
    AROUND | _STACK | {"encoder.widen": "embeddings_project"},
    {
        "ForMaskedLM": masked(
            "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head", "-", act=None
        ),
        "ForPreTraining": Head(
            replaced,
            {
                "top.transform.dense": "discriminator_predictions.dense",
                "top.project": "discriminator_predictions.dense_prediction",
            },
        ),
        "ForSequenceClassification": pooled("classifier.dense", "classifier.out_proj", "gelu"),
        "ForTokenClassification": _TOKENS,
    },
    base="electra.",
    ignored=_BUFFERS,
    accepted=_ONE_WAY,
    inert=SUMMARY,
)
_ALBERT_PREDICTIONS = masked(
    "predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias", usual="gelu_new"
)
ALBERT = Family(
    albert,
    AROUND
    | {"encoder.widen": "encoder.embedding_hidden_mapping_in"}
    | block(
        "encoder",
        "encoder.albert_layer_groups.{group}.albert_layers.{inside}.",
        {
            "self_attention.query": "attention.query",
            "self_attention.key": "attention.key",
            "self_attention.value": "attention.value",
            "self_attention.output": "attention.dense",
            "self_residual.norm": "attention.LayerNorm",
            "feedforward.rise": "ffn",
            "feedforward.fall": "ffn_output",
            "feedforward_residual.norm": "full_layer_layer_norm",
        },
    ),
    {
        "ForMaskedLM": _ALBERT_PREDICTIONS,
        "ForPreTraining": _ALBERT_PREDICTIONS,
        "ForSequenceClassification": pooled("pooler", "classifier"),
        "ForTokenClassification": _TOKENS,
    },
    base="albert.",
    ignored=(*_BUFFERS, "pooler.*", "sop_classifier.*"),
    accepted={"position_embedding_type": "absolute"},
    numbers=shared,
)
