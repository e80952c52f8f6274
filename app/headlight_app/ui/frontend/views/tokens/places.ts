// The parts of views that are of tokens of the page: those of the active tokens are marked.

/** Writes the words of a chip into the note, or the note's own without one. */
export function tellChip(chip: Element | null | undefined, note: HTMLElement | null | undefined) {
  const words = chip instanceof HTMLElement ? chip.dataset.words : "";
  if (note && note.dataset.rest !== undefined) note.textContent = words || note.dataset.rest;
}

/**
 * Marks the parts that are of active tokens; the note of a list of tokens tells the first of them. An alignment marks
 * its own.
 */
export function markPlaces(root: ParentNode, side: string, positions: number[]) {
  const places = new Set(positions.map((position) => `${side} ${position}`));
  for (const part of root.querySelectorAll("[data-place]") as NodeListOf<HTMLElement>)
    if (!part.closest(".two-sides")) {
      const isActive = places.has(part.dataset.place ?? "");
      part.classList.toggle("query", isActive);
      if (part.ariaPressed !== null) part.ariaPressed = String(isActive);
    }
  for (const list of root.querySelectorAll(".token-chips:has([data-place])"))
    tellChip(list.querySelector(".chip.query"), list.closest("figure")?.querySelector("[data-testid=view-note]"));
}
