/** A sender: one process of an agent that hands off, follows, answers, cancels, takes, and cleans up dead letters. */

import { type Handoff, hasEnded } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import { desk } from "./directory.ts";
import { Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** What a sender has durably done with outcomes: it survives the process. */
export class Applied {
  readonly outcomes = new Map<string, string>();
  readonly taken = new Set<string>();
}

export class Sender extends Process {
  readonly #world: World;
  readonly #from: string;
  readonly #applied: Applied;
  readonly #random: Random;
  readonly #onTwice: (id: string, first: string, second: string) => void;
  /** Handoffs that it looks after. */
  readonly #watched = new Set<string>();

  constructor(
    world: World,
    from: string,
    applied: Applied,
    onTwice: (id: string, first: string, second: string) => void,
  ) {
    const random = world.random.fork();
    super(world.timeline, random);
    this.#world = world;
    this.#from = from;
    this.#applied = applied;
    this.#random = random;
    this.#onTwice = onTwice;
  }

  /** Hands off one or a batch, again and again until the relay answers. */
  async send(count: number, plain: boolean): Promise<readonly string[]> {
    const { drafts, api } = this.#world;
    const from = this.#from;
    const first = Array.from({ length: count }, () =>
      drafts.make({ from, key: drafts.key(from), parent: null, redrive_of: null, plain }),
    );
    let submissions: readonly Submission[] = first;
    const answer = await this.persist(plain ? 100 : 12, () => {
      const now = submissions;
      submissions = submissions.map((submission) => drafts.retry(submission));
      return api.submit(now);
    });
    if (answer?.ok !== true) return [];
    const ids = answer.submitted.map(({ id }) => id);
    for (const id of ids) this.watch(id);
    const [one] = first;
    if (!plain && one !== undefined && this.#random.chance(0.02)) {
      const other = await this.persist(3, () => api.submit([drafts.contradiction(one)], false));
      if (other?.ok === true) this.#onTwice(ids[0] ?? "", one.draft.content, "other content under the same key");
    }
    return ids;
  }

  watch(id: string): void {
    if (this.#watched.has(id)) return;
    this.#watched.add(id);
    void this.#follow(id);
    if (!this.#world.healed() && this.#random.chance(0.06)) void this.#cancelLater(id);
  }

  /** After a crash, or to be sure: every outcome that was not taken, every question that is open. */
  async #collect(): Promise<void> {
    const untaken = await this.persist(20, () => this.#world.api.untaken(this.#from));
    for (const handoff of untaken ?? []) await this.#take(handoff);
    const asked = await this.persist(20, () => this.#world.api.questions(this.#from));
    for (const handoff of asked ?? []) await this.#answer(handoff);
  }

  async collectForever(): Promise<void> {
    for (;;) {
      await this.sleep(this.#random.between(20_000, 60_000));
      await this.#collect();
    }
  }

  async #follow(id: string): Promise<void> {
    const { api } = this.#world;
    for (;;) {
      const reply = await this.own(api.follow(id, this.#random.between(2_000, 60_000)));
      if (reply.kind !== "answer") {
        await this.sleep(this.#random.between(100, 1_000));
        continue;
      }
      const handoff = reply.value;
      if (handoff === null) return;
      if (hasEnded(handoff.status)) {
        await this.#take(handoff);
        return this.#cleanUp(handoff);
      }
      await this.#answer(handoff);
    }
  }

  async #answer(handoff: Handoff): Promise<void> {
    const { api, healed } = this.#world;
    const { status, questions, accepted } = handoff;
    const question = status.state === "waiting" ? questions.find(({ id }) => id === status.question) : undefined;
    await this.sleep(this.#random.between(50, 3_000));
    if (question === undefined || question.resolution !== null || (!healed() && this.#random.chance(0.3))) return;
    const answer = { media_type: "text/plain", size: 2, salt: "", sha256: `answer-${question.id}` };
    const body = { kind: "answer", document: '{"typ":"answer"}', proof: null, payload: null } as const;
    const agent = question.to === null ? accepted.from : desk;
    const offers = question.to === null ? [] : [desk];
    await this.persist(6, () =>
      api.perform(
        accepted.id,
        {
          type: "answer",
          actor: { kind: "agent", agent },
          question: question.id,
          content: answer.sha256,
          answer,
          evidence: "attested",
          offers,
        },
        { body, artifacts: [] },
      ),
    );
  }

  async #cancelLater(id: string): Promise<void> {
    await this.sleep(this.#random.skewed(0, 30_000));
    const actor = { kind: "agent", agent: this.#from } as const;
    const command = { type: "cancel", actor, reason: null, evidence: "attested" } as const;
    const body = { kind: "cancel", document: '{"typ":"cancel"}', proof: null, payload: null } as const;
    await this.persist(4, () => this.#world.api.perform(id, command, { body, artifacts: [] }));
  }

  /** Applied first, then taken: what was applied before is known by its id. */
  async #take({ accepted: { id }, status }: Handoff): Promise<void> {
    if (!hasEnded(status)) return;
    const { outcome } = status;
    const content = `${status.state} ${outcome.code} ${outcome.fence} ${outcome.content}`;
    const known = this.#applied.outcomes.get(id);
    if (known !== undefined && known !== content) this.#onTwice(id, known, content);
    this.#applied.outcomes.set(id, content);
    const actor = { kind: "agent", agent: this.#from } as const;
    const answer = await this.persist(10, () => this.#world.api.perform(id, { type: "take", actor }));
    if (answer?.refusal === null) this.#applied.taken.add(id);
  }

  async #cleanUp({ accepted, status }: Handoff): Promise<void> {
    const { api, drafts, healed } = this.#world;
    if (!hasEnded(status) || status.dead_letter === null || healed()) return;
    const actor = { kind: "agent", agent: this.#from } as const;
    if (this.#random.chance(0.3)) {
      await this.persist(4, () => api.perform(accepted.id, { type: "discard", actor }));
      return;
    }
    if (!this.#random.chance(0.4)) return;
    const from = this.#from;
    const wish = { from, key: `redrive-${accepted.id}`, parent: null, redrive_of: accepted.id, plain: false };
    const submission = drafts.make(wish);
    const answer = await this.persist(6, () => api.redrive(accepted.id, actor, drafts.retry(submission)));
    if (answer?.redriven_as != null) this.watch(answer.redriven_as);
  }
}
