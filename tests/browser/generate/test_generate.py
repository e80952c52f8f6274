"""The Generate page: step, go back, branch, play and fill masks, by mouse and by keyboard."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address, wait_until

PROMPT = "Once upon a time there was a little"


def generate(visitor: Visitor, query: str) -> Page:
    """The Generate page at an address, once the next token's candidates are known."""
    return ready(visitor.open(query, "/generate"))


def ready(page: Page, generated: int | None = None) -> Page:
    """The page once the next token's candidates are known, after `generated` words."""
    count = "" if generated is None else f'[data-generated="{generated}"]'
    page.locator(f'[data-testid="generator"][data-known="true"]{count}').wait_for()
    return page


def step(page: Page, times: int = 1) -> Page:
    for _ in range(times):
        before = int(page.get_by_test_id("generator").get_attribute("data-generated") or 0)
        page.get_by_test_id("step").click()
        ready(page, before + 1)
    return page


def step_from_cache(page: Page) -> tuple[int, int]:
    """The tokens that a step read, and all of them; after up to four steps, until one reads less than all.

    On a busy server the process for long work may answer a step. It reads the whole text once.
    """
    for _ in range(4):
        read, length = tokens_read(step(page))
        if read < length:
            break
    return read, length


def tokens_read(page: Page) -> tuple[int, int]:
    """How many of how many tokens the last step read."""
    found = re.search(r"read (\d+) of (\d+) tokens", page.get_by_test_id("times-words").inner_text())
    assert found
    return int(found[1]), int(found[2])


def words(page: Page) -> Locator:
    """The generated words."""
    return page.get_by_test_id("page").locator("button.generated")


def candidates(page: Page) -> Locator:
    """The candidates, which a click takes."""
    return page.get_by_test_id("candidates").locator("li").get_by_role("button")


def cells(page: Page) -> float:
    """The width of what is cached for generated tokens in the first layer, in pixels."""
    strip = page.get_by_test_id("cache-rows").locator(".strip").first
    width: float = strip.locator("i").last.evaluate("part => part.getBoundingClientRect().width")
    return width


@pytest.mark.journey
def test_each_step_takes_the_sampled_token_and_the_cache_grows(shared_visitor: Visitor) -> None:
    page = generate(shared_visitor, f"model=stories-causal&sampling=t0.7,s3&text={quote(PROMPT)}")
    expect(page.get_by_test_id("status")).to_contain_text("9 of 256 tokens")
    ahead, before = page.get_by_test_id("ahead").inner_text(), cells(page)
    step(page)
    expect(words(page)).to_have_text([ahead], use_inner_text=True)
    expect(page.get_by_test_id("status")).to_contain_text("10 of 256 tokens")
    expect(page.get_by_test_id("cache-rows")).to_contain_text("Cached for 10 tokens")
    wait_until(page, lambda: cells(page), lambda now: now > before == 0)
    read, length = step_from_cache(page)
    assert read < length
    page.get_by_test_id("use-cache").click()
    assert tokens_read(step(page)) == (length + 1, length + 1)


@pytest.mark.journey
def test_another_candidate_makes_a_branch_and_the_old_one_is_offered(shared_visitor: Visitor) -> None:
    page = step(generate(shared_visitor, f"model=stories-causal&sampling=t0&text={quote(PROMPT)}"), 4)
    first = words(page).all_inner_texts()
    words(page).nth(1).click()
    expect(page.get_by_test_id("next-title")).to_have_text("Other candidates for this token")
    taken = page.get_by_test_id("candidates").get_by_role("button", pressed=True)
    expect(taken).to_contain_text(first[1].strip())
    candidates(page).nth(2).click()
    ready(page, 2)
    expect(words(page).nth(0)).to_have_text(first[0], use_inner_text=True)
    expect(words(page).nth(1)).not_to_have_text(first[1], use_inner_text=True)
    page.get_by_test_id("branches").get_by_role("button").click()
    ready(page, 4)
    expect(words(page)).to_have_text(first, use_inner_text=True)


def test_playing_goes_on_until_it_is_stopped(shared_visitor: Visitor) -> None:
    page = generate(shared_visitor, f"model=stories-causal&sampling=s5&text={quote(PROMPT)}")
    page.get_by_test_id("speed").select_option("2")  # slow enough to be stopped in time
    play = page.get_by_test_id("play")
    play.click()
    expect(play).to_have_attribute("aria-pressed", "true")
    expect(words(page).nth(4)).to_be_visible()
    play.click()
    expect(play).to_have_attribute("aria-pressed", "false")
    ready(page)
    count = words(page).count()
    expect(page.get_by_test_id("rate")).to_contain_text("tokens/s")
    page.get_by_test_id("back").click()
    ready(page, count - 1)


def test_a_copied_link_shows_somebody_else_the_same_text(visit: Visit) -> None:
    anna, ben = visit(), visit(dark=True)
    page = step(generate(anna, f"model=stories-causal&sampling=t1.2,k50,s8&text={quote(PROMPT)}"), 3)
    told, listed = words(page).all_inner_texts(), page.get_by_test_id("candidates").inner_text()
    places = [word.get_attribute("data-place") for word in words(page).all()]
    steps = r"\.".join(rf"{place}-\d+" for place in places)
    link = wait_for_address(page, generated=re.compile(rf"[0-9a-f]{{4}}:{steps}"))
    theirs = ben.open(link)
    theirs.get_by_role("link", name="Generate").click()
    ready(theirs, 3)
    expect(words(theirs)).to_have_text(told, use_inner_text=True)
    expect(theirs.get_by_test_id("candidates")).to_have_text(listed, use_inner_text=True)
    expect(theirs.get_by_test_id("top-k")).to_have_value("50")


def test_settings_filter_candidates_and_a_prompt_that_cannot_be_read_gets_a_sentence(shared_visitor: Visitor) -> None:
    page = generate(shared_visitor, f"model=stories-causal&sampling=t1,k3&text={quote(PROMPT)}")
    filtered = page.get_by_test_id("candidates").get_by_text("filtered out", exact=True)
    expect(filtered).to_have_count(9)
    page.get_by_test_id("temperature").fill("0")
    expect(page.get_by_test_id("candidates")).to_contain_text("nothing is random")
    expect(filtered).to_have_count(11)
    page.get_by_test_id("prompt").fill("")
    expect(page.get_by_test_id("problem")).to_contain_text("empty")
    page.get_by_test_id("prompt").fill("</script><b>x</b> 😀")
    expect(page.get_by_test_id("problem")).to_be_hidden()
    expect(page.get_by_test_id("page")).to_contain_text("</script>")
    expect(page.get_by_test_id("page").locator("b")).to_have_count(0)


def test_masks_are_filled_and_another_word_can_be_masked(shared_visitor: Visitor) -> None:
    page = generate(shared_visitor, f"model=stories-masked&sampling=t0&text={quote('The cat sat on the [MASK].')}")
    expect(page.get_by_test_id("cache-rows")).to_contain_text("Nothing can be cached")
    step(page)
    expect(page.get_by_test_id("next-where")).to_have_text("Every mask is filled.")
    expect(page.get_by_test_id("step")).to_be_disabled()
    page.get_by_test_id("page").get_by_role("button", name="cat").click()
    ready(page, 0)
    step(page, 2)
    expect(words(page)).to_have_count(2)


@pytest.mark.journey
def test_by_keyboard_alone(shared_visitor: Visitor) -> None:
    page = step(generate(shared_visitor, f"model=stories-causal&sampling=t0&text={quote(PROMPT)}"), 2)
    words(page).nth(1).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(words(page).nth(0)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("next-title")).to_have_text("Next token")
    page.get_by_test_id("grid-0-0").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("attention-title")).to_contain_text("Layer 1 · Head 1")
    candidates(page).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    ready(page, 3)


def test_a_phone_shows_everything_without_scrolling_sideways(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(390, 844)
    page = step(generate(shared_visitor, f"model=stories-causal&text={quote(PROMPT)}"), 2)
    expect_to_fit(page, "candidates", "map", "cache-rows")


def test_a_mean_over_heads_is_in_the_address(shared_visitor: Visitor) -> None:
    page = generate(shared_visitor, "model=stories-causal&layer=1&head=2")
    page.get_by_test_id("blend-layer").click()
    wait_for_address(page, blend="layer")
    page.reload()
    expect(ready(page).get_by_test_id("attention-title")).to_have_text("Attention: Layer 1 · mean of its heads")
    page.get_by_test_id("grid-1-1").click()
    wait_for_address(page, blend=None, layer="1", head="1")


def test_the_word_that_is_written_is_seen_after_a_long_text(shared_visitor: Visitor) -> None:
    text = quote(f"{PROMPT} dog. " * 12)
    page = step(generate(shared_visitor.on_screen(390, 844), f"model=stories-causal&text={text}"))
    bottom = "element => element.getBoundingClientRect().bottom"
    assert words(page).last.evaluate(bottom) <= page.get_by_test_id("page").evaluate(bottom)
