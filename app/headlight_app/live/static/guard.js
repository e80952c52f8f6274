// The first script of a live page. A page that is not complete never runs its last script, which opens the page.
addEventListener("DOMContentLoaded", () => {
  if ("opened" in document.documentElement.dataset) return;
  const status = document.querySelector('[data-testid="live-status"]');
  status.textContent = status.dataset.missing;
});
