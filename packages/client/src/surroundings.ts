/** Time and chance, given from outside so that a test can rule them. */

export interface Surroundings {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls once after so long; the answer calls it off. A waiting timer alone does not keep a process alive, unless it
   * `holds`: somebody waits for what comes after it.
   */
  after(ms: number, run: () => void, holds?: boolean): () => void;
  /** From 0 up to, not including, 1. */
  random(): number;
  randomBytes(count: number): Uint8Array;
}

/** To ask the system for a few random bytes costs as much as to ask for many. Each is handed out once. */
const pool = new Uint8Array(4_096);
let unused = 0;

function randomBytes(count: number): Uint8Array {
  if (count > pool.length) return globalThis.crypto.getRandomValues(new Uint8Array(count));
  if (unused < count) {
    globalThis.crypto.getRandomValues(pool);
    unused = pool.length;
  }
  unused -= count;
  return pool.slice(unused, unused + count);
}

export const realSurroundings: Surroundings = {
  now: () => Date.now(),
  after(ms, run, holds = false) {
    const timer: unknown = setTimeout(run, ms);
    if (!holds) unref(timer);
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  },
  random: () => Math.random(),
  randomBytes,
};

/** On Node a timer is an object that can let go of the process; in a browser it is a number. */
function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") {
    timer.unref();
  }
}
