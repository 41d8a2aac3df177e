// The known word nearest to a mistyped one, if any is near.

export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const most = Math.max(2, Math.floor(word.length / 3));
  const near = known
    .map((candidate) => ({ candidate, distance: begins(word, candidate) ? 1 : distance(word, candidate) }))
    .filter((guess) => guess.distance <= most)
    .sort((a, b) => a.distance - b.distance)[0];
  return near?.candidate;
}

/** "warning" for "warn", "timeout" for "timeout_seconds". */
function begins(word: string, candidate: string): boolean {
  return (candidate.length > 3 && word.startsWith(candidate)) || (word.length > 3 && candidate.startsWith(`${word}_`));
}

/** Levenshtein: how many letters apart two words are. */
export function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= Math.min(left.length, 100); i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
