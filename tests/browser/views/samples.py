"""A view of each kind, with what its fields allow, for the sheet of all kinds and its test."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from headlight.course.modalities.sound_screen import wav_url
from headlight.rendering.model_diagram import model_diagram
from headlight.views import kinds
from headlight.views.kinds import View
from headlight.vision.urls import png_url
from tests.model import toys

Form = Literal["buttons", "actions", "select", "slider", "steps", "toggles"]

TOKENS = ("The", "·cat", "·sat", "·on", "·the", "·mat")
WAVES = np.sin(np.arange(6)[:, None] / (1 + np.arange(12)))
SHARES = np.tril(np.ones((6, 6))) / np.arange(1, 7)[:, None]
IMAGE = png_url((np.indices((24, 24)).sum(0)[..., None] * np.array([5, 3, 1])).astype(np.uint8))
RIGHT = "Its value may be short, or it may point where nothing is read; take the token away and see what changes."
SOUND = wav_url(torch.sin(torch.arange(1600) / 5))


def samples() -> tuple[View, ...]:
    """A view of each kind, and further ones of kinds with several forms."""
    return (*_maps(), *_charts(), *_planes(), *_of_tokens(), *_graphs(), *_texts(), *_media(), *_controls())


def _maps() -> tuple[View, ...]:
    return (
        kinds.MatrixView(
            "What each token adds", WAVES[:, :6], rows=TOKENS, columns=TOKENS, unit="logits", marked=((1, 2),)
        ),
        kinds.MatrixView(
            "Weights", SHARES, rows=TOKENS, columns=TOKENS, colours="shares", unit="weight", row_sums=True
        ),
        kinds.MatrixView(
            "Distances", SHARES, rows=TOKENS, columns=TOKENS, colours="sequential", unit="distance", least_scale=0.25
        ),
        kinds.HeatMapView("Positional encoding", WAVES, rows=TOKENS, row_axis="token", column_axis="channel"),
        kinds.HeatMapView("Similarity", 0.5 + SHARES / 2, rows=TOKENS, columns=TOKENS, colours="sequential", low=0.5),
    )


def _charts() -> tuple[View, ...]:
    parts = tuple((token, float(number)) for token, number in zip(TOKENS, WAVES[:, 3], strict=True))
    return (
        kinds.BarsView(
            title="Before and after",
            labels=("positive", "negative", "neither"),
            series={"before": (0.7, 0.3, np.nan), "after": (0.4, 0.5, 0.1)},
            compared="before",
            as_percent=True,
            missing="cannot",
            marked=0,
        ),
        kinds.BarsView(
            title="Before and after, compact",
            labels=("positive", "negative"),
            series={"before": (0.7, 0.3), "after": (1.0, 0.0)},
            compared="before",
            is_compact=True,
            high=1.0,
            as_percent=True,
            texts=("", "filtered out"),
            marked=0,
            marked_as="sampled",
        ),
        kinds.ChangesView(
            "Parts of the logit", parts, start=("bias", 0.5), end=("logit", 0.5 + float(WAVES[:, 3].sum()))
        ),
        kinds.LinesView(
            "Loss over training",
            (1, 10, 100, 1000),
            {"training": (5.0, 3.1, 2.2, 1.9), "held out": (5.1, 3.3, 2.5, 2.4)},
            "step",
            "nats",
            broken=("held out",),
            log_x=True,
            from_zero=False,
        ),
        kinds.SpansView(
            title="Where words are heard",
            labels=("one", "two"),
            spans=((0.2, 0.7), (0.9, 1.6)),
            high=2.0,
            unit="seconds",
        ),
        kinds.StripsView(
            title="Cached tokens",
            labels=("layer 0", "layer 1"),
            parts=(((5, 1), (3, 0)), ((5, 1), (3, 0))),
            high=16,
            ends=("token 0", "token 15"),
            at=9.5,
            group_titles=("generated", "prompt"),
            heights=(1.0, 0.5),
        ),
    )


def _planes() -> tuple[View, ...]:
    points = tuple(
        (token, float(x), float(y), place % 2)
        for place, (token, x, y) in enumerate(zip(TOKENS, *WAVES[:, 1:3].T, strict=True))
    )
    return (
        kinds.MovingPointsView(
            title="Embeddings during training",
            labels=TOKENS,
            frames=np.stack([WAVES[:, :2] + share * (WAVES[:, 1:3] - WAVES[:, :2]) for share in (0, 0.5, 1)]),
            names=("step 0", "step 5", "step 10"),
        ),
        kinds.ArrowsView(
            title="Queries and keys", arrows=tuple(kinds.Arrow(*point) for point in points), groups=("query", "key")
        ),
        kinds.PointsView(
            title="Many tokens",
            points=tuple(
                (f"{token} {turn}", x + turn / 9, y, group) for turn in range(3) for token, x, y, group in points
            ),
        ),
        kinds.PointsView(
            title="Tokens in two dimensions",
            points=points,
            groups=("function words", "nouns"),
            x_title="first",
            y_title="second",
        ),
    )


def _of_tokens() -> tuple[View, ...]:
    return (
        kinds.TokensView("Shaded", TOKENS, shades=tuple(map(float, WAVES[:, 2])), labels=tuple("123456")),
        kinds.TokensView("Grouped", TOKENS, groups=(0, 1, -1, -1, 0, 1), group_titles=("article", "noun")),
        kinds.AlignmentView(
            "Attention weights from the answer",
            TOKENS[:3],
            ("die", "Katze", "saß"),
            SHARES[:3, :3],
            verb="was found by looking at",
        ),
        kinds.FlowView(
            "Where it comes from",
            TOKENS[:3],
            ("input", "layer 0", "layer 1"),
            tuple(kinds.FlowEdge("head", row, source, 2, 0.4, "", {}) for row in (0, 1) for source in (0, 1, 2)),
            kinds={"head": kinds.FlowKind("line", "{share} of {target} comes from {source}")},
            tokens=tuple(("text", place) for place in range(3)),
            end=2,
            end_text="sat",
        ),
        kinds.TreeView(
            "Beams",
            (
                (kinds.TreeNode(0, "the"), kinds.TreeNode(0, "a")),
                (kinds.TreeNode(0, "cat"), kinds.TreeNode(1, "dog")),
            ),
        ),
    )


def _graphs() -> tuple[View, ...]:
    return (
        kinds.GraphView(
            title="Neighbours",
            nodes=TOKENS[:3],
            places=np.array([[0.0, 0.0], [1.0, 0.3], [0.4, 1.0]]),
            edges=((0, 1), (1, 2)),
            shades=(0.1, 0.5, 0.9),
            marked=1,
        ),
        kinds.ModelDiagramView(title="A decoder", diagram=model_diagram(toys.config(), text_length=6)),
        kinds.ModelDiagramView(
            title="Encoder and decoder", diagram=model_diagram(toys.both().config, text_length=6, source_length=5)
        ),
    )


def _texts() -> tuple[View, ...]:
    link = kinds.ScreenLink("tokens", "bpe")
    return (
        kinds.TableView(
            ("part", "count", "share"),
            (("attention", 1234, 0.25), ("network", 4321, 0.75)),
            title="Parameters",
            marked=1,
        ),
        kinds.ClaimsView(
            title="Common claims",
            claims=(
                kinds.Claim("Attention is explanation.", "It is one part of it.", (link,)),
                kinds.Claim("A large weight means that a token matters.", f"{RIGHT} {RIGHT}", ()),
            ),
        ),
        kinds.Equations(
            title="By hand",
            lines=(
                r"s_{12} = \frac{q_1 \cdot k_2}{\sqrt{4}} = 0.50",
                r"a_{ij} = \frac{\exp(s_{ij})}{\sum_{k=1}^{n} \exp(s_{ik})}",
                r"o_1 = 0.25 \begin{bmatrix} 1 & 0 \\ -2 & 3 \end{bmatrix} x^{\top}",
            ),
        ),
        kinds.Verdict(title="Result", text="All six tokens are right.", good=True),
    )


def _media() -> tuple[View, ...]:
    shades = tuple((word, tuple(np.linspace(0, 1, 9))) for word in ("a", "cat"))
    return (
        kinds.ImageView("Patches of each word", IMAGE, 3, 3, shades=shades, marked=(4,)),
        kinds.SoundView(title="A tone", source=SOUND),
        kinds.FileView(title="A program", file_name="attention.py", media_type="text/x-python", text="print(1)\n"),
    )


def _controls() -> tuple[View, ...]:
    picks = tuple({"layer": layer} for layer in range(3))
    names = tuple(f"layer {layer}" for layer in range(3))
    forms: tuple[Form, ...] = ("buttons", "actions", "select", "slider", "steps")
    return (
        *(
            kinds.ChoiceView(f"Layers as {form}", names, picks, form=form, chosen=None if form == "actions" else 1)
            for form in forms
        ),
        kinds.ChoiceView(
            "Heads",
            ("0", "1", "2"),
            tuple({"heads": (f"0.{head}",)} for head in range(3)),
            form="toggles",
            chosen=(0, 2),
        ),
        kinds.InputView("A second sentence", "other_text", "the dog sat"),
    )
