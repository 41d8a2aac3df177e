/** The relay's operations as actors call them: over the network, noted as said, and the answers checked as they leave. */

import { type Actor, type Duration, type Handoff, hasEnded, type Refusal } from "@handfast/core";
import {
  type Answer,
  type Chunks,
  type Claim,
  type Enclosure,
  type EngineFault,
  type EventPage,
  type ListQuery,
  type PublicCommand,
  type RedriveAnswer,
  type Submission,
  type SubmitAnswer,
  wakeKey,
} from "@handfast/engine";
import type { Answers } from "../checks/answers.ts";
import type { Leases } from "../checks/leases.ts";
import { namespace } from "../namespace.ts";
import type { Tally } from "../run/tally.ts";
import type { Network, Reply } from "../world/network.ts";
import type { Front } from "../world/relay-process.ts";
import type { Said } from "./said.ts";

const patience_ms: Duration = 5_000;
/** At most so many in one list, or events in one read. */
export const page = 200;

export class Api {
  readonly #network: Network;
  readonly #answers: Answers;
  readonly #leases: Leases;
  readonly #said: Said;
  readonly #tally: Tally;

  constructor(network: Network, answers: Answers, leases: Leases, said: Said, tally: Tally) {
    this.#network = network;
    this.#answers = answers;
    this.#leases = leases;
    this.#said = said;
    this.#tally = tally;
  }

  /** `honest` false: the sender means to break a rule, and must be refused. */
  submit(actor: string, submissions: readonly Submission[], honest = true): Promise<Reply<SubmitAnswer>> {
    this.#tally.add("calls", "submit");
    this.#said.submitted(submissions);
    return this.#network.call({
      name: "submit",
      actor,
      patience_ms,
      act: async (front) => {
        const answer = await front.submit(submissions);
        this.#answers.submitted(submissions, answer, honest);
        return answer;
      },
    });
  }

  perform(actor: string, id: string, command: PublicCommand, enclosure?: Enclosure): Promise<Reply<Answer>> {
    this.#said.did(id, command);
    return this.#perform(actor, id, command, enclosure, (answer) => this.#answers.performed(id, command, answer));
  }

  /** By one who has no right to it: it must be refused, and is not counted as said by anyone who has. */
  meddle(actor: string, id: string, command: PublicCommand): Promise<Reply<Answer>> {
    return this.#perform(actor, id, command, undefined, (answer) => this.#answers.meddled(id, command, answer));
  }

  #perform(
    actor: string,
    id: string,
    command: PublicCommand,
    enclosure: Enclosure | undefined,
    check: (answer: Answer) => void,
  ): Promise<Reply<Answer>> {
    this.#tally.add("calls", command.type);
    return this.#network.call({
      name: command.type,
      actor,
      patience_ms,
      act: async (front) => {
        const answer = await front.perform(namespace, id, command, enclosure);
        check(answer);
        return answer;
      },
      onFault: (fault: EngineFault) => this.#answers.faulted(id, command, fault),
    });
  }

  redrive(actor: string, id: string, by: Actor, submission: Submission): Promise<Reply<RedriveAnswer>> {
    this.#tally.add("calls", "redrive");
    this.#said.submitted([submission]);
    return this.#network.call({
      name: "redrive",
      actor,
      patience_ms,
      act: async (front) => {
        const answer = await front.redrive(namespace, id, by, submission);
        this.#answers.redriven(id, by, answer);
        return answer;
      },
    });
  }

  claim(claim: Claim): Promise<Reply<readonly Handoff[]>> {
    this.#tally.add("calls", "claim");
    const { agent } = claim;
    return this.#network.call({
      name: "claim",
      actor: claim.worker,
      patience_ms: claim.wait_ms + patience_ms,
      act: async (front) => {
        const since = front.now();
        const leases = await front.claim(claim);
        this.#leases.given(claim, leases, since, front.now());
        for (const handoff of leases) await this.#handOver(front, handoff);
        return leases;
      },
      saysNothing: (leases) => leases.length === 0,
      undelivered: (leases, front) => {
        const given = leases.map(({ accepted: { id }, fence }) => ({ id, fence, agent }));
        for (const { id, fence } of given) this.#said.gaveBack(id, fence, agent);
        if (given.length > 0) this.#tally.add("calls", "give back");
        // The relay may be failing at this moment; the leases then run out by themselves.
        front.undelivered(namespace, given).catch(() => {});
      },
    });
  }

  /** What goes with a lease: the input and the last checkpoint. */
  async #handOver(front: Front, handoff: Handoff): Promise<void> {
    const { accepted, checkpoint } = handoff;
    const input = await front.body(namespace, accepted.id, "handoff", 0);
    const state =
      checkpoint === null ? null : await front.body(namespace, accepted.id, "checkpoint", checkpoint.number);
    this.#leases.handedOver(handoff, input, state);
  }

  /** Waits, at most so long, until the handoff ended or asks something; answers with what it is then. */
  follow(actor: string, id: string, wait_ms: Duration): Promise<Reply<Handoff | null>> {
    this.#tally.add("calls", "follow");
    return this.#network.call({
      name: "follow",
      actor,
      patience_ms: wait_ms + patience_ms,
      act: async (front) => {
        const until = front.now() + wait_ms;
        for (;;) {
          const woken = front.wakeups.wait(wakeKey.handoff(namespace, id), Math.max(0, until - front.now()));
          const handoff = await front.get(namespace, id);
          const news = handoff === null || hasEnded(handoff.status) || handoff.status.state === "waiting";
          if (news || front.now() >= until) {
            this.#answers.seen(id, handoff);
            return handoff;
          }
          await woken;
        }
      },
    });
  }

  /** A sender that lost its ids lists its untaken outcomes; a desk lists what it is asked. */
  list(actor: string, query: Omit<ListQuery, "namespace" | "order" | "limit">): Promise<Reply<readonly Handoff[]>> {
    this.#tally.add("calls", "list");
    return this.#network.call({
      name: "list",
      actor,
      patience_ms,
      act: async (_, { store }) => {
        const { handoffs } = await store.list({ namespace, order: "oldest", limit: page, ...query });
        for (const handoff of handoffs) this.#answers.seen(handoff.accepted.id, handoff);
        return handoffs;
      },
    });
  }

  /** The log from a position on. */
  log(actor: string, after_pos: number): Promise<Reply<EventPage>> {
    this.#tally.add("calls", "read log");
    return this.#network.call({
      name: "read",
      actor,
      patience_ms,
      act: async (_, { store }) => {
        const events = await store.events({ namespace, after_pos, limit: page });
        this.#answers.readLog(after_pos, events);
        return events;
      },
    });
  }

  /** Streams output while working. */
  write(
    actor: string,
    id: string,
    holder: { readonly agent: string; readonly fence: number },
    offset: number,
    text: string,
  ): Promise<Reply<{ readonly offset: number } | Refusal>> {
    this.#tally.add("calls", "write chunk");
    return this.#network.call({
      name: "write",
      actor,
      patience_ms,
      act: async (front) => {
        const handoff = await front.get(namespace, id);
        if (handoff === null) return { code: 404, reason: "unknown_handoff", message: id };
        const written = await front.chunks.write(handoff, holder, offset, text);
        if (!("reason" in written)) front.wakeups.publish([wakeKey.handoff(namespace, id)]);
        return written;
      },
    });
  }

  /** Streamed output as far as it came. */
  read(actor: string, id: string, offset: number): Promise<Reply<Chunks | null>> {
    this.#tally.add("calls", "read chunks");
    return this.#network.call({
      name: "read",
      actor,
      patience_ms,
      act: async (front) => {
        await front.get(namespace, id);
        const chunks = await front.chunks.read(namespace, id, offset);
        if (chunks !== null) this.#answers.streamed(id, chunks);
        return chunks;
      },
    });
  }
}
