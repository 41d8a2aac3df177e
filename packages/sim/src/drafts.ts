/** Handoffs as senders write them: targets, limits, keys, budgets drawn at random, and the same again for a retry. */

import type { Draft, Payload, Terms, Time } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import type { Directory } from "./directory.ts";
import { most_grade } from "./directory.ts";
import { namespace } from "./ledger.ts";
import type { Random } from "./random.ts";

export interface Wish {
  readonly from: string;
  readonly key: string;
  readonly parent: { readonly id: string; readonly fence: number } | null;
  readonly redrive_of: string | null;
  /** Generous limits and nothing special: it must be completed. */
  readonly plain: boolean;
}

export class Drafts {
  readonly #random: Random;
  readonly #directory: Directory;
  readonly #now: () => Time;
  #made = 0;

  constructor(random: Random, directory: Directory, now: () => Time) {
    this.#random = random;
    this.#directory = directory;
    this.#now = now;
  }

  key(from: string): string {
    this.#made += 1;
    return `${from}-${this.#made}`;
  }

  make(wish: Wish): Submission {
    const random = this.#random;
    const { plain } = wish;
    const named = random.chance(0.4);
    const target = {
      to: named ? random.pick(this.#directory.agents).name : null,
      capability: named ? null : random.pick(this.#directory.capabilities),
    };
    const grade = plain ? most_grade : random.between(0, most_grade);
    const special = (probability: number) => !plain && random.chance(probability);
    const terms = plain ? plainTerms : this.#terms();
    const ordering_key = random.chance(0.25) ? `lane-${random.between(1, 2)}` : null;
    const draft: Draft = {
      namespace,
      id: this.#id(),
      kind: special(0.1) ? "notice" : "handoff",
      from: wish.from,
      ...target,
      idempotency_key: wish.key,
      content: JSON.stringify([target, grade, ordering_key, terms]),
      digest: `digest of ${wish.key}`,
      evidence: "attested",
      demands: "any",
      correlation_id: wish.parent === null && random.chance(0.3) ? `job-${random.between(1, 20)}` : null,
      causation: wish.parent,
      conversation_id: null,
      detached: wish.parent !== null && random.chance(0.2),
      ordering_key,
      priority: plain ? 5 : random.between(0, 9),
      labels: random.chance(0.1) ? { tier: "gold" } : {},
      input: this.#payload(grade),
      artifacts: [],
      terms,
      budget: special(0.2) ? { cost: random.between(1, 5), tokens: null, handoffs: random.between(1, 6) } : null,
      dead_letter_to: special(0.1) ? random.pick(this.#directory.capabilities) : null,
      redrive_of: wish.redrive_of,
      redriven_by: wish.redrive_of === null ? null : wish.from,
    };
    return {
      draft,
      queue_if_absent: random.chance(0.5),
      target: this.#directory.fit(target, grade),
      body: {
        kind: "handoff",
        number: 0,
        document: `{"typ":"handoff","id":"${draft.id}"}`,
        proof: null,
        payload: Uint8Array.of(grade, 1, 2, 3),
      },
    };
  }

  /** The same content again after a lost answer: sometimes written anew, under another id and salt. */
  retry(submission: Submission): Submission {
    const { draft } = submission;
    const target = this.#directory.fit(draft, submission.body.payload?.[0] ?? 0);
    if (this.#random.chance(0.6)) return { ...submission, target };
    const again = { ...draft, id: this.#id(), input: { ...draft.input, salt: `salt-${this.#random.next()}` } };
    return { ...submission, target, draft: again };
  }

  /** The same key with other content: a mistake that must be refused if the first was accepted. */
  contradiction(submission: Submission): Submission {
    const { draft } = submission;
    return { ...submission, draft: { ...draft, id: this.#id(), content: `${draft.content} but different` } };
  }

  #id(): string {
    return makeId(this.#now(), this.#random.bytes(10));
  }

  #payload(grade: number): Payload {
    return { media_type: "application/json", size: 4, salt: `salt-${this.#random.next()}`, sha256: `grade-${grade}` };
  }

  #terms(): Terms {
    const random = this.#random;
    return {
      deadline_ms: random.skewed(3_000, 300_000),
      queue_ms: random.chance(0.5) ? 300_000 : random.between(2_000, 60_000),
      ack_ms: random.between(1_000, 10_000),
      lease_ms: random.between(3_000, 30_000),
      attempt_ms: random.chance(0.3) ? random.between(2_000, 60_000) : null,
      max_attempts: random.between(1, 4),
      max_deliveries: random.between(2, 10),
      retry: random.chance(0.15) ? "until_ack" : "attempts",
    };
  }
}

const plainTerms: Terms = {
  deadline_ms: 900_000,
  queue_ms: 900_000,
  ack_ms: 10_000,
  lease_ms: 30_000,
  attempt_ms: null,
  max_attempts: 3,
  max_deliveries: 10,
  retry: "attempts",
};
