/** Random bytes for salts and ids, drawn in bulk: one system call for hundreds of them instead of one each. */

import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(8_192);
let used = pool.length;

export function randomBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Uint8Array.prototype.slice.call(pool, used, used + count);
  used += count;
  return bytes;
}
