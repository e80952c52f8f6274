"""Exports of Compare, Generate and Positions: each file is downloaded, opened and checked."""

import io
import json
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngImageFile
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from headlight import find_checkpoint, load, run
from tests.browser.compare.test_compare import compare, painted
from tests.browser.conftest import Visit
from tests.browser.export.test_export import copied, download
from tests.browser.generate.test_generate import PROMPT, generate, ready, step
from tests.browser.visitor import Visitor, expect_to_fit

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "The cat sat on the mat"
EDIT = "decoder.1.self.weights[3]=set:0"


def open_menu(page: Page, first: str) -> None:
    """The Export menu, with the page's tables of numbers."""
    page.get_by_test_id("export-menu-button").click()
    expect(page.get_by_test_id("export-which").locator("option").first).to_have_text(first)
    expect(page.get_by_test_id("export-menu")).to_be_in_viewport(ratio=1)


def choose(page: Page, numbers: str) -> None:
    page.get_by_test_id("export-which").select_option(numbers)


def texts(root: ElementTree.Element) -> set[str]:
    return {element.text or "" for element in root.iter(f"{SVG}text")}


@pytest.mark.journey
def test_compare_exports_both_sides_with_the_origin_of_both(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = compare(shared_visitor, text=TEXT, side_b="positional_encoding=none", layer="2", head="3", edits=EDIT)
    painted(page, TEXT, TEXT)
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    open_menu(page, "Weights of A")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    line, fields = root.findtext(f"{SVG}desc") or "", json.loads(root.findtext(f"{SVG}metadata") or "")
    assert line.startswith("A: stories-causal (SHA-256 ") and " · B: stories-causal (SHA-256 " in line
    assert line.count("changed: Head 3 of layer 1 off") == 2, "B has the changes of A until it has its own"
    assert (fields["side_a_positional_encoding"], fields["side_b_positional_encoding"]) == ("rope", "none")
    assert fields["side_a_heads"] == fields["side_b_heads"] == [[2, 3]] and fields["side_b_text"] == TEXT
    assert {"A · RoPE (rotary)", "B · None", "B − A", "mat", "Next token"} <= texts(root)
    assert any(text.startswith("A: stories-causal") for text in texts(root))
    picture = Image.open(download(page, "export-png", tmp_path))
    assert isinstance(picture, PngImageFile) and picture.text["Description"] == line and picture.width > picture.height
    pdf = PdfReader(io.BytesIO(download(page, "export-pdf", tmp_path).read_bytes()))
    assert pdf.metadata and pdf.metadata.subject == line
    loaded = load(find_checkpoint("stories-causal"))
    trace = run(loaded.model, loaded.tokenizer, TEXT, [EDIT])
    with np.load(download(page, "export-npz", tmp_path)) as file:
        expected = trace["decoder.2.self.weights"][3]
        np.testing.assert_allclose(np.nan_to_num(file["values"]), expected, atol=1e-6)
        assert str(file["side_b_positional_encoding"]) == "none" and file["side_a_edits"].tolist() == [EDIT]
    choose(page, "Distance of each head")
    told = json.loads(download(page, "export-json", tmp_path).read_text())
    assert np.array(told["values"]).shape == (6, 8) and told["provenance"]["side_a_text"] == TEXT
    choose(page, "Predictions")
    assert '"token / side","A","B"' in download(page, "export-csv", tmp_path).read_text()
    page.get_by_test_id("figure-foot").uncheck()
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert root.findtext(f"{SVG}desc") == line and not any("SHA-256" in text for text in texts(root))


def test_one_panel_of_a_comparison_is_a_slide(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = compare(shared_visitor, text=TEXT, side_b="positional_encoding=none")
    painted(page, TEXT, TEXT)
    open_menu(page, "Weights of A")
    page.get_by_test_id("figure-subject").select_option("B − A")
    page.get_by_test_id("figure-size").select_option("16:9")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert {"B − A", "mat"} <= texts(root) and not {"Next token", "A · RoPE (rotary)"} & texts(root)
    assert Image.open(io.BytesIO(download(page, "export-png", tmp_path).read_bytes())).size == (1920, 1080)


def test_generate_exports_its_steps(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = step(
        generate(shared_visitor, f"model=stories-causal&sampling=t0.7,s3&layer=1&head=2&text={quote(PROMPT)}"), 3
    )
    open_menu(page, "Attention of each step")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    fields = json.loads(root.findtext(f"{SVG}metadata") or "")
    assert (fields["model"], fields["text"], fields["heads"]) == ("stories-causal", PROMPT, [[1, 2]])
    assert "temperature 0.7" in fields["shown"] and "seed 3" in fields["shown"] and "generated: “" in fields["shown"]
    assert {"Attention: Layer 1 · Head 2", "next…", "after sampling settings"} <= texts(root)
    with np.load(download(page, "export-npz", tmp_path)) as file:
        values = file["values"]
        assert file["axes"].tolist() == ["step", "key"] and len(values) == 4
        np.testing.assert_allclose(np.nansum(values, axis=1), 1, atol=1e-4)
        assert np.isnan(values[0]).sum() == 3, "tokens that were not there yet"
    page.get_by_test_id("figure-subject").select_option("candidates")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert "after sampling settings" in texts(root) and "Attention: Layer 1 · Head 2" not in texts(root)
    choose(page, "Candidates")
    told = json.loads(download(page, "export-json", tmp_path).read_text())
    assert told["labels"]["probability"] == ["by the model", "after sampling settings"]
    assert told["provenance"]["version"].startswith("Headlight")


def test_positions_export_their_charts_and_the_numbers_behind_them(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = shared_visitor.open("model=stories-causal&positional_encoding=alibi", "/positions")
    expect(page.locator(".chart svg").first).to_be_visible()
    open_menu(page, "<|endoftext|> dog bit es man")
    choose(page, "Bias over distance")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    fields = json.loads(root.findtext(f"{SVG}metadata") or "")
    assert (fields["positional_encoding"], fields["text"], fields["edits"]) == ("alibi", "", [])
    assert {"Bias over distance", "head 7", "distance (key minus query)"} <= texts(root)
    with np.load(download(page, "export-npz", tmp_path)) as file:
        assert file["values"].shape == (8, 256) and str(file["model"]) == "stories-causal"
        distance = np.array([int(label.replace("−", "-")) for label in file["labels_distance"]])
        assert (file["values"][:, distance == 0] == 0).all() and (file["values"][:, distance < 0] < 0).all()
    choose(page, "Slopes")
    assert "# positional_encoding: alibi" in download(page, "export-csv", tmp_path).read_text()
    page.get_by_test_id("figure-subject").select_option("Slope of each head: decrease per token")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    assert "decrease per token" in " ".join(texts(root)) and "Bias over distance" not in texts(root)


def test_losses_say_of_which_models_they_are(shared_visitor: Visitor, tmp_path: Path) -> None:
    page = shared_visitor.open("model=stories-causal&positional_encoding=alibi", "/positions")
    table = page.get_by_test_id("view-table").first
    expect(table).to_be_visible()
    open_menu(page, "<|endoftext|> dog bit es man")
    choose(page, "Losses of decoders")
    told = json.loads(download(page, "export-json", tmp_path).read_text())
    rows = table.locator("tr:has(td)")
    first = rows.first.locator("td").first.inner_text()
    assert f"{told['values'][0][0]:.3f}" == first.split("±")[0].strip()
    page.get_by_test_id("figure-subject").select_option("Loss of decoders over the length of the text")
    root = ElementTree.parse(download(page, "export-svg", tmp_path)).getroot()
    for fields in (told["provenance"], json.loads(root.findtext(f"{SVG}metadata") or "")):
        measured = {fields[f"side_{letter}_model"]: fields for letter in "abcdef"[: rows.count()]}
        assert len(measured) == rows.count() == len(told["values"])
        encodings = {fields[f"side_{letter}_positional_encoding"] for letter in "abcdef"[: len(measured)]}
        assert len(encodings) == len(measured) and "stories-causal" not in measured
    assert "headlight extrapolate" in fields["shown"] and "Sinusoidal" in texts(root)


def test_a_comparison_and_a_generation_are_handed_on(visit: Visit, tmp_path: Path) -> None:
    anna, ben = visit(), visit()
    page = compare(anna, text=TEXT, side_b="positional_encoding=none", layer="2", head="3")
    painted(page, TEXT, TEXT)
    open_menu(page, "Weights of A")
    link = copied(page, "export-link")
    assert parse_qs(urlsplit(link).query)["side_b"] == ["positional_encoding=none"]
    assert "numbers_b = trace_b[" in copied(page, "export-python") and "/compare?" in copied(page, "export-embed")
    theirs = ben.open(urlsplit(link).query, "/compare")
    painted(theirs, TEXT, TEXT)
    expect(theirs.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    page = step(generate(anna, f"model=stories-causal&sampling=t0.7,s3&text={quote(PROMPT)}"), 2)
    open_menu(page, "Attention of each step")
    written = page.get_by_test_id("page").inner_text()
    file = download(page, "export-state", tmp_path)
    told = json.loads(file.read_text())
    assert (
        told["page"] == "generate" and told["state"]["sampling"] == "t0.7,s3" and told["provenance"]["text"] == PROMPT
    )
    page.get_by_test_id("restart").click()
    page.get_by_test_id("open-state").set_input_files(file)
    expect(page.get_by_test_id("page")).to_have_text(written)


def test_the_menus_fit_a_phone(shared_visitor: Visitor) -> None:
    shared_visitor.on_screen(390, 844)
    page = step(ready(shared_visitor.open(f"model=stories-causal&text={quote(PROMPT)}", "/generate")))
    open_menu(page, "Attention of each step")
    expect_to_fit(page, "export-menu")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 844, "height": 390})
    open_menu(page, "Attention of each step")


def test_where_nothing_is_left_to_generate_the_menu_says_so(shared_visitor: Visitor) -> None:
    page = generate(shared_visitor, "model=positions-encoder-learned&text=She+drank+a+glass+of+water.")
    expect(page.get_by_test_id("next-where")).to_contain_text("Nothing is masked")
    page.get_by_test_id("export-menu-button").click()
    expect(page.get_by_test_id("export-status")).to_contain_text("Click a word to mask it")
    expect(page.get_by_test_id("export-which")).to_be_hidden()
