// The boxes for typing a text.

/** Makes boxes as high as their text, up to their greatest height. */
export function fitHeights(boxes: Iterable<HTMLTextAreaElement>) {
  for (const box of boxes) {
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${box.scrollHeight}px`;
  }
}

/** Writes a text only if it differs, so that the caret stays. */
export function setText(box: HTMLTextAreaElement, text: string) {
  if (box.value === text) return;
  const isAllSelected = box.value !== "" && box.selectionStart === 0 && box.selectionEnd === box.value.length;
  box.value = text;
  if (isAllSelected) box.select(); // the next letter replaces it, as it would have replaced the old text
}

/** Offers to read a text as a chat, and says how one is typed. @param usual caption of the box */
export function drawChat(
  {
    chat,
    chatHint,
    text,
    caption,
  }: { chat: HTMLElement; chatHint: HTMLElement; text: HTMLTextAreaElement; caption: HTMLElement },
  isOffered: boolean,
  isOn: boolean,
  usual: string,
) {
  chat.hidden = !isOffered;
  chat.ariaPressed = String(isOn);
  chat.title = "Read the text as a chat: the model's own template turns its messages into what the model reads";
  chatHint.hidden = !isOn;
  chatHint.textContent =
    "A line that begins with system:, user: or assistant: starts a message; text before the first one is the user's.";
  caption.textContent = isOn ? "Chat" : usual;
  text.setAttribute("aria-describedby", isOn ? "chat-hint problem" : "problem");
}

/** The text that the ends of tokens refer to: two texts on a line each. */
export const withPair = (text: string, pair?: string) => (pair ? `${text}\n${pair}` : text);
