"""Scripts that run in the page with `everything` and `focused`, which look into every shadow root."""

HELPERS = """
  const everything = (root = document) => [...root.querySelectorAll("*")].flatMap((element) =>
    [element, ...(element.shadowRoot ? everything(element.shadowRoot) : [])]);
  const focused = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };
"""


def script(function: str) -> str:
    """A script for `evaluate`: a JavaScript function of at most one argument that may call the helpers."""
    return f"(given) => {{{HELPERS}  return ({function})(given);\n}}"
