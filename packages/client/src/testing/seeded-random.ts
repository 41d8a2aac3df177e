/**
 * Chance that is the same in every run: a small generator (xorshift, 32 bits) that begins with a seed. Each process of a
 * test has its own, so that what one draws does not change what another gets.
 */

export interface SeededRandom {
  /** From 0 up to, not including, 1. */
  random(): number;
  randomBytes(count: number): Uint8Array;
}

export function seededRandom(seed: number, whose: string): SeededRandom {
  // A state of 0 would stay 0 for ever.
  let state = mix(seed, whose) || 1;
  const next = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  // Seeds that are much alike begin much alike.
  for (let turn = 0; turn < 16; turn += 1) next();
  return {
    random: () => next() / 2 ** 32,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => next() >>> 24),
  };
}

/** FNV-1a over the name, beginning with the seed. */
function mix(seed: number, name: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
