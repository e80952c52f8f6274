// The first script of a live page. A file that is cut off never runs its last script, which opens the page.
addEventListener("DOMContentLoaded", () => {
  if ("opened" in document.documentElement.dataset) return;
  document.querySelector('[data-testid="live-status"]').textContent =
    "This file is cut off: its end is missing. Get it again, whole.";
});
