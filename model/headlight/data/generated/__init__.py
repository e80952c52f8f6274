"""Tasks whose examples are generated."""

from headlight.data.examples import GeneratedTask
from headlight.data.generated.caption import CAPTION
from headlight.data.generated.dates import DATES
from headlight.data.generated.induction import FIXED_OFFSET, INDUCTION
from headlight.data.generated.sort import SORT
from headlight.registry import Registry

GENERATED_TASKS: Registry[GeneratedTask] = Registry(
    "generated task", {task.name: task for task in (INDUCTION, FIXED_OFFSET, SORT, DATES, CAPTION)}
)
