"""All tasks that a model learns from examples."""

from headlight.data.examples import GeneratedTask
from headlight.data.generated import GENERATED_TASKS
from headlight.data.text_tasks import TEXT_TASKS, TextTask
from headlight.registry import Registry

EXAMPLE_TASKS: Registry[GeneratedTask | TextTask] = Registry("task", {**GENERATED_TASKS, **TEXT_TASKS})
