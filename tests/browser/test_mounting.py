"""A component is mounted once and stays, whatever happens while its modules load."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from headlight_app.ui.modules import SCRIPT
from tests.browser.journeys import with_journeys
from tests.browser.visitor import Visitor, wait_for_address, wait_until

MODEL = "model=stories-causal"
INSTRUMENTS = {"explore": MODEL, "tasks": "model=dates"}
CHOICES = (("masks", "none"), ("positional_encoding", "alibi"), ("masks", "causal+window"))


def hold(page: Page, pattern: str) -> list[Route]:
    """Holds matching requests from now on, until the test continues them."""
    held = list[Route]()
    page.route(pattern, lambda route: held.append(route))
    return held


def choose(page: Page, field: str, value: str) -> Locator:
    select = page.get_by_test_id(f"variant-{field}")
    select.select_option(value)
    return select


@pytest.mark.parametrize("name", with_journeys(INSTRUMENTS, "explore"))
def test_a_choice_before_the_instrument_is_there_leaves_one_instrument_that_shows_it(
    visitor: Visitor, name: str
) -> None:
    page = visitor.page
    held = hold(page, "**/api/trace")
    page.goto(f"{visitor.url}/{'' if name == 'explore' else name}?{INSTRUMENTS[name]}")
    wait_until(page, lambda: held, bool)
    for field, value in CHOICES:
        choose(page, field, value)
        wait_for_address(page, **{field: re.compile(rf"{re.escape(value)}.*")})
        visitor.settle()
    for route in held:
        route.continue_()
    expect(page.get_by_test_id("notes")).to_contain_text("ALiBi")
    with page.expect_request("**/api/trace") as asked:
        choose(page, "masks", "none")
    sent = asked.value.post_data_json
    assert sent is not None
    variant = sent["question"]["variant"]
    assert (variant["masks"], variant["positional_encoding"]) == ("none", "alibi")
    wait_for_address(page, masks="none", positional_encoding="alibi")
    expect(page.get_by_test_id("change-head")).to_have_count(1)


def fail(page: Page, pattern: str) -> list[str]:
    """Aborts matching requests from now on, and lists them."""
    lost = list[str]()

    def lose(route: Route) -> None:
        lost.append(route.request.url)
        route.abort()

    page.route(pattern, lose)
    return lost


@pytest.mark.journey
def test_a_script_that_a_gap_in_the_network_lost_is_fetched_again(visitor: Visitor) -> None:
    page = visitor.page
    visitor.provoked = "ERR_FAILED"
    lost = fail(page, f"**/{SCRIPT}*")
    page.goto(f"{visitor.url}/?{MODEL}&tab=walkthrough")
    wait_until(page, lambda: lost, lambda urls: len(urls) > 1)
    page.unroute_all()
    expect(page.get_by_test_id("panel-walkthrough")).to_be_visible()


QUESTIONS = (
    ("", "sentence", "predictions"),
    ("compare", "text-a", "predictions"),
    ("generate", "prompt", "candidates"),
)


@pytest.mark.parametrize(("path", "box", "answer"), QUESTIONS)
def test_a_question_that_a_gap_in_the_network_lost_is_asked_again(
    visitor: Visitor, path: str, box: str, answer: str
) -> None:
    page = visitor.open(MODEL, f"/{path}")
    visitor.provoked = "ERR_FAILED"
    expect(page.get_by_test_id(answer)).to_be_visible()
    fail(page, "**/api/**")
    page.get_by_test_id(box).fill("The dog saw the cat")
    expect(page.get_by_test_id("problem")).to_contain_text("does not answer")
    page.unroute_all()
    expect(page.get_by_test_id("problem")).to_be_hidden()


def test_a_chapter_that_a_gap_in_the_network_lost_is_asked_for_again(visitor: Visitor) -> None:
    page = visitor.page
    visitor.provoked = "ERR_FAILED"
    fail(page, "**/api/**")
    visitor.open(path="/course")
    expect(page.get_by_test_id("course-problem")).to_contain_text("does not answer")
    page.unroute_all()
    expect(page.get_by_test_id("course-problem")).to_be_hidden()
    expect(page.get_by_test_id("chapter-title")).not_to_be_empty()
