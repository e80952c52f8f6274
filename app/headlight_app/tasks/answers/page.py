"""The data of Tasks before the first answer: the initial attention and head, besides Explore's own data."""

from __future__ import annotations

from cachetools import LRUCache, cached
from msgspec.structs import asdict, replace

from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.checkpoints import CatalogEntry
from headlight.errors import HeadlightError
from headlight_app.contract.question import Question
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.page import analysis_row, page_answer
from headlight_app.inference.examples import opening_examples
from headlight_app.inference.head_selection import clearest_alignment
from headlight_app.inference.open_models import ModelLocation, find_model, open_model
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.answers.table import TASK_ANALYSES
from headlight_app.tasks.contract import TasksPageAnswer, TasksPageRequest
from headlight_app.tasks.views import TASK_VIEWS


def answer_tasks_page(request: TasksPageRequest) -> Reply[TasksPageAnswer]:
    """All data that the page needs before the first answer."""
    entry, kind = find_model(request.model), TASK_VIEWS[request.task].attention
    shared, one_box = page_answer(request), request.task != "similar"
    answer = TasksPageAnswer(
        **asdict(replace(shared, reads_pair=shared.reads_pair and one_box, reads_chat=shared.reads_chat and one_box)),
        task_analyses=tuple(analysis_row(name, row) for name, row in TASK_ANALYSES.items()),
    )
    groups = [group for group in attention_groups(entry.config) if (group.kind, group.queries) == (kind, "text")]
    if not groups:
        return Reply(answer)
    try:
        head = _sharpest_head(entry, request.device, open_model(entry.name, request.device)[0], groups[0])
    except (HeadlightError, RuntimeError):  # the next question reports the error
        head = (0, 0)
    return Reply(replace(answer, default_attention=groups[0].name, default_head=head, opening_head=head))


@cached(LRUCache(256), key=lambda entry, device, location, group: (location, group))
def _sharpest_head(entry: CatalogEntry, device: str, location: ModelLocation, group: AttentionGroup) -> tuple[int, int]:
    """The head of the trained model that aligns answer and text most clearly in its first example."""
    example = opening_examples(entry, device)[0]
    question = Question(model=entry.name, text=example.text, source=example.source, device=device)
    return clearest_alignment(resolve(question).trace, group)
