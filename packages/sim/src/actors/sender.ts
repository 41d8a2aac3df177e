/** A sender: one process of an agent that hands off, follows, answers, cancels, takes, and cleans up dead letters. */

import { type Handoff, hasEnded, type Time } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import type { Random } from "../random.ts";
import { answerQuestion, openQuestion } from "./answering.ts";
import { page } from "./api.ts";
import { Process } from "./process.ts";
import type { World } from "./world.ts";

/** What a sender has durably done with outcomes: it survives the process. */
export class Applied {
  readonly outcomes = new Map<string, string>();
  /** Submits it may repeat long after, as one does that was restored from a backup. */
  readonly sent: Submission[] = [];
}

/** Told of each outcome that is applied, and of what was applied before for the same handoff. */
export type OnApplied = (id: string, before: string | undefined, outcome: string) => void;

export class Sender extends Process {
  readonly #world: World;
  readonly #from: string;
  readonly #applied: Applied;
  readonly #random: Random;
  readonly #onApplied: OnApplied;
  /** Handoffs that it sent and has no answer for. */
  unanswered = 0;
  #rests_until: Time = 0;
  /** Handoffs that it looks after. */
  readonly #watched = new Set<string>();

  constructor(world: World, from: string, applied: Applied, onApplied: OnApplied) {
    const random = world.random.fork();
    super(world.timeline, random, world.coverage);
    this.#world = world;
    this.#from = from;
    this.#applied = applied;
    this.#random = random;
    this.#onApplied = onApplied;
  }

  get isResting(): boolean {
    return this.#world.timeline.now < this.#rests_until;
  }

  /** Hands off one or a batch, again and again until the relay answers. */
  async send(count: number, plain: boolean): Promise<readonly string[]> {
    const { drafts, api } = this.#world;
    const first = Array.from({ length: count }, () => drafts.root(this.#from, plain));
    let submissions: readonly Submission[] = first;
    const submit = () => {
      const now = submissions;
      submissions = submissions.map((submission) => drafts.retry(submission));
      return api.submit(this.#from, now);
    };
    this.unanswered += count;
    let answer = await this.persist("submit", plain ? 100 : 12, submit);
    // Its earlier ones may fill its quota until they have ended.
    while (plain && answer?.ok === false) {
      await this.sleep(1_000);
      answer = await this.persist("submit", 100, submit);
    }
    this.unanswered -= count;
    // One that was refused, or got no answer at all, does not come back at once with the next.
    if (answer?.ok !== true) {
      this.#rests_until = this.#world.timeline.now + this.#random.between(200, 4_000);
      return [];
    }
    const ids = answer.submitted.map(({ id }) => id);
    for (const id of ids) this.watch(id);
    const [one] = first;
    if (plain || one === undefined) return ids;
    if (count === 1) this.#applied.sent.push(one);
    if (this.#random.chance(0.02)) {
      await this.persist("submit", 3, () => api.submit(this.#from, [drafts.contradiction(one)], false));
    }
    return ids;
  }

  /** The same again, long after: it must still be the first one. */
  async repeat(): Promise<void> {
    const { api, drafts } = this.#world;
    const { sent } = this.#applied;
    if (sent.length === 0) return;
    const some = this.#random.chance(0.5) ? sent.slice(-10) : sent;
    const submission = drafts.retry(this.#random.pick(some));
    const answer = await this.persist("submit", 3, () => api.submit(this.#from, [submission]));
    if (answer?.ok === true) for (const { id } of answer.submitted) this.watch(id);
  }

  watch(id: string): void {
    if (this.#watched.has(id)) return;
    this.#watched.add(id);
    void this.#follow(id);
    const { healed, scenario } = this.#world;
    if (!healed() && this.#random.chance(scenario.cancel)) void this.#cancelLater(id);
  }

  /** After a crash, or to be sure: every outcome that was not taken, every question that is open. */
  async collectForever(): Promise<void> {
    for (;;) {
      await this.sleep(this.#random.between(20_000, 90_000));
      await this.#collect();
    }
  }

  async #collect(): Promise<void> {
    const { api } = this.#world;
    const from = this.#from;
    for (let isCut = true; isCut; ) {
      const untaken = (await this.persist("list", 20, () => api.list(from, { from, untaken: true }))) ?? [];
      for (const handoff of untaken) await this.#take(handoff);
      isCut = untaken.length >= page;
    }
    const asked = await this.persist("list", 20, () => api.list(from, { from, question_to: [""] }));
    for (const handoff of asked ?? []) await this.#answer(handoff);
  }

  async #follow(id: string): Promise<void> {
    const { api } = this.#world;
    for (let failed = 0; ; ) {
      const wait_ms = this.#random.between(10_000, 120_000);
      const reply = await this.hear("follow", () => api.follow(this.#from, id, wait_ms));
      if (reply.kind !== "answer") {
        failed += 1;
        await this.sleep(this.#random.between(200, 2_000) * Math.min(failed, 6));
        continue;
      }
      failed = 0;
      const handoff = reply.value;
      if (handoff === null) return;
      if (this.#random.chance(0.1)) await this.hear("read", () => api.read(this.#from, id, 0));
      if (hasEnded(handoff.status)) {
        await this.#take(handoff);
        return this.#cleanUp(handoff);
      }
      await this.#answer(handoff);
    }
  }

  async #answer(handoff: Handoff): Promise<void> {
    const question = openQuestion(handoff);
    if (question !== undefined && question.to !== null) return this.sleep(this.#random.between(1_000, 5_000));
    await answerQuestion(this.#world, this, this.#random, this.#from, [], handoff);
  }

  async #cancelLater(id: string): Promise<void> {
    await this.sleep(this.#random.skewed(0, 30_000));
    const command = { type: "cancel", actor: this.#actor, reason: null, evidence: "attested" } as const;
    const body = { kind: "cancel", document: '{"typ":"cancel"}', proof: null, payload: null } as const;
    await this.persist("cancel", 4, () => this.#world.api.perform(this.#from, id, command, { body, artifacts: [] }));
  }

  /** Applied first, then taken: what was applied before is known by its id. */
  async #take({ accepted: { id }, status }: Handoff): Promise<void> {
    if (!hasEnded(status)) return;
    const { outcome } = status;
    const content = `${status.state} ${outcome.code} ${outcome.fence} ${outcome.content}`;
    this.#onApplied(id, this.#applied.outcomes.get(id), content);
    this.#applied.outcomes.set(id, content);
    const { api } = this.#world;
    await this.persist("take", 10, () => api.perform(this.#from, id, { type: "take", actor: this.#actor }));
  }

  async #cleanUp({ accepted, status }: Handoff): Promise<void> {
    const { api, drafts, healed } = this.#world;
    if (!hasEnded(status) || status.dead_letter === null || healed()) return;
    if (this.#random.chance(0.3)) {
      const command = { type: "discard", actor: this.#actor } as const;
      await this.persist("discard", 4, () => api.perform(this.#from, accepted.id, command));
      return;
    }
    if (!this.#random.chance(0.4)) return;
    const submission = drafts.redrive(this.#from, accepted.id, this.#from);
    const answer = await this.persist("redrive", 6, () =>
      api.redrive(this.#from, accepted.id, this.#actor, drafts.retry(submission)),
    );
    if (answer?.redriven_as != null) this.watch(answer.redriven_as);
  }

  get #actor() {
    return { kind: "agent", agent: this.#from } as const;
  }
}
