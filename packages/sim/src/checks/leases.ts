/** What claims are answered with: live leases of the claimer, the same ones again when it repeats itself, and never nothing while there is work. */

import { type Handoff, queueOf, type Time } from "@handfast/core";
import type { Body, Claim } from "@handfast/engine";
import type { RelayTimes } from "../world/relay-times.ts";
import { timer_slack_ms } from "./clock-witness.ts";
import type { Ledger } from "./ledger.ts";
import { ensure } from "./violation.ts";

type Note = ((about: string, text: string) => void) | null;

export class Leases {
  readonly #ledger: Ledger;
  readonly #times: RelayTimes;
  readonly #note: Note;
  readonly #check: (act: () => void) => void;
  /** Leases that each claim was answered with. */
  readonly #answered = new Map<string, Map<string, number>>();

  constructor(ledger: Ledger, times: RelayTimes, note: Note, check: (act: () => void) => void) {
    this.#ledger = ledger;
    this.#times = times;
    this.#note = note;
    this.#check = check;
  }

  /** `since`: the claim waited at the relay from then on. */
  given(claim: Claim, leases: readonly Handoff[], since: Time, now: Time): void {
    const { agent, worker, request_id, slots } = claim;
    const name = `${agent} ${worker} ${request_id}`;
    for (const lease of leases) this.#note?.(lease.accepted.id, `answer claim ${name} fence ${lease.fence}`);
    this.#check(() => {
      ensure(leases.length <= slots, "a claim never exceeds its slots", worker, () => `${leases.length} of ${slots}`);
      for (const lease of leases) this.#isHeld(claim, lease);
      this.#repeats(name, worker, leases);
      if (leases.length === 0) this.#nothingReady(claim, since, now);
    });
  }

  #isHeld({ agent, worker, queues }: Claim, { accepted, fence }: Handoff): void {
    const held = this.#ledger.histories.get(accepted.id)?.lease;
    ensure(
      held?.fence === fence && held.agent === agent && held.worker === worker,
      "at most one live lease, and the claimer holds it",
      accepted.id,
      () => `given to ${worker} under ${fence}, held by ${held?.worker} under ${held?.fence}`,
    );
    const queue = queueOf(accepted);
    ensure(queues().has(queue), "a claim gets what it asked for", accepted.id, queue);
  }

  #repeats(name: string, worker: string, leases: readonly Handoff[]): void {
    const given = new Map(leases.map(({ accepted, fence }) => [accepted.id, fence]));
    for (const [id, fence] of this.#answered.get(name) ?? []) {
      const held = this.#ledger.histories.get(id)?.lease;
      const live = held?.fence === fence && held.worker === worker;
      const superseded = leases.length === 0;
      ensure(
        !live || superseded || given.get(id) === fence,
        "a repeated claim returns the same leases",
        id,
        () => `${name} was given fence ${fence} before`,
      );
    }
    if (leases.length > 0) this.#answered.set(name, given);
  }

  /** It waited and got nothing: there was nothing for it, or not for long. */
  #nothingReady({ agent, worker, queues }: Claim, since: Time, now: Time): void {
    const longAgo = now - timer_slack_ms;
    if (since > longAgo) return;
    const ready = this.#ledger.ready.overlooked(agent, queues(), longAgo, now);
    const excused = ready !== null && this.#times.awayWithin(longAgo, now) > 0;
    ensure(
      ready === null || excused,
      "nobody waits while there is work for it",
      ready?.accepted.id ?? worker,
      () => `${worker} waited from ${since} to ${now}, this was ready at ${ready?.ready_at}`,
    );
  }

  /** What goes with a lease: the sender's own bytes, and the last checkpoint. */
  handedOver({ accepted, checkpoint }: Handoff, input: Body | null, state: Body | null): void {
    const { id } = accepted;
    const history = this.#ledger.histories.get(id);
    // Where it is gone already, the worker is told so when it acts.
    if (history === undefined || history.purged) return;
    this.#check(() => {
      const sent = this.#ledger.payloadOf(history)?.join();
      ensure(input?.payload?.join() === sent, "the worker gets the sender's bytes", id, () => `${input?.payload}`);
      if (checkpoint === null || history.checkpoint?.number !== checkpoint.number) return;
      ensure(
        state?.payload?.join() === history.checkpoint.sha256,
        "the next attempt gets the last checkpoint",
        id,
        () => `${state?.payload}, not ${history.checkpoint?.sha256}`,
      );
    });
  }
}
