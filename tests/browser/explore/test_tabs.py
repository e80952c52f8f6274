"""The tabs "Step by step" and "Layers": by mouse, by keyboard, on a phone, from a link."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explore.test_explore import say
from tests.browser.rest import come_to_rest
from tests.browser.test_accessibility import SCHEMES, wear
from tests.browser.visitor import Visitor, in_analysis, shown_instrument, wait_for_address, wait_until

SENTENCE = "The girl had a red ball. One day she lost her"
TEXT = f"model=stories-causal&text={quote(SENTENCE)}"

# A busy server: answers are held back until `release` is called.
HOLD = """() => {
  const ask = window.fetch;
  const released = new Promise((go) => (window.release = go));
  window.fetch = (...asked) => released.then(() => ask(...asked));
}"""
RELEASE = "window.release()"
IN_SIGHT = """cell => {
  const [own, frame] = [cell, cell.closest(".scroll")].map((each) => each.getBoundingClientRect());
  return own.left >= frame.left && own.right <= frame.right;
}"""


def enter(visitor: Visitor, query: str) -> Page:
    return visitor.explore(f"{TEXT}&{query}", sentence=SENTENCE)


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def chosen(select: Locator) -> str:
    value: str = select.input_value()
    return value


@pytest.mark.journey
def test_a_head_is_walked_through_step_by_step_and_the_link_remembers_where(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "layer=5&head=2")
    page.get_by_test_id("inside-input").click()
    title, following = page.get_by_test_id("stair-title"), page.get_by_test_id("step-next")
    expect(title).to_have_text("1. Input")
    expect(page.get_by_test_id("step-back")).to_be_disabled()
    titles = []
    while following.is_enabled():
        titles.append(title.inner_text())
        following.click()
        expect(title).not_to_have_text(titles[-1])
        expect(page.get_by_test_id("stair-code").locator("pre").first).to_be_visible()
    assert [text.split(". ")[1] for text in titles][-3:] == ["Final norm", "Compared with an answer", "Logits"]
    expect(page.get_by_test_id("steps-outcome-title")).to_contain_text("probabilities of the answers")
    second = page.get_by_test_id("predictions").locator(".candidate").nth(1)
    share = second.locator(".number").inner_text()
    second.get_by_role("button").click()
    expect(page.get_by_test_id("steps-answer").locator("option:checked")).to_contain_text(share)
    expect(page.get_by_test_id("stair-reading")).to_contain_text(second.locator(".token").inner_text().lstrip("·"))
    page.get_by_test_id("stair").press("ArrowLeft")
    expect(title).to_contain_text("Logits")
    expect(page.get_by_test_id("stair-code")).to_contain_text("self.projection")
    wait_for_address(page, step="logits", target_token=re.compile(r"\d+"))
    shared_visitor.settle()
    page.reload()
    shown_instrument(page, sentence=SENTENCE)
    expect(title).to_contain_text("Logits")
    page.get_by_test_id("stair-weights").click()
    expect(page.get_by_test_id("stair-code")).to_contain_text("def normalize")
    expect(page.get_by_test_id("steps-outcome-title")).to_contain_text("weights of all keys")


def test_what_a_step_leads_to_stays_in_its_place_from_the_head_to_the_prediction(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=walkthrough&step=feed-forward&layer=5&head=2")
    title, outcome = page.get_by_test_id("stair-title"), page.get_by_test_id("steps-outcome")
    expect(title).to_contain_text("Feed-forward network")
    expect(page.get_by_test_id("stair-code")).to_contain_text("self.down(neurons)")
    height = wait_until(page, lambda: outcome.evaluate("canvas => canvas.clientHeight"), bool)
    page.get_by_test_id("step-next").click()
    expect(title).to_contain_text("After the last layer")
    expect(page.get_by_test_id("steps-outcome-title")).to_contain_text("probabilities of the answers")
    assert outcome.evaluate("canvas => canvas.clientHeight") == height
    outcome.press("ArrowRight")
    wait_for_address(page, target_token=re.compile(r"\d+"))


def test_another_key_has_other_numbers_by_mouse_and_by_keyboard(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=walkthrough&step=scale&layer=5&head=2")
    key, score = page.get_by_test_id("steps-key"), page.get_by_test_id("stair-scale").locator("b")
    expect(score).to_have_text(re.compile(r"\d"))
    most, before = chosen(key), score.inner_text()
    strip = page.get_by_test_id("steps-outcome")
    strip.hover(position={"x": 30, "y": 20})
    expect(score).not_to_have_text(before)
    page.mouse.move(0, 0)
    expect(score).to_have_text(before)
    strip.press("ArrowLeft")
    expect(key).to_have_value(str(int(most) - 1))
    expect(score).not_to_have_text(before)
    wait_for_address(page, key=str(int(most) - 1))


def test_the_numbers_of_a_step_can_be_pointed_at(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=walkthrough&step=multiply")
    reading = page.get_by_test_id("stair-reading")
    bars = page.get_by_test_id("stair-values").locator("canvas")
    expect(bars).to_have_count(3)
    bars.first.focus()
    bars.first.press("ArrowRight")
    expect(reading).to_contain_text("channel 0")
    told = re.findall(r" (−?[\d.]+(?:e−?\d+)?)(?= ·|$)", reading.inner_text())[-3:]
    first, second, product = map(number, told)
    assert first * second == pytest.approx(product, rel=0.01)


def lens_cell(page: Page, depth: int, column: int) -> Locator:
    """The button of a cell of the logit lens."""
    return in_analysis(page, "view-matrix").locator(f'td[data-row="{depth}"][data-column="{column}"] button')


@pytest.mark.journey
def test_the_logit_lens_ends_with_the_prediction_and_chooses_tokens(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=layers")
    best = page.get_by_test_id("predictions").locator(".candidate .token").first
    reading = in_analysis(page, "view-matrix").get_by_test_id("view-note")
    expect(reading).to_contain_text("The answer")
    last = int(chosen(page.get_by_test_id("layers-query")))
    said = lens_cell(page, 6, last).locator("bdi")
    wait_until(page, lambda: best.inner_text().lstrip("·"), lambda word: word == said.text_content())
    lens_cell(page, 3, 2).hover()
    expect(reading).to_contain_text("After layer 2")
    lens_cell(page, 3, 2).click()
    expect(page.get_by_test_id("layers-query")).to_have_value("2")
    expect(page.get_by_test_id("view-tokens")).to_contain_text("bits")
    lens_cell(page, 3, 2).press("ArrowDown")
    expect(reading).to_contain_text("After layer 3")


def test_a_table_drawn_anew_under_a_resting_mouse_does_not_take_the_reading_from_the_keyboard(
    shared_visitor: Visitor,
) -> None:
    page = enter(shared_visitor, "tab=layers")
    cell, reading = lens_cell(page, 3, 2), in_analysis(page, "view-matrix").get_by_test_id("view-note")
    expect(reading).to_contain_text("The answer")
    page.evaluate(HOLD)
    cell.click()
    expect(cell).to_have_class("chosen")
    cell.press("ArrowDown")
    expect(reading).to_contain_text("After layer 3")
    cell.evaluate("cell => { cell.dataset.before = true; }")
    page.evaluate(RELEASE)
    expect(page.locator("[data-before]")).to_have_count(0)
    come_to_rest(page)  # by then a resting pointer has got its event
    expect(reading).to_contain_text("After layer 3")


def test_nine_tokens_fit_into_the_logit_lens_and_a_longer_text_is_read_a_window_at_a_time(
    shared_visitor: Visitor,
) -> None:
    page = shared_visitor.open("model=stories-causal&tab=layers&text=Once+upon+a+time+there+was+a+little")
    expect(lens_cell(page, 6, 8)).to_be_visible()
    too_wide = "table => table.parentElement.scrollWidth - table.parentElement.clientWidth"
    table = in_analysis(page, "view-matrix").locator("table")
    wait_until(page, lambda: table.evaluate(too_wide), lambda pixels: pixels <= 0)
    say(page, "One two three. " * 20)
    shown = page.get_by_test_id("analysis-views")
    expect(shown).to_contain_text(re.compile(r"Tokens 64 to \d\d of \d\d"))
    earlier = page.get_by_role("button", name="Earlier tokens")
    come_to_rest(page)  # drawn anew between the press and the release, a button takes no click
    earlier.click()
    expect(shown).to_contain_text("Tokens 32 to 63")
    wait_until(page, lambda: lens_cell(page, 0, 31).evaluate(IN_SIGHT), bool)
    earlier.click()
    expect(shown).to_contain_text("Tokens 0 to 31")
    expect(earlier).to_have_attribute("aria-disabled", "true")


def test_contributions_add_up_and_a_click_chooses_the_head(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=layers&analysis=logit_attribution")
    total = in_analysis(page, "view-verdict").first
    expect(total).to_contain_text("add up to")
    logit, together = re.findall(r"(?:is|to) (−?[\d.]+\d)", total.inner_text())
    assert logit == together
    before = total.inner_text()
    page.get_by_role("grid", name="All components").get_by_role("button", name=re.compile("^Layer 4, head 0")).click()
    wait_for_address(page, layer="4")
    page.get_by_test_id("layers-target").select_option(index=3)
    expect(total).not_to_have_text(before)
    expect(page.get_by_test_id("view-table").locator("tr")).to_have_count(7)


def test_a_feed_forward_opens_its_neurons_and_one_of_them_is_switched_off(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=layers&analysis=logit_attribution")
    views, tokens = page.get_by_test_id("analysis-views"), page.get_by_test_id("view-tokens")
    page.get_by_role("grid", name="All components").get_by_role("button", name=re.compile("^Layer 5, feed")).click()
    wait_for_address(page, neuron="5")
    expect(views).to_contain_text(re.compile(r"layer 5 adds .* its 640 neurons"))
    neurons = in_analysis(page, "view-changes").last.get_by_role("button", name=re.compile("^Neuron"))
    second = neurons.nth(1).inner_text()
    neurons.nth(1).click()
    expect(views.get_by_role("heading", name=second, exact=True)).to_be_visible()
    wait_for_address(page, neuron=f"5.{second.split()[1]}")
    expect(tokens).to_contain_text("Strongest at")
    switch = views.get_by_role("button", name=re.compile("^Switch off neuron"))
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(tokens).to_contain_text("It is 0 at every token.")
    expect(page.get_by_test_id("latest")).to_contain_text(f"Layer 5, feed-forward: neuron {second.split()[1]} off")
    expect(page.get_by_test_id("predictions")).to_contain_text("with your changes")
    wait_for_address(page, edits=f"decoder.5.feed_forward.neurons[:,{second.split()[1]}]=set:0")
    page.keyboard.press("Control+z")
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(tokens).to_contain_text("Strongest at")
    views.get_by_role("button", name="Close the neurons").click()
    expect(tokens).to_be_hidden()
    wait_for_address(page, neuron=None)


@pytest.mark.journey
def test_the_flow_graph_is_read_and_a_head_chosen_by_keyboard(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=layers&analysis=information_flow")
    graph, reading = page.get_by_test_id("flow"), page.get_by_test_id("view-note")
    expect(reading).to_contain_text("shares")
    graph.press("ArrowRight")
    expect(reading).to_contain_text("takes")
    found = re.search(r"Layer (\d+):.*?takes.*?head (\d+)", reading.inner_text())
    assert found
    graph.press("Enter")
    page.get_by_test_id(f"part-heads-decoder.self-{found[1]}").press("Enter")
    page.get_by_test_id("inside-input").click()
    expect(page.get_by_test_id("steps-layer")).to_have_value(found[1])
    expect(page.get_by_test_id("steps-head")).to_have_value(found[2])


def cell(page: Page, name: str) -> Locator:
    """A cell of the map that was computed step by step."""
    return page.get_by_test_id("analysis-steps").get_by_role("button", name=re.compile(f"^{name}:")).first


@pytest.mark.journey
def test_all_heads_are_turned_off_in_turn_stopped_and_gone_on_with(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=layers&analysis=head_ablation")
    page.route("**/api/analysis_step", lambda route: None, times=1)  # never answered
    button, status = page.get_by_test_id("analysis-start"), page.get_by_test_id("analysis-status")
    button.click()
    expect(button).to_have_text("Stop")
    button.click()
    expect(button).to_have_text("Switch off each head in turn")
    button.click()
    expect(button).to_have_text("Done")
    expect(status).to_contain_text("48 of 48 heads")
    expect(in_analysis(page, "view-changes").locator("li")).to_have_count(10)
    cell(page, "Layer 5, head 2").hover()
    note = in_analysis(page, "view-matrix").get_by_test_id("view-note")
    expect(note).to_contain_text("Layer 5, head 2")
    told = re.search(r"from ([\d.]+) % to ([\d.]+) %", note.inner_text())
    assert told
    cell(page, "Layer 5, head 2").click()
    page.get_by_test_id("part-heads-decoder.self-5").press("Enter")
    page.get_by_test_id("head-switch").click()
    likeliest = page.get_by_test_id("predictions").locator(".candidate").filter(has_text=f"{told[2]} %")
    expect(likeliest.first).to_be_visible()


@pytest.mark.journey
def test_values_of_another_text_are_patched_in_turn_and_a_click_keeps_one(shared_visitor: Visitor) -> None:
    boy, girl = "A little boy named", "A little girl named"
    page = shared_visitor.explore(f"model=stories-causal&text={quote(boy)}&tab=layers&analysis=patching", sentence=boy)
    status, button = page.get_by_test_id("analysis-status"), page.get_by_test_id("analysis-start")
    other = page.get_by_test_id("analysis-views").get_by_label("from the text")
    button.click()
    expect(status).to_contain_text("Type another text")
    page.get_by_role("button", name=f"Try: “{girl}”").click()
    expect(other).to_have_value(girl)
    other.fill(f"{girl} big")
    button.click()
    expect(status).to_contain_text("have 5 and 6 tokens")
    other.fill(girl)
    button.click()
    expect(button).to_have_text("Done")
    expect(status).to_contain_text(
        "48 of 48 heads; the logit of \u2068“Lily”\u2069 minus the logit of \u2068“Tim”\u2069"
    )
    page.get_by_label("put in place").select_option(label="a token's residual stream")
    button.click()
    expect(button).to_have_text("Done")
    only = cell(page, "Layer 0, token 3 boy")  # the only different token, before the first layer
    expect(only).to_have_text("+1.00")
    first = page.get_by_test_id("predictions").locator(".candidate").first
    expect(first).to_contain_text("Tim")
    only.click()
    expect(first).to_contain_text("Lily")
    expect(only).to_have_class("chosen")  # the map belongs to the run without patches, so it stays
    wait_for_address(page, patch="residual", patch_from=girl)
    page.get_by_test_id("export-menu-button").click()
    with page.expect_download() as saved:
        page.get_by_test_id("export-svg").click()
    assert "+1.00" in saved.value.path().read_text(encoding="utf-8")


def test_an_example_to_patch_from_is_sought_once_the_typing_pauses(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore(
        "model=stories-causal&text=A+little&tab=layers&analysis=patching", sentence="A little"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/long_analysis") else None)
    page.get_by_test_id("sentence").focus()
    page.keyboard.press("End")
    page.keyboard.type(" boy named", delay=80)
    expect(page.get_by_role("button", name="Try: “A little girl named”")).to_be_visible()
    assert len(asked) <= 2, "of ten letters each would be asked about"


def test_the_map_of_what_a_head_hears_leads_from_head_to_head(shared_visitor: Visitor) -> None:
    boy, girl = "A little boy named", "A little girl named"
    chosen = f"layer=4&head=6&patch=v&patch_from={quote(girl)}"
    page = shared_visitor.explore(
        f"model=stories-causal&text={quote(boy)}&tab=layers&analysis=patching&{chosen}", sentence=boy
    )
    status, button = page.get_by_test_id("analysis-status"), page.get_by_test_id("analysis-start")
    kind = page.get_by_label("put in place").locator("option:checked")
    expect(kind).to_have_text("a head's output, direct path to the values of layer 4, head 6")
    button.click()
    expect(status).to_contain_text("32 of 32 heads")  # of the earlier layers
    cell(page, "Layer 2, head 1").click()
    expect(kind).to_have_text("a head's output, direct path to the values of layer 2, head 1")
    expect(button).to_have_text("Patch each in turn")
    wait_for_address(page, patch="v", layer="2", head="1")


def test_the_tokens_show_which_one_is_the_query_and_which_the_key(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=walkthrough&layer=5&head=2&query=5&key=2")
    query, key = (page.get_by_test_id("tokens").locator(f".chip.{side}") for side in ("query", "key"))
    expect(query).to_have_attribute("data-position", "5")
    expect(key).to_have_attribute("data-position", "2")
    page.get_by_test_id("steps-key").select_option("5")
    expect(key).to_have_attribute("data-position", "5")
    page.get_by_test_id("steps-query").select_option("7")
    expect(query).to_have_attribute("data-position", "7")
    page.get_by_test_id("part-prediction").click()
    expect(query).to_have_attribute("data-position", "7")
    expect(key).to_have_count(0)
    page.get_by_test_id("analysis-information_flow").click()
    expect(page.get_by_test_id("view-note")).to_contain_text("shares")
    page.get_by_test_id("flow").press("ArrowRight")
    expect(key).to_have_count(1)
    page.get_by_test_id("part-heads-decoder.self-5").press("Enter")
    expect(key).to_have_count(0)
    expect(query).to_have_attribute("data-position", "7")


def test_heads_are_searched_until_the_answer_changes_stopped_and_gone_on_with(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor, "tab=layers&analysis=head_search")
    best = page.get_by_test_id("predictions").locator(".candidate .token").first
    before = best.inner_text()
    page.route("**/api/analysis_step", lambda route: None, times=1)  # never answered
    button = page.get_by_test_id("analysis-start")
    button.click()
    expect(button).to_have_text("Stop")
    button.click()
    expect(button).to_have_text("Find the heads")
    button.click()
    expect(in_analysis(page, "view-verdict")).to_contain_text("the answer is")
    expect(button).to_have_text("Done")
    rows = in_analysis(page, "view-bars").locator("li")
    told = re.findall(r"([\d.]+) %", rows.last.locator(".bar-number").inner_text())
    steps, apply = rows.count(), page.get_by_role("button", name="Switch these off")
    apply.click()
    expect(best).not_to_have_text(before)
    expect(apply).to_have_attribute("aria-pressed", "true")
    expect(rows).to_have_count(steps)
    left = page.get_by_test_id("predictions").locator(".candidate").filter(has_text=before.lstrip("·")).first
    expect(left).to_contain_text(f"{told[-1]} %")
    edits = re.compile("(decoder[^;]*weights[^;]*=set:0;?)+")
    wait_for_address(page, edits=edits, analysis="head_search")
    page.get_by_test_id("undo").click()
    expect(best).to_have_text(before)
    expect(apply).to_have_attribute("aria-pressed", "false")


def test_a_masked_model_has_the_tabs_too(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(
        f"model=stories-masked&tab=layers&analysis=logit_attribution&text={quote('The dog barks at the [MASK].')}"
    )
    expect(page.get_by_test_id("analysis-views")).to_contain_text("add up to")
    expect(page.get_by_test_id("analysis-views")).to_contain_text("the slope of each of its channels")
    page.get_by_test_id("analysis-logit_lens").click()
    expect(in_analysis(page, "view-matrix")).to_contain_text("Original token")


def test_on_a_phone_nothing_is_wider_than_the_window(shared_visitor: Visitor) -> None:
    page = enter(shared_visitor.on_screen(390, 844), "tab=walkthrough&step=multiply&layer=5&head=2")
    expect(page.get_by_test_id("stair-title")).to_contain_text("Elementwise product")
    root = page.get_by_test_id("instrument")

    def expect_to_fit() -> None:
        for scheme in SCHEMES:
            wear(page, scheme)
            wait_until(
                page, lambda: root.evaluate("root => root.scrollWidth - root.clientWidth"), lambda wide: wide <= 0
            )

    expect_to_fit()
    page.get_by_test_id("part-prediction").click()
    for analysis in ("logit_lens", "logit_attribution", "information_flow", "head_ablation", "patching", "head_search"):
        page.get_by_test_id(f"analysis-{analysis}").click()
        expect_to_fit()
