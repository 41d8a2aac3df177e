/**
 * Connections that have not said yet who they are. Whoever fills the places keeps nobody out: the oldest that said
 * nothing makes room for the next, so whoever says hello at once gets in.
 */

import type { RelayLimits } from "../../limits.ts";
import type { Session } from "./session.ts";

type Stranger = Pick<Session, "address" | "began_at" | "saidHello" | "cut">;
type StrangerLimits = Pick<RelayLimits, "ws_strangers" | "ws_strangers_per_address" | "ws_stranger_spared_ms">;

export class Strangers {
  readonly #limits: StrangerLimits;
  /** The oldest first. */
  readonly #all = new Set<Stranger>();
  readonly #by_address = new Map<string, Set<Stranger>>();

  constructor(limits: StrangerLimits) {
    this.#limits = limits;
  }

  add(session: Stranger): void {
    const { ws_strangers, ws_strangers_per_address, ws_stranger_spared_ms } = this.#limits;
    const near = this.#by_address.get(session.address) ?? new Set();
    this.#by_address.set(session.address, near);
    near.add(session);
    this.#all.add(session);
    this.#dropFrom(near, ws_strangers_per_address, session.began_at - ws_stranger_spared_ms);
    this.#dropFrom(this.#all, ws_strangers, session.began_at);
  }

  /** It said who it is, or it is gone. */
  delete(session: Stranger): void {
    this.#all.delete(session);
    const near = this.#by_address.get(session.address);
    near?.delete(session);
    if (near?.size === 0) this.#by_address.delete(session.address);
  }

  /** Those that came before, until there are no more than so many. One whose hello is being judged is spared. */
  #dropFrom(among: ReadonlySet<Stranger>, most: number, came_before: number): void {
    for (const stranger of among) {
      if (among.size <= most || stranger.began_at > came_before) return;
      if (stranger.saidHello) continue;
      this.delete(stranger);
      stranger.cut();
    }
  }
}
