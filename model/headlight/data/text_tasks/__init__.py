"""Tasks whose examples are read from files."""

from headlight.data.text_tasks.entities import ENTITIES
from headlight.data.text_tasks.sentiment import SENTIMENT
from headlight.data.text_tasks.text_task import TextTask
from headlight.data.text_tasks.translate import TRANSLATE
from headlight.registry import Registry

TEXT_TASKS: Registry[TextTask] = Registry(
    "task on texts", {task.name: task for task in (SENTIMENT, ENTITIES, TRANSLATE)}
)
