"""The backend needs only torch, numpy, tokenizers and safetensors, nothing of the page or the tests."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
from importlib.machinery import PathFinder
missing = {"jaxtyping", "beartype", "hypothesis", "pytest", "streamlit", "starlette", "plotly", "pandas", "playwright",
           "transformers", "PIL", "headlight_app", "huggingface_hub", "anywidget", "IPython"}
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.partition(".")[0] in missing else find(name, *rest)
import importlib, pkgutil, tempfile
import headlight
for module in pkgutil.walk_packages(headlight.__path__, "headlight."):
    if not module.name.endswith(("__main__", ".attention_widget", ".plotly_figures")):
        importlib.import_module(module.name)

tokenizer = headlight.train_tokenizer("bpe", ["the cat sat on the mat"] * 9, 300)
sizes = dict(vocabulary_size=tokenizer.vocabulary_size, context_length=16, d_model=8, layers=1, heads=2)
built = headlight.Transformer(headlight.Config(**sizes)).eval()
with tempfile.TemporaryDirectory() as folder:
    headlight.save(folder, built, tokenizer)
    loaded = headlight.load(folder)
trace = headlight.run(loaded.model, loaded.tokenizer, "the cat")
print(trace.attention().shape)
try:
    headlight.widget(loaded, "the cat")
except ImportError as error:
    print(error)
try:
    importlib.import_module("headlight.views.forms").bars("", ["a"], [1.0]).figure()
except headlight.HeadlightError as error:
    print(error)
"""
OPENED = """
import sys
from headlight import find_checkpoint, load, variant
variant(load(find_checkpoint("stories-causal")).model, positional_encoding="alibi")
print("torch._dynamo" in sys.modules)
"""


def test_the_backend_needs_nothing_of_the_page_or_the_tests() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    shape, *refusals = done.stdout.splitlines()
    assert shape == "(1, 2, 3, 3)"
    assert refusals == [
        "A widget needs anywidget: pip install 'attention-headlight[widget]'.",
        "A figure of a view needs Plotly, which is not installed: pip install plotly",
    ]


@pytest.mark.full
def test_a_model_is_opened_and_wired_anew_without_torchs_compiler() -> None:
    """Importing the compiler takes over a second; creating parameters on the meta device once did that."""
    done = subprocess.run([sys.executable, "-c", OPENED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
