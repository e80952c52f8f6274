"""A model card shows its text; it runs no script and fetches nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight_app.ui.markdown import safe_markdown


@pytest.mark.parametrize(
    ("card", "shown"),
    [
        ("---\nlicense: mit\n---\n# A model\nIt reads.", "# A model\nIt reads."),
        ("no head\n---\nat all", "no head\n---\nat all"),
        ("a ![cat](https://x.org/cat.png) here", "a cat here"),
        ("[![badge](https://x.org/b.svg)](https://x.org)", "[badge](https://x.org)"),
        ("![one][two]", "one"),
        ("a <b>bold</b><img src=https://x.org/i.png> claim", "a bold claim"),
        ("<script>alert(1)</script>text<!-- hidden -->", "text"),
        ("<style>p{}", ""),
        ("[here](LICENSE) and [there](https://x.org)", "here and [there](https://x.org)"),
        ("[run](javascript:alert(1))", "run"),
        ("costs $5 or $6", r"costs \$5 or \$6"),
        (
            "```python\nx = a < b > c  # $x$ <b>\n```\nafter <i>it</i>",
            "```python\nx = a < b > c  # $x$ <b>\n```\nafter it",
        ),
        ("`<s>` starts a text", "`<s>` starts a text"),
        ("`![a](https://x.org/i.png)` and ![](x", "`!\u200b[a](https://x.org/i.png)` and !\u200b[](x"),
    ],
)
def test_a_card_becomes_its_words(card: str, shown: str) -> None:
    assert safe_markdown(card) == shown


PIECES = [*"![]()<>`~-\n\\ab:/ $", "![a](https://x/y.png)", "```", "<img src=x>"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_card_holds_an_image(card: str) -> None:
    assert not re.search(r"!\[", safe_markdown(card))
