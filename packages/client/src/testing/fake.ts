/** An agent that a test makes up: a real worker of a real client, with a script in place of its wits. */

import type { Client } from "../client.ts";
import type { CapabilityDefinition, Context } from "../serve/mod.ts";
import { type Behaviour, crash, type Step, stepFor } from "./behaviour.ts";

export interface FakeOptions extends Omit<CapabilityDefinition, "handler"> {
  /** Default: the capability's name and a number. Fakes of one agent are its workers. */
  readonly agent?: string;
  /** Handoffs worked on at once. Default: 10. */
  readonly concurrency?: number;
}

/** One time that a handoff came to a fake. */
export interface Received {
  readonly id: string;
  readonly attempt: number;
  readonly input: unknown;
}

/** What a fake needs of the test relay. */
export interface Stage {
  /** A new process of the agent, with a name of its own; `die` ends it and its workers without a word. */
  enter(agent: string): Promise<{ readonly client: Client; readonly worker: string; die(): void }>;
  /** After the fakes before it have started; everything that the test says from now on is heard after this one has. */
  start<T>(start: () => Promise<T>): Promise<T>;
}

interface Running {
  readonly client: Client;
  readonly die: () => void;
}

export class Fake {
  readonly capability: string;
  readonly agent: string;
  /** Everything that came to it, in order. */
  readonly received: Received[] = [];
  readonly #stage: Stage;
  readonly #behaviour: Behaviour;
  readonly #options: FakeOptions;
  #starting: Promise<Running | null>;
  #running: Running | null = null;

  constructor(stage: Stage, capability: string, agent: string, behaviour: Behaviour, options: FakeOptions) {
    this.capability = capability;
    this.agent = agent;
    this.#stage = stage;
    this.#behaviour = behaviour;
    this.#options = options;
    this.#starting = this.#begin();
  }

  /** Whether a process of it is alive. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Resolves when its worker is known to the relay; rejects where it could not be. */
  async ready(): Promise<void> {
    await this.#starting;
  }

  /** A new process takes the place of one that crashed or was stopped. */
  async restart(): Promise<void> {
    await this.#starting;
    if (this.#running !== null) return;
    this.#starting = this.#begin();
    await this.#starting;
  }

  /** Stops in order: what it works on is finished or given back. */
  async stop(): Promise<void> {
    await this.#starting;
    const running = this.#running;
    this.#running = null;
    await running?.client.close();
  }

  /** Dies without a word: its leases are lost when their time is over. */
  async crash(): Promise<void> {
    await this.#starting;
    this.#die();
  }

  #begin(): Promise<Running | null> {
    const starting = this.#stage.start(() => this.#start());
    // Whoever awaits anything of this fake is told; until then it is nobody's unhandled rejection.
    starting.catch(() => {});
    return starting;
  }

  async #start(): Promise<Running> {
    const { agent: _agent, concurrency, ...definition } = this.#options;
    const { client, worker, die } = await this.#stage.enter(this.agent);
    const handler = (input: unknown, ctx: Context) => this.#handle(input, ctx);
    await client.serve(
      { [this.capability]: { ...definition, handler } },
      { worker, signals: false, ...(concurrency === undefined ? {} : { concurrency }) },
    );
    this.#running = { client, die };
    return this.#running;
  }

  async #handle(input: unknown, ctx: Context): Promise<unknown> {
    this.received.push({ id: ctx.handoff.id, attempt: ctx.attempt, input });
    const result = await perform(stepFor(this.#behaviour, ctx.attempt), input, ctx);
    if (result !== crash) return result;
    // As a supervisor would: the dead process is replaced by a new one.
    this.#die();
    this.#starting = this.#begin();
    return new Promise(() => {});
  }

  #die(): void {
    const running = this.#running;
    this.#running = null;
    running?.die();
  }
}

function perform(step: Step, input: unknown, ctx: Context): unknown {
  return typeof step === "function" ? step(input as never, ctx) : step;
}
