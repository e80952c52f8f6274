"""A live page: one file, opened without a server and without a network, computes what `run` computes."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

import headlight
from headlight import Checkpoint, run
from tests.browser.live.conftest import MODEL
from tests.browser.visitor import TOO_WIDE, wait_until

SENTENCE = "Lily had a cat named Max. Every day she played with"
TYPED = " Tom and then"
OFF = "decoder.5.self.weights[5]=set:0"
LARGEST = 20_000_000  # bytes of the file
CLOSE = 1e-4
ROUNDED = 5e-4 + CLOSE  # of three decimal places
NUMBER = r"[\d.]+(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
CANDIDATE = re.compile(rf"({NUMBER})(?:  \(before ({NUMBER})\))?$")
TITLES = """() => [...document.querySelector("[data-testid=live] > *").shadowRoot.querySelectorAll("[title]")]
    .filter((each) => each.checkVisibility()).map((each) => each.title)"""
EXPONENT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def open_page(page: Page, file: Path, fragment: str = "") -> None:
    page.goto(file.as_uri() + fragment)
    if not fragment:
        expect_answer(page, SENTENCE)


def expect_answer(page: Page, sentence: str, changes: str = "No changes") -> None:
    """Waits until the answer for a sentence and its changes is painted."""
    expect(page.get_by_test_id("instrument")).to_have_attribute("data-sentence", sentence)
    expect(page.get_by_test_id("changes")).to_have_text(changes)
    expect(page.locator(".instrument.waiting")).to_have_count(0)


def number(shown: str) -> float:
    """A shown number, such as 0.25 or 6.20·10⁻⁴."""
    return float(shown.replace("·10", "e").translate(EXPONENT))


def shown_predictions(titles: list[str]) -> dict[str, tuple[float, float | None]]:
    """Each shown token with its probability, and that of the model as trained if they differ."""
    found = {}
    for title in titles:
        token, _, numbers = title.partition("  ")
        match = CANDIDATE.search(numbers)
        assert match, numbers
        found[token] = (number(match[1]), number(match[2]) if match[2] else None)
    return found


def computed(checkpoint: Checkpoint, text: str, edits: tuple[str, ...] = (), **parts: Any) -> dict[str, float]:
    """The probability of each token after a text."""
    model = headlight.variant(checkpoint.model, **parts) if parts else checkpoint.model
    trace = run(model, checkpoint.tokenizer, text, edits)
    shares = torch.from_numpy(trace["logits"][-1].copy()).softmax(-1)
    return {str(number): float(share) for number, share in enumerate(shares)}


def expect_equal(page: Page, checkpoint: Checkpoint, text: str, edits: tuple[str, ...] = (), **parts: str) -> None:
    """Every shown probability is that of `run`, before the changes and with them."""
    predictions = page.get_by_test_id("predictions")
    titles = [each.get_attribute("title") or "" for each in predictions.locator(".candidate").all()]
    tokens = [each.get_attribute("data-target") or "" for each in predictions.locator("[data-target]").all()]
    expect_computed(titles, tokens, checkpoint, text, edits, **parts)


def expect_computed(
    titles: list[str],
    tokens: list[str],
    checkpoint: Checkpoint,
    text: str,
    edits: tuple[str, ...] = (),
    **parts: str,
) -> None:
    """The probabilities in the titles of the predicted tokens are those of `run`."""
    after, before = computed(checkpoint, text, edits, **parts), computed(checkpoint, text)
    shown = shown_predictions(titles)
    assert len(shown) >= 5 and tokens[0] == max(after, key=lambda each: after[each])
    for token, (share, share_before) in zip(tokens, shown.values(), strict=True):
        assert share == pytest.approx(after[token], abs=CLOSE)
        assert share_before is None or share_before == pytest.approx(before[token], abs=CLOSE)


def expect_equal_weights(page: Page, checkpoint: Checkpoint, text: str) -> None:
    """The table of the open head has the weights of `run`."""
    page.get_by_test_id("plot").get_by_text("Table").click()
    weights = run(checkpoint.model, checkpoint.tokenizer, text)["decoder.5.self.weights"][5]
    rows = page.get_by_test_id("sheet").locator("tbody tr")
    expect(rows).to_have_count(len(weights))
    for row, expected in zip(rows.all(), weights, strict=True):
        cells = [cell for cell in row.locator("td").all_inner_texts()]
        shown = [float(cell.replace("−", "-")) for cell in cells if re.fullmatch(r"[\d.]+(e-\d+)?", cell)]
        allowed = [number for number in expected.tolist() if number > 0]
        assert len(shown) == len(allowed)
        assert shown == pytest.approx(allowed, abs=ROUNDED)
    page.get_by_test_id("plot").get_by_text("Map").click()


@pytest.mark.journey
def test_a_file_computes_what_run_computes(page: Page, file: Path, checkpoint: Checkpoint) -> None:
    assert file.stat().st_size <= LARGEST
    open_page(page, file)
    expect_equal(page, checkpoint, SENTENCE)
    sentence, text = page.get_by_test_id("sentence"), SENTENCE + TYPED
    sentence.press("End")
    sentence.press_sequentially(TYPED, delay=100)
    expect_answer(page, text)
    expect_equal(page, checkpoint, text)
    expect_equal_weights(page, checkpoint, text)
    page.get_by_test_id("head-switch").click()
    expect_answer(page, text, "1 change")
    expect_equal(page, checkpoint, text, (OFF,))
    page.get_by_test_id("variant-masks").select_option("none")
    expect_answer(page, text, "2 changes")
    expect_equal(page, checkpoint, text, (OFF,), masks="none")
    page.wait_for_timeout(1100)  # parts replaced within a second are one change
    for encoding in ("none", "sinusoidal", "alibi"):
        page.get_by_test_id("variant-positional_encoding").select_option(encoding)
        expect_answer(page, text, "3 changes")
        expect_equal(page, checkpoint, text, (OFF,), masks="none", positional_encoding=encoding)
    for left in ("2 changes", "1 change", "No changes"):
        page.get_by_test_id("undo").click()
        expect_answer(page, text, left)
    expect_equal(page, checkpoint, text)


def test_a_link_is_in_the_fragment_and_back_goes_back(page: Page, file: Path, checkpoint: Checkpoint) -> None:
    open_page(page, file, "#text=The+dog&layer=2&head=3&masks=none&positional_encoding=rope&top_mass=900")
    expect_answer(page, "The dog", "1 change")  # RoPE is its own encoding
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 2 · Head 3")
    expect_equal(page, checkpoint, "The dog", masks="none")
    page.get_by_test_id("variant-masks").select_option("")
    wait_until(page, lambda: page.url, lambda url: "masks" not in url and "layer=2" in url)
    page.go_back()
    expect_answer(page, "The dog", "1 change")
    expect_equal(page, checkpoint, "The dog", masks="none")


def test_what_needs_a_server_is_absent(page: Page, file: Path) -> None:
    open_page(page, file)
    for absent in ("export-menu-button", "plot-qk_projection"):
        expect(page.get_by_test_id(absent)).not_to_be_visible()
    for part in ("prediction", "input-decoder", "network-decoder.self-0"):
        button = page.get_by_test_id(f"part-{part}")
        if button.count():
            expect(button).to_be_disabled()
    shown = page.get_by_test_id("quantity").locator("option").all_inner_texts()
    assert shown[0] == "Weights" and "Gradient × weight" not in shown
    assert page.get_by_test_id("live").locator("a[href]").count() == 0
    page.get_by_test_id("sentence").fill("The dog ran")
    expect_answer(page, "The dog ran")
    expect(page.get_by_test_id("hint")).to_have_text("Click the heads of a layer to open them below.")
    page.get_by_test_id("changes").click()
    assert "is taken from another text" not in page.get_by_test_id("make-operation").inner_text()
    told = page.evaluate(TITLES)
    assert told and not [
        title
        for title in told
        if re.search("server|gradient|course|export|neurons|from layer to layer", title, re.IGNORECASE)
    ]


def test_a_text_that_is_too_long_is_refused_by_a_sentence(page: Page, file: Path) -> None:
    open_page(page, file)
    page.get_by_test_id("sentence").fill("cat " * 300)
    expect(page.get_by_test_id("problem")).to_contain_text("Shorten it")
    page.get_by_test_id("sentence").fill(SENTENCE)
    expect(page.get_by_test_id("problem")).to_be_hidden()


@pytest.mark.parametrize(
    ("lacks", "sentence"),
    [
        ("WebAssembly.validate = () => false", "This browser cannot compute with WebAssembly SIMD"),
        ("WebAssembly.Memory.prototype.grow = () => { throw new RangeError() }", "There is not enough memory"),
        ("TextDecoder.prototype.decode = () => { throw new RangeError() }", "too little memory"),
    ],
)
def test_a_device_that_cannot_compute_is_told_why(page: Page, file: Path, lacks: str, sentence: str) -> None:
    page.add_init_script(f"""const Plain = Blob;
        Blob = class extends Plain {{
            constructor(parts, options) {{ super(options ? [`{lacks};`, ...parts] : parts, options); }}
        }};""")
    page.goto(file.as_uri())
    expect(page.get_by_test_id("problem")).to_contain_text(sentence)
    expect(page.get_by_test_id("live-status")).to_be_hidden()


def test_a_browser_that_cannot_show_the_page_says_what_it_lacks(page: Page, file: Path) -> None:
    page.add_init_script("delete globalThis.DecompressionStream; delete globalThis.FontFace;")
    page.goto(file.as_uri())
    status = page.get_by_test_id("live-status")
    expect(status).to_have_text(re.compile(r"^This browser cannot show the page \(.+\)\. Update it"))
    expect(status).not_to_contain_text("server")


def test_a_page_says_that_it_opens_its_model_until_it_is_open(page: Page, file: Path) -> None:
    page.add_init_script("Worker.prototype.postMessage = () => {};")
    page.goto(file.as_uri())
    expect(page.get_by_test_id("sentence")).to_have_value(SENTENCE)
    expect(page.get_by_test_id("live-status")).to_contain_text(f"The model {MODEL} is being opened")


@pytest.mark.parametrize("kept", [0.5, 0.999])
def test_a_file_that_is_cut_off_says_so(page: Page, file: Path, kept: float) -> None:
    content = file.read_bytes()
    part = file.with_name("part.html")
    part.write_bytes(content[: int(kept * len(content))])
    page.goto(part.as_uri())
    expect(page.get_by_test_id("live-status")).to_have_text(
        "This file is cut off: its end is missing. Get it again, whole."
    )


def test_a_page_names_its_origin_and_no_folder(page: Page, file: Path) -> None:
    open_page(page, file)
    page.get_by_test_id("live-about").locator("summary").click()
    told = page.get_by_test_id("live-about")
    for fact in (MODEL, "apache-2.0", "headlight live stories-causal --weights float16 --out page.html"):
        expect(told).to_contain_text(fact)
    assert str(file.parent) not in page.content()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_light_and_dark(page: Page, file: Path, width: int, height: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    open_page(page, file)
    assert page.evaluate(TOO_WIDE) <= 0
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(16, 21, 31)" if scheme == "dark" else "rgb(253, 252, 250)")
