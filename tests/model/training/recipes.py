"""Recipes for tasks and models that learn them in seconds."""

from pathlib import Path

OBJECTIVE_OF = {
    "induction": "completion",
    "induction-fixed-offset": "completion",
    "sort": "token-classification",
    "dates": "sequence-to-sequence",
    "summary": "sequence-to-sequence",
    "caption": "sequence-to-sequence",
    "sentiment": "sequence-classification",
    "entities": "token-classification",
    "translate": "sequence-to-sequence",
}
MODEL_OF = {"caption": "image = { channels = 3, height = 48, width = 48, patch_height = 12, patch_width = 12 }"}
RECIPE = """
objective = "{objective}"
task = "{task}"
[model]
context_length = 256
d_model = 32
layers = 1
heads = 2
{model}
[training]
steps = {steps}
batch_size = 16
warmup_steps = 2
learning_rate = 1e-2
evaluate_every = 4
evaluate_rows = 20
device = "cpu"
precision = "float32"
{training}
"""


def write_recipe(folder: Path, task: str, steps: int = 4, model: str = "", training: str = "") -> Path:
    """Write a task's recipe, with additional lines for its model and training."""
    path, model = folder / f"{task}.toml", model or MODEL_OF.get(task, "")
    path.write_text(RECIPE.format(objective=OBJECTIVE_OF[task], task=task, steps=steps, model=model, training=training))
    return path
