"""Generate in a live page: the tokens and numbers that the library computes, and the way there and back."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from headlight import Checkpoint, generate
from headlight.generation.step import GenerationStep, SamplingConfig
from headlight.problem_types import softmax
from tests.browser.visitor import TOO_WIDE, wait_until

PROMPT = "Lily had a cat named Max. Every day she played with"
SETTINGS = SamplingConfig(temperature=0.9, top_k=50, top_p=0.95, seed=4)
LINK = "#page=generate&sampling=t0.9,k50,p0.95,s4"
PERCENT = 5e-4 + 1e-4  # a percentage of one decimal place
COUNT = 10


def open_generate(page: Page, file: Path, fragment: str = LINK, generated: int = 0) -> None:
    page.goto(file.as_uri() + fragment)
    ready(page, generated)


def ready(page: Page, generated: int) -> None:
    """Waits until the candidates of the next token are known."""
    page.locator(f'[data-testid="generator"][data-known="true"][data-generated="{generated}"]').wait_for()
    expect(page.get_by_test_id("candidates")).to_have_attribute("aria-busy", "false")


def step(page: Page, times: int = 1) -> None:
    for _ in range(times):
        before = int(page.get_by_test_id("generator").get_attribute("data-generated") or 0)
        page.get_by_test_id("step").click()
        ready(page, before + 1)


def shown_shares(page: Page) -> list[float]:
    """The percentages of the candidates after sampling settings."""
    rows = page.get_by_test_id("candidates").locator("li").all_inner_texts()
    found = [re.search(r"(<?[\d.]+) %|filtered out", row) for row in rows]
    assert all(found)
    return [0.0 if not each[1] or each[1][0] == "<" else float(each[1]) / 100 for each in found if each]


def expect_step(page: Page, checkpoint: Checkpoint, computed: GenerationStep, number: int) -> None:
    """Every shown number of a step is that of the library."""
    logits = computed["logits"][-1]
    shares = softmax(logits)
    sample = SETTINGS.sample(logits, number)
    likeliest = np.argsort(-logits, kind="stable")[:12].tolist()
    listed = likeliest if sample.chosen in likeliest else [*likeliest, sample.chosen]
    assert shown_shares(page) == pytest.approx(sample.probabilities[listed], abs=PERCENT)
    chosen = checkpoint.tokenizer.token_text(computed.chosen_token)
    assert page.get_by_test_id("ahead").inner_text().strip() == chosen.strip()
    told = page.locator(".panel.next").inner_text()
    entropy = -float((shares * np.log2(shares, where=shares > 0, out=np.zeros_like(shares))).sum())
    assert found_number(told, r"Entropy ([\d.]+) bits") == pytest.approx(entropy, abs=6e-3)
    assert found_number(told, r"Random number ([\d.]+)") == round(sample.random_number, 3)
    reading = page.get_by_test_id("reading").inner_text()
    head = re.search(r"Layer (\d+) · Head (\d+)", reading)
    assert head
    weights = np.sort(computed[f"decoder.{head[1]}.self.weights"][int(head[2]), -1])[::-1]
    named = [float(each) / 100 for each in re.findall(r"([\d.]+) %", reading)]
    assert named and named == pytest.approx(weights[: len(named)], abs=PERCENT)


def found_number(text: str, pattern: str) -> float:
    found = re.search(pattern, text)
    assert found, text
    return float(found[1])


def computed_steps(checkpoint: Checkpoint, prompt: str = PROMPT) -> Iterator[GenerationStep]:
    return generate(checkpoint.model, checkpoint.tokenizer, prompt, steps=COUNT + 1, **asdict(SETTINGS))


@pytest.mark.journey
def test_ten_tokens_and_every_number_are_those_of_the_library(page: Page, file: Path, checkpoint: Checkpoint) -> None:
    open_generate(page, file)
    for number, computed in enumerate(computed_steps(checkpoint)):
        expect_step(page, checkpoint, computed, number)
        if number < COUNT:
            step(page)
    for absent in ("export-menu-button", "copied", "cache"):
        expect(page.get_by_test_id(absent)).not_to_be_visible()
    text = page.get_by_test_id("page").inner_text()
    wait_until(page, lambda: page.url, lambda url: url.partition("#")[2].count("-") == COUNT)
    page.reload()
    ready(page, COUNT)
    wait_until(page, lambda: page.get_by_test_id("page").inner_text(), lambda shown: shown == text)


def test_other_settings_sample_another_token_and_back_goes_back(page: Page, file: Path) -> None:
    open_generate(page, file, f"{LINK}&text=The+dog")
    before = page.get_by_test_id("candidates").inner_text()
    page.get_by_test_id("temperature").fill("0")
    expect(page.get_by_test_id("candidates")).to_contain_text("nothing is random")
    wait_until(page, lambda: page.url, lambda url: "t0%2C" in url or "t0," in url)
    step(page, 2)
    wait_until(page, lambda: page.url, lambda url: "generated=" in url)
    page.go_back()
    ready(page, 0)
    page.go_back()
    wait_until(page, lambda: page.get_by_test_id("candidates").inner_text(), lambda shown: shown == before)


def test_links_lead_from_page_to_page_and_keep_what_was_chosen(page: Page, file: Path) -> None:
    page.goto(file.as_uri())
    sentence, links = page.get_by_test_id("sentence"), page.get_by_test_id("live-pages").get_by_role("link")
    expect(links).to_have_text(["Explore", "Generate"])
    expect(links.nth(0)).to_have_attribute("aria-current", "page")
    sentence.fill("The old dog")
    page.get_by_test_id("head-switch").click()
    expect(page.get_by_test_id("changes")).to_have_text("1 change")
    links.nth(1).focus()
    page.keyboard.press("Enter")
    expect(links.nth(1)).to_have_attribute("aria-current", "page")
    ready(page, 0)
    expect(page.get_by_test_id("prompt")).to_have_value("The old dog")
    expect(page.get_by_test_id("notes")).to_contain_text("Edits made on Explore apply: decoder.5.self.weights[5]=set:0")
    page.get_by_test_id("prompt").fill("The young dog")
    ready(page, 0)
    links.nth(0).click()
    expect(page.get_by_test_id("instrument")).to_have_attribute("data-sentence", "The young dog")
    expect(page.get_by_test_id("changes")).to_have_text("1 change")
    page.go_back()
    ready(page, 0)
    expect(page.get_by_test_id("prompt")).to_have_value("The young dog")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_generate_fits_light_and_dark(page: Page, file: Path, width: int, height: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    open_generate(page, file)
    assert page.evaluate(TOO_WIDE) <= 0
    for link in page.get_by_test_id("live-pages").get_by_role("link").all():
        box = link.bounding_box()
        assert box and box["height"] >= 24 and box["x"] + box["width"] <= width


def test_a_prompt_that_is_too_long_is_refused_by_a_sentence(page: Page, file: Path) -> None:
    open_generate(page, file)
    page.get_by_test_id("prompt").fill("cat " * 300)
    expect(page.get_by_test_id("problem")).to_contain_text("Shorten it")
