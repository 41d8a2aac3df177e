/** The known word that a mistyped one most likely stands for. */

/** Null: none is near. An id counts by its beginning and its end too, since those are what is abbreviated. */
export function nearest(word: string, known: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / 4));
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of known) {
    const forms = [candidate, candidate.slice(0, word.length), candidate.slice(-word.length)];
    const distance = Math.min(...forms.map((form) => edits(word, form)));
    if (distance <= most && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** How many letters must be added, removed or replaced. */
function edits(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
