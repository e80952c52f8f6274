"""Tasks whose examples are generated."""

from model.data.examples import GeneratedTask
from model.data.generated.caption import CAPTION
from model.data.generated.dates import DATES
from model.data.generated.induction import FIXED_OFFSET, INDUCTION
from model.data.generated.sort import SORT
from model.registry import Registry

GENERATED_TASKS: Registry[GeneratedTask] = Registry(
    "generated task", {task.name: task for task in (INDUCTION, FIXED_OFFSET, SORT, DATES, CAPTION)}
)
