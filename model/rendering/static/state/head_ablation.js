// Off is an edit: of one head, or of a layer where all its heads are off.

/**
 * What an edit of an attention's heads depends on.
 * @typedef {{ stack: string, kind: string, heads: number }} HeadGroup
 */

/** @param {HeadGroup} group @param {number} layer @param {number} head */
function headOffEdit({ stack, kind }, layer, head) {
  return `${stack}.${layer}.${kind}.weights[${head}]=set:0`;
}

/** @param {HeadGroup} group @param {number} layer */
function layerOffEdit({ stack, kind }, layer) {
  return `${stack}.${layer}.${kind}.weights=set:0`;
}

/** @param {readonly string[]} edits @param {HeadGroup} group @param {number} layer @param {number} head */
export function isOff(edits, group, layer, head) {
  return edits.includes(headOffEdit(group, layer, head)) || edits.includes(layerOffEdit(group, layer));
}

/** @param {readonly string[]} edits @param {HeadGroup} group @param {number} layer */
export function headsOff(edits, group, layer) {
  return range(group.heads).filter((head) => isOff(edits, group, layer, head));
}

/**
 * Several heads switched off, or on again; all other edits keep their places.
 * @param {readonly string[]} edits @param {HeadGroup} group
 * @param {readonly (readonly [layer: number, head: number])[]} heads @param {boolean} off
 */
export function switchHeads(edits, group, heads, off) {
  let switched = [...edits];
  for (const layer of new Set(heads.map(([of]) => of))) {
    const chosen = heads.filter(([of]) => of === layer).map(([, head]) => head);
    const others = headsOff(switched, group, layer).filter((head) => !chosen.includes(head));
    const after = (off ? [...others, ...chosen] : others).sort((a, b) => a - b);
    const whole = after.length === group.heads && group.heads > 1;
    const wanted = whole ? [layerOffEdit(group, layer)] : after.map((head) => headOffEdit(group, layer, head));
    const known = [layerOffEdit(group, layer), ...range(group.heads).map((head) => headOffEdit(group, layer, head))];
    switched = switched.filter((edit) => !known.includes(edit) || wanted.includes(edit));
    switched.push(...wanted.filter((edit) => !switched.includes(edit)));
  }
  return switched;
}

/** @param {number} count */
function range(count) {
  return Array.from({ length: count }, (_, index) => index);
}
