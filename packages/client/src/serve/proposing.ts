/**
 * Answering calls for proposals, beside the work and without its slots. Each call is answered once, within the time that the
 * relay gives for it: what comes too late, or not at all, counts as a decline there. Another worker of the agent may have
 * been faster: its answer stands.
 */

import type { ProposalCall } from "@handfast/protocol/wire";
import { type ProposalSaid, propose } from "../acts.ts";
import type { Base } from "../base.ts";
import { HandfastError, HandoffError, Reject } from "../errors.ts";
import { pause } from "../link/persist.ts";
import { openCalls } from "../send/newcomers.ts";
import { orAborted } from "../send/or-aborted.ts";
import type { Offered } from "./capabilities.ts";
import { messageOf, outcomeError, storyOf } from "./faults.ts";
import { serveLimits as limits } from "./limits.ts";
import { proposedTerms, strangeIn } from "./propose.ts";

export class Proposing {
  readonly #base: Base;
  readonly #offered: ReadonlyMap<string, Offered>;
  readonly #isStopping: () => boolean;
  readonly #ended = new AbortController();
  readonly #answering = new Set<string>();
  readonly #warned = new Set<string>();

  constructor(base: Base, offered: ReadonlyMap<string, Offered>, isStopping: () => boolean) {
    this.#base = base;
    this.#offered = offered;
    this.#isStopping = isStopping;
  }

  /** Nobody is asked who has nothing to say. */
  start(): void {
    if ([...this.#offered.values()].some((each) => each.propose !== null)) void this.#follow();
  }

  stop(): void {
    this.#ended.abort(new Error(`${this.#base.agent} answers no more calls for proposals.`));
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        for await (const call of openCalls(this.#base, signal)) {
          this.#warned.clear();
          void this.#answer(call);
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#warn(error);
        await pause(this.#base.surroundings, limits.claim_pause_ms, signal).catch(() => {});
      }
    }
  }

  async #answer(call: ProposalCall): Promise<void> {
    const offered = this.#offered.get(call.capability);
    // Other workers of the agent may serve other capabilities.
    if (offered === undefined || offered.propose === null || this.#isStopping()) return;
    if (this.#answering.has(call.id)) return;
    this.#answering.add(call.id);
    const late = new AbortController();
    const callOff = this.#base.surroundings.after(call.reply_by - call.asked_at, () => late.abort(tooLate(call)));
    const signal = AbortSignal.any([late.signal, this.#ended.signal]);
    try {
      await this.#say(call, await this.#proposed(call, offered, signal), signal);
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#tell(call, error);
    } finally {
      callOff();
      this.#answering.delete(call.id);
    }
  }

  /** What the agent says to it. Throws where it says nothing. */
  async #proposed(call: ProposalCall, offered: Offered, signal: AbortSignal): Promise<ProposalSaid> {
    const strange = strangeIn(this.#base, call, offered);
    if (strange.length > 0) throw notOffered(call, strange);
    const asked = async () => offered.propose?.(structuredClone(call), { signal });
    try {
      return { terms: proposedTerms(call, await orAborted(asked(), signal)) };
    } catch (error) {
      signal.throwIfAborted();
      return this.#declined(call, error);
    }
  }

  /** A proposal that the relay does not take as it is becomes a decline: the asker need not wait for it in vain. */
  async #say(call: ProposalCall, said: ProposalSaid, signal: AbortSignal): Promise<void> {
    try {
      await propose(this.#base, call, said, { signal });
    } catch (error) {
      const isRefused = error instanceof HandoffError && error.code === 400 && said.decline === undefined;
      if (!isRefused) throw error;
      await propose(this.#base, call, this.#declined(call, error), { signal });
    }
  }

  /** The asker is told the reason; what was no `Reject` is a fault of this agent's, and its own people are told the story. */
  #declined(call: ProposalCall, error: unknown): ProposalSaid {
    if (error instanceof Reject) {
      const { reason, message } = outcomeError(error.reason, messageOf(error));
      return { decline: { reason, message } };
    }
    const message = `The call ${call.id} of ${call.from} for ${call.capability} is declined: ${storyOf(error)}`;
    this.#base.warn({ reason: "propose_failed", message });
    return { decline: { reason: "propose_failed", message: "It could not say on which terms it would do it." } };
  }

  /** Why a call stays without an answer from here. */
  #tell({ id, from, capability }: ProposalCall, error: unknown): void {
    const reason = error instanceof HandfastError ? error.reason : "propose_failed";
    // Another worker answered it, or the asker went on.
    if (reason === "already_proposed" || reason === "unknown_proposal") return;
    const message = `The call ${id} of ${from} for ${capability} is not answered: ${messageOf(error)}`;
    this.#base.warn({ reason, message });
  }

  /** Once for each reason, until there are calls again. */
  #warn(error: unknown): void {
    const reason = error instanceof HandfastError ? error.reason : "propose_failed";
    if (this.#warned.has(reason)) return;
    this.#warned.add(reason);
    const message = `${this.#base.agent} hears of no calls for proposals, and goes on asking: ${messageOf(error)}`;
    this.#base.warn({ reason, message });
  }
}

function tooLate({ capability }: ProposalCall): HandfastError {
  return new HandfastError(`What it proposes for ${capability} did not come in time.`, {
    reason: "propose_late",
    remedy: "It counts as a decline: let propose() answer sooner, or let the asker wait longer (replyBy).",
    retryable: false,
    anchor: "propose_late",
  });
}

function notOffered({ from }: ProposalCall, strange: readonly string[]): HandoffError {
  return new HandoffError({
    code: 401,
    reason: "offer_differs",
    message: `The terms are not about what this worker offers (${strange.join(", ")}).`,
    remedy: `Let all workers of the agent serve the same; if they do, the relay mixes up what ${from} asks for.`,
    retryable: false,
  });
}
