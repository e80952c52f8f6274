// The controls of temperature, top-k, top-p and seed.

import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import type { GenerateElements } from "./elements.ts";
import type { Sampling } from "./types.ts";

/** Each slider, and its value in words. */
const SLIDERS: ["temperature" | "top_k" | "top_p", (value: number) => string][] = [
  ["temperature", (value) => (value ? formatPlaces(value, 2) : "0: greedy")],
  ["top_k", (value) => (value ? String(value) : "all")],
  ["top_p", (value) => (value < 1 ? formatPlaces(value, 2) : "all")],
];
const SEEDS = 1_000_000;

export function drawSampling(elements: GenerateElements, sampling: Sampling) {
  for (const [name, words] of SLIDERS) {
    const slider = elements[name];
    if (Number(slider.value) !== sampling[name]) slider.value = String(sampling[name]);
    if (slider.nextElementSibling) slider.nextElementSibling.textContent = words(sampling[name]);
    slider.ariaValueText = words(sampling[name]);
  }
  const { seed } = elements;
  if (seed.value === "" || Number(seed.value) !== sampling.seed) seed.value = String(sampling.seed);
}

/** @param sampling as it is now */
export function listenToSampling(
  elements: GenerateElements,
  sampling: () => Sampling,
  change: (patch: Partial<Sampling>) => void,
) {
  const { seed, newSeed } = elements;
  for (const [name] of SLIDERS) elements[name].oninput = () => change({ [name]: Number(elements[name].value) });
  seed.onchange = () => {
    const number = Math.floor(Number(seed.value));
    change({ seed: number >= 0 && number <= Number.MAX_SAFE_INTEGER ? number : 0 });
  };
  newSeed.onclick = () => change({ seed: (sampling().seed + 1) % SEEDS });
}
