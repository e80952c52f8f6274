"""The first draft of a model card: what a finished run knows about itself."""

from __future__ import annotations

from collections.abc import Mapping

from model.nn.transformer import Transformer
from model.training.recipe import Recipe
from model.training.snapshots import Place


def card(recipe: Recipe, model: Transformer, place: Place, table: Mapping[str, Mapping[str, float]]) -> str:
    """Markdown: shape, texts, tokens seen, and how well it does on held-out text."""
    config = model.config
    size = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    lines = [
        f"# A {config.architecture} trained with the {recipe.objective} objective",
        "",
        f"{size:.1f} M parameters: {config.layers} layers of {config.heads} heads, width {config.width}, "
        f"{config.vocabulary} tokens, context {config.context}.",
        f"Seen in training: {place.tokens / 1e6:.1f} M tokens in {place.step} steps, {place.seconds / 60:.0f} minutes.",
        "",
        "Texts, and how often an epoch passes over each:",
        "",
        *(f"- {source.name}: {source.weight:g}" for source in recipe.texts),
    ]
    if table:
        columns = list(next(iter(table.values())))
        lines += ["", f"| held-out text | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
        lines += [
            f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers.values())} |"
            for name, numbers in table.items()
        ]
    return "\n".join(lines) + "\n"
