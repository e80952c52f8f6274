// A simulated server's answer.

/** A packed answer. @param {string} meta */
export function packed(meta) {
  const text = new TextEncoder().encode(meta.padEnd(Math.ceil((meta.length + 4) / 4) * 4 - 4));
  const body = new Uint8Array(4 + text.length);
  new DataView(body.buffer).setUint32(0, text.length, true);
  body.set(text, 4);
  return new Response(body, { headers: { "Content-Type": "application/octet-stream" } });
}
