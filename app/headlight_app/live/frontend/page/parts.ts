// The parts of a live page: in the document, or in files beside it.

import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import type { Deflated } from "../../../ui/frontend/wire.ts";

/** A part that does not arrive; the message is the page's own sentence. */
export class MissingPart extends Error {}

/** A part as it was packed; it is needed once. */
export async function packedPart(name: string): Promise<Deflated> {
  const part = findByTestId(document, `part-${name}`);
  const { address } = part.dataset;
  if (address) return fetched(address);
  const text = part.textContent ?? "";
  part.remove();
  return text;
}

async function fetched(address: string): Promise<ArrayBuffer> {
  try {
    const answer = await fetch(address);
    if (answer.ok) return await answer.arrayBuffer();
  } catch {} // no network, or a file that a browser reads only from a server
  throw new MissingPart(findByTestId(document, "live-status").dataset.missing);
}
