"""Each page says in its first line where one is."""

import re
from types import ModuleType

import pytest

from headlight_app.compare import page as compare
from headlight_app.explore import page as explore
from headlight_app.generate import page as generate
from headlight_app.tasks import page as tasks
from headlight_app.ui.component import Component
from tests.app.pages import alone


@pytest.mark.parametrize(
    ("page", "component"),
    [
        (explore, explore.INSTRUMENT),
        (tasks, tasks.COMPONENT),
        (compare, compare.COMPONENT),
        (generate, generate.COMPONENT),
    ],
)
def test_a_component_begins_with_the_name_of_its_page_in_sight(page: ModuleType, component: Component) -> None:
    assert re.search(r'<div class="lead">\s*<h1>(.*?)</h1> \w', component.markup)[1] == page.TITLE  # type: ignore[index]
    assert component.markup.count("<h1") == 1


def test_the_introduction_of_positions_is_true_of_a_model_that_adds_none() -> None:
    """It used to say that each model marks positions, before “This model adds no positions at all”."""
    said = alone("positions", model="next", positional_encoding="none").markdown[0].value
    assert "most models mark the position" in said and said.endswith("This is what the open model does:")
