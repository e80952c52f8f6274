// A button that deletes something: the first click asks, the second one acts.

const SURE = 4000; // milliseconds in which the second click counts

/** @param question asked by the first click, as the text of the button */
export function actOnSecondClick(button: HTMLButtonElement, question: () => string, act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const before = button.textContent;
  const calm = () => {
    clearTimeout(timer);
    timer = undefined;
    button.textContent = before;
  };
  button.onclick = () => {
    if (timer !== undefined) {
      calm();
      return act();
    }
    button.textContent = question();
    timer = setTimeout(calm, SURE);
  };
}

/** "" for no hand-ins. @param before words before their number */
export function countHandIns(count: number, before: string = "") {
  return count ? `${before}${count} ${count === 1 ? "hand-in" : "hand-ins"}` : "";
}
