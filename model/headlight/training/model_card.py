"""The draft of a model card that a training run writes beside its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

from headlight.nn.transformer import Transformer
from headlight.training.recipe import Recipe
from headlight.training.snapshots import Progress


def _sources(recipe: Recipe) -> list[str]:
    """What a model was trained on."""
    if recipe.task:
        return [f"New examples of the task {recipe.task} in every step; one answer in ten is held out."]
    texts = (f"- {source.name}: {source.epochs:g}" for source in recipe.texts)
    return ["Training texts, and how often an epoch repeats each:", "", *texts]


def draft_model_card(
    recipe: Recipe, model: Transformer, progress: Progress, table: Mapping[str, Mapping[str, float]]
) -> str:
    """Markdown: sizes, texts, training tokens, and the metrics on validation texts."""
    config = model.config
    millions = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    lines = [
        f"# {'A' if config.architecture == 'decoder' else 'An'} {config.architecture}, trained with the objective "
        f"{recipe.objective}",
        "",
        f"{millions:.1f} M parameters: {config.layers} layers of {config.heads} heads, hidden size {config.d_model}, "
        f"{config.vocabulary_size} tokens, context {config.context_length}.",
        f"Trained on {progress.tokens / 1e6:.1f} M tokens in {progress.step} steps, "
        f"{progress.seconds / 60:.0f} minutes.",
        "",
        *_sources(recipe),
    ]
    if table:
        columns = list(next(iter(table.values())))
        lines += ["", f"| held out | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
        lines += [
            f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers.values())} |"
            for name, numbers in table.items()
        ]
    return "\n".join(lines) + "\n"
