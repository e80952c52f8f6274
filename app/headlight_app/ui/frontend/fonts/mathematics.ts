// The font of formulas. It is declared in the document, because browsers ignore @font-face in shadow roots.

export const FAMILY = "STIX Two Math"; // as the style sheets call it
let loaded: Promise<unknown> | undefined;

/**
 * Loads the font once per page; until then, and if it cannot be fetched, formulas are drawn in the next font of the
 * style sheet.
 * @returns settles when formulas have their final widths
 */
export function loadMathematicsFont(): Promise<unknown> {
  loaded ??= load().catch(() => {});
  return loaded;
}

async function load() {
  const face = new FontFace(FAMILY, `url("${new URL("stix_two_math.woff2", import.meta.url)}")`, { display: "swap" });
  document.fonts.add(face);
  await face.load();
}
