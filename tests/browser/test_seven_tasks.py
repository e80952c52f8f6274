"""Seven tasks on the page, by keyboard alone and by touch: announcements, focus and touch targets."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from headlight.paths import assets_dir
from tests.browser.conftest import Visit
from tests.browser.listener import LISTEN, announced, enter, expect_focus, next_announced, tab_to, wait_to_hear
from tests.browser.visitor import Visitor
from tests.zips import files_of, zipped

MODEL = "model=stories-causal"
CHANGED = re.compile(
    r"Next token: \S+ [\d.]+ %, before [\d.]+ %\. Layer \d · Head \d is (off: it looks at nothing|on again)"
)
MASKED = re.compile(r"Next token: \S+ [\d.]+ %, before [\d.]+ %\. Every token now sees the tokens after it\b")
FINGER = 44  # pixels; the least width and height of a touch target


@pytest.fixture
def hearing(visitor: Visitor) -> Visitor:
    """A visitor with a screen reader."""
    visitor.page.add_init_script(LISTEN)
    return visitor


def shown(page: Page) -> None:
    expect(page.locator('[data-testid="instrument"][data-painted]')).to_be_visible()


@pytest.mark.journey
def test_a_head_is_found_and_switched_off_a_mask_changed_and_a_file_saved_by_keys(hearing: Visitor) -> None:
    page = hearing.open(MODEL)
    shown(page)
    enter(page)
    tab_to(page, "sentence", most=3)
    type_unheard(page)
    switch_a_head_off(page)
    save_numbers(page)
    change_the_mask(page)
    close_the_changes(page)


def type_unheard(page: Page) -> None:
    page.keyboard.press("End")
    page.keyboard.type(" girl and a dog", delay=60)
    announced(page)
    page.keyboard.type(" named Spot", delay=60)
    assert announced(page) == []


def switch_a_head_off(page: Page) -> None:
    tab_to(page, "head-")
    page.keyboard.press("ArrowDown")
    announced(page)
    page.keyboard.press("o")
    (said,) = next_announced(page)
    assert CHANGED.fullmatch(said), said


def save_numbers(page: Page) -> None:
    tab_to(page, "export-menu-button", key="Shift+Tab")
    page.keyboard.press("Enter")
    tab_to(page, "export-csv")
    with page.expect_download():
        page.keyboard.press("Enter")
    wait_to_hear(page, "is saved.")
    page.keyboard.press("Escape")
    expect_focus(page, "export-menu-button")
    announced(page)


def change_the_mask(page: Page) -> None:
    tab_to(page, "variant-masks", key="Shift+Tab")
    page.keyboard.press("ArrowDown")
    (said,) = next_announced(page)
    assert MASKED.match(said) and "not trained this way" in said, said
    expect_focus(page, "variant-masks")


def close_the_changes(page: Page) -> None:
    tab_to(page, "changes")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("edits")).to_be_hidden()
    expect_focus(page, "changes")


def test_two_encodings_are_compared_by_keys(hearing: Visitor) -> None:
    page = hearing.open(MODEL, "/compare")
    expect(page.get_by_test_id("predictions")).to_contain_text("%")
    enter(page)
    tab_to(page, "b-positional_encoding")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("notes")).to_contain_text("Positional encoding")
    expect_focus(page, "b-positional_encoding")


def test_a_question_of_the_course_is_answered_by_keys(hearing: Visitor) -> None:
    page = hearing.open(path="/course")
    enter(page)
    tab_to(page, "resume")
    page.keyboard.press("Enter")
    look = page.get_by_test_id("screen-look")
    expect(look).to_have_attribute("data-state", "ready")
    expect(look.get_by_role("heading").first).to_be_focused()
    announced(page)
    look.get_by_role("button", name="wall").focus()
    page.keyboard.press("Enter")
    (said,) = next_announced(page)
    assert said.startswith("“wall” gives “He” "), said
    tab_to(page, "show-me")
    page.keyboard.press("Enter")
    expect(look.get_by_test_id("question")).to_be_focused()
    tab_to(page, "next-screen")
    page.get_by_test_id("contents").get_by_role("button", name="Positions").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("chapter-title")).to_be_focused()
    assert any(said.startswith("Chapter ") for said in next_announced(page))


def test_five_words_are_written_by_keys(hearing: Visitor) -> None:
    page = hearing.open(MODEL, "/generate")
    written = page.get_by_test_id("generator")
    expect(written).to_have_attribute("data-known", "true")
    enter(page)
    tab_to(page, "step")
    for _ in range(5):
        page.keyboard.press("Enter")
    expect(written).to_have_attribute("data-generated", "5")
    expect_focus(page, "step")
    assert any(re.fullmatch(r"Taken: \S+\.", said) for said in next_announced(page))
    button = page.get_by_test_id("candidates").get_by_role("button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    expect(written).to_have_attribute("data-generated", "6")
    expect(button).to_be_focused()


def upload(page: Page, press: str) -> None:
    """Uploads the shipped `sort`, with its examples."""
    chooser = page.get_by_test_id("stFileUploader").get_by_role("button", name="Upload", exact=True)
    with page.expect_file_chooser() as asked:
        if press == "tap":
            tap(chooser)
        else:
            chooser.focus()
            page.keyboard.press("Enter")
    content = zipped(files_of(assets_dir() / "models" / "sort"), "sort")
    asked.value.set_files({"name": "sort.zip", "mimeType": "application/zip", "buffer": content})


def test_an_upload_opens_with_its_own_text_by_keys(hearing: Visitor) -> None:
    page = hearing.open(path="/models")
    upload(page, "Enter")
    opens = page.get_by_role("button", name="Open in Explore")
    expect(opens).to_be_visible()
    opens.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("sentence")).to_have_value("17 4 99 4")
    expect_focus(page, "sentence")
    expect(page).to_have_title("Explore · Headlight")
    expect(page).to_have_url(re.compile(r"//[^/]+/\?"))
    expect(page.get_by_test_id("problem")).to_be_hidden()
    page.keyboard.press("Control+a")
    page.keyboard.type("1 " * 40)
    expect(page.get_by_test_id("problem")).to_be_visible()
    expect(page.get_by_test_id("sentence")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_test_id("sentence")).to_have_accessible_description(re.compile("tokens"))


def tap(part: Locator) -> None:
    """Taps on a part, which must be large enough for a finger."""
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    assert box
    is_head = (part.get_attribute("data-testid") or "").startswith("head-")  # eight of them fit a row of a phone
    assert box["height"] >= FINGER - 0.5 and box["width"] >= (24 if is_head else FINGER - 0.5), f"{part}: {box}"
    part.tap()


def test_the_tasks_on_a_touch_screen(visit: Visit) -> None:
    visitor = visit(width=390, height=844, touch=True)
    visitor.page.add_init_script(LISTEN)
    page = visitor.open(MODEL)
    shown(page)
    explore_by_touch(page)
    write_by_touch(page)
    visitor.open(MODEL, "/compare")
    page.get_by_test_id("b-positional_encoding").select_option("alibi")
    expect(page.get_by_test_id("notes")).to_contain_text("ALiBi")
    visitor.open("chapter=attention", "/course")
    tap(page.get_by_test_id("screen-look-up").get_by_role("button", name="entry 2"))
    expect(page.get_by_test_id("screen-look-up").get_by_test_id("said")).to_contain_text("Its score is 2 × (1·(−1)")
    visitor.open(path="/models")
    upload(page, "tap")
    tap(page.get_by_role("button", name="Open in Explore"))
    expect(page.get_by_test_id("sentence")).to_have_value("17 4 99 4")


def explore_by_touch(page: Page) -> None:
    """Switches a head off, saves a file and changes the mask; the sidebar leaves room above it."""
    head = page.get_by_test_id("head-2-3")
    for _ in range(3):  # further taps on the chosen head do not switch it off
        tap(head)
    switch = page.get_by_test_id("head-switch")
    expect(switch).to_have_attribute("aria-checked", "true")
    announced(page)
    tap(switch)
    assert CHANGED.fullmatch(next_announced(page)[-1])
    page.get_by_test_id("export-menu-button").scroll_into_view_if_needed()
    tap(page.get_by_test_id("export-menu-button"))
    with page.expect_download():
        tap(page.get_by_test_id("export-csv"))
    page.keyboard.press("Escape")
    page.get_by_test_id("variant-masks").select_option("none")
    assert any(map(MASKED.match, next_announced(page)))
    page.get_by_test_id("stExpandSidebarButton").tap()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    sheet = page.get_by_test_id("stSidebar").bounding_box()
    assert sheet and sheet["y"] > 844 / 3


def write_by_touch(page: Page) -> None:
    tap(page.get_by_test_id("stSidebar").get_by_role("link", name="Generate"))
    expect(page.get_by_test_id("generator")).to_have_attribute("data-known", "true")
    for number in range(1, 6):
        tap(page.get_by_test_id("step"))
        expect(page.get_by_test_id("generator")).to_have_attribute("data-generated", str(number))
