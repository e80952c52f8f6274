// The languages of a translation model: a text begins with the token of its language.

import { createElement } from "./dom.ts";

const NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** The English name of the language of a token such as __de__, deu_Latn or de_DE. */
export function languageName(token: string) {
  const [language = "", place = ""] = token.replace(/^_+|_+$/g, "").split("_");
  const tag = place.length === 4 ? `${language}-${place}` : language; // the country in de_DE is mere convention
  return NAMES.of(tag) ?? NAMES.of(language) ?? "";
}

/** Offers the languages for a text, if there are any, and selects the one that it begins with. */
export function drawLanguages(select: HTMLSelectElement, languages: string[], text: string) {
  const offered = languages.length && select.closest("label");
  select.closest("label")?.toggleAttribute("hidden", !offered);
  if (select.options.length !== languages.length + 1) {
    const names = languages.map((token) => [token, languageName(token)] as const);
    const sorted = names.sort((one, other) => one[1].localeCompare(other[1]));
    const options = sorted.map(([token, name]) =>
      Object.assign(createElement("option", "", name ? `${name} (${token})` : token), { value: token }),
    );
    select.replaceChildren(Object.assign(createElement("option", "", "not given"), { value: "" }), ...options);
  }
  select.value = leadingLanguage(text, languages);
}

/** The text with the token of another language in front, or without one if `token` is "". */
export function inLanguage(text: string, languages: string[], token: string) {
  const rest = text.trimStart().slice(leadingLanguage(text, languages).length).trimStart();
  return [token, rest].filter(Boolean).join(" ");
}

function leadingLanguage(text: string, languages: string[]) {
  return languages.find((token) => text.trimStart().startsWith(token)) ?? "";
}
