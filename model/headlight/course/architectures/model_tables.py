"""Tables of models, read from their configs: shipped ones by task, and well-known ones beside your own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from random import Random

from torch import nn

from headlight.checkpoints.catalog import CatalogEntry, card_purpose, card_series, catalog
from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.load import Checkpoint, read_card
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.weight_mapping import make_plan
from headlight.config import Config, EmbeddingConfig, EncoderConfig, PerLayerConfig
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, SeedControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.masks import masks_title
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.nn.transformer import Transformer, meta_model
from headlight.questions.asking import ask_largest, choose
from headlight.questions.kinds import Question
from headlight.tasks import task_of
from headlight.views.forms import bars
from headlight.views.kinds import TableView
from headlight.views.rows import fold, row
from headlight.views.words import digits

NEEDS = {
    "encoder": "Encoder: the whole text is there, and every token may look both ways",
    "decoder": "Decoder: a text is being written, and only its beginning is there",
    "encoder-decoder": "Both: an input is read as a whole, and another text is written about it",
}
ALSO = {
    "encoder": "Models that answer a question by marking words of a text, or that sort documents, are of this kind, "
    "too.",
    "decoder": "Models that chat are of this kind, too: question and answer are one text, which they continue.",
    "encoder-decoder": "Models that summarise a text or transcribe speech are of this kind, too.",
}  # tasks that no shipped model has learned


def which_task(seed: int) -> ScreenRows:
    """Shipped models by their shape, without variations of another model and without series."""
    shipped = [entry for entry in catalog() if entry.shipped]
    names = {entry.name for entry in shipped}
    chosen = [entry for entry in shipped if entry.name.partition("-")[0] not in names - {entry.name}]
    asked = Random(seed).choice([entry for entry in chosen if any(_is_listed(entry, name) for name in NEEDS)])
    question = _ask_of_shape(asked)
    return tuple(
        row(
            TableView(
                ("task", "reads → gives", "shipped model"),
                tuple(_table_row(entry) for entry in chosen if _is_listed(entry, architecture)),
            ),
            title=title,
            text=ALSO[architecture],
            question=question if architecture == "encoder" else None,
        )
        for architecture, title in NEEDS.items()
    )


def _ask_of_shape(entry: CatalogEntry) -> Question:
    """Asks which shape a model's task needs; a wrong choice is answered with the use of that shape."""
    task, read, _ = _table_row(entry)
    says = {name: f"{needs}." for name, needs in NEEDS.items()}
    text = f"Task: {task[0].lower()}{task[1:].rstrip('.')} ({read}). Which shape does the model for this have?"
    return choose(text, tuple(NEEDS), tuple(NEEDS).index(entry.config.architecture), says)


def _is_listed(entry: CatalogEntry, architecture: str) -> bool:
    """Ladder models without a mask are decoders, but see more than the text written so far."""
    config = entry.config
    sees_too_much = config.architecture == "decoder" and not config.masks
    return config.architecture == architecture and not sees_too_much and not card_series(read_card(entry.folder))


def _table_row(entry: CatalogEntry) -> tuple[str, str, str]:
    return card_purpose(read_card(entry.folder)) or purpose(entry.config), reads(entry.config), entry.name


def purpose(config: Config) -> str:
    """The purpose of a model, from its input and output."""
    if config.has_cross_attention and not task_of(config).predicts_labels:
        titles = {"image": "Describes images", "sound": "Transcribes sounds"}
        return titles.get(config.modalities[-1], "Writes a target from a source")
    return "Labels images" if config.reads_image else task_of(config).title


def reads(config: Config) -> str:
    """The kinds of input and output, such as "a text → tokens"."""
    read = {"image": "an image", "sound": "a sound"}.get(config.modalities[-1], "a text")
    answers = "a label for each token" if config.output_head == "token-classifier" else "labels"
    return f"{read} → {answers if task_of(config).predicts_labels else 'tokens'}"


WHICH_TASK = Screen(
    title="Which task needs which shape?",
    lesson="Ask what is visible when an answer is given: for labelling, tagging, sorting or filling in, all of the "
    "text; for continuing, the text so far; for translating, rewriting or describing, all of a source and the "
    "beginning of the answer. The models that come with this page are listed under the shape that their task needs.",
    controls={"seed": SeedControl(title="Ask about another task")},
    compute=which_task,
    code=(which_task, reads),
)


IMAGENET_LABELS = 1_000
# Vaswani et al. 2017, section 3 and the row "base" of table 3; 37,000 byte pairs of section 5.1.
TRANSFORMER = Config(
    architecture="encoder-decoder", vocabulary_size=37_000, context_length=512, d_model=512, layers=6, heads=8,
    d_ff=2048, positional_encoding="sinusoidal", norm="layernorm", norm_placement="post", feed_forward="relu",
    bias=True, embedding=EmbeddingConfig(scale=512**0.5),
)  # fmt: skip
# The model_type and the class in each model's files.
FILES = {
    "BERT": ("bert", "BertForMaskedLM"),
    "GPT-2": ("gpt2", "GPT2LMHeadModel"),
    "T5": ("t5", "T5ForConditionalGeneration"),
    "ViT": ("vit", "ViTForImageClassification"),
}
# The name of the size in the papers, and the number of parameters that they state.
PAPERS = {
    "Transformer": ("base", "65 M"),
    "BERT": ("base", "110 M"),
    "GPT-2": ("small", "117 M (miscounted)"),
    "T5": ("small", "60 M"),
    "ViT": ("B/16", "86 M"),
}


def well_known_configs() -> dict[str, Config]:
    """Transformer, BERT, GPT-2, T5 and ViT at the sizes that PAPERS names."""
    return {"Transformer": TRANSFORMER, **{name: read_family(*file) for name, file in FILES.items()}}


@lru_cache(maxsize=len(FILES))
def read_family(model_type: str, class_name: str) -> Config:
    """The Config of a config.json with a family, a class and the family's default sizes."""
    fields = {"model_type": model_type, "architectures": [class_name], "num_labels": IMAGENET_LABELS}
    return make_plan(FAMILIES[model_type], ConfigReader(fields, model_type), LazyTensors({})).config


def at_size(config: Config, d_model: int, layers: int, heads: int) -> Config:
    """The same model in another width, depth and number of heads; its feed-forward is four times as wide."""
    automatic = dict.fromkeys(("key_value_heads", "head_dim", "value_head_dim", "d_ff"), 0)
    sizes = {"d_model": d_model, "layers": layers, "heads": heads, **automatic}
    return config.replace(**sizes, encoder=EncoderConfig(), own_encoder=None, per_layer=PerLayerConfig())


@lru_cache(maxsize=64)
def count_parameters(config: Config) -> int:
    """The number of parameters of this config's module, built on the meta device; shared ones count once."""
    return sum(parameter.numel() for parameter in meta_model(config).parameters())


OPENED = "your model"
WIDTHS = {str(width): str(width) for width in (64, 128, 256, 512, 768, 1024)}
HEAD_DIM = 64  # d_model / heads of the models at the learner's size, as in all five papers
ARCHITECTURES = ("decoder", "encoder", "encoder-decoder")
SIZES = ("vocabulary_size", "context_length", "d_model", "layers", "encoder.layers", "heads", "key_value_heads",
         "head_dim", "value_head_dim", "d_ff", "labels", "norm_epsilon", "decoder.start_token_id")  # fmt: skip


def configurations(model: Checkpoint, layers: int, d_model: str, one: str, other: str) -> ScreenRows:
    """The choices of each model, its parameters as published and at the learner's size, and how two of them differ."""
    configs = well_known_configs() | {OPENED: model.model.config}
    return (*_choices(configs, layers, d_model), *fold(*_differences_of(configs, one, other)))


def _choices(configs: dict[str, Config], layers: int, d_model: str) -> ScreenRows:
    published = {name: count_parameters(config) for name, config in configs.items()}
    heads = int(d_model) // HEAD_DIM
    small = [count_parameters(at_size(configs[name], int(d_model), layers, heads)) for name in PAPERS]
    rows = [(title, *(read(config) for config in configs.values())) for title, read in CHOICES.items()]
    rows.append(("parameters, counted", *(f"{count:,}" for count in published.values())))
    rows.append(("parameters stated in the paper", *(said for _, said in PAPERS.values()), "—"))
    rows.insert(0, ("size", *(size for size, _ in PAPERS.values()), "—"))
    return (
        row(
            TableView(("", *configs), tuple(rows)),
            question=ask_largest("Which of these models has the most parameters?", published),
        ),
        row(
            bars(
                "As published (millions of parameters)", tuple(published), [count / 1e6 for count in published.values()]
            ),
            bars(
                f"All with {layers} layers of width {d_model} (millions)",
                tuple(PAPERS),
                [count / 1e6 for count in small],
                note="Their vocabularies keep their size, and make up most of a small model.",
            ),
            title="Counted on the modules built from these configs",
        ),
    )


@lru_cache(maxsize=8)
def _biases(config: Config) -> str:
    """Whether the linear maps of its blocks have biases, counted on the modules."""
    model = meta_model(config)
    blocks = (block for stack in config.stacks for block in model.stack(stack).blocks)
    found = {part.bias is not None for block in blocks for part in block.modules() if isinstance(part, nn.Linear)}
    return "some" if len(found) > 1 else "yes" if True in found else "no"


def _mask(config: Config) -> str:
    return f"{masks_title(config.masks)}{' in the decoder' if config.has_cross_attention else ''}"


def _layers(config: Config) -> str:
    return f"{config.encoder.layers} + {config.layers}" if config.has_cross_attention else str(config.layers)


def _reads(config: Config) -> str:
    image = config.image
    patches = f"{image.patch_rows * image.patch_columns} patches of {image.patch_height} × {image.patch_width}"
    if config.reads_sound:
        return f"frames of {1_000 * config.sound.frame_seconds:.0f} ms"
    return patches if config.reads_image else f"{config.vocabulary_size:,} tokens"


CHOICES: dict[str, Callable[[Config], str]] = {
    "shape": lambda config: config.architecture,
    "reads": _reads,
    "mask": _mask,
    "positions": lambda config: POSITIONAL_ENCODINGS[config.positional_encoding].title,
    "norm": lambda config: NORMS[config.norm].title,
    "norm stands": lambda config: NORM_PLACEMENTS[config.norm_placement].title.partition(" (")[0],
    "feed-forward": lambda config: FEED_FORWARDS[config.feed_forward].title,
    "biases": _biases,
    "scores / √d": lambda config: "yes" if config.attention.scale else "no",
    "answers": purpose,
    "layers": _layers,
    "width d": lambda config: str(config.d_model),
    "heads": lambda config: str(config.heads),
    "d_ff": lambda config: f"{config.d_ff:,}",
}


def _differences_of(configs: dict[str, Config], one: str, other: str) -> ScreenRows:
    """The fields of Config in which two models differ: sizes and choices."""
    if one == other:
        raise InputError("Choose two different models.")
    plain = [configs[name].to_paths() for name in (one, other)]
    different = [path for path in plain[0] if plain[0][path] != plain[1][path]]
    sizes = [name for name in different if name in SIZES]
    choices = [name for name in different if name not in SIZES]
    return (
        row(
            _differences(choices, one, other, plain),
            title=f"From {one} to {other}: the choices that differ",
        ),
        row(_differences(sizes, one, other, plain), title="The sizes that differ"),
        f"A Config has {len(plain[0])} fields. Between these two {len(choices)} choices and "
        f"{len(sizes)} sizes differ; everything else is the same code with the same values."
        + ("" if OPENED in (one, other) else f" To compare your own model, choose “{OPENED}” as one of them."),
    )


def _differences(names: list[str], one: str, other: str, plain: list[dict[str, object]]) -> TableView:
    rows = tuple((name, _written(plain[0][name]), _written(plain[1][name])) for name in names)
    return TableView(("field", one, other), rows or (("none", "", ""),))


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none" if len(value) <= 3 else f"{len(value):,} of them"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else digits(value, 4) if isinstance(value, float) else str(value)


NAMES = {name: name for name in (*PAPERS, OPENED)}
CONFIGURATIONS = Screen(
    title="BERT, GPT-2, T5, ViT: rows of one table",
    lesson="The famous models are not different inventions: each is the same network with other values in one config, "
    "as in their published files. The values set the stacks, the mask, the place of the norms, the input and the "
    "output. Choose two, and read what would have to change to turn one into the other.",
    controls={
        "model": ModelControl(title="Your model", default="stories-causal", needs="text"),
        "layers": CountControl("Layers", "2", 1, 24),
        "d_model": ChoiceControl("Width", "128", WIDTHS),
        "one": ChoiceControl("From", "BERT", NAMES),
        "other": ChoiceControl("To", "GPT-2", NAMES),
    },
    compute=configurations,
    code=(read_family, at_size, count_parameters, Transformer),
    explore=link("model", fixed={"tab": "model"}),
)
