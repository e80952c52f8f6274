"""The tab "Heads": the grid, the plots of the chosen heads and the options of these plots."""

import csv
import io
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import FloatRect, Locator, Page, Route, expect

from tests.browser.explore.test_explore import canvas, chips, pixels, say, wait_until_repainted
from tests.browser.visitor import Visitor, expect_to_fit, shown_instrument, wait_for_address, wait_until

TEXT = "The dog saw the cat and the dog ran"
OPEN = "model=stories-causal&text=" + TEXT.replace(" ", "+")
SELECTED = "element => String(element.getRootNode().getSelection())"


def opened(visitor: Visitor, query: str = "") -> Page:
    return visitor.explore(OPEN + query, sentence=TEXT)


def rules(page: Page) -> Locator:
    return page.get_by_test_id("rules")


def reading(page: Page) -> Locator:
    return page.get_by_test_id("reading")


def plot(page: Page, name: str) -> None:
    page.get_by_test_id(f"plot-{name}").click()


def thumbs(page: Page) -> Locator:
    return page.get_by_test_id("grid").locator(".thumb")


def numbers(page: Page) -> list[list[float]]:
    """The rows of the table, from the saved file."""
    with page.expect_download() as started:
        page.get_by_test_id("save-table").click()
    rows = list(csv.reader(io.StringIO(Path(started.value.path()).read_text(encoding="utf-8"))))
    assert len({len(row) for row in rows}) == 1
    return [[float(cell or "nan") for cell in row[1:]] for row in rows[1:]]


def largest_told(page: Page) -> float:
    """The largest share, in percent, in the sentence below the plot."""
    return float(re.findall(r"([\d.]+) %", reading(page).inner_text())[0])


@pytest.mark.journey
def test_the_heads_can_be_put_in_the_order_of_what_they_do(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    expect(thumbs(page).first).to_have_attribute("data-testid", "head-0-0")
    page.get_by_test_id("sort").select_option("first")
    expect(thumbs(page).first.locator(".rank")).to_contain_text("%")
    shares = [float(text.split()[-2]) for text in page.get_by_test_id("grid").locator(".rank").all_inner_texts()]
    assert len(shares) == 48
    assert shares == sorted(shares, reverse=True)
    wait_for_address(page, sort="first")
    best = thumbs(page).first
    best.click()
    title = page.get_by_test_id("head-title")
    layer, head = re.findall(r"\d+", best.get_attribute("data-testid") or "")
    expect(title).to_have_text(f"Layer {layer} · Head {head}")
    second = thumbs(page).nth(1).get_attribute("aria-label") or ""
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text("Layer {} · Head {}".format(*re.findall(r"\d+", second)))
    page.get_by_test_id("metric-first").click()
    expect(thumbs(page).first).to_have_attribute("data-testid", "head-0-0")


def test_a_click_takes_no_head_from_under_the_pointer(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&sort=previous")
    best = page.locator(".thumb", has_text="L2 H5")  # later heads read its output
    expect(thumbs(page).first).to_have_attribute("data-testid", best.get_attribute("data-testid") or "")
    again = page.get_by_test_id("sort-again")
    expect(again).to_be_hidden()
    best.hover()  # also waits until nothing moves
    place = best.bounding_box()
    best.locator(".dot").click()
    expect(best).to_have_class(re.compile("off"))
    expect(best.locator(".rank")).to_contain_text("–")
    expect(again).to_be_visible()
    # Late text above may move it slightly, but not away from the pointer.
    wait_until(page, best.bounding_box, lambda box: is_near(box, place))
    best.locator(".dot").click()
    expect(page.get_by_test_id("changes")).to_have_text("No changes")
    best.locator(".dot").click()
    again.click()
    expect(thumbs(page).last).to_have_attribute("data-testid", best.get_attribute("data-testid") or "")
    expect(again).to_be_hidden()


def is_near(box: FloatRect | None, place: FloatRect | None) -> bool:
    """Whether a box is within a few pixels of an earlier place."""
    if box is None or place is None:
        return False
    return abs(box["x"] - place["x"]) < 8 and abs(box["y"] - place["y"]) < 8


def ranks(page: Page) -> list[float]:
    """The number of each head in percent, as the heads are shown; -1 for none."""
    texts = page.get_by_test_id("grid").locator(".rank span").all_inner_texts()
    return [float(text.split()[0]) if "%" in text and "<" not in text else -1 for text in texts]


def test_heads_come_in_the_order_of_what_one_token_gives_another(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    order, again = page.get_by_test_id("sort"), page.get_by_test_id("sort-again")
    chips(page).nth(4).click()
    expect(order.locator("option[value=query_key]")).to_contain_text("“the” looks at “")
    order.select_option("query_key")
    page.get_by_test_id("pair-key").select_option("2")
    expect(order.locator("option[value=query_key]")).to_have_text("“the” looks at “dog”")
    wait_for_address(page, sort="query_key", query="4", key="2")
    first = wait_until(page, lambda: ranks(page), lambda now: len(now) == 48 and now == sorted(now, reverse=True))
    assert first[0] > first[-1]
    thumbs(page).first.click()
    expect(reading(page)).to_contain_text("weight 0.")
    told = re.compile(r"weight (0\.\d+)")
    wait_until(
        page,
        lambda: told.search(reading(page).inner_text()),
        lambda found: found is not None and abs(100 * float(found[1]) - first[0]) <= 0.051,
    )
    page.get_by_test_id("pair-key").select_option("1")
    wait_until(page, lambda: ranks(page), lambda now: now != first and now == sorted(now, reverse=True))
    expect(again).to_be_hidden()
    names = thumbs(page).evaluate_all("all => all.map((one) => one.dataset.testid)")
    wait_for_address(page, sort="query_key", query="4", key="1")
    shared_visitor.settle()
    page.reload()
    shown_instrument(page, sentence=TEXT)
    expect(thumbs(page).first).to_have_attribute("data-testid", names[0])
    say(page, "So " + TEXT)
    expect(again).to_be_visible()
    assert thumbs(page).evaluate_all("all => all.map((one) => one.dataset.testid)") == names
    again.click()
    expect(again).to_be_hidden()


def test_a_cell_of_the_map_is_another_pair_and_moves_no_head(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&sort=query_key&query=8&key=2")
    wait_until(page, lambda: ranks(page), lambda now: len(now) == 48 and now == sorted(now, reverse=True))
    names = thumbs(page).evaluate_all("all => all.map((one) => one.dataset.testid)")
    stage, key = page.get_by_test_id("stage"), page.get_by_test_id("pair-key")
    stage.focus()
    for _ in range(3):
        stage.press("ArrowRight")
    stage.press("Enter")
    expect(key).not_to_have_value("2")
    expect(page.get_by_test_id("sort-again")).to_be_visible()
    assert thumbs(page).evaluate_all("all => all.map((one) => one.dataset.testid)") == names
    expect(chips(page).locator("nth=8")).to_have_class(re.compile("query"))
    expect(page.locator(".chip.key")).to_have_count(1)
    page.get_by_test_id("pair-query").select_option("1")
    expect(page.get_by_test_id("pair-trouble")).to_contain_text("The mask hides")


@pytest.mark.journey
def test_heads_are_collected_and_switched_off_together(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    page.get_by_test_id("head-1-2").click()
    page.get_by_test_id("head-3-4").click(modifiers=["Shift"])
    expect(page.get_by_test_id("head-title")).to_have_text("2 heads")
    expect(rules(page)).to_contain_text("mean of 2 heads")
    wait_for_address(page, heads="1.2;3.4")
    page.keyboard.press("ArrowRight")  # moves on; the selection stays
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_test_id("selected-heads")).to_contain_text("L3 H5")
    plot(page, "lines")
    expect(rules(page)).to_contain_text("a colour for each head")
    page.get_by_test_id("head-switch").click()
    wait_for_address(
        page,
        edits="decoder.1.self.weights[2]=set:0;decoder.3.self.weights[4]=set:0;decoder.3.self.weights[5]=set:0",
    )
    page.get_by_test_id("head-switch").click()
    page.get_by_test_id("clear-selection").click()
    expect(page.get_by_test_id("selected-heads")).to_be_hidden()


def test_a_layer_is_switched_off_at_once_and_one_of_its_heads_on_again(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    page.get_by_test_id("switch-layer-2").click()
    wait_for_address(page, edits="decoder.2.self.weights=set:0")
    expect(page.get_by_test_id("grid").locator(".thumb.off")).to_have_count(8)
    page.get_by_test_id("head-2-5").hover()
    page.get_by_test_id("switch-2-5").click()
    expect(page.get_by_test_id("grid").locator(".thumb.off")).to_have_count(7)
    expect(page.get_by_test_id("head-2-5")).not_to_have_class(re.compile("off"))
    page.get_by_test_id("layer-2").click()
    expect(page.get_by_test_id("head-title")).to_have_text("8 heads")
    page.get_by_test_id("head-2-5").focus()
    page.keyboard.press("l")  # all are selected, so the key deselects them
    expect(page.get_by_test_id("head-title")).to_contain_text("Layer 2")
    page.keyboard.press("l")
    expect(page.get_by_test_id("selected-heads").locator("button")).to_have_count(9)


def test_what_is_locked_in_one_picture_is_marked_in_all(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&layer=2&head=3")
    page.get_by_test_id("stage").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    last = chips(page).count() - 1
    expect(chips(page).nth(last - 1)).to_have_class(re.compile("locked"))
    expect(page.get_by_test_id("predictions")).to_contain_text("after dog")
    chips(page).nth(2).focus()
    page.keyboard.press("Shift+Enter")
    wait_for_address(page, pinned=f"2;{last - 1}")
    page.get_by_test_id("head-title").hover()
    expect(reading(page)).to_contain_text("2 tokens, summed")
    plot(page, "text")
    words = page.get_by_test_id("prose").locator(".word")
    expect(page.get_by_test_id("prose").locator(".word.locked")).to_have_count(2)
    expect(rules(page)).to_contain_text("strongest at the largest")
    words.first.hover()
    expect(chips(page).first).to_have_class(re.compile("key"))
    plot(page, "table")
    expect(page.get_by_test_id("sheet").locator("tr.hot")).to_have_count(2)
    rows = numbers(page)
    page.get_by_test_id("sheet").locator("td[data-col='1']").nth(2).hover()
    expect(page.get_by_test_id("sheet").locator("th.hot")).to_have_text("The")
    page.get_by_test_id("head-title").hover()
    largest = 100 * max(sum(pair) for pair in zip(rows[2][:3], rows[last - 1][:3], strict=True))
    wait_until(page, lambda: largest_told(page), lambda told: abs(told - largest) < 0.06)
    page.get_by_test_id("stage").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("sheet").locator("tr.hot")).to_have_count(1)
    expect(page.get_by_test_id("tokens").locator(".locked")).to_have_count(0)


def test_the_table_is_saved_and_copied_with_all_its_numbers_and_says_its_rules(visitor: Visitor) -> None:
    page = opened(visitor, "&layer=1&head=1&plot=table")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rows = numbers(page)
    assert len(rows) == chips(page).count()
    for place, row in enumerate(rows):
        assert abs(sum(row[: place + 1]) - 1) < 1e-5
        assert all(number != number for number in row[place + 1 :]), "what is forbidden has no number"
    page.get_by_test_id("copy-table").click()
    expect(page.get_by_test_id("copy-table")).to_have_text("Copied")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert [line.split("\t")[1:3] for line in copied.splitlines()][2] == [f"{rows[1][0]:.8g}", f"{rows[1][1]:.8g}"]
    page.get_by_test_id("options-button").click()
    for name, told in (
        ("hide-first", "first token hidden, rows not renormalised"),
        ("renormalize", "rows renormalised"),
    ):
        page.get_by_test_id(name).check()
        expect(rules(page)).to_contain_text(told)
    page.keyboard.press("Escape")
    wait_until(
        page,
        lambda: [sum(row[: place + 1]) for place, row in enumerate(numbers(page))],
        lambda sums: all(abs(total - 1) < 1e-5 for total in sums),
    )
    page.get_by_test_id("options-button").click()
    page.get_by_test_id("top-mass").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(rules(page)).to_contain_text("the largest of each row that make 80 %")
    page.get_by_test_id("unit").select_option("words")
    expect(rules(page)).to_contain_text("sum over keys, mean over queries")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("options")).to_be_hidden()
    wait_for_address(page, top_mass="80")
    page.get_by_test_id("options-button").click()
    page.get_by_test_id("reset-options").click()
    expect(rules(page)).to_have_text("attention weight")


def test_metrics_and_choices_that_stay_as_they_are_are_not_made_anew(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    buttons = page.locator('[data-testid="metrics"] button, [data-testid="plot"] button')
    expect(page.get_by_test_id("metric-previous")).to_be_visible()
    buttons.evaluate_all("buttons => buttons.forEach((button) => (button.seen = true))")
    page.get_by_test_id("plot-lines").click()
    expect(page.get_by_test_id("plot-lines")).to_have_attribute("aria-pressed", "true")
    assert buttons.evaluate_all("buttons => buttons.every((button) => button.seen)")
    page.get_by_test_id("head-1-1").click()
    expect(page.get_by_test_id("metrics")).to_contain_text("layer 1, head 1")
    page.get_by_test_id("metric-previous").click()
    expect(page.get_by_test_id("metric-previous")).to_have_attribute("aria-pressed", "true")


@pytest.mark.journey
def test_heads_and_pictures_change_without_the_server(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)

    def refuse(route: Route) -> None:
        route.abort()

    shared_visitor.provoked = "net::ERR_FAILED"
    page.route("**/api/*", refuse)
    before = canvas(page)
    page.get_by_test_id("head-4-4").click()
    wait_until_repainted(page, before)
    for name in ("lines", "text", "table", "heatmap"):
        plot(page, name)
    page.get_by_test_id("head-2-2").click(modifiers=["Shift"])
    expect(rules(page)).to_contain_text("mean of 2 heads")
    expect(page.get_by_test_id("reading")).to_contain_text("looks at")


def asked_from_now(page: Page) -> list[str]:
    """A list that records the page's later requests to the server, once the current answer is complete."""
    expect(page.get_by_test_id("why")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else None)
    return asked


def test_colours_reach_as_far_as_the_weights_that_are_shown(shared_visitor: Visitor) -> None:
    text = f"{TEXT} and {TEXT} and {TEXT}"  # long enough that the 99th percentile is below the largest weight
    page = shared_visitor.explore(
        f"model=stories-causal&text={quote(text)}&layer=1&head=1&hide=first&plot=table", sentence=text
    )
    largest = max(number for row in numbers(page) for number in row if number == number)
    plot(page, "heatmap")
    high, grid_high = page.get_by_test_id("high"), page.get_by_test_id("grid-high")
    expect(high).to_have_text("1")
    said, thumbnail, before = reading(page).inner_text(), pixels(page, 1, 1), canvas(page)
    asked = asked_from_now(page)
    page.get_by_test_id("colour-range").select_option("largest")
    expect(high).to_have_text(f"{float(f'{largest:.2g}'):g}")
    before = wait_until_repainted(page, before)
    expect(grid_high).to_have_text("1")  # in every head the first token looks only at itself
    page.get_by_test_id("grid-colour-range").select_option("percentile")
    expect(page.get_by_test_id("colour-range")).to_have_value("percentile")
    expect(high).to_have_text(re.compile(r"^0\.\d+ and above$"))
    expect(grid_high).to_have_text(re.compile(r"and above$"))
    expect(page.get_by_test_id("grid-note")).to_contain_text("one scale for all heads")
    wait_until_repainted(page, before)
    expect(reading(page)).to_have_text(said)
    assert not asked, "the plot is redrawn without a request"
    wait_for_address(page, colour_range="percentile")
    page.get_by_test_id("quantity").select_option("scores")
    expect(page.get_by_test_id("colour-range")).to_be_hidden()
    expect(page.get_by_test_id("grid-colour-range")).to_have_value("percentile")
    page.get_by_test_id("grid-colour-range").select_option("full")
    expect(grid_high).to_have_text("1")
    wait_until(page, lambda: pixels(page, 1, 1), lambda now: now == thumbnail)
    wait_for_address(page, colour_range=None)


def test_everything_that_is_shown_says_what_it_is(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&layer=2&head=3")
    high, trouble = page.get_by_test_id("high"), page.get_by_test_id("trouble")

    def show(name: str, told: str) -> None:
        page.get_by_test_id("quantity").select_option(name)
        expect(rules(page)).to_contain_text(told)

    show("scores", "before mask")
    show("masked_scores", "where the mask allows")
    show("value_norm", "Kobayashi et al. 2020")
    show("rollout", "Abnar & Zuidema 2020")
    show("gradient", "log p of")
    expect(high).to_contain_text("+")
    candidate = page.get_by_test_id("predictions").locator("[data-target]").nth(2)
    word = candidate.inner_text().replace("·", "")
    candidate.click()
    expect(rules(page)).to_contain_text(f"“{word}”")
    show("minus_head", "layer 2, head 4")
    page.get_by_test_id("other-head").select_option("2.3")
    expect(rules(page)).to_contain_text("layer 2, head 3")
    expect(reading(page)).to_contain_text("no value here is large")  # a head does not differ from itself
    page.get_by_test_id("quantity").select_option("minus_trained")
    expect(trouble).to_contain_text("Nothing is changed yet")
    page.get_by_test_id("head-switch").click()
    expect(trouble).to_be_hidden()
    expect(rules(page)).to_contain_text("as trained")


def test_a_difference_that_cannot_be_shown_leaves_no_words_of_the_picture_before(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&layer=2&head=3")
    trouble = page.get_by_test_id("trouble")
    page.get_by_test_id("quantity").select_option("minus_text")
    expect(trouble).to_contain_text("Type the text to compare with")
    expect(page.get_by_test_id("legend")).to_be_hidden()  # it would describe the earlier plot
    expect(reading(page)).to_be_hidden()
    page.get_by_test_id("other-text").fill("The cat")
    expect(trouble).to_contain_text("equally many")
    page.get_by_test_id("other-text").fill(TEXT.replace("cat", "boy"))
    expect(rules(page)).to_contain_text("other text")
    expect(page.get_by_test_id("legend")).to_be_visible()
    wait_for_address(page, quantity="minus_text")


def test_a_pair_of_sentences_has_four_parts(shared_visitor: Visitor) -> None:
    text = "The dog ran. [SEP] The cat slept."
    page = shared_visitor.explore("model=stories-masked&plot=table&text=" + text.replace(" ", "+"), sentence=text)
    page.get_by_test_id("options-button").click()
    page.get_by_test_id("segments").select_option("b-a")
    expect(rules(page)).to_contain_text("only B → A")
    page.keyboard.press("Escape")
    table = page.get_by_test_id("sheet").locator("table")
    expect(table.locator("tbody th").first).to_contain_text("The")
    expect(table.locator("thead th").last).to_contain_text("[SEP]")
    expect(table.locator("tbody th")).to_have_count(5)  # The cat slept . [SEP]


def test_queries_and_keys_lie_in_one_plane(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor, "&layer=2&head=3")
    with page.expect_response("**/api/qk_projection") as answered:
        plot(page, "qk_projection")
    answered.value.finished()
    before = canvas(page)
    page.get_by_test_id("stage").focus()
    page.keyboard.press("ArrowUp")
    expect(reading(page)).to_contain_text("dog")
    wait_until_repainted(page, before)


def test_tables_and_rules_fit_a_phone_in_the_dark(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(390, 844, dark=True)
    page = opened(shared_visitor, "&plot=table&sort=entropy&heads=1.1;2.2")
    page.get_by_test_id("options-button").click()
    expect(page.get_by_test_id("reset-options")).to_be_visible()
    expect_to_fit(page, "options", "sheet", "grid", "metrics")


def test_a_long_text_stays_readable_and_turns_its_pages(shared_visitor: Visitor) -> None:
    text = " ".join(["the dog saw a cat"] * 22)
    page = shared_visitor.open("model=stories-causal")
    say(page, text)
    plot(page, "table")
    sheet = page.get_by_test_id("sheet")
    expect(sheet).to_contain_text("of 111")
    page.get_by_role("button", name="Earlier queries").click()
    expect(sheet).to_contain_text("queries 64–95 of 111")
    plot(page, "text")
    expect(page.get_by_test_id("prose").locator(".word")).to_have_count(111)
    plot(page, "lines")
    expect(reading(page)).to_contain_text("looks at")


def test_pointing_marks_a_chip_and_moves_nothing_and_shift_click_selects_no_text(shared_visitor: Visitor) -> None:
    page = opened(shared_visitor)
    plot(page, "table")
    expect(page.get_by_test_id("scale")).to_be_hidden()
    chip = page.get_by_test_id("tokens").locator("button").nth(1)
    expect(chip).to_be_visible()
    before = chip.bounding_box()
    page.get_by_test_id("sheet").locator("td[data-col='1']").nth(2).hover()
    expect(chip).to_contain_class("key")
    assert chip.bounding_box() == before
    plot(page, "heatmap")
    expect(page.get_by_test_id("scale")).to_be_visible()
    plot(page, "text")
    words = page.get_by_test_id("prose").locator(".word")
    words.nth(1).click()
    for target in (words.nth(3), page.get_by_test_id("head-1-2")):
        target.click(modifiers=["Shift"])
        assert page.get_by_test_id("prose").evaluate(SELECTED) == ""


def test_in_a_long_text_the_chosen_token_is_in_sight(shared_visitor: Visitor) -> None:
    page = shared_visitor.open("model=stories-causal&text=" + "+".join(["word"] * 180))
    chips = page.get_by_test_id("tokens").locator("button")
    expect(chips.nth(180)).to_be_attached()
    expect(chips.last).to_be_in_viewport()
    page.get_by_test_id("tokens").evaluate("strip => { strip.scrollTop = 0; }")
    expect(chips.last).not_to_be_in_viewport()
    chips.nth(3).click()
    expect(chips.nth(3)).to_have_attribute("aria-pressed", "true")
    expect(chips.nth(3)).to_be_in_viewport()
