"""Waits until a page is at rest, instead of for a while: no script run, no fetch, and no timer of up to 5 seconds."""

from playwright.sync_api import BrowserContext, Page

# Counts what is under way. Longer timers do not count: Streamlit's connection always keeps one of 15 s.
WATCH = """() => {
  const LONGEST = 5_000;
  const { setTimeout: schedule, clearTimeout: cancel, fetch: request } = window;
  const timers = new Set();
  const unread = ["arrayBuffer", "json", "text", "blob"];
  let requests = 0;
  const count = (promise) => { requests += 1; return promise.finally(() => (requests -= 1)); };
  window.setTimeout = (act, delay = 0, ...given) => {
    const timer = schedule(() => { timers.delete(timer); act(...given); }, delay);
    if (delay <= LONGEST) timers.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => { timers.delete(timer); cancel(timer); };
  window.fetch = (...asked) => count(request(...asked));
  for (const read of unread) {
    const original = Response.prototype[read];
    Response.prototype[read] = function () { return count(original.call(this)); };
  }
  window.underWay = () => requests + timers.size;
}"""
AT_REST = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const rests = window.underWay() === 0 && app?.dataset.testScriptState === "notRunning";
  window.framesAtRest = rests ? (window.framesAtRest ?? 0) + 1 : 0;
  return window.framesAtRest > 3;
}"""


def watch(context: BrowserContext) -> None:
    """Makes `come_to_rest` possible for the pages that this context opens from now on."""
    context.add_init_script(f"({WATCH})()")


def come_to_rest(page: Page) -> None:
    """Waits until nothing is under way, for a few frames in a row."""
    page.evaluate("window.framesAtRest = 0")
    page.wait_for_function(AT_REST)
