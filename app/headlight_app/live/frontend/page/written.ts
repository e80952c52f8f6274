// What a link says of Generate: sampling settings and generated tokens, as in app/headlight_app/state/url.py.

import type { Question, Sampling } from "../../../ui/frontend/contract.ts";

type Asked = Pick<Question, "model" | "text" | "source" | "masked_positions">;
type Written = readonly (readonly [position: number, token: number])[];

const LETTERS = { t: "temperature", k: "top_k", p: "top_p", s: "seed" } as const;
const WRITTEN = /^\d{1,9}-\d{1,9}(\.\d{1,9}-\d{1,9})*$/;

/** As in `t0.5,k40,p0.9,s7`: what differs from the usual settings. */
export function encodeSampling(sampling: Sampling, usual: Sampling): string {
  return Object.entries(LETTERS)
    .filter(([, name]) => sampling[name] !== usual[name])
    .map(([letter, name]) => letter + Number(sampling[name].toPrecision(name === "seed" ? 16 : 6)))
    .join();
}

/** The inverse; the usual settings if one is out of range. */
export function decodeSampling(encoded: string, usual: Sampling): Sampling {
  const found = [...encoded.matchAll(/(?:^|,)([tkps])([0-9.]{1,20})(?=,|$)/g)].map(([, letter, number]) => [
    LETTERS[letter as keyof typeof LETTERS],
    Number(number),
  ]);
  const sampling: Sampling = { ...usual, ...Object.fromEntries(found) };
  const { temperature, top_k, top_p, seed } = sampling;
  const fits = temperature <= 1000 && top_k <= 1e6 && top_p > 0 && top_p <= 1; // false for NaN
  return fits && Number.isInteger(top_k) && Number.isSafeInteger(seed) ? sampling : usual;
}

/** The tokens after a fingerprint of their question, as in `3f2a:12-318.13-99`. */
export function encodeWritten(question: Asked, written: Written): string {
  return written.length ? `${fingerprint(question)}:${written.map((step) => step.join("-")).join(".")}` : "";
}

/** The inverse; none if the tokens belong to another text or model. */
export function decodeWritten(question: Asked, encoded: string): [position: number, token: number][] {
  const [mark, steps = ""] = encoded.split(/:(.*)/s);
  if (mark !== fingerprint(question) || !WRITTEN.test(steps)) return [];
  return steps.split(".").map((step) => step.split("-").map(Number) as [number, number]);
}

/** Four hex digits that depend on the text and the model. */
function fingerprint({ model, text, source, masked_positions: masked }: Asked): string {
  const tuple = `(${masked.join(", ")}${masked.length === 1 ? "," : ""})`; // as Python writes it
  const bytes = new TextEncoder().encode([model, text, source, tuple].join("\0"));
  return (crc32(bytes) & 0xffff).toString(16).padStart(4, "0");
}

function crc32(bytes: Uint8Array): number {
  let rest = -1;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return ~rest;
}
