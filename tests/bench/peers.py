"""The same attention in Headlight and in its peers' packages: the bytes sent, and the time until all heads are visible.

Peers that are not installed (`pip install 'attention-headlight[bench]'`) are skipped with a line. BertViz fetches three
scripts from the network; here they come from the packages mpld3 and nbclassic; if these are not installed, only the
creation of its HTML is measured.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from unittest.mock import patch

import numpy as np
import torch
from playwright.sync_api import Browser, Route

from headlight import Config, Tokenizer, Trace, Transformer, find_checkpoint, run, save
from tests.browser import chromium
from tests.browser.server import serve
from tests.browser.visitor import Visitor

LAYERS, HEADS = 12, 12
QUIET = 2_000  # milliseconds without a change, after which a page counts as painted
PATIENCE = 600_000  # milliseconds
# Records when the number of elements, shadow roots included, last changed on the screen. It polls once a frame, because
# a MutationObserver would itself be slow with millions of elements.
WATCH = """
(() => {
  const roots = [document];
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    roots.push(root);
    return root;
  };
  let before = 0;
  const look = () => {
    const count = roots.reduce((sum, root) => sum + root.querySelectorAll("*").length, 0);
    if (count !== before) requestAnimationFrame(() => (window.painted = performance.now()));
    before = count;
    requestAnimationFrame(look);
  };
  look();
})();
"""
STILL = f"() => document.readyState === 'complete' && window.painted && performance.now() - window.painted > {QUIET}"
# Enters a text at once; resolves to the milliseconds until the answer was on the screen.
TYPE = """
(box, text) => new Promise((resolve) => {
  const root = box.closest(".instrument");
  const seen = () => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
  new MutationObserver((_, watch) => {
    if (root.dataset.sentence !== text) return;
    watch.disconnect();
    seen();
  }).observe(root, { attributes: true, attributeFilter: ["data-sentence"] });
  const began = performance.now();
  box.value = text;
  box.dispatchEvent(new InputEvent("input"));
})
"""
# The packages, and paths in them, of the scripts that BertViz fetches.
SCRIPTS = {
    "require.min.js": ("nbclassic", "static/components/requirejs/require.js"),
    "jquery.min.js": ("nbclassic", "static/components/jquery/dist/jquery.min.js"),
    "d3.min.js": ("mpld3", "js/d3.v5.min.js"),
}


@dataclass(frozen=True)
class Example:
    """Attention of every head over a text, [layer head query key], and its tokens."""

    trace: Trace

    @property
    def weights(self) -> np.ndarray:
        """The weights of every head, [layer head query key]."""
        return self.trace.attention()

    @property
    def tokens(self) -> list[str]:
        """The text of each token."""
        return list(self.trace.text.token_texts)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """Attention as returned by `transformers`: a tensor for each layer, with a batch of one."""
        return [torch.tensor(layer)[None] for layer in self.weights]


@dataclass(frozen=True)
class Peer:
    """A package and its function for HTML of all heads; `fetches` if it needs scripts from the network."""

    title: str
    package: str
    html: Callable[[Example], str]
    fetches: bool = False


def model_view(example: Example) -> str:
    """BertViz: every head of every layer at once."""
    from bertviz import model_view as view

    return str(view(example.tensors, example.tokens, html_action="return").data)


def head_view(example: Example) -> str:
    """BertViz: the heads of one layer, chosen in a menu."""
    from bertviz import head_view as view

    return str(view(example.tensors, example.tokens, html_action="return").data)


def circuitsvis(example: Example) -> str:
    """CircuitsVis: one call for each layer, since a call draws the heads of one layer."""
    from circuitsvis.attention import attention_heads

    views = [attention_heads(attention=layer, tokens=example.tokens) for layer in example.weights]
    return "\n".join(str(view.local_src) for view in views)


def inspectus(example: Example) -> str:
    """Inspectus: its output to a notebook cell is captured."""
    import inspectus as package
    from IPython import display

    written: list[str] = []
    with patch.object(display, "display", lambda shown: written.append(str(shown.data))):
        package.attention(example.weights, example.tokens, example.tokens)
    return "\n".join(written)


def ours(example: Example) -> str:
    """Headlight in a notebook."""
    return example.trace.show()._repr_html_()


PEERS = (
    Peer("BertViz model_view", "bertviz", model_view, fetches=True),
    Peer("BertViz head_view, one layer of 12", "bertviz", head_view, fetches=True),
    Peer("CircuitsVis attention_heads, 12 calls", "circuitsvis", circuitsvis),
    Peer("Inspectus attention", "inspectus", inspectus),
)


def lines() -> Iterator[str]:
    """The table, each line as soon as it is measured."""
    yield f"{LAYERS} x {HEADS} heads of random weights; all visible: since the file was opened, or a word typed"
    yield ""
    yield "| what | tokens | sent, MB | HTML created in, s | all visible after, s |"
    yield "|---|---:|---:|---:|---:|"
    with TemporaryDirectory() as folder, chromium.launched() as chrome:
        model, tokenizer = built(Path(folder) / "wide")
        for tokens in (128, 512):
            texts = sentences(tokenizer, tokens)
            example = Example(run(model, tokenizer, texts[0], keep=("*.weights", "*.mask")))
            assert len(example.tokens) == tokens
            yield page_line(chrome, Path(folder), texts, tokens)
            yield peer_line(chrome, Peer("Headlight, trace.show()", "model", ours), example, Path(folder))
            if tokens == 128:
                yield from (peer_line(chrome, peer, example, Path(folder)) for peer in PEERS)


def built(folder: Path) -> tuple[Transformer, Tokenizer]:
    """A narrow model with as many heads as GPT-2, saved for the page; its weights vary widely, so that heads differ."""
    tokenizer = Tokenizer.load(find_checkpoint("stories-causal"))
    torch.manual_seed(0)
    config = Config(
        vocabulary_size=tokenizer.vocabulary_size, context_length=512, d_model=8 * HEADS, layers=LAYERS, heads=HEADS
    )
    model = Transformer(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.normal_(0, 0.15)
    save(folder, model, tokenizer)
    return model, tokenizer


def sentences(tokenizer: Tokenizer, tokens: int) -> list[str]:
    """Texts of exactly `tokens` tokens, each with a different last word."""
    words = ("the", "old", "man", "saw", "a", "red", "bird", "and", "the", "little", "girl", "ran", "home", "because")
    texts = (" ".join(words[place % len(words)] for place in range(count)) for count in range(1, tokens))
    text = next(text for text in texts if len(tokenizer.encode(text).ids) == tokens)
    begun = text.rpartition(" ")[0]
    ended = (f"{begun} {word}" for word in sorted(set(words)))
    return [text for text in ended if len(tokenizer.encode(text).ids) == tokens]


def page_line(chrome: Browser, folder: Path, texts: list[str], tokens: int) -> str:
    """The page: change the last word, and count the answer's bytes; each change needs a new forward."""
    with serve(folder, "--models", str(folder)) as server:
        page = chrome.new_page(viewport={"width": 1440, "height": 900})
        visitor = Visitor(page, server.url)
        visitor.open("model=wide&text=The")
        box = page.get_by_test_id("sentence")
        seconds, sent = [], 0
        for text in texts:
            page.wait_for_timeout(QUIET)
            visitor.settle()
            with page.expect_response(f"{server.url}/api/trace") as answer:
                seconds.append(float(box.evaluate(TYPE, text)) / 1e3)
            sent = len(answer.value.body())
        page.close()
    counted = seconds[1:]
    return (
        f"| Headlight, the page ({len(counted)} times) | {tokens} | {sent / 1e6:.2f} | - | {np.median(counted):.2f} |"
    )


def peer_line(chrome: Browser, peer: Peer, example: Example, folder: Path) -> str:
    """One package: the bytes of its HTML, the time to create it, and the time until its page stops changing."""
    row = f"| {peer.title} | {len(example.tokens)} |"
    if find_spec(peer.package) is None:
        return f"{row} not installed | | |"
    started = perf_counter()
    html = peer.html(example)
    made = perf_counter() - started
    row = f"{row} {len(html.encode()) / 1e6:.2f} | {made:.2f} |"
    missing = [package for package, _ in SCRIPTS.values() if find_spec(package) is None] if peer.fetches else []
    if missing:
        return f"{row} fetches scripts from the network; not measured without {' and '.join(sorted(set(missing)))} |"
    file = folder / "peer.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{html}</body>", encoding="utf-8")
    return f"{row} {painted(chrome, file):.2f} |"


def painted(chrome: Browser, file: Path) -> float:
    """Seconds from opening a file until its page stops changing."""
    page = chrome.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(WATCH)
    page.route(re.compile("^https:"), bring)
    page.goto(file.as_uri())
    page.wait_for_function(STILL, polling=500, timeout=PATIENCE)
    seconds = float(page.evaluate("() => window.painted")) / 1e3
    page.close()
    return seconds


def bring(route: Route) -> None:
    """Answer a request for a script with the copy in an installed package."""
    name = route.request.url.rpartition("/")[2]
    package, path = SCRIPTS.get(name if name.endswith(".js") else f"{name}.js", ("", ""))
    found = find_spec(package) if package else None
    if found is None or found.origin is None:
        return route.abort()
    return route.fulfill(path=Path(found.origin).parent / path)
