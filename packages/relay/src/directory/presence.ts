/** Who is there: when each agent and its workers were last heard of, and whether its registration still holds. */

import type { Time } from "@handfast/core";
import type { Sharing, SignOfLife, Surroundings } from "@handfast/engine";
import type { LivenessView } from "@handfast/protocol/wire";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Heard, Liveness, type Sign } from "./liveness.ts";
import { type Change, commitChanges } from "./record-table.ts";
import type { Records } from "./records.ts";
import { RegistrationLeases } from "./registration-leases.ts";
import { SharedSigns } from "./shared-signs.ts";
import type { Turns } from "./turns.ts";

export interface PresenceOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly now: () => Time;
  readonly limits: RelayLimits;
  /** Of the directory: a sign of life must not be written while its agent is being forgotten. */
  readonly turns: Turns;
  /** Whether it waits for work at this node. */
  readonly isAsking: (agent: string, worker: string) => boolean;
  /** It had lapsed, and is back. */
  readonly onReturn: (name: string) => void;
  readonly onUnsaved: (error: unknown) => void;
  /** Absent: all that is heard is heard here. */
  readonly shared?: SignsShared | undefined;
}

/** How nodes of one store tell each other what they heard. */
export interface SignsShared {
  readonly sharing: Pick<Sharing, "hear" | "heard">;
  readonly schedule: Surroundings["schedule"];
}

export class Presence {
  readonly leases: RegistrationLeases;
  private readonly options: PresenceOptions;
  private readonly heard: Liveness;
  private readonly signs: SharedSigns | null;
  private saving = false;

  constructor(options: PresenceOptions) {
    this.options = options;
    this.heard = new Liveness(options.limits);
    const isAsking = (agent: string) => this.of(agent).workers.some(({ worker }) => this.isAsking(agent, worker));
    this.leases = new RegistrationLeases({ ...options, isAsking });
    const { shared, onUnsaved: onFault } = options;
    const onHeard = (sign: SignOfLife) => this.heardElsewhere(sign);
    this.signs = shared === undefined ? null : new SharedSigns({ ...options, ...shared, onHeard, onFault });
  }

  async stop(): Promise<void> {
    await this.signs?.stop();
  }

  /** Whether this worker waits for work at this moment, at any node. */
  isAsking(agent: string, worker: string): boolean {
    return this.options.isAsking(agent, worker) || this.signs?.isAskingElsewhere(agent, worker) === true;
  }

  of(name: string): Heard {
    return this.heard.of(name);
  }

  seen(name: string, worker: string | null, sign?: Sign): void {
    const now = this.options.now();
    this.heard.seen(name, worker, now, sign);
    this.signs?.note(name, worker, now);
    const returns = this.leases.seen(name, now);
    if (this.leases.hasUnsaved) this.save();
    if (returns) this.options.onReturn(name);
  }

  private heardElsewhere({ agent, worker, at }: SignOfLife): void {
    if (!this.leases.holds(agent)) return;
    this.heard.seen(agent, worker, at);
    if (this.leases.seenElsewhere(agent, at)) this.options.onReturn(agent);
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
    const now = this.options.now();
    const live = this.heard.live(name, now, (worker) => this.isAsking(name, worker));
    const lease_until = this.leases.until(name);
    return {
      state: lease_until <= now ? "lapsed" : live > 0 ? "live" : "idle",
      last_seen_at: this.heard.lastSeen(name) ?? this.leases.storedSign(name),
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
      .take(() => this.write(this.leases.saving()))
      .catch(this.options.onUnsaved)
      .finally(() => {
        this.saving = false;
      });
  }

  /** Several nodes write these: one that was late learns what was written, and writes with the next sign. */
  private async write(changes: readonly Change[]): Promise<void> {
    try {
      await commitChanges(this.options.records, changes);
    } catch (error) {
      if (this.signs === null || !(error instanceof Problem && error.code === 409)) throw error;
      await this.leases.relearn(this.options.records);
    }
  }
}
