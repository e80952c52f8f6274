// Reads a screen aloud with a voice of this machine; without such a voice there is no button.

import { createButton } from "../../ui/frontend/dom/dom.ts";

const [READ, STOP] = ["Read aloud", "Stop reading"];
const READABLE = "h2, .lesson, .formulas math, .symbols dl > *, .asked, .hint, .said, .verdict";

export function createReadAloud(screen: HTMLElement) {
  const speech = window.speechSynthesis;
  const button = createButton("plain read-aloud", READ, "read-aloud", () => {
    const stops = button.textContent === STOP;
    speech.cancel(); // stops reading, here or on another screen
    const voice = localVoice();
    button.textContent = READ;
    if (stops || !voice) return;
    const utterance = new SpeechSynthesisUtterance(textOf(screen));
    utterance.voice = voice;
    utterance.lang = voice.lang;
    utterance.onend = utterance.onerror = () => {
      button.textContent = READ;
    };
    button.textContent = STOP;
    speech.speak(utterance);
  });
  const show = () => {
    button.hidden = !localVoice();
  };
  show();
  speech?.addEventListener("voiceschanged", show); // browsers load their voices late
  return button;
}

/** An English voice that works offline. */
function localVoice() {
  const voices = window.speechSynthesis?.getVoices() ?? [];
  return voices.find(({ localService, lang }) => localService && lang.startsWith("en"));
}

/** The text of a screen in reading order; formulas in words, then their symbols. */
function textOf(screen: HTMLElement) {
  return [...screen.querySelectorAll(READABLE)]
    .map((element) => (element.localName === "math" ? element.ariaLabel : element.textContent)?.trim() ?? "")
    .filter(Boolean)
    .map((text) => (/[.?!:]$/.test(text) ? text : `${text}.`))
    .join(" ");
}
