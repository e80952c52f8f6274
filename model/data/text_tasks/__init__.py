"""Tasks whose examples are read from files."""

from model.data.text_tasks.entities import ENTITIES
from model.data.text_tasks.sentiment import SENTIMENT
from model.data.text_tasks.text_task import TextTask
from model.data.text_tasks.translate import TRANSLATE
from model.registry import Registry

TEXT_TASKS: Registry[TextTask] = Registry(
    "task on texts", {task.name: task for task in (SENTIMENT, ENTITIES, TRANSLATE)}
)
