/**
 * Who is behind a connection: proven by its hello, renewed before that runs out, and asked anew when a key or a token of
 * its agent ends.
 */

import type { Caller } from "../../identity/caller.ts";
import type { Proven } from "../../identity/identity.ts";
import type { Relay } from "../../operations/relay.ts";
import { Problem } from "../../problem.ts";

export class Bearer {
  readonly #relay: Relay;
  #credential: string | null = null;
  #proven: Proven | null = null;

  constructor(relay: Relay) {
    this.#relay = relay;
  }

  /** Null until its hello was believed. */
  get caller(): Caller | null {
    return this.#proven?.caller ?? null;
  }

  /** Something was said, whether it is believed or not. */
  get saidHello(): boolean {
    return this.#credential !== null;
  }

  /** Null: never. */
  get expires_in_ms(): number | null {
    const expires_at = this.#proven?.expires_at ?? null;
    return expires_at === null ? null : Math.max(0, expires_at - this.#relay.engine.now());
  }

  /** What the hello says; who that is counts once it is believed. Throws Problem 401. */
  async prove(credential: string): Promise<Proven> {
    this.#credential = credential;
    return this.#relay.identity.prove(credential);
  }

  believe(proven: Proven): void {
    this.#proven = proven;
  }

  /** Another credential of the same agent. Throws a Problem, and nothing has changed. */
  async renew(credential: unknown): Promise<void> {
    if (typeof credential !== "string") {
      throw new Problem(400, "unfit", "The body must hold the new credential.", { fields: ["/credential"] });
    }
    const { caller } = this;
    const proven = await this.#relay.identity.prove(credential);
    if (proven.caller.name !== caller?.name || proven.caller.role !== caller.role) {
      const detail = `The credential is of ${proven.caller.name}, this connection of ${caller?.name}; open another one.`;
      throw new Problem(403, "another_agent", detail);
    }
    this.#proven = proven;
    this.#credential = credential;
  }

  /** Throws Problem 401 where what was proven is worth nothing any more. */
  async recheck(): Promise<void> {
    await this.#relay.identity.prove(this.#credential ?? "");
  }
}
