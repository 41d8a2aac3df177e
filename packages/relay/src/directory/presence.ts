/** Who is there: when each agent and its workers were last heard of, and whether its registration still holds. */

import type { Time } from "@handfast/core";
import type { LivenessView } from "@handfast/protocol/wire";
import type { RelayLimits } from "../limits.ts";
import { type Heard, Liveness, type Sign } from "./liveness.ts";
import { type Change, commitChanges } from "./record-table.ts";
import type { Records } from "./records.ts";
import { RegistrationLeases } from "./registration-leases.ts";
import type { Turns } from "./turns.ts";

export interface PresenceOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly now: () => Time;
  readonly limits: RelayLimits;
  /** Of the directory: a sign of life must not be written while its agent is being forgotten. */
  readonly turns: Turns;
  readonly isAsking: (agent: string, worker: string) => boolean;
  readonly onUnsaved: (error: unknown) => void;
}

export class Presence {
  readonly leases: RegistrationLeases;
  private readonly options: PresenceOptions;
  private readonly heard: Liveness;
  private saving = false;

  constructor(options: PresenceOptions) {
    this.options = options;
    this.heard = new Liveness(options.limits);
    const isAsking = (agent: string) =>
      this.of(agent).workers.some(({ worker }) => this.options.isAsking(agent, worker));
    this.leases = new RegistrationLeases({ ...options, isAsking });
  }

  of(name: string): Heard {
    return this.heard.of(name);
  }

  /** True: it had lapsed, and is back. */
  seen(name: string, worker: string | null, sign?: Sign): boolean {
    const now = this.options.now();
    this.heard.seen(name, worker, now, sign);
    const returns = this.leases.seen(name, now);
    if (this.leases.hasUnsaved) this.save();
    return returns;
  }

  /** It asks for nothing more, unless it does so at this moment by another claim. */
  left(name: string, worker: string): void {
    if (!this.options.isAsking(name, worker)) this.heard.left(name, worker, this.options.now());
  }

  /** Those that lapsed since it was last asked; a restart knows of them. */
  lapse(): readonly string[] {
    const lapsed = this.leases.lapse();
    if (this.leases.hasUnsaved) this.save();
    return lapsed;
  }

  liveness(name: string): LivenessView {
    const { last_seen_at } = this.heard.of(name);
    const now = this.options.now();
    const live = this.heard.live(name, now, (worker) => this.options.isAsking(name, worker));
    const lease_until = this.leases.until(name);
    return {
      state: lease_until <= now ? "lapsed" : live > 0 ? "live" : "idle",
      last_seen_at: last_seen_at ?? this.leases.storedSign(name),
      lease_until,
      workers: live,
    };
  }

  ending(name: string): readonly Change[] {
    return this.leases.ending(name);
  }

  forget(name: string): void {
    this.heard.forget(name);
    this.leases.forget(name);
  }

  /** One write at a time: what is heard meanwhile goes with the next. */
  private save(): void {
    if (this.saving) return;
    this.saving = true;
    this.options.turns
      .take(() => commitChanges(this.options.records, this.leases.saving()))
      .catch(this.options.onUnsaved)
      .finally(() => {
        this.saving = false;
      });
  }
}
