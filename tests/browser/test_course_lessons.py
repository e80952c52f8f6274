"""The chapters on tokens, positions and heads: what a person changes changes the picture."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_course import course, screen
from tests.browser.visitor import Visitor, expect_to_fit, wait_for_address


def test_tokens_are_cut_looked_up_and_learned(visitor: Visitor) -> None:
    page = course(visitor, chapter="tokens")
    tokenizers = screen(page, "tokenizers")
    tokenizers.get_by_test_id("input-sentence").fill("The king")
    expect(tokenizers).to_contain_text("Words: 2 tokens")
    expect(tokenizers).to_contain_text("Characters: 8 tokens")
    look_up = screen(page, "lookup")
    look_up.get_by_test_id("input-ids").fill("1, 100")
    expect(look_up.get_by_role("alert")).to_contain_text("no row 100")
    look_up.get_by_test_id("input-rows").fill("101")
    expect(look_up).to_contain_text("shape (1, 2, 16)")
    learned = page.get_by_test_id("screen-next-word")
    learned.get_by_role("button", name="Run").click()
    moving = learned.get_by_test_id("picture-moving_points")
    expect(moving).to_contain_text("step 200")
    moving.get_by_label("Frame").fill("0")
    expect(moving).to_contain_text("step 0,")


def test_positions_are_drawn_and_told(visit: Visit) -> None:
    page = course(visit(dark=True, width=390, height=844), chapter="positions")
    order = screen(page, "order")
    expect(order).to_contain_text("equivariant")
    order.get_by_test_id("input-other").fill("dog chased mouse")
    expect(order.get_by_role("alert")).to_contain_text("the same words")
    base = screen(page, "base")
    expect(base).to_contain_text("60,611 positions at the base 10,000 and 617 at the base 100")
    base.get_by_test_id("input-base").fill("1000")
    expect(base).to_contain_text("at the base 1,000.")
    rotation = screen(page, "rotation")
    rotation.get_by_test_id("input-offset").fill("5")
    expect(rotation).to_contain_text("PE(7) becomes PE(12)")
    waves = screen(page, "waves")
    waves.get_by_test_id("picture-heat_map").get_by_role("img").hover(position={"x": 150, "y": 120})
    expect(waves.get_by_test_id("picture-heat_map")).to_contain_text(re.compile(r"position \d+, channel \d+: "))
    expect_to_fit(page, "screen-waves")


def test_heads_are_counted_and_a_layer_is_entered(visitor: Visitor) -> None:
    page = course(visitor, chapter="heads", screen="cost")
    cost = screen(page, "cost")
    expect(cost).to_contain_text("8 narrow heads take 16,384 parameters")
    cost.get_by_test_id("input-heads").fill("7")
    expect(cost.get_by_role("alert")).to_contain_text("does not divide")
    cost.get_by_test_id("input-heads").fill("4")
    expect(cost).to_contain_text("4.0 times the parameters")
    drawn = screen(course(visitor, chapter="block", screen="diagram"), "diagram")
    drawn.get_by_test_id("input-layer").fill("4")
    expect(drawn.get_by_test_id("diagram-decoder-open")).to_have_text("Layer 4 of 6")
    drawn.get_by_test_id("diagram-decoder-self").click()
    expect(page.get_by_test_id("head-title")).to_contain_text("Layer 4 · Head ")
    wait_for_address(page, layer="4", attention="decoder.self")
