/** A list in an answer, or kept for one, cut by its size: what is in it may repeat all that somebody sent. */

/** As many as fit, and always one. */
export function toldWithin<Told>(
  all: readonly Told[],
  most_bytes: number,
): { readonly shown: readonly Told[]; readonly bytes: number } {
  const shown: Told[] = [];
  let bytes = 0;
  for (const each of all) {
    const size = JSON.stringify(each).length;
    if (shown.length > 0 && bytes + size > most_bytes) break;
    shown.push(each);
    bytes += size;
  }
  return { shown, bytes };
}
