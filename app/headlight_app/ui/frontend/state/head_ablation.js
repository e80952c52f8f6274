// Switching off is an edit: of one head, or of a layer if all its heads are off.

/**
 * The properties of an attention that edits of its heads depend on.
 * @typedef {{ stack: string, kind: string, layers: number, heads: number,
 *   ablations?: Record<string, [layer: number, head: number][]> }} HeadGroup
 */

/** @param {HeadGroup} group @param {number} layer @param {number} head */
function headOffEdit({ stack, kind }, layer, head) {
  return `${stack}.${layer}.${kind}.weights[${head}]=set:0`;
}

/** @param {HeadGroup} group @param {number} layer */
function layerOffEdit({ stack, kind }, layer) {
  return `${stack}.${layer}.${kind}.weights=set:0`;
}

/**
 * Whether an edit switches off a head, as stated by the server. Edits that the server has not seen were made here.
 * @param {string} edit @param {HeadGroup} group @param {number} layer @param {number} head
 */
function switchesOff(edit, group, layer, head) {
  const heads = group.ablations?.[edit];
  if (heads) return heads.some((pair) => pair[0] === layer && pair[1] === head);
  return edit === headOffEdit(group, layer, head) || edit === layerOffEdit(group, layer);
}

/** @param {readonly string[]} edits @param {HeadGroup} group @param {number} layer @param {number} head */
export function isOff(edits, group, layer, head) {
  return edits.some((edit) => switchesOff(edit, group, layer, head));
}

/** @param {readonly string[]} edits @param {HeadGroup} group @param {number} layer */
export function headsOff(edits, group, layer) {
  return range(group.heads).filter((head) => isOff(edits, group, layer, head));
}

/**
 * The edits after switching several heads off or on; all other edits keep their places.
 * @param {readonly string[]} edits @param {HeadGroup} group
 * @param {readonly (readonly [layer: number, head: number])[]} heads @param {boolean} off
 */
export function switchHeads(edits, group, heads, off) {
  const chosen = new Set(heads.map(String));
  const after = range(group.layers).map((layer) =>
    range(group.heads).filter((head) => (chosen.has(`${layer},${head}`) ? off : isOff(edits, group, layer, head))),
  );
  /** @param {string} edit */
  const switchesChosenOff = (edit) => heads.some(([layer, head]) => switchesOff(edit, group, layer, head));
  let switched = edits.filter((edit) => off || !switchesChosenOff(edit));
  after.forEach((wanted, layer) => {
    const missing = wanted.filter((head) => !isOff(switched, group, layer, head));
    if (missing.length && wanted.length === group.heads && group.heads > 1) {
      const single = range(group.heads).map((head) => headOffEdit(group, layer, head));
      switched = [...switched.filter((edit) => !single.includes(edit)), layerOffEdit(group, layer)];
    } else switched.push(...missing.map((head) => headOffEdit(group, layer, head)));
  });
  return switched;
}

/** @param {number} count */
function range(count) {
  return Array.from({ length: count }, (_, index) => index);
}
