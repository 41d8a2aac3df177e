/** A connected agent, as users hold it. */

import type { HandoffView, OperationName, Operations, Receipt } from "@handfast/protocol/wire";
import type { Base } from "./base.ts";
import {
  type Contract,
  type ContractsOptions,
  type FindOptions,
  type Found,
  find,
  listContracts,
  type Need,
  type NegotiateOptions,
  type Negotiation,
  negotiate,
  readContract,
  type TermsNeeded,
} from "./find/mod.ts";
import type { Call, CallOptions } from "./link/link.ts";
import { closedError } from "./link/link-errors.ts";
import type {
  GatherOptions,
  Handle,
  OutcomesOptions,
  Question,
  QuestionsOptions,
  Scatter,
  ScatterOptions,
  Sending,
  SendOptions,
  StreamOptions,
  Target,
  Task,
} from "./send/mod.ts";
import { sending } from "./send/mod.ts";
import type { Capabilities, ServeOptions, Server } from "./serve/mod.ts";

/** How long close() waits for what was sent and not yet answered. */
const close_grace_ms = 5_000;

/** One agent's connection to a relay: it sends, it serves, or both. Made by `connect()`. */
export class Client implements AsyncDisposable {
  /** The agent's name. */
  readonly agent: string;
  /** Where the relay is, as it was configured. */
  readonly url: string;
  /** Thumbprint of the agent's key; null: a token only. */
  readonly key: string | null;
  readonly #base: Base;
  readonly #sending: Sending;
  readonly #closed: AbortController;
  readonly #servers = new Set<Server>();
  #closing: Promise<void> | null = null;

  /** @internal */
  constructor(base: Base, url: string, key: string | null, closed: AbortController) {
    this.#base = base;
    this.#sending = sending(base);
    this.#closed = closed;
    this.agent = base.agent;
    this.url = url;
    this.key = key;
  }

  /** @internal What the client is built on, for the other parts of this package. */
  get base(): Base {
    return this.#base;
  }

  /** @internal Workers that run, for the test kit. */
  get servers(): ReadonlySet<Server> {
    return this.#servers;
  }

  /**
   * Gives work to an agent (`{ to }`), or to whoever offers a capability (a string, or `{ capability }`). Resolves once
   * the relay has it on disk.
   */
  send<Out = unknown>(target: Target, input: unknown, options?: SendOptions): Promise<Handle<Out>> {
    return this.#sending.send(target, input, options);
  }

  /** Tells somebody something: it ends as completed when it is acknowledged. */
  notify(target: Target, input: unknown, options?: SendOptions): Promise<Receipt> {
    return this.#sending.notify(target, input, options);
  }

  /** Gives many pieces of work away at once, and gathers what becomes of them. */
  scatter<Out = unknown>(tasks: readonly Task[], options?: ScatterOptions): Scatter<Out> {
    return this.#sending.scatter(tasks, options);
  }

  /** A handle on a handoff whose id was kept, also after a restart. */
  handle<Out = unknown>(id: string): Handle<Out> {
    return this.#sending.handle(id);
  }

  /** The handoffs of a correlation, found again: what `scatter()` gave. */
  gather<Out = unknown>(correlation: string, options?: GatherOptions): Scatter<Out> {
    return this.#sending.gather(correlation, options);
  }

  /** Outcomes that were never taken, each once; then those that come. */
  outcomes<Out = unknown>(options?: OutcomesOptions): AsyncIterable<Handle<Out> & { readonly view: HandoffView }> {
    return this.#sending.outcomes(options);
  }

  /** Open questions that were put to this agent, each once; then those that come. */
  questions(options?: QuestionsOptions): AsyncIterable<Question> {
    return this.#sending.questions(options);
  }

  /** Answers a question. */
  answer(question: string | Question, value: unknown, options?: StreamOptions): Promise<Question> {
    return this.#sending.answer(question, value, options);
  }

  /** Offers capabilities, each with its handler, and works on what comes. Resolves once the relay knows of them. */
  async serve<Inputs, Outputs>(capabilities: Capabilities<Inputs, Outputs>, options?: ServeOptions): Promise<Server> {
    const { serve } = await import("./serve/mod.ts");
    const server = await serve(this.#base, this.#sending, capabilities, options);
    this.#servers.add(server);
    void server.stopped.then(() => this.#servers.delete(server));
    return server;
  }

  /** Who meets a need, said in words or as what must hold. Nobody is no error: `hits` is empty, and `near` tells why. */
  find(need: string | Need, options?: FindOptions): Promise<Found> {
    return find(this.#base, need, options);
  }

  /** Asks whoever meets a need for offers on these terms, in one round. Each offer can be accepted: that is a contract. */
  negotiate(need: TermsNeeded, options?: NegotiateOptions): Promise<Negotiation> {
    return negotiate(this.#base, this.#sending, need, options);
  }

  /** A contract whose id was kept, also after a restart. */
  contract(id: string): Promise<Contract> {
    return readContract(this.#base, this.#sending, id);
  }

  /** Contracts that this agent is a party of, on either side. */
  contracts(options?: ContractsOptions): AsyncIterable<Contract> {
    return listContracts(this.#base, this.#sending, options);
  }

  /** Any operation of the relay, by its name, such as `client.call("agents", { query: { limit: 10 } })`. */
  call<Name extends OperationName>(
    name: Name,
    call: Call<Name> = {},
    options?: CallOptions,
  ): Promise<Operations[Name]["reply"]> {
    return this.#base.link.call(name, call, options);
  }

  /** Stops what it serves, lets what was sent be answered, for a few seconds, and lets go of the relay. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#servers].map((server) => server.stop()));
    await this.#sending.settled();
    this.#closed.abort(closedError());
    await this.#base.link.close(close_grace_ms);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
