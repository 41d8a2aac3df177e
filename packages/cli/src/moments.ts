/** Times as people say them: how long, how long ago, how long from now; and exactly, where that was asked for. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** "14 ms", "3.2 s", "4 min 5 s", "2 h 3 min", "3 d 4 h": two units at most. */
export function span(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < second) return `${whole} ms`;
  if (whole < 10 * second) return `${Number((whole / second).toFixed(1))} s`;
  if (whole < minute) return `${Math.round(whole / second)} s`;
  if (whole < hour) return twoUnits(whole, minute, "min", second, "s");
  if (whole < day) return twoUnits(whole, hour, "h", minute, "min");
  return twoUnits(whole, day, "d", hour, "h");
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const first = Math.floor(ms / large);
  const second = Math.floor((ms % large) / small);
  return second === 0 ? `${first} ${largeName}` : `${first} ${largeName} ${second} ${smallName}`;
}

/** "3 s ago". The relay's clock and this one may differ a little: what lies ahead by less than a second is now. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (ms < -second) return ahead(at, now);
  return ms < second ? "just now" : `${span(ms)} ago`;
}

/** "in 12 s". */
export function ahead(at: number, now: number): string {
  return at <= now ? "now" : `in ${span(at - now)}`;
}

/** "12:00:05Z (in 4 min)": when it is, and how far away. The day is named where it is another. */
export function moment(at: number, now: number): string {
  const iso = new Date(at).toISOString();
  const today = iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  const shown = today ? iso.slice(11, 19) : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
  return `${shown}Z (${at > now ? ahead(at, now) : ago(at, now)})`;
}

/** "2026-11-15 12:00:00.000Z". */
export function exactly(at: number): string {
  return new Date(at).toISOString().replace("T", " ");
}
