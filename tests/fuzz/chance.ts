/**
 * All that is left to chance comes from one seed. Each step of each episode draws from a stream of its own, so that
 * leaving one out changes nothing in the others: that is what lets a failure be replayed alone and made smaller.
 */

import { hash } from "node:crypto";
import { Random } from "../../packages/sim/src/random.ts";

export { Random };

export function chanceOf(...parts: readonly (string | number)[]): Random {
  return new Random(hash("sha256", parts.join("/"), "buffer").readUIntBE(0, 6));
}

/** Thirty-two bytes, for keys that are the same in every replay. */
export function bytesOf(...parts: readonly (string | number)[]): Buffer {
  return hash("sha256", parts.join("/"), "buffer");
}

/** One of them, as often as its weight says. */
export function weighted<T>(random: Random, choices: readonly (readonly [weight: number, choice: T])[]): T {
  let left = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  const last = choices.at(-1);
  if (last === undefined) throw new Error("nothing to choose from");
  return last[1];
}
