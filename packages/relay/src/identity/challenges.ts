/**
 * Challenges for registrations and rotations: fresh, for this relay process, good once. A challenge carries its time
 * under a MAC, so asking for many costs the relay no memory; only those that a valid signature has used up are
 * remembered, until they would be too old anyway.
 *
 * Nodes that share a store share the MAC's secret: a challenge of one is good at any of them. What was used up each remembers for
 * itself; what a challenge could be used for again at another node, registration prevents by when it was made (`madeAt`).
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { Time } from "@handfast/core";
import { fromBase64url, toBase64url } from "@handfast/protocol";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";

const time_bytes = 8;
const nonce_bytes = 16;
const mac_bytes = 16;
const challenge_bytes = time_bytes + nonce_bytes + mac_bytes;

export class Challenges {
  private readonly now: () => Time;
  private readonly randomBytes: (count: number) => Uint8Array;
  private readonly limits: RelayLimits;
  private readonly secret: Uint8Array;
  /** In the order of their use; with when they would have run out. */
  private readonly used = new Map<string, Time>();

  constructor(
    now: () => Time,
    randomBytes: (count: number) => Uint8Array,
    limits: RelayLimits,
    secret: Uint8Array = randomBytes(32),
  ) {
    this.now = now;
    this.randomBytes = randomBytes;
    this.limits = limits;
    this.secret = secret;
  }

  issue(): { readonly challenge: string; readonly expires_in_seconds: number } {
    const bytes = new Uint8Array(challenge_bytes);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(this.now()));
    bytes.set(this.randomBytes(nonce_bytes), time_bytes);
    bytes.set(this.mac(bytes), time_bytes + nonce_bytes);
    return { challenge: toBase64url(bytes), expires_in_seconds: this.limits.challenge_life_ms / 1_000 };
  }

  /** Throws Problem 401 unless this relay gave it out a moment ago and nobody has used it. */
  check(challenge: string): void {
    const until = this.expiryOf(challenge);
    if (until === null) throw refused("challenge_unknown", "was not given out by this relay since its start");
    if (until <= this.now())
      throw refused("challenge_expired", `is older than ${this.limits.challenge_life_ms / 1_000} s`);
    if (this.used.has(challenge)) throw usedBefore();
  }

  /** Checks it once more and uses it up, in one step. */
  use(challenge: string): void {
    this.check(challenge);
    this.forgetOld();
    if (this.used.size >= this.limits.challenges_remembered) {
      const message = "Too many agents register at this moment. Try again when the time in Retry-After is over.";
      throw new Problem(429, "too_many_registrations", message, {}, this.limits.challenge_life_ms / 1_000);
    }
    this.used.set(challenge, this.expiryOf(challenge) ?? this.now());
  }

  private expiryOf(challenge: string): Time | null {
    const made_at = this.madeAt(challenge);
    return made_at === null ? null : made_at + this.limits.challenge_life_ms;
  }

  /** Null: no relay with this secret made it. */
  madeAt(challenge: string): Time | null {
    const bytes = fromBase64url(challenge);
    if (bytes?.length !== challenge_bytes) return null;
    if (!timingSafeEqual(bytes.subarray(time_bytes + nonce_bytes), this.mac(bytes))) return null;
    return Number(new DataView(bytes.buffer).getBigUint64(0));
  }

  private mac(bytes: Uint8Array): Uint8Array {
    const hmac = createHmac("sha256", this.secret).update(bytes.subarray(0, time_bytes + nonce_bytes));
    return hmac.digest().subarray(0, mac_bytes);
  }

  private forgetOld(): void {
    const now = this.now();
    for (const [challenge, until] of this.used) if (until <= now) this.used.delete(challenge);
  }
}

/** Used before, at this node or another. */
export function usedBefore(): Problem {
  return refused("challenge_used", "was used before");
}

function refused(reason: string, why: string): Problem {
  return new Problem(401, reason, `The challenge ${why}. Ask for a new one and sign that.`);
}
