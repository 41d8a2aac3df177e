/** The relay's operations as actors call them: over the network, noted as said, and the answers checked as they leave. */

import type { Actor, Duration, Handoff } from "@handfast/core";
import { hasEnded } from "@handfast/core";
import {
  type Answer,
  type Claim,
  type Enclosure,
  type PublicCommand,
  type RedriveAnswer,
  type Submission,
  type SubmitAnswer,
  wakeKey,
} from "@handfast/engine";
import type { Answers } from "./answers.ts";
import { desk } from "./directory.ts";
import { namespace } from "./ledger.ts";
import type { Network, Reply } from "./network.ts";
import type { Said } from "./said.ts";
import type { Tally } from "./tally.ts";

const patience_ms: Duration = 5_000;

export class Api {
  readonly #network: Network;
  readonly #answers: Answers;
  readonly #said: Said;
  readonly #tally: Tally;

  constructor(network: Network, answers: Answers, said: Said, tally: Tally) {
    this.#network = network;
    this.#answers = answers;
    this.#said = said;
    this.#tally = tally;
  }

  /** `honest` false: the sender means to break a rule, and must be refused. */
  submit(submissions: readonly Submission[], honest = true): Promise<Reply<SubmitAnswer>> {
    this.#tally.add("calls", "submit");
    for (const { draft } of submissions) this.#said.submitted(draft);
    return this.#network.call({
      patience_ms,
      act: async (front) => {
        const answer = await front.submit(submissions);
        await this.#answers.submitted(submissions, answer, honest);
        return answer;
      },
    });
  }

  perform(id: string, command: PublicCommand, enclosure?: Enclosure): Promise<Reply<Answer>> {
    this.#tally.add("calls", command.type);
    if ("fence" in command) {
      const content = "content" in command ? command.content : "";
      this.#said.did(
        command.type,
        id,
        command.fence,
        command.agent,
        content,
        "retryable" in command && command.retryable,
      );
    } else if (command.actor.kind === "agent") {
      this.#said.did(command.type, id, null, command.actor.agent);
    }
    return this.#network.call({
      patience_ms,
      act: async (front) => {
        const answer = await front.perform(namespace, id, command, enclosure);
        this.#answers.performed(id, command, answer);
        return answer;
      },
    });
  }

  redrive(id: string, actor: Actor, submission: Submission): Promise<Reply<RedriveAnswer>> {
    this.#tally.add("calls", "redrive");
    this.#said.submitted(submission.draft);
    return this.#network.call({
      patience_ms,
      act: async (front) => {
        const answer = await front.redrive(namespace, id, actor, submission);
        this.#answers.redriven(id, answer);
        return answer;
      },
    });
  }

  claim(claim: Claim): Promise<Reply<readonly Handoff[]>> {
    this.#tally.add("calls", "claim");
    return this.#network.call({
      patience_ms: claim.wait_ms + patience_ms,
      act: async (front) => {
        const leases = await front.claim(claim);
        this.#answers.claimed(claim, leases);
        return leases;
      },
      saysNothing: (leases) => leases.length === 0,
      undelivered: (leases, front) => {
        const { agent } = claim;
        const given = leases.map(({ accepted: { id }, fence }) => ({ id, fence, agent }));
        for (const { id, fence } of given) this.#said.did("release", id, fence, agent);
        if (given.length > 0) this.#tally.add("calls", "undelivered");
        // The relay may be failing at this moment; the leases then run out by themselves.
        front.undelivered(namespace, given).catch(() => {});
      },
    });
  }

  /** Waits, at most so long, until the handoff ended or asks something; answers with what it is then. */
  follow(id: string, wait_ms: Duration): Promise<Reply<Handoff | null>> {
    this.#tally.add("calls", "follow");
    return this.#network.call({
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

  /** A sender that lost its ids lists its untaken outcomes. */
  untaken(from: string): Promise<Reply<readonly Handoff[]>> {
    this.#tally.add("calls", "list");
    return this.#network.call({
      patience_ms,
      act: async (_, { store }) =>
        (await store.list({ namespace, from, untaken: true, order: "oldest", limit: 200 })).handoffs,
    });
  }

  /** Open questions to this sender, or to the desk about what it sent. */
  questions(from: string): Promise<Reply<readonly Handoff[]>> {
    this.#tally.add("calls", "list");
    const question_to = ["", desk];
    return this.#network.call({
      patience_ms,
      act: async (_, { store }) =>
        (await store.list({ namespace, from, question_to, order: "oldest", limit: 200 })).handoffs,
    });
  }
}
