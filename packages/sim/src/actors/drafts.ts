/** Handoffs as senders write them: targets, limits, keys, budgets drawn at random, and the same again for a retry. */

import type { Draft, Payload, Time } from "@handfast/core";
import { reserved_key_prefix } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import { namespace } from "../namespace.ts";
import type { Random } from "../random.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { drawTerms, plainTerms } from "../scenario/terms.ts";
import { type Directory, most_grade } from "../world/directory.ts";

interface Wish {
  readonly from: string;
  readonly key: string;
  readonly parent: { readonly id: string; readonly fence: number } | null;
  readonly redrive: { readonly of: string; readonly by: string } | null;
  /** Generous limits and nothing special: it must be completed. */
  readonly plain: boolean;
}

export class Drafts {
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #directory: Directory;
  readonly #now: () => Time;
  #made = 0;

  constructor(random: Random, scenario: Scenario, directory: Directory, now: () => Time) {
    this.#random = random;
    this.#scenario = scenario;
    this.#directory = directory;
    this.#now = now;
  }

  /** A sender's own handoff. */
  root(from: string, plain: boolean): Submission {
    return this.#make({ from, key: this.#key(from), parent: null, redrive: null, plain });
  }

  child(from: string, parent: { readonly id: string; readonly fence: number }): Submission {
    return this.#make({ from, key: this.#key(from), parent, redrive: null, plain: false });
  }

  /** A dead letter's other life: under the relay's own key as when it is asked for by call, or under the redriver's. */
  redrive(from: string, of: string, by: string): Submission {
    const key = this.#random.chance(0.5) ? `${reserved_key_prefix}redrive:${of}` : this.#key(by);
    return this.#make({ from, key, parent: null, redrive: { of, by }, plain: false });
  }

  #key(from: string): string {
    this.#made += 1;
    return `${from}-${this.#made}`;
  }

  #make(wish: Wish): Submission {
    const random = this.#random;
    const { plain } = wish;
    const clear = this.#scenario.weather === "clear";
    const named = random.chance(0.4);
    const target = {
      to: named ? random.pick(this.#directory.agents).name : null,
      capability: named ? null : random.pick(this.#directory.capabilities),
    };
    const grade = plain || clear ? most_grade : random.between(0, most_grade);
    const special = (probability: number) => !plain && random.chance(probability);
    const terms = plain ? plainTerms : drawTerms(random, this.#scenario.patience);
    const asked = { ...target, ...this.#versions(target.capability, plain || clear) };
    const ordering_key = random.chance(0.25) ? `lane-${random.between(1, 2)}` : null;
    const id = this.#id();
    const payload = Uint8Array.of(grade, ...random.bytes(4));
    const draft: Draft = {
      namespace,
      id,
      kind: special(0.1) ? "notice" : "handoff",
      from: wish.from,
      ...asked,
      idempotency_key: wish.key,
      content: `${JSON.stringify(asked)} ${payload} ${ordering_key} ${JSON.stringify(terms)}`,
      digest: `digest of ${wish.key}`,
      evidence: "attested",
      demands: special(0.1) ? "signed" : "any",
      correlation_id: wish.parent === null && random.chance(0.3) ? `job-${random.between(1, 20)}` : null,
      causation: wish.parent,
      conversation_id: this.#scenario.is_routed && random.chance(0.2) ? `chat-${random.between(1, 4)}` : null,
      detached: wish.parent !== null && random.chance(0.2),
      ordering_key,
      priority: plain ? 5 : random.between(0, 9),
      labels: random.chance(0.1) ? { tier: random.pick(["gold", "silver"]) } : {},
      input: this.#payload(payload),
      artifacts: special(0.15) ? [artifactName(random)] : [],
      terms,
      budget: special(0.3) ? this.#budget() : null,
      dead_letter_to: special(0.1) ? random.pick(this.#directory.capabilities) : null,
      redrive_of: wish.redrive?.of ?? null,
      redriven_by: wish.redrive?.by ?? null,
    };
    return {
      draft,
      queue_if_absent: random.chance(0.5),
      target: this.#directory.fit(asked, grade, this.#now()),
      body: { kind: "handoff", number: 0, document: `{"typ":"handoff","id":"${id}"}`, proof: null, payload },
    };
  }

  /** Which versions may have it. `isSure`: it must be completed, so somebody must offer what it asks for. */
  #versions(capability: string | null, isSure: boolean): Pick<Draft, "version_range" | "canary"> {
    const random = this.#random;
    if (!this.#scenario.is_routed || capability === null || random.chance(0.7)) return {};
    const range = random.pick(["1.x", "^1.2", "2.x"]);
    if (random.chance(0.4)) return { canary: range };
    const asked = { to: null, capability, version_range: range };
    const isOffered = this.#directory.fit(asked, most_grade, this.#now()).kind === "fits";
    return isSure && !isOffered ? {} : { version_range: range };
  }

  /** The same content again after a lost answer: sometimes written anew, under another id and salt. */
  retry(submission: Submission): Submission {
    const { draft } = submission;
    const target = this.#directory.fit(draft, submission.body.payload?.[0] ?? 0, this.#now());
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

  #budget() {
    const random = this.#random;
    return {
      cost: random.chance(0.7) ? random.between(1, 5) : null,
      tokens: random.chance(0.3) ? random.between(100, 500) : null,
      handoffs: random.chance(0.7) ? random.between(1, 6) : null,
    };
  }

  #payload(bytes: Uint8Array): Payload {
    const sha256 = `sha-of-${bytes}`;
    return { media_type: "application/json", size: bytes.length, salt: `salt-${this.#random.next()}`, sha256 };
  }
}

/** Few, so that several handoffs refer to the same one. */
function artifactName(random: Random): string {
  return `artifact-${random.between(1, 12)}`;
}
