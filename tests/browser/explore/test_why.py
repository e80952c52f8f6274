"""The page's explanations: why a head looks there, what it does, and where a word comes from."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor, wait_for_address

WORDS = "cat lamp pan fan fig toy lip dog cat lamp pan"
EXPLORE = f"model=induction&text={quote(WORDS)}&layer=1&head=1"
PASSAGES = "cat sun key moon\ndog key pan hat\nfox owl map jar\ncat sun"


@pytest.mark.journey
def test_a_weight_leads_to_the_head_that_wrote_it_and_on_to_its_effect(shared_visitor: Visitor) -> None:
    page = shared_visitor.explore(f"{EXPLORE}&pinned=11&key=4", sentence=WORDS)
    ledger = page.get_by_test_id("ledger")
    expect(ledger.get_by_role("listitem").first).to_contain_text("layer 0, head 1")
    expect(ledger.get_by_role("grid")).to_contain_text("L0 H1")
    ledger.get_by_role("button", name="layer 0, head 1").first.click()
    expect(page.get_by_test_id("head-title")).to_have_text("Layer 0 · Head 1")
    wait_for_address(page, pinned="4", key="3")  # this head's cell: "fan" looks at the previous word
    page = shared_visitor.go(f"{EXPLORE}&tab=layers&analysis=head_removal", "/explore")
    analysis = page.get_by_test_id("analysis")
    expect(analysis.get_by_test_id("view-verdict")).to_contain_text("Without layer 1, head 1")
    expect(analysis.get_by_test_id("view-changes").locator("li").last).to_contain_text("Without the head")
    page.get_by_role("button", name="Which tokens count").click()
    expect(analysis.get_by_test_id("view-verdict")).to_contain_text("Most faithful")
    scores = analysis.get_by_test_id("view-matrix")
    expect(scores.get_by_role("row")).to_have_count(7)
    scores.locator("td[data-row]").first.hover()
    expect(analysis.get_by_test_id("view-note").first).to_contain_text(
        "Attention weight, \u2068“<|endoftext|>”\u2069: +"
    )


def test_deleting_the_passage_that_was_copied_from_flips_the_word(shared_visitor: Visitor) -> None:
    page = shared_visitor.open(f"model=induction&text={quote(PASSAGES)}", "/generate")
    copied = page.get_by_test_id("copied")
    expect(copied).to_contain_text("comes from passage 1: \u2068“cat sun key moon”")
    copied.get_by_role("button", name="Delete 3:").click()
    proof = page.get_by_test_id("copied-proof")
    expect(proof).to_contain_text("the answer stays key")
    proof.get_by_role("button", name="Put it back").click()
    expect(page.get_by_test_id("prompt")).to_have_value(PASSAGES)
    copied.get_by_role("button", name="Delete 1:").click()
    expect(proof).to_contain_text("and no longer key")
