/** What the relay answers is checked where the answer leaves it: it must be true on disk by then. */

import { type Handoff, hasEnded, liveLease, queueOf } from "@handfast/core";
import type { Answer, Claim, PublicCommand, RedriveAnswer, Store, Submission, SubmitAnswer } from "@handfast/engine";
import { type Ledger, namespace } from "./ledger.ts";
import { ensure, Violation } from "./violation.ts";

/** Refusals that an honest sender may get for a submit. */
const submitRefusals: ReadonlySet<string> = new Set([
  "lease_lost",
  "too_many_hops",
  "budget_spent",
  "nobody_offers",
  "input_unfit",
  // Its clock and the relay's may be apart.
  "id_time",
]);

export class Answers {
  readonly #ledger: Ledger;
  readonly #disk: Store;
  readonly #note: (about: string, text: string) => void;
  readonly #check: (act: () => void) => void;
  /** Outcomes that were answered as accepted, by handoff and fence. */
  readonly #outcomes = new Map<string, string>();
  /** Leases that each claim was answered with. */
  readonly #claims = new Map<string, Map<string, number>>();
  /** What each sender was told it may rely on. */
  readonly confirmed = new Set<string>();

  constructor(
    ledger: Ledger,
    disk: Store,
    note: (about: string, text: string) => void,
    check: (act: () => void) => void,
  ) {
    this.#ledger = ledger;
    this.#disk = disk;
    this.#note = note;
    this.#check = check;
  }

  async submitted(submissions: readonly Submission[], answer: SubmitAnswer, honest: boolean): Promise<void> {
    const about = submissions[0]?.draft.id ?? "submit";
    this.#note(
      about,
      `answer submit ${JSON.stringify(answer.ok ? answer.submitted.map(({ id }) => id) : answer.refusals)}`,
    );
    if (!answer.ok) {
      return this.#check(() => {
        for (const { refusal, index } of answer.refusals) {
          const { draft } = submissions[index] ?? {};
          const expected =
            !honest || (refusal.reason === "foreign_parent" ? false : submitRefusals.has(refusal.reason));
          ensure(
            expected,
            "an honest retry is never refused",
            draft?.id ?? about,
            `${refusal.code} ${refusal.message}`,
          );
        }
      });
    }
    const ids = answer.submitted.map(({ id }) => id);
    const rows = await this.#disk.load(namespace, ids);
    this.#check(() => {
      ensure(ids.length === submissions.length, "a batch is atomic", about, `${ids.length} of ${submissions.length}`);
      for (const [index, { id, repeated }] of answer.submitted.entries()) {
        const draft = submissions[index]?.draft;
        const history = this.#ledger.histories.get(id);
        const there = history !== undefined && (rows[index] !== null || history.purged);
        ensure(there, "accepted is durable", id, "answered, but not on disk");
        ensure(
          history?.accepted.idempotency_key === draft?.idempotency_key && history?.accepted.content === draft?.content,
          "a repeat answers as the first time",
          id,
          `asked for ${draft?.id}, repeated ${repeated}`,
        );
        this.confirmed.add(id);
      }
    });
  }

  redriven(id: string, answer: RedriveAnswer): void {
    this.#note(id, `answer redrive ${answer.redriven_as} ${answer.refusal?.reason}`);
    this.#check(() => {
      if (answer.redriven_as === null) return;
      const successor = this.#ledger.histories.get(answer.redriven_as);
      ensure(successor?.accepted.redrive_of === id, "a redrive names its successor", id, answer.redriven_as);
      const status = this.#ledger.row(id)?.status;
      const marked = status !== undefined && hasEnded(status) ? status.dead_letter : null;
      ensure(
        marked?.status === "redriven" && marked.id === answer.redriven_as,
        "a dead letter is redriven once",
        id,
        `answered ${answer.redriven_as}, stored ${JSON.stringify(marked)}`,
      );
      this.confirmed.add(answer.redriven_as);
    });
  }

  performed(id: string, command: PublicCommand, answer: Answer): void {
    const { refusal, handoff } = answer;
    this.#note(id, `answer ${command.type} ${"fence" in command ? command.fence : ""} ${refusal?.reason ?? "ok"}`);
    this.#check(() => {
      if (this.#ledger.histories.get(id)?.purged === true) return;
      if (handoff === null) throw new Violation("accepted is durable", id, `${command.type} finds no handoff`);
      ensure(refusal?.code !== 403, "no holder or sender is turned away", id, `${command.type}: ${refusal?.message}`);
      if (command.type === "beat" && refusal === null) {
        this.#ledger.histories.get(id)?.beat(command.fence, liveLease(handoff)?.beat_at ?? 0);
      }
      if (refusal === null) this.#carriedOut(id, command);
    });
  }

  #carriedOut(id: string, command: PublicCommand): void {
    const row = this.#ledger.row(id);
    const history = this.#ledger.histories.get(id);
    if (row === undefined || history === undefined) throw new Violation("accepted is durable", id, command.type);
    switch (command.type) {
      case "complete":
      case "fail":
      case "reject": {
        const { content, fence } = command;
        const name = `${id} ${fence}`;
        const first = this.#outcomes.get(name);
        ensure(first === undefined || first === content, "no second outcome under a fence", id, `${first}, ${content}`);
        this.#outcomes.set(name, content);
        const won = hasEnded(row.status) && row.status.outcome.content === content;
        const recorded = row.failures.some((failure) => failure.fence === fence && failure.content === content);
        // Notices end with their ack; a repeat of what was dropped from the failures kept is still answered alike.
        const known = won || recorded || history.outcomes.has(fence);
        return ensure(known, "an outcome answered OK is kept", id, `${command.type} under ${fence}`);
      }
      case "ack": {
        const holder = history.holders.get(command.fence);
        return ensure(holder?.agent === command.agent, "an ack answered OK is the holder's", id, `${command.fence}`);
      }
      case "take":
        return ensure(history.taken, "taken is durable", id, "answered, but not stored");
      case "cancel":
        return ensure(history.hasEnded, "canceled is durable", id, `answered, but ${history.state}`);
      default:
        return;
    }
  }

  claimed(claim: Claim, leases: readonly Handoff[]): void {
    const { agent, worker, request_id, slots } = claim;
    const name = JSON.stringify([agent, worker, request_id]);
    if (leases.length > 0) {
      for (const lease of leases) this.#note(lease.accepted.id, `answer claim ${name} fence ${lease.fence}`);
    }
    this.#check(() => {
      ensure(leases.length <= slots, "a claim never exceeds its slots", worker, `${leases.length} of ${slots}`);
      for (const lease of leases) {
        const { id } = lease.accepted;
        const held = this.#ledger.histories.get(id)?.lease;
        ensure(
          held?.fence === lease.fence && held.agent === agent && held.worker === worker,
          "at most one live lease, and the claimer holds it",
          id,
          `given to ${worker} under ${lease.fence}, held by ${held?.worker} under ${held?.fence}`,
        );
        ensure(
          claim.queues.has(queueOf(lease.accepted)),
          "a claim gets what it asked for",
          id,
          queueOf(lease.accepted),
        );
      }
      const given = new Map(leases.map(({ accepted, fence }) => [accepted.id, fence]));
      for (const [id, fence] of this.#claims.get(name) ?? []) {
        const held = this.#ledger.histories.get(id)?.lease;
        const live = held?.fence === fence && held.worker === worker;
        const superseded = leases.length === 0;
        ensure(!live || superseded || given.get(id) === fence, "a repeated claim returns the same leases", id, name);
      }
      if (leases.length > 0) this.#claims.set(name, given);
    });
  }

  seen(id: string, handoff: Handoff | null): void {
    this.#note(id, `answer get ${handoff?.status.state}`);
    this.#check(() => {
      const history = this.#ledger.histories.get(id);
      if (handoff === null) return ensure(history?.purged === true, "accepted is durable", id, "get finds nothing");
      ensure(
        history !== undefined && handoff.seq <= history.seq,
        "nothing is told before it is safe",
        id,
        `${handoff.seq}`,
      );
    });
  }
}
