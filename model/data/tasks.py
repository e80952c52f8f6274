"""All tasks that a model learns from examples."""

from model.data.examples import GeneratedTask
from model.data.generated import GENERATED_TASKS
from model.data.text_tasks import TEXT_TASKS
from model.data.text_tasks.text_task import TextTask
from model.registry import Registry

EXAMPLE_TASKS: Registry[GeneratedTask | TextTask] = Registry("task", {**GENERATED_TASKS, **TEXT_TASKS})
