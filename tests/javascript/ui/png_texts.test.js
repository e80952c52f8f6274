// Texts in a PNG: chunks after the header, with a checksum.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { addPngTexts } from "../../../app/headlight_app/ui/frontend/export/png_texts.ts";

test("a text is a separate chunk between the header and the picture", async () => {
  const header = new Uint8Array(33).fill(1);
  const written = await addPngTexts(new Blob([header, "picture"]), { Description: "“é” שלום" });
  const bytes = Buffer.from(await written.arrayBuffer());
  const length = bytes.readUInt32BE(33);
  const chunk = bytes.subarray(37, 37 + 4 + length);
  assert.deepEqual(bytes.subarray(0, 33), Buffer.from(header));
  assert.equal(chunk.toString(), "iTXtDescription\0\0\0\0\0“é” שלום");
  assert.equal(bytes.readUInt32BE(37 + 4 + length), crc32(chunk));
  assert.equal(bytes.subarray(37 + 8 + length).toString(), "picture");
});
