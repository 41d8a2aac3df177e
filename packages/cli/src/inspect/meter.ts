/** A small bar for what is used of something. */

const cells = 10;

export function meter(used: number, limit: number): string {
  const share = limit <= 0 ? 1 : Math.min(1, Math.max(0, used / limit));
  const full = Math.round(share * cells);
  return "█".repeat(full) + "░".repeat(cells - full);
}
