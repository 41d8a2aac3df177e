/** Times of the relay, for people. */

/** `2026-11-16 01:40:10`, in local time. */
export function moment(at_ms: number): string {
  const at = new Date(at_ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `3 s ago`, `5 min ago`, `2 h ago`, `4 d ago`. */
export function ago(at_ms: number, now_ms: number): string {
  const seconds = Math.max(0, Math.round((now_ms - at_ms) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}
