/** What sending and serving are built on: one connected agent. */

import type { Capability, Cost, Crypto } from "@handfast/protocol";
import type { Link } from "./link/link.ts";
import type { BeatAccess } from "./serve/beat-access.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Trust } from "./trust.ts";

/** Something that a person should know, though nothing failed. */
export interface Warning {
  /** A stable name, in snake_case. */
  readonly reason: string;
  readonly message: string;
  /** The id of the handoff it is about, where it is about one. */
  readonly handoff?: string;
}

export interface Base {
  readonly link: Link;
  readonly agent: string;
  readonly namespace: string;
  /** The relay's public URL, as documents name it. */
  readonly relay: string;
  readonly crypto: Crypto;
  /** False: a token only; acts are plain and attested. */
  readonly signs: boolean;
  readonly surroundings: Surroundings;
  /** Checks what others signed, and pins their identities. */
  readonly trust: Trust;
  /** How a thread of heartbeats reaches the relay by itself; null: they are sent from here (heartbeats: "here", browsers). */
  readonly beats: BeatAccess | null;
  /** Aborted by client.close(). */
  readonly closed: AbortSignal;
  /**
   * Announces what this agent offers: by a signed registration, or with a token by set_capabilities. Repeated by itself
   * when the relay has forgotten the agent (it came back empty). Costs by capability, in plain: they are sealed here.
   */
  offer(capabilities: readonly Capability[], costs?: ReadonlyMap<string, Cost>): Promise<void>;
  warn(warning: Warning): void;
}
