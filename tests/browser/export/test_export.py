"""Exports of Explore: each file is downloaded, opened and checked."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngImageFile
from playwright.sync_api import Browser, Locator, Page, expect
from pypdf import PdfReader

from headlight import find_checkpoint, load, run
from tests.browser.conftest import Visit
from tests.browser.explore.test_explore import pixels, say
from tests.browser.explore.test_tabs import HOLD, RELEASE
from tests.browser.rest import come_to_rest
from tests.browser.visitor import Visitor, expect_to_fit, open_charts, shown_instrument, wait_for_address, wait_until

MODEL = "model=stories-causal"
SENTENCE = "The cat sat on the mat"
HOSTILE = "</script><b>bold</b> 😀 שלום"
PROJECTORS = ((1280, 720), (1366, 768), (1920, 1080))
ANSWERS_OF_TASKS = {
    "sentiment": "view-tokens",
    "entities": "view-tokens",
    "sort": "view-alignment",
    "translate": "view-alignment",
    "caption": "view-image",
}


def menu(visitor: Visitor, query: str, sentence: str) -> Page:
    """The page with the menu open."""
    page = visitor.explore(query, sentence=sentence)
    page.get_by_test_id("export-menu-button").click()
    expect(page.get_by_test_id("export-menu")).to_be_visible()
    return page


def download(page: Page, button: str, folder: Path) -> Path:
    """The file downloaded by a button of the menu."""
    with page.expect_download() as caught:
        page.get_by_test_id(button).click()
    file = folder / caught.value.suggested_filename
    caught.value.save_as(file)
    expect(page.get_by_test_id("export-status")).to_contain_text("saved")
    return file


def copied(page: Page, button: str) -> str:
    page.get_by_test_id(button).click()
    expect(page.get_by_test_id("export-status")).to_contain_text("copied")
    return page.get_by_test_id("export-copied").input_value()


def asked(sentence: str = SENTENCE, **choices: object) -> str:
    return "&".join(
        [MODEL, f"text={quote(sentence)}", *(f"{name}={quote(str(item))}" for name, item in choices.items())]
    )


def test_a_link_is_copied_before_the_address_has_followed(visit: Visit) -> None:
    anna, ben = visit(), visit()
    page = menu(anna, asked(attention_function="hardmax"), SENTENCE)
    page.keyboard.press("Escape")
    page.get_by_test_id("head-2-3").click()
    page.get_by_test_id("export-menu-button").click()
    link = copied(page, "export-link")
    theirs = ben.explore(urlsplit(link).query, sentence=SENTENCE)
    expect(theirs.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    expect(theirs.get_by_test_id("notes")).to_contain_text("Hard (argmax) instead of Softmax")


def test_a_state_file_brings_everything_back_where_a_link_cannot(visit: Visit, tmp_path: Path) -> None:
    long = " ".join(["another"] * 210)  # too long for an address, short enough for the model
    anna, ben = visit(), visit()
    page = anna.open(f"{MODEL}&heads={quote('1.1;2.4')}&quantity=scores&attention_function=linear")
    say(page, long)
    page.get_by_test_id("export-menu-button").click()
    page.get_by_test_id("export-link").click()
    expect(page.get_by_test_id("export-status")).to_contain_text("leaves out the text")
    file = download(page, "export-state", tmp_path)
    origin = json.loads(file.read_text())["provenance"]
    assert (origin["model"], origin["text"], origin["attention_function"]) == ("stories-causal", long, "linear")
    theirs = menu(ben, asked(), SENTENCE)
    theirs.get_by_test_id("open-state").set_input_files(file)
    shown_instrument(theirs, sentence=long)
    expect(theirs.get_by_test_id("sentence")).to_have_value(long)
    expect(theirs.get_by_test_id("head-title")).to_have_text("2 heads")
    expect(theirs.get_by_test_id("quantity")).to_have_value("scores")
    wait_for_address(theirs, attention_function="linear")
    expect(theirs.get_by_text("reloading loses it")).to_be_visible()
    (tmp_path / "other.json").write_text("[1]")
    theirs.get_by_test_id("export-menu-button").click()
    theirs.get_by_test_id("open-state").set_input_files(tmp_path / "other.json")
    expect(theirs.get_by_test_id("export-status")).to_contain_text("contains no state")
    theirs.evaluate(HOLD)
    theirs.get_by_test_id("sentence").fill("Typed amid the choice of a file")
    expect(theirs.get_by_test_id("instrument")).to_have_class("instrument waiting")  # nothing is reported yet
    theirs.get_by_test_id("open-state").set_input_files(file)
    expect(theirs.get_by_test_id("sentence")).to_have_value(long)
    theirs.evaluate(RELEASE)
    come_to_rest(theirs)
    expect(theirs.get_by_test_id("sentence")).to_have_value(long)


@pytest.mark.journey
def test_figures_are_at_print_size_with_title_and_labels(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = menu(shared_visitor, asked(heads="1.1;2.4"), SENTENCE)
    page.get_by_test_id("figure-title").fill('Two <heads> & "more"')
    tokens = len(page.get_by_test_id("tokens").locator("button").all())
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert root.attrib["width"] == "85mm" and root.attrib["height"].endswith("mm")
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {'Two <heads> & "more"', "cat", "mat"} <= set(texts)
    assert "Mean of 2 heads: Layer 1 · Head 1, Layer 2 · Head 4" in " ".join(map(str, texts))
    cells = [group for group in root.iter("{http://www.w3.org/2000/svg}g")]
    assert [len(list(group)) for group in cells] == [tokens * (tokens + 1) // 2], "a rectangle for each allowed cell"
    picture = Image.open(download(page, "export-png", tmp_path)).convert("RGB")
    assert picture.width == round(85 / 25.4 * 300) and len(picture.getcolors(1 << 24) or ()) > 20
    (paper,) = PdfReader(io.BytesIO(download(page, "export-pdf", tmp_path).read_bytes())).pages
    assert float(paper.mediabox.width) == pytest.approx(85 / 25.4 * 72, abs=0.1)
    assert "Mean of 2 heads" in paper.extract_text() and "Two <heads>" in paper.extract_text()


def test_figures_say_where_they_are_from_also_without_the_line_at_their_foot(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    page = menu(shared_visitor, asked(layer=1, head=2, edits="decoder.1.self.weights[3]=set:0"), SENTENCE)
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    line, fields = root.findtext(f"{svg}desc") or "", json.loads(root.findtext(f"{svg}metadata") or "")
    for told in ("stories-causal (SHA-256 ", f"“{SENTENCE}”", "mask: Causal", "changed: Head 3 of layer 1 off"):
        assert told in line
    assert (fields["model"], fields["heads"], fields["shown"]) == ("stories-causal", [[1, 2]], "attention weight")
    assert fields["changes"] == ["Head 3 of layer 1 off"]

    def foot() -> str:
        return " ".join(element.text or "" for element in root.iter(f"{svg}text"))

    assert "stories-causal" in foot() and "Head 3 of layer 1 off" in foot()
    picture = Image.open(download(page, "export-png", tmp_path))
    assert isinstance(picture, PngImageFile)
    assert picture.text["Description"] == line and json.loads(picture.text["Comment"])["model"] == "stories-causal"
    page.get_by_test_id("figure-foot").uncheck()
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert "stories-causal" not in foot() and root.findtext(f"{svg}desc") == line
    about = PdfReader(io.BytesIO(download(page, "export-pdf", tmp_path).read_bytes())).metadata
    assert about and about.subject == line and json.loads(str(about["/Keywords"]))["text"] == SENTENCE


def test_lines_are_a_figure_too_and_any_script_is_drawn(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = menu(shared_visitor, asked(HOSTILE, plot="lines", heads="1.1;2.4"), HOSTILE)
    page.get_by_test_id("figure-size").select_option("180")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert root.attrib["width"] == "180mm" and len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 20
    assert not list(root.iter("{http://www.w3.org/2000/svg}b"))
    (paper,) = PdfReader(io.BytesIO(download(page, "export-pdf", tmp_path).read_bytes())).pages
    assert "</script>" in paper.extract_text().replace("\n", "")
    assert len(paper.images) > 0, "what the font lacks comes as a picture"


def test_what_stands_on_the_page_is_what_is_drawn_or_the_menu_says_why_not(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    for shown, said in (
        ({"plot": "table"}, ".000"),
        ({"plot": "text"}, "What “mat” looks at"),
        ({"tab": "layers", "analysis": "logit_lens"}, "True next token"),
        ({"tab": "layers", "analysis": "logit_attribution"}, "Together: the logit"),
        ({"tab": "layers", "analysis": "information_flow"}, "emb."),
    ):
        page = menu(shared_visitor, asked(**shown), SENTENCE)
        expect(page.get_by_test_id("figure-subject")).to_have_value("this picture")
        root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
        assert said in {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}, shown
    for shown, why in (
        ({"tab": "layers", "analysis": "head_ablation"}, "Nothing is computed yet"),
        ({"tab": "walkthrough"}, "not a figure"),
    ):
        page = menu(shared_visitor, asked(**shown), SENTENCE)
        expect(page.get_by_test_id("export-status")).to_contain_text(why)
        expect(page.get_by_test_id("figure-subject")).to_have_value("the map of the chosen heads")


def test_the_experts_of_each_token_are_a_figure_and_numbers(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = menu(shared_visitor, "model=tags&text=the+cat+sat&tab=layers&analysis=experts", "the cat sat")
    cells = page.get_by_test_id("view-matrix").get_by_role("button")
    shown, share = cells.first.inner_text().split("\n")
    drawn = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    texts = {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {shown, share, "layer 0", "Experts of each token"} <= texts
    told = json.loads(download(page, "export-json", tmp_path).read_text())
    assert shown == " · ".join(f"{expert:g}" for expert in np.array(told["values"])[0, 0])
    page.keyboard.press("Escape")
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("view-note")).to_contain_text("layer 0, \u2068“the”\u2069: expert")
    page.keyboard.press("Enter")
    wait_for_address(page, query="1")


def test_a_figure_has_the_address_of_its_page_and_the_part_that_is_zoomed_to(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    page = menu(shared_visitor, asked(layer=2, head=3, zoom="2-6/0-5"), SENTENCE)
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    fields = json.loads(root.findtext(f"{svg}metadata") or "")
    query = dict(parse_qsl(urlsplit(fields["address"]).query))
    assert query == {"model": "stories-causal", "text": SENTENCE, "layer": "2", "head": "3", "zoom": "2-6/0-5"}
    drawn = "".join(element.text or "" for element in root.iter(f"{svg}text"))
    assert fields["address"] in drawn and "queries 2 to 5, keys 0 to 4" in drawn


def test_all_heads_with_the_numbers_of_their_layers_are_one_figure(shared_visitor: Visitor, tmp_path: Path) -> None:
    loaded = load(find_checkpoint("stories-causal"))
    edit = "decoder.1.self.weights[3]=set:0"
    trace = run(loaded.model, loaded.tokenizer, SENTENCE, [edit])
    norms = [f"{np.linalg.norm(trace[f'decoder.{layer}.residual'][-1]):.3g}" for layer in (1, 2)]
    page = menu(shared_visitor, asked(edits=edit), SENTENCE)
    page.get_by_test_id("figure-subject").select_option("all heads, with each layer's numbers")
    page.get_by_test_id("figure-size").select_option("180")
    page.get_by_test_id("figure-title").fill("All heads")
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    texts = [element.text or "" for element in root.iter(f"{svg}text")]
    layers, heads = loaded.model.config.layers, loaded.model.config.heads
    assert root.attrib["width"] == "180mm"
    assert len(list(root.iter(f"{svg}g"))) == layers * heads - 1, "a map for each head but the one that is off"
    assert {
        "All heads",
        "embedding",
        f"layer {layers - 1}",
        str(heads - 1),
        "likeliest",
        "forward",
        *norms,
    } <= set(texts)
    assert "at “mat”" in " ".join(texts) and "Head 3 of layer 1 off" in " ".join(texts)
    fields = json.loads(root.findtext(f"{svg}metadata") or "")
    assert (fields["heads"], fields["attention_group"]) == ([], "decoder.self")
    assert fields["shown"].startswith("attention weights of all heads, scale from 0 to 1")
    picture = Image.open(download(page, "export-png", tmp_path)).convert("RGB")
    assert picture.width == round(180 / 25.4 * 300) and len(picture.getcolors(1 << 24) or ()) > 20
    (paper,) = PdfReader(io.BytesIO(download(page, "export-pdf", tmp_path).read_bytes())).pages
    assert "embedding" in paper.extract_text() and norms[0] in paper.extract_text()


def test_numbers_of_the_picture_and_of_any_path_and_the_program_that_makes_them(
    shared_visitor: Visitor, tmp_path: Path
) -> None:
    loaded = load(find_checkpoint("stories-causal"))
    trace = run(loaded.model, loaded.tokenizer, SENTENCE)
    page = menu(shared_visitor, asked(layer=2, head=3, quantity="scores"), SENTENCE)
    told = json.loads(download(page, "export-json", tmp_path).read_text())
    np.testing.assert_allclose(np.array(told["values"]), trace["decoder.2.self.scores"][3], atol=1e-5)
    page.get_by_test_id("export-path").fill("decoder.2.self.q[3]")
    with np.load(download(page, "export-npz", tmp_path)) as file:
        np.testing.assert_allclose(file["values"], trace["decoder.2.self.q"][3], atol=1e-5)
    assert '\n"query / head_dim","0","1"' in download(page, "export-csv", tmp_path).read_text()
    page.get_by_test_id("export-path").fill("decoder.9.self.q")
    page.get_by_test_id("export-csv").click()
    expect(page.get_by_test_id("export-status")).to_contain_text("no value decoder.9.self.q")
    assert f"run(model, loaded.tokenizer, '{SENTENCE}')" in copied(page, "export-python")
    assert copied(page, "export-shell").startswith("headlight trace --model stories-causal")


def test_a_worksheet_is_changed_and_printed_on_two_pages(
    shared_visitor: Visitor, offline: Page, tmp_path: Path
) -> None:
    file = download(menu(shared_visitor, asked(layer=2, head=3), SENTENCE), "export-worksheet", tmp_path)
    offline.goto(file.as_uri())
    expect(offline.locator(".sentence")).to_have_text(SENTENCE)
    expect(offline.locator(".code svg")).to_be_visible()
    expect(offline.locator("footer")).to_contain_text("stories-causal (SHA-256 ")
    assert offline.locator(".figure").evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 100
    link = offline.locator("footer a").get_attribute("href") or ""
    assert "layer=2" in urlsplit(link).query and "head=3" in urlsplit(link).query
    offline.locator("#questions p").first.fill("Where does “mat” look?")
    offline.locator("#add").click()
    offline.keyboard.type("And why?")
    offline.locator("#questions p").last.press("Tab")
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(offline.pdf(format="Letter"))).pages]
    assert "Where does “mat” look?" in pages[0] and "And why?" in "".join(pages)
    assert pages[-1].startswith("Answers, for the teacher") and "Click a title" not in "".join(pages)
    offline.locator("#with-answers").uncheck()
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(offline.pdf(format="A4"))).pages]
    assert "Answers" not in "".join(pages)


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """A window without any network."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url),
    )
    yield page
    context.close()
    assert not wrong


def painted(page: Page, number: int = 0) -> Locator:
    found = page.get_by_test_id("instrument").nth(number)
    expect(found).to_have_attribute("data-painted", "alone")
    return found


@pytest.mark.journey
def test_one_file_shows_the_same_without_a_network(shared_visitor: Visitor, offline: Page, tmp_path: Path) -> None:
    edit = "decoder.1.self.weights[3]=set:0"
    page = menu(shared_visitor, asked(HOSTILE, layer=2, head=3, quantity="value_norm", edits=edit), HOSTILE)
    file = download(page, "export-page", tmp_path)
    there = page.get_by_test_id("reading").inner_text()
    offline.goto(file.as_uri())
    found = painted(offline)
    expect(found.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    expect(found.get_by_test_id("reading")).to_have_text(there)
    expect(found.get_by_test_id("notes")).to_contain_text("Changed: Head 3 of layer 1 off")
    expect(found.get_by_test_id("provenance")).to_contain_text("stories-causal (SHA-256 ")
    expect(found.get_by_test_id("provenance")).to_contain_text("changed: Head 3 of layer 1 off")
    expect(found.get_by_test_id("predictions")).to_contain_text("with your changes")
    expect(found.locator("b")).to_have_count(0)
    wait_until(page, lambda: (pixels(offline, 0, 0), pixels(page, 0, 0)), lambda both: both[0] == both[1])
    found.get_by_test_id("head-4-1").click()
    expect(found.get_by_test_id("trouble")).to_contain_text("only the view that was saved")
    found.get_by_test_id("quantity").select_option("weights")
    expect(found.get_by_test_id("trouble")).to_be_hidden()
    expect(found.get_by_test_id("reading")).to_contain_text("looks at")


def test_what_leaves_says_how_far_its_colours_reach(shared_visitor: Visitor, offline: Page, tmp_path: Path) -> None:
    page = menu(shared_visitor, asked(layer=1, head=2, hide="first", colour_range="largest"), SENTENCE)
    expect(page.get_by_test_id("high")).not_to_have_text(re.compile("≈|^1$"))
    high = page.get_by_test_id("high").inner_text()
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert f"{high}  square-root scale" in texts
    assert "scale from 0 to the largest weight shown" in " ".join(texts)
    fields = json.loads(root.findtext("{http://www.w3.org/2000/svg}metadata") or "")
    assert fields["shown"].endswith("; scale from 0 to the largest weight shown")
    offline.goto(download(page, "export-page", tmp_path).as_uri())
    found = painted(offline)
    for legend in ("high", "grid-high", "grid-note"):
        expect(found.get_by_test_id(legend)).to_have_text(page.get_by_test_id(legend).inner_text())
    wait_until(page, lambda: (pixels(offline, 0, 0), pixels(page, 0, 0)), lambda both: both[0] == both[1])
    found.get_by_test_id("colour-range").select_option("full")
    expect(found.get_by_test_id("high")).to_have_text("1")
    assert found.evaluate("page => getComputedStyle(page).printColorAdjust") == "exact", "paper shows bars and colours"


def test_two_traces_in_one_notebook_keep_apart(offline: Page, tmp_path: Path) -> None:
    loaded = load(find_checkpoint("stories-causal"))
    traces = [run(loaded.model, loaded.tokenizer, text) for text in (SENTENCE, HOSTILE)]
    page = "".join(trace.show(layer)._repr_html_() for layer, trace in enumerate(traces))
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{page}</body>", encoding="utf-8")
    offline.goto(file.as_uri())
    first, second = painted(offline), painted(offline, 1)
    first.get_by_test_id("head-3-2").click()
    expect(first.get_by_test_id("head-title")).to_have_text("Layer 3 · Head 2")
    expect(second.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 0")
    first.get_by_test_id("plot-table").click()
    weight = traces[0].attention()[3, 2, 3, 1]
    expect(first.locator("tr[data-row='3'] td[data-col='1']")).to_have_text(f"{weight:.3f}".removeprefix("0"))
    first.get_by_test_id("plot-text").click()
    expect(first.get_by_test_id("prose")).to_contain_text(SENTENCE)
    first.get_by_test_id("plot-lines").click()
    first.get_by_test_id("head-1-1").click(modifiers=["Shift"])
    expect(first.get_by_test_id("head-title")).to_have_text("2 heads")
    shown = "".join(second.get_by_test_id("tokens").locator("button").all_inner_texts()).replace("\n", "")
    assert "</script>" in shown and second.locator("b:visible").count() == 0


def test_heads_of_a_saved_page_are_as_high_as_a_finger_needs(browser: Browser, tmp_path: Path) -> None:
    loaded = load(find_checkpoint("stories-causal"))
    run(loaded.model, loaded.tokenizer, SENTENCE).show().save(tmp_path / "heads.html")
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844}, has_touch=True)
    phone = context.new_page()
    phone.goto((tmp_path / "heads.html").as_uri())
    sizes = [head.bounding_box() for head in painted(phone).locator("[role=gridcell]").all()]
    context.close()
    assert sizes and all(box and box["width"] >= 24 and box["height"] >= 44 for box in sizes)


def test_heads_of_a_saved_page_come_in_the_order_of_one_weight(offline: Page, tmp_path: Path) -> None:
    loaded = load(find_checkpoint("stories-causal"))
    trace = run(loaded.model, loaded.tokenizer, SENTENCE)
    trace.show().save(tmp_path / "heads.html")
    offline.goto((tmp_path / "heads.html").as_uri())
    found = painted(offline)
    found.get_by_test_id("sort").select_option("query_key")
    found.get_by_test_id("pair-query").select_option("3")
    found.get_by_test_id("pair-key").select_option("1")
    weights = trace.attention()[:, :, 3, 1]
    layer, head = np.unravel_index(weights.argmax(), weights.shape)
    first = found.get_by_test_id("grid").locator(".thumb").first
    expect(first).to_have_attribute("data-testid", f"head-{layer}-{head}")
    expect(first).to_contain_text(f"{100 * weights.max():.1f} %")


def test_a_trace_in_a_notebook_says_what_was_changed(offline: Page, tmp_path: Path) -> None:
    loaded = load(find_checkpoint("stories-causal"))
    edits = ["decoder.1.self.weights[3]=set:0", "decoder.2.self.mask[:,4,1]=set:0"]
    run(loaded.model, loaded.tokenizer, SENTENCE, edits).show(1, 3).save(tmp_path / "heads.html")
    offline.goto((tmp_path / "heads.html").as_uri())
    found = painted(offline)
    expect(found.get_by_test_id("notes")).to_contain_text("Changed: Head 3 of layer 1 off · Token 4")
    expect(found.get_by_test_id("notes")).to_contain_text("cannot see token 1")
    expect(found.get_by_test_id("reading")).to_contain_text("switched off")


@pytest.mark.journey
def test_an_embedded_page_shows_the_instrument_and_nothing_else(
    shared_visitor: Visitor, browser: Browser, tmp_path: Path
) -> None:
    page = menu(shared_visitor, asked(layer=2, head=3), SENTENCE)
    snippet = copied(page, "export-embed")
    (tmp_path / "lesson.html").write_text(f"<!doctype html><h1>My lesson</h1>{snippet}", encoding="utf-8")
    lesson = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    lesson.goto((tmp_path / "lesson.html").as_uri())
    frame = lesson.frame_locator("iframe")
    expect(frame.get_by_test_id("instrument")).to_have_attribute("data-sentence", SENTENCE)
    expect(frame.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    for absent in ("brand", "export-menu-button", "stSidebar", "stHeader"):
        expect(frame.get_by_test_id(absent).locator("visible=true")).to_have_count(0)
    expect(frame.locator(".js-plotly-plot")).to_have_count(0)
    frame.get_by_test_id("head-0-1").click()
    expect(frame.get_by_test_id("head-title")).to_have_text("Layer 0 · Head 1")
    lesson.context.close()


def size_of(page: Page, place: str) -> float:
    return float(page.get_by_test_id(place).evaluate("element => parseFloat(getComputedStyle(element).fontSize)"))


@pytest.mark.journey
def test_presenter_mode_is_a_key_a_switch_and_part_of_the_address(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(asked())
    found = shown_instrument(page, sentence=SENTENCE)
    small = size_of(page, "reading")
    page.get_by_test_id("sentence").press("End")
    page.get_by_test_id("sentence").press("p")
    shown_instrument(page, sentence=f"{SENTENCE}p")
    expect(found).not_to_have_class("instrument presenter")
    page.get_by_test_id("head-0-0").click()
    expect(page.get_by_test_id("leave-presenter")).to_have_attribute("aria-keyshortcuts", "p")
    page.keyboard.press("p")
    expect(found).to_have_class("instrument presenter")
    wait_until(page, lambda: size_of(page, "reading"), lambda large: large > 1.4 * small)
    wait_for_address(page, presenter="1", text=f"{SENTENCE}p")
    expect(page.get_by_test_id("export-menu-button")).to_be_hidden()
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    page.reload()
    expect(shown_instrument(page, sentence=f"{SENTENCE}p")).to_have_class("instrument presenter")
    page.get_by_test_id("leave-presenter").click()
    expect(found).to_have_class("instrument")
    wait_for_address(page, presenter=None)
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")
    shared_visitor.settle()  # until the earlier sidebar's switch is gone
    page.get_by_text("Presenter mode", exact=True).click()
    expect(found).to_have_class("instrument presenter")


def test_the_sentence_is_as_large_as_its_letters_once_p_was_pressed(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(1280, 720).explore(asked(), sentence=SENTENCE)
    expect(page.get_by_test_id("leave-presenter")).to_have_attribute("aria-keyshortcuts", "p")
    page.keyboard.press("p")
    expect(shown_instrument(page, sentence=SENTENCE)).to_have_class("instrument presenter")
    box = page.get_by_test_id("sentence")
    wait_until(page, lambda: box.evaluate("box => box.scrollHeight - box.clientHeight"), lambda cut: cut <= 0)


def test_on_stage_the_menu_sorts_heads_only_where_heads_are_seen(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(asked(presenter=1, tab="tokens"))
    page.get_by_test_id("presenter-menu-button").click()
    expect(page.get_by_test_id("examples")).to_be_visible()
    expect(page.get_by_test_id("sort")).to_be_hidden()


def test_presenter_mode_keeps_order_examples_undo_and_export_in_one_menu(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(asked(presenter=1))
    found = shown_instrument(page, sentence=SENTENCE)
    hidden = [page.get_by_test_id(name) for name in ("sort", "examples", "changes", "export-menu-button")]
    for part in hidden:
        expect(part).to_be_hidden()
    page.get_by_test_id("presenter-menu-button").click()
    for part in hidden:
        expect(part).to_be_visible()
    page.get_by_test_id("export-menu-button").click()
    expect(page.get_by_test_id("export-link")).to_be_visible()
    page.get_by_test_id("sort").select_option("entropy")
    wait_for_address(page, sort="entropy")
    page.get_by_role("heading", name="All heads").click()
    expect(page.get_by_test_id("presenter-menu")).to_be_hidden()
    page.keyboard.press("p")
    expect(found).to_have_class("instrument")
    expect(page.get_by_test_id("presenter-menu-button")).to_be_hidden()
    for part in hidden:
        expect(part).to_be_visible()


@pytest.mark.parametrize("path", ["/compare", "/generate", "/positions", "/models"])
def test_p_and_leave_work_on_every_page(shared_visitor: Visitor, path: str) -> None:
    page = shared_visitor.open("model=stories-causal", path)
    leave = page.get_by_test_id("leave-presenter")
    expect(leave).to_have_attribute("aria-keyshortcuts", "p")
    expect(leave).to_be_hidden()
    page.keyboard.press("p")
    wait_for_address(page, presenter="1")
    leave.click()
    wait_for_address(page, presenter=None)
    expect(leave).to_be_hidden()


def test_presenter_mode_fits_the_projector(shared_visitor: Visitor) -> None:
    page = shared_visitor.on_screen(dark=True).explore(asked(presenter=1), sentence=SENTENCE)
    reading, below = page.get_by_test_id("reading"), "reading => reading.getBoundingClientRect().bottom - innerHeight"
    for width, height in ((1440, 900), (1280, 720), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        expect_to_fit(page)
        if width > 1000:  # the whole chosen head is on the screen
            wait_until(page, lambda: reading.evaluate(below), lambda pixels: pixels <= 0)
        for plot in ("lines", "heatmap"):
            page.get_by_test_id(f"plot-{plot}").click()
            expect(page.get_by_test_id("head-canvas")).to_be_visible()
    wait_for_address(page, presenter="1")


def test_a_projector_shows_sentence_map_and_prediction_at_once(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore(asked(presenter=1), sentence=SENTENCE)
    page.get_by_test_id("head-switch").click()
    expect(page.get_by_test_id("predictions")).to_contain_text("as trained")
    expect(page.get_by_test_id("hint")).to_contain_text("is off: it looks at nothing.")
    expect_on_projectors(page, "sentence", "grid", "hint", "stage", "reading", "predictions")
    width, height = PROJECTORS[-1]
    page.get_by_test_id("stMain").click(position={"x": width - 6, "y": height - 6})
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.get_by_test_id("stMain").evaluate("main => getComputedStyle(main).outlineStyle") == "none"
    page.get_by_test_id("presenter-menu-button").click()
    page.get_by_test_id("variant-masks").select_option("none")
    wait_for_address(page, masks="none", presenter="1")
    for model, answer in ANSWERS_OF_TASKS.items():
        shared_visitor.go(f"model={model}&presenter=1", "/tasks")
        expect(page.get_by_test_id(answer).filter(visible=True)).not_to_be_empty()
        expect_on_projectors(page, "sentence", answer, "stage", "reading")


def expect_on_projectors(page: Page, *parts: str) -> None:
    """Waits until all of these parts are on the screen at each projector size."""
    for width, height in PROJECTORS:
        page.set_viewport_size({"width": width, "height": height})
        expect_to_fit(page, *parts)
        for part in parts:
            expect(page.get_by_test_id(part).filter(visible=True)).to_be_in_viewport(ratio=0.99)


def test_charts_have_no_camera_whose_picture_would_not_say_where_it_is_from(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(asked(layer=1, head=2))
    open_charts(page)
    expect(page.locator('.modebar-btn[data-title="Zoom in"]').first).to_be_attached()
    expect(page.locator('.modebar-btn[data-title^="Download"]')).to_have_count(0)
