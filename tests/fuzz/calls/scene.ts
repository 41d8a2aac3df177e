/** Where an episode plays: its cast, what it has learned, and how it asks the relay honestly for what it needs. */

import { makeId, type Proof } from "@handfast/protocol";
import type { AgentKey } from "../cast/agent-key.ts";
import { keyed, type Persona, stranger } from "../cast/persona.ts";
import { askChallenge, forget, register, type Troupe } from "../cast/troupe.ts";
import { World } from "../cast/world.ts";
import type { Random } from "../chance.ts";

export interface SceneOptions {
  readonly episode: number;
  readonly url: string;
  readonly troupe: Troupe;
  /** Handoffs of agents that have nothing to do with it. */
  readonly honest_ids: () => readonly string[];
}

export class Scene {
  readonly world = new World();
  readonly troupe: Troupe;
  readonly url: string;
  readonly honest_ids: () => readonly string[];
  readonly correlations: readonly string[];
  /** The document that was signed last, with its proof: right, and stale anywhere else. */
  last_signed: { readonly document: string; readonly proof: Proof } | null = null;
  #passing: Persona | null = null;
  #keys = 0;

  constructor({ episode, troupe, url, honest_ids }: SceneOptions) {
    this.troupe = troupe;
    this.url = url;
    this.honest_ids = honest_ids;
    this.correlations = [`group-${episode}-a`, `group-${episode}-b`];
  }

  /** The agent that comes and goes: it registers when it is first needed, by a key of its own. */
  async passing(): Promise<Persona> {
    if (this.#passing === null) {
      const key = this.newKey();
      const { passing_name, operator } = this.troupe;
      const token = await operator.credential();
      const is_free = await register(this.url, passing_name, key, [], token);
      if (!is_free) {
        await forget(this.url, passing_name, token);
        await register(this.url, passing_name, key, [], token);
      }
      this.#passing = keyed(passing_name, key, this.url);
    }
    return this.#passing;
  }

  /** The next of its keys; nobody else ever has them, so that they are free again once their agent was forgotten. */
  newKey(): AgentKey {
    const { passing_keys } = this.troupe;
    const key = passing_keys[this.#keys % passing_keys.length];
    if (key === undefined) throw new Error("the cast has no keys for those that come and go");
    this.#keys += 1;
    return key;
  }

  /** One that the relay gave out a moment ago; now and then one that was used. */
  async challenge(random: Random): Promise<string> {
    const { challenges } = this.world;
    const used = challenges.at(-1);
    if (used !== undefined && random.chance(0.2)) return used;
    const fresh = await askChallenge(this.url, await this.troupe.operator.credential());
    challenges.push(fresh);
    return fresh;
  }

  /** Its key was replaced, or it was forgotten. */
  changePassing(key: AgentKey | null): void {
    this.#passing = key === null ? null : keyed(this.troupe.passing_name, key, this.url);
  }

  newId(random: Random): string {
    return makeId(Date.now(), random.bytes(10));
  }

  persona(name: string): Persona {
    const { sender, worker, rival, operator } = this.troupe;
    return [sender, worker, rival, operator].find((each) => each.name === name) ?? stranger;
  }

  /** A value that is real, in the wrong place. The operator may do anything to anybody, so it gets none of the honest. */
  stray(random: Random, persona: Persona): unknown {
    const { world, troupe } = this;
    const known = world.handoffs.length === 0 ? null : random.pick(world.handoffs);
    const lease = known?.leases.at(-1) ?? null;
    const values: unknown[] = [
      known?.id,
      known?.digest,
      known?.questions.at(-1),
      lease?.fence,
      (lease?.fence ?? 1) + 1,
      Math.max(0, (lease?.fence ?? 1) - 1),
      lease?.worker,
      lease?.manifest,
      troupe.open_capability,
      troupe.strict_capability,
      world.cursors.at(-1),
      world.plans.at(-1),
      world.artifacts.at(-1)?.sha256,
      world.request_ids.at(-1),
      world.idempotency_keys.at(-1),
      this.correlations[0],
      this.last_signed,
      this.last_signed?.document,
      this.last_signed?.proof,
      "operator",
    ];
    if (persona.role !== "operator") {
      const honest = this.honest_ids();
      // Not the names of those that sign: an agent may have itself forgotten, and the episode would be over.
      values.push(troupe.rival.name, "honest-worker", "honest-sender");
      if (honest.length > 0) values.push(random.pick(honest));
    }
    const there = values.filter((value) => value !== undefined && value !== null);
    return random.pick(there);
  }
}
