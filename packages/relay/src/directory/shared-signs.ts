/**
 * Signs of life among nodes. What was heard here is passed on now and then, however often it was heard; and what the others heard
 * is read in the same turn. Each worker has one row, so that many signs cost no more than one.
 *
 * A worker that waits for work says nothing while it does: its node says so for it, at the beginning, now and then, and at the end.
 */

import type { Duration, Time } from "@handfast/core";
import type { Sharing, SignOfLife, Surroundings } from "@handfast/engine";
import type { RelayLimits } from "../limits.ts";

export interface SharedSignsOptions {
  readonly namespace: string;
  readonly sharing: Pick<Sharing, "hear" | "heard">;
  readonly schedule: Surroundings["schedule"];
  readonly limits: Pick<RelayLimits, "signs_shared_every_ms" | "waiting_said_every_ms" | "signs_remembered_ms">;
  readonly now: () => Time;
  /** Whether it waits for work here. */
  readonly isAsking: (agent: string, worker: string) => boolean;
  readonly onHeard: (sign: SignOfLife) => void;
  /** They could not be passed on or read; it is tried again. */
  readonly onFault: (error: unknown) => void;
}

interface Here {
  readonly agent: string;
  readonly worker: string | null;
  seen_at: Time;
  /** What the others know; null: not this sign. */
  told: { readonly at: Time; readonly asking: boolean } | null;
}

export class SharedSigns {
  readonly #options: SharedSignsOptions;
  /** Whoever spoke to this node. */
  readonly #here = new Map<string, Here>();
  /** Who waits on another node, and when that was last said. */
  readonly #elsewhere = new Map<string, Time>();
  #read_at: Time = 0;
  #failed = false;
  #cancel: () => void = () => {};
  #turn: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: SharedSignsOptions) {
    this.#options = options;
    this.#later();
  }

  /** Heard here. */
  note(agent: string, worker: string | null, at: Time): void {
    const key = keyOf(agent, worker);
    const known = this.#here.get(key);
    if (known === undefined) this.#here.set(key, { agent, worker, seen_at: at, told: null });
    else known.seen_at = at;
  }

  isAskingElsewhere(agent: string, worker: string): boolean {
    const said_at = this.#elsewhere.get(keyOf(agent, worker));
    // Twice may be missed: a node that is late is not a node that died.
    return said_at !== undefined && this.#options.now() - said_at < 3 * this.#options.limits.waiting_said_every_ms;
  }

  /** Passes on what was not yet, and no more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#turn;
    await this.#tell().catch(() => {});
  }

  #later(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.schedule(this.#options.limits.signs_shared_every_ms, () => {
      this.#turn = this.#exchange().finally(() => this.#later());
    });
  }

  async #exchange(): Promise<void> {
    try {
      await this.#tell();
      await this.#listen();
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) this.#options.onFault(error);
      this.#failed = true;
    }
  }

  async #tell(): Promise<void> {
    const { namespace, sharing, now, limits } = this.#options;
    const at = now();
    const told: { readonly here: Here; readonly sign: SignOfLife }[] = [];
    for (const [key, here] of this.#here) {
      const sign = this.#signOf(here, at);
      if (sign !== null) told.push({ here, sign: { namespace, ...sign } });
      else if (at - Math.max(here.seen_at, here.told?.at ?? 0) > limits.signs_remembered_ms) this.#here.delete(key);
    }
    if (told.length === 0) return;
    await sharing.hear(told.map(({ sign }) => sign));
    for (const { here, sign } of told) here.told = { at: sign.at, asking: sign.asking };
  }

  /** What the others should know of it by now; null: they do. */
  #signOf({ agent, worker, seen_at, told }: Here, now: Time): Omit<SignOfLife, "namespace"> | null {
    const { isAsking, limits } = this.#options;
    const asking = worker !== null && isAsking(agent, worker);
    const again_ms: Duration = asking ? limits.waiting_said_every_ms : Number.POSITIVE_INFINITY;
    const is_known = told !== null && seen_at <= told.at && asking === told.asking && now - told.at < again_ms;
    if (is_known) return null;
    return { agent, worker, asking, at: asking || told?.asking === true ? now : seen_at };
  }

  async #listen(): Promise<void> {
    const { namespace, sharing, onHeard, limits, now } = this.#options;
    const { signs, read_at } = await sharing.heard(this.#read_at);
    this.#read_at = read_at;
    for (const sign of signs) {
      const { agent, worker, at, asking } = sign;
      const key = keyOf(agent, worker);
      // What this node said itself comes back.
      if (sign.namespace !== namespace || this.#here.get(key)?.told?.at === at) continue;
      if (asking) this.#elsewhere.set(key, at);
      else this.#elsewhere.delete(key);
      onHeard(sign);
    }
    for (const [key, at] of this.#elsewhere) if (now() - at > limits.signs_remembered_ms) this.#elsewhere.delete(key);
  }
}

function keyOf(agent: string, worker: string | null): string {
  return worker === null ? agent : `${agent} ${worker}`;
}
