/**
 * Questions back to the sender or to a desk. A handler is run again from its start after a parked question, and after a
 * lost attempt: the same question asked again gets the answer that is there, so ids follow from the order of asking.
 */

import type { LeaseView, QuestionView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { HandoffError, RelayUnreachable } from "../errors.ts";
import { provenAnswer } from "../send/proofs.ts";
import { Parked } from "./faults.ts";
import type { Held } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";
import { type ReadSchema, type Received, readSchema } from "./schema.ts";

/** Options of `ctx.ask()`. */
export interface AskOptions<Schema = unknown> {
  /** A capability whose agents are asked, a human desk for instance. Default: the sender. */
  readonly to?: string;
  /** What an answer must look like; it also types the answer. */
  readonly schema?: Schema;
  /** How long an answer is waited for. Default: until the deadline. */
  readonly within?: Duration;
  /**
   * Hold no slot while waiting: the handler ends here, by an error that it must let pass, and is run again from its
   * start once there is an answer. Default: false, and the lease is kept.
   */
  readonly park?: boolean;
  /** Names the question, where the order of asking differs from run to run. */
  readonly id?: string;
}

export class Questions {
  readonly #base: Base;
  readonly #held: Held;
  #asked = 0;
  /** One question is open at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(base: Base, held: Held) {
    this.#base = base;
    this.#held = held;
  }

  ask<Schema>(question: unknown, options: AskOptions<Schema> = {}): Promise<Received<Schema>> {
    this.#asked += 1;
    const name = options.id ?? `q${this.#asked}`;
    const turn = this.#last.then(
      () => this.#askInTurn(name, question, options),
      () => this.#askInTurn(name, question, options),
    );
    this.#last = turn;
    turn.catch(() => {});
    return turn as Promise<Received<Schema>>;
  }

  async #askInTurn(name: string, question: unknown, options: AskOptions): Promise<unknown> {
    this.#held.signal.throwIfAborted();
    const { lease, holder, signal } = this.#held;
    const schema =
      options.schema === undefined ? null : readSchema(options.schema, "input", `The schema of question ${name}`);
    const earlier = answered(lease, name);
    if (earlier !== undefined) return accepted(schema, await this.#written(earlier), earlier.id, lease.id);
    const body = {
      ...holder,
      question: question ?? null,
      question_id: freshName(lease, name),
      ...(options.to === undefined ? {} : { to: options.to }),
      ...(schema === null ? {} : { schema: schema.json }),
      ...(options.within === undefined
        ? {}
        : { answer_ms: Math.max(1, toMilliseconds(options.within, "The option within")) }),
      ...(options.park === true ? { park: true } : {}),
    };
    const patience = { signal, patience_ms: this.#held.deadline_ms() };
    const asked = await this.#base.link
      .call("ask", { params: { id: lease.id }, body }, patience)
      .catch((error: unknown) => {
        this.#held.refused(error);
        throw error;
      });
    if (options.park === true) {
      const parked = new Parked(asked.id);
      this.#held.leave(parked);
      throw parked;
    }
    const view = await this.#resolved(asked);
    return accepted(schema, await this.#written(view), view.id, lease.id);
  }

  /** Of a sender that signs, the answer is taken from what was written and signed, not from what the relay shows. */
  async #written({ id, answer, by }: Pick<Told, "id" | "answer" | "by">): Promise<unknown> {
    const { trust, link } = this.#base;
    const { lease, signal } = this.#held;
    if (!trust.expectsSignature(lease.from) && (by === undefined || !trust.expectsSignature(by))) return answer;
    const call = { params: { id: lease.id }, query: { proofs: true } } as const;
    const view = await link.call("get", call, { signal, patience_ms: this.#held.deadline_ms() });
    return provenAnswer(this.#base, lease, view, id);
  }

  async #resolved(asked: QuestionView): Promise<QuestionView> {
    for (let view = asked; ; view = await this.#look(view)) {
      if (view.resolution === "answered") return view;
      this.#held.signal.throwIfAborted();
      if (view.state !== "waiting" && view.state !== "working") throw closed(view);
      if (view.resolution === "unanswered") throw unanswered(view);
    }
  }

  /** A relay that is away for long is no answer. */
  async #look(view: QuestionView): Promise<QuestionView> {
    const { signal } = this.#held;
    const options = { wait_ms: limits.claim_wait_ms, signal, patience_ms: this.#held.deadline_ms() };
    try {
      return await this.#base.link.call("question", { params: { id: view.id } }, options);
    } catch (error) {
      if (error instanceof RelayUnreachable && this.#held.deadline_ms() > 0) return view;
      throw error;
    }
  }
}

type Told = LeaseView["questions"][number];

function answered(lease: LeaseView, name: string): Told | undefined {
  const again = `${lease.id}:${name}${againMark}`;
  return lease.questions.find(
    ({ id, resolution }) => resolution === "answered" && (id === `${lease.id}:${name}` || id.startsWith(again)),
  );
}

const againMark = "--again-";

/** A question that an earlier attempt put and nobody answered is put anew, under a name of its own. */
function freshName(lease: LeaseView, name: string): string {
  return lease.questions.some(({ id }) => id === `${lease.id}:${name}`) ? `${name}${againMark}${lease.fence}` : name;
}

async function accepted(schema: ReadSchema | null, answer: unknown, id: string, handoff: string): Promise<unknown> {
  const checked = schema === null ? { value: answer } : await schema.check(answer);
  if ("value" in checked) return checked.value;
  throw new HandoffError({
    code: 422,
    reason: "answer_unfit",
    message: `The answer to ${id} does not fit: ${checked.fault}`,
    handoff,
  });
}

function unanswered({ id, handoff }: QuestionView): HandoffError {
  const message = `Nobody answered question ${id} in time.`;
  return new HandoffError({ code: 408, reason: "unanswered", message, handoff, retryable: false });
}

/** The handoff went on without this handler: its signal says the same in a moment. */
function closed({ id, handoff, code, state }: QuestionView): HandoffError {
  const message = `Question ${id} is closed: the handoff is ${state}.`;
  return new HandoffError({ code: code >= 400 ? code : 412, reason: "question_closed", message, handoff });
}
