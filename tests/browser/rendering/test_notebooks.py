"""The widget in a real JupyterLab and a real marimo, and the shipped notebook."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.server import Server, started
from tests.browser.visitor import PATIENCE

SENTENCE, TYPED = "nut sun mat nut sun", "mat leaf mat"
WIDGET = f"headlight.widget(checkpoint, {SENTENCE!r}, saved=view)"
NOTEBOOK = Path(__file__).parents[3] / "assets/notebooks/heads.ipynb"
QUIET = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
NO_EXTENSIONS = "--ServerApp.jpserver_extensions={'jupyter_lsp': False, 'jupyter_server_terminals': False}"
MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    import headlight, marimo
    checkpoint = headlight.load(headlight.find_checkpoint("stories-causal"))
    heads = marimo.ui.anywidget(headlight.widget(checkpoint, "The cat sat on the mat."))
    button = marimo.ui.run_button(label="Set")
    marimo.vstack([button, heads])

@app.cell
def _(button, heads):
    if button.value:
        heads.layer, heads.head = 4, 1

@app.cell
def _(heads):
    f"chosen: {heads.value['layer']}.{heads.value['head']} of {heads.value['text']}"
"""


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[Server]:
    """JupyterLab in a folder with the shipped notebook."""
    shutil.copy(NOTEBOOK, tmp_path)
    settings = tmp_path / ".jupyter/labconfig/page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(QUIET))
    options = ("--no-browser", "--allow-root", "--IdentityProvider.token=", NO_EXTENSIONS)
    with started(tmp_path, sys.executable, "-m", "jupyterlab", *options, "--port", health="/api") as running:
        yield running
        running.assert_no_traceback()  # before it ends: requests to a kernel during the shutdown fail


@pytest.fixture
def marimo(tmp_path: Path) -> Iterator[Server]:
    """A marimo notebook as an app, in dark mode."""
    (tmp_path / "heads.py").write_text(MARIMO)
    (tmp_path / "pyproject.toml").write_text('[tool.marimo.display]\ntheme = "dark"\n')
    words = ("-m", "marimo", "--quiet", "run", "heads.py", "--headless", "--no-token", "--port")
    with started(tmp_path, sys.executable, *words, health="/health") as running:
        yield running
        running.assert_no_traceback()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new window; the test fails if another host is requested."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(1e3 * PATIENCE)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    yield context.new_page()
    context.close()
    assert not [url for url in asked if not url.startswith(("http://127.0.0.1", "data:", "blob:"))]


def run_cell(page: Page, number: int) -> Locator:
    """Runs a cell of JupyterLab and returns its outputs."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    return cell.locator(".jp-OutputArea")


def assert_a_kernel_that_ended_is_told(page: Page, heads: Locator) -> None:
    page.get_by_title("Restart the kernel").first.click()
    with page.expect_response(re.compile("/restart")):
        page.locator(".jp-Dialog .jp-mod-accept").click()
    heads.get_by_test_id("text").fill("Nobody hears this")
    expect(heads.get_by_test_id("problem")).to_contain_text("run this cell again")


def assert_a_saved_notebook_shows_the_view(page: Page, heads: Locator) -> None:
    page.locator(".jp-CodeCell .cm-content").first.click()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and NOTEBOOK.name in answer.url):
        page.keyboard.press("Control+s")
    page.reload()
    expect(heads).to_have_attribute("data-painted", "alone")
    expect(heads.get_by_test_id("text")).to_be_hidden()
    expect(heads.get_by_test_id("tokens")).to_contain_text("mat")


KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LIVE = f"""
import headlight
from headlight_app.live.notebook import live_view
view = live_view("induction", {SENTENCE!r}, ["decoder.0.self.weights[1]=set:0"])
checkpoint = headlight.load(headlight.find_checkpoint("induction"))
"""


def test_a_saved_notebook_computes_without_a_kernel(page: Page, jupyter: Server, tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(code) for code in (LIVE, "view", WIDGET)]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})  # type: ignore[no-untyped-call]
    nbformat.write(notebook, tmp_path / "live.ipynb")  # type: ignore[no-untyped-call]
    page.goto(f"{jupyter.url}/doc/tree/live.ipynb")
    expect(page.get_by_role("button", name="Python 3 (ipykernel) | Idle")).to_be_visible()
    for number in range(3):
        run_cell(page, number)
    frames = page.locator(".jp-OutputArea iframe")
    expect(frames).to_have_count(2)
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "live.ipynb" in answer.url):
        page.keyboard.press("Control+s")
    with page.expect_response(re.compile("/api/sessions")):
        page.get_by_role("menuitem", name="Kernel").click()
        page.get_by_role("menuitem", name="Shut Down Kernel", exact=True).click()
    page.reload()
    for number in range(2):
        live = page.frame_locator(".jp-OutputArea iframe").nth(number)
        expect(live.get_by_test_id("instrument")).to_have_attribute("data-sentence", SENTENCE)
        live.get_by_test_id("sentence").fill(TYPED)
        expect(live.get_by_test_id("instrument")).to_have_attribute("data-sentence", TYPED)
        expect(live.locator(".instrument.waiting")).to_have_count(0)
        live.get_by_test_id("undo").click()
        expect(live.get_by_test_id("changes")).to_have_text("No changes")


def test_the_notebook_runs(tmp_path: Path) -> None:
    read = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    ran = NotebookClient(read, startup_timeout=int(PATIENCE)).execute(cwd=str(tmp_path))
    outputs = [output for cell in ran.cells for output in cell.get("outputs", ())]
    assert sum("application/vnd.jupyter.widget-view+json" in output.get("data", ()) for output in outputs) == 2
    printed = [output["text"] for output in outputs if output["output_type"] == "stream"]
    assert "".join(printed).count("%") == 5


def test_jupyterlab(page: Page, jupyter: Server) -> None:
    page.goto(f"{jupyter.url}/doc/tree/{NOTEBOOK.name}")
    expect(page.get_by_role("button", name="Python 3 (ipykernel) | Idle")).to_be_visible()
    outputs = run_cell(page, 0)
    heads = outputs.locator("[data-testid=instrument]:visible")
    sentence = heads.get_by_test_id("text")
    expect(sentence).to_have_value("The cat sat on the mat. The cat")
    expect(heads).to_have_count(1)
    heads.get_by_test_id("head-3-2").click()
    heads.get_by_test_id("tokens").locator("button").nth(3).click()
    expect(heads.get_by_test_id("predictions")).to_contain_text("(position 3)")  # Python has received both
    expect(run_cell(page, 1)).to_contain_text("3, 2, 3, ()")
    run_cell(page, 2)
    expect(heads.get_by_test_id("head-title")).to_have_text("Layer 1 · Head 4")
    expect(heads.get_by_test_id("notes")).to_have_text("Changed: Head 3 of layer 1 off")
    expect(heads.get_by_test_id("predictions")).to_contain_text("with your changes")

    sentence.press_sequentially(" ddx")  # none of these letters is a command of JupyterLab
    expect(heads.get_by_test_id("tokens").locator("button").last).to_have_text("x")
    heads.get_by_test_id("switch-1-3").click()
    expect(heads.get_by_test_id("notes")).to_be_empty()
    sentence.fill("")
    expect(heads.get_by_test_id("problem")).to_have_text("The text is empty; type a sentence.")
    sentence.fill("A dog ran")
    expect(heads.get_by_test_id("problem")).to_be_hidden()
    expect(run_cell(page, 1)).to_contain_text("('A dog ran', 1, 4, 3, ())")
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(5)

    assert_a_kernel_that_ended_is_told(page, heads)
    assert_a_saved_notebook_shows_the_view(page, heads)


def test_marimo(page: Page, marimo: Server) -> None:
    page.goto(marimo.url)
    heads = page.get_by_test_id("instrument")
    expect(heads).to_have_attribute("data-painted", "alone")
    expect(page.locator("[data-dark]")).to_have_count(1)
    heads.get_by_test_id("head-1-3").click()
    expect(page.locator("body")).to_contain_text("chosen: 1.3 of The cat sat on the mat.")
    heads.get_by_test_id("text").fill("A dog ran")
    expect(heads.get_by_test_id("tokens").locator("button").last).to_have_text("·ran")
    expect(page.locator("body")).to_contain_text("chosen: 1.3 of A dog ran")
    page.get_by_role("button", name="Set").click()
    expect(heads.get_by_test_id("head-title")).to_have_text("Layer 4 · Head 1")
