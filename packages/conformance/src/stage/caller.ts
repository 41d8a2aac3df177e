/** Whoever calls the relay in a check, and what it makes of the answers. */

import { setTimeout as pause } from "node:timers/promises";
import type { EventView, HandoffView, LeaseView, OperationName, Operations, Receipt } from "@handfast/protocol/wire";
import { Broken, shown } from "../broken.ts";
import type { Answer, CallParts, EventStream, Link } from "../caller/link.ts";
import { isProblem, isReply, type JsonOperation, type Problem, replyFault } from "../caller/reply-schemas.ts";
import type { Journal } from "./journal.ts";

/** An event with the fields of its type. */
export type LoggedEvent = EventView & Readonly<Record<string, unknown>>;

/** Of a handoff that is open: more than any clock of a check, a busy machine included. */
const patience_ms = 25_000;
const patience_at_a_time_ms = 5_000;
const longest_retry_after_ms = 5_000;
const most_tries = 20;
/** Reasons of 429 that no waiting changes. */
const handoffLimits: ReadonlySet<string> = new Set(["too_many_questions", "over_quota"]);

export type Act =
  | "ack"
  | "heartbeat"
  | "checkpoint"
  | "ask"
  | "complete"
  | "fail"
  | "reject"
  | "release"
  | "write_chunk";

export interface CallerOptions {
  readonly name: string;
  readonly link: Link;
  readonly journal: Journal;
}

export class Caller {
  readonly name: string;
  readonly link: Link;
  readonly journal: Journal;
  /** The process in whose name it works. */
  readonly worker = "w1";

  constructor({ name, link, journal }: CallerOptions) {
    this.name = name;
    this.link = link;
    this.journal = journal;
  }

  /** The answer as it is. A relay that says "not so fast" is obeyed: that is no answer to what was asked. */
  async call(op: OperationName, parts: CallParts = {}): Promise<Answer> {
    const { params, query, body, signal: _signal, bytes: _bytes, ...rest } = parts;
    const sent = [op, ...[params, query, body].filter(Boolean), ...(Object.keys(rest).length === 0 ? [] : [rest])];
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#answered(op, parts, sent);
      const { status, retry_after_ms, body: said } = answer;
      const isAboutHandoff = isProblem(said) && handoffLimits.has(said.reason);
      if (status !== 429 || isAboutHandoff || tries === most_tries) return answer;
      await pause(Math.min(retry_after_ms ?? 0, longest_retry_after_ms));
    }
  }

  async #answered(op: OperationName, parts: CallParts, sent: readonly unknown[]): Promise<Answer> {
    try {
      const answer = await this.link.call(op, parts);
      this.journal.note(this.name, sent, [answer.status, answer.body ?? answer.text ?? answer.bytes?.length]);
      return answer;
    } catch (error) {
      this.journal.note(this.name, sent, [error instanceof Error ? error.message : String(error)]);
      throw error;
    }
  }

  /** The operation succeeds, with this status if one is named, and its answer fits its schema. */
  async ok<N extends JsonOperation>(op: N, parts: CallParts = {}, status?: number): Promise<Operations[N]["reply"]> {
    const { status: got, body, text } = await this.call(op, parts);
    const isAsWanted = status === undefined ? got >= 200 && got < 300 : got === status;
    if (!isAsWanted) {
      throw new Broken(`${op} to be answered with ${status ?? "success"}`, `${got} ${shown(body ?? text)}`, got);
    }
    if (isReply(op, body)) return body;
    throw new Broken(`an answer to ${op} that fits its schema`, `${replyFault(op, body)}: ${shown(body)}`);
  }

  /** The operation is refused with a problem of this code and, where the specification names one, this reason. */
  async refused(op: OperationName, parts: CallParts, code: number, reason?: string): Promise<Problem> {
    const { status, body } = await this.call(op, parts);
    return refusal(op, status, body, code, reason);
  }

  async submit(body: object, parts: CallParts = {}): Promise<Receipt> {
    return this.ok("submit", { ...parts, body }, 202);
  }

  async get(id: string, query: NonNullable<CallParts["query"]> = {}): Promise<HandoffView> {
    return this.ok("get", { params: { id }, query });
  }

  /** The handoff once it has ended. */
  async ended(id: string, within_ms = patience_ms): Promise<HandoffView> {
    return this.#awaited(id, "ended", within_ms, ({ ended_at }) => ended_at !== null);
  }

  /** The handoff once an agent works on it. */
  async acknowledged(id: string): Promise<HandoffView> {
    return this.#awaited(id, "acknowledged", patience_ms, ({ state }) => state !== "queued" && state !== "delivered");
  }

  async #awaited(
    id: string,
    until: "ended" | "acknowledged",
    within_ms: number,
    isThere: (view: HandoffView) => boolean,
  ): Promise<HandoffView> {
    for (let left_ms = within_ms; ; left_ms -= patience_at_a_time_ms) {
      const wait_ms = Math.max(0, Math.min(left_ms, patience_at_a_time_ms));
      const view = await this.ok("get", { params: { id }, query: { until }, wait_ms });
      if (isThere(view)) return view;
      if (left_ms <= 0) throw new Broken(`the handoff to be ${until} within ${within_ms} ms`, `it is ${view.state}`);
    }
  }

  /** All events of a handoff so far, page by page. */
  async events(id: string): Promise<readonly LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    let cursor: string | undefined;
    for (;;) {
      const query = cursor === undefined ? {} : { cursor };
      const page = await this.ok("handoff_events", { params: { id }, query });
      for (const event of page.events) events.push({ ...event });
      if (page.events.length === 0 || page.ended) return events;
      cursor = page.cursor;
    }
  }

  async eventTypes(id: string): Promise<readonly string[]> {
    return (await this.events(id)).map(({ type }) => type);
  }

  /** The first event of a type, once it is there. */
  async event(id: string, type: string): Promise<LoggedEvent> {
    const until = performance.now() + patience_ms;
    for (;;) {
      const found = (await this.events(id)).find((event) => event.type === type);
      if (found !== undefined) return found;
      if (performance.now() > until) throw new Broken(`an event ${type}`, shown(await this.eventTypes(id)));
      await pause(50);
    }
  }

  stream(op: "handoff_events" | "correlation_events" | "read_chunks", parts: CallParts): Promise<EventStream> {
    return this.link.stream(op, parts);
  }

  async claim(body: object = {}, wait_ms = 0): Promise<readonly LeaseView[]> {
    const { leases } = await this.ok("claim", { body: { worker: this.worker, ...body }, wait_ms });
    return leases;
  }

  /** One lease, waited for. */
  async lease(body: object = {}): Promise<LeaseView> {
    const until = performance.now() + patience_ms;
    for (;;) {
      const [lease, ...others] = await this.claim(body, patience_at_a_time_ms);
      if (others.length > 0) throw new Broken("one lease for one slot", `${others.length + 1} leases`);
      if (lease !== undefined) return lease;
      if (performance.now() > until) throw new Broken(`a lease within ${patience_ms} ms`, "none");
    }
  }

  /** Resolves when the relay has an open claim of this worker: work would reach it at once. */
  async asking(worker = this.worker): Promise<void> {
    const until = performance.now() + patience_ms;
    for (;;) {
      const { workers } = await this.ok("agent", { params: { name: this.name } });
      if (workers.some((each) => each.worker === worker && each.asking)) return;
      if (performance.now() > until) throw new Broken(`worker ${worker} to be shown as asking`, shown(workers));
      await pause(20);
    }
  }

  /** What the holder of a lease does. */
  act<N extends Act>(op: N, lease: Held, body: object = {}): Promise<Operations[N]["reply"]> {
    return this.ok(op, this.#actParts(lease, body));
  }

  /** Beats, as a worker does, until it is told that the lease is over. */
  async beatsUntilOver({ id, fence }: Held): Promise<Problem> {
    const until = performance.now() + patience_ms;
    for (;;) {
      const { status, body } = await this.call("heartbeat", { params: { id }, body: { fence } });
      if (status !== 200) return refusal("a beat", status, body, status);
      if (performance.now() > until) throw new Broken(`the lease to be over within ${patience_ms} ms`, "it lives");
      await pause(50);
    }
  }

  refusedAct(op: Act, lease: Held, body: object, code: number, reason?: string): Promise<Problem> {
    return this.refused(op, this.#actParts(lease, body), code, reason);
  }

  #actParts({ id, fence }: Held, body: object): CallParts {
    return { params: { id }, body: { fence, ...body } };
  }
}

export interface Held {
  readonly id: string;
  readonly fence: number;
}

/** The problem of a refused call, which is as it should be. */
export function refusal(op: string, status: number, body: unknown, code: number, reason?: string): Problem {
  const what = `${op} to be refused with ${code}${reason === undefined ? "" : ` ${reason}`}`;
  if (!isProblem(body)) throw new Broken(what, `${status} ${shown(body)}`);
  const isAsWanted = body.code === code && (reason === undefined || body.reason === reason);
  if (!isAsWanted) throw new Broken(what, `${body.code} ${body.reason}: ${body.detail}`);
  const http = code === 502 ? 422 : code;
  if (status === http && body.status === http) return body;
  throw new Broken(`${what}, with the HTTP status ${http}`, `HTTP ${status}, and ${body.status} in the problem`);
}
