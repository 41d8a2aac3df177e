/**
 * A gateway of OpenClaw as a worker. Every handoff is a turn of its agent, and the scripted model behind it plays the task from
 * what stands in the session, as any model must: it remembers nothing else.
 */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, call, FakeModel, type ModelCall } from "../../adapters/openclaw/test/support/fake-model.ts";
import { Gateway } from "../../adapters/openclaw/test/support/gateway.ts";
import type { Stage, WorkerSeat } from "../cast/row.ts";
import { holding_note, input_schema, output_schema, type TaskInput, type TaskOutput } from "../protocol.ts";

const look_every_ms = 20;
const capability = { agent: "worker", input: input_schema, output: output_schema };

export class OpenClawWorker implements WorkerSeat {
  readonly #stage: Stage;
  readonly #model: FakeModel;
  readonly #concurrency: number;
  readonly #served: string[] = [];
  #agent = "";
  #gateway: Gateway | null = null;

  private constructor(stage: Stage, model: FakeModel, concurrency: number) {
    this.#stage = stage;
    this.#model = model;
    this.#concurrency = concurrency;
  }

  static async open(stage: Stage, name: string, concurrency: number): Promise<OpenClawWorker> {
    const model = await FakeModel.start();
    model.works("", (said) => playTask(said, name));
    return new OpenClawWorker(stage, model, concurrency);
  }

  /** A gateway is one agent: told a second time, it gets the capability into its configuration while it runs. */
  async serve(agent: string, name: string): Promise<void> {
    this.#served.push(name);
    if (this.#gateway !== null) return this.#gateway.reconfigure(this.#config());
    this.#agent = agent;
    this.#gateway = await Gateway.start({
      model_url: this.#model.url,
      handfast: this.#config(),
      folder: join(this.#stage.folder, "gateway"),
    });
  }

  async kill(): Promise<void> {
    await this.#gateway?.kill();
    await this.#model.stop();
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
    await this.#model.stop();
  }

  #config(): object {
    return {
      url: this.#stage.url,
      agent: this.#agent,
      home: join(this.#stage.folder, "home"),
      concurrency: this.#concurrency,
      capabilities: Object.fromEntries(this.#served.map((name) => [name, capability])),
    };
  }
}

async function playTask({ all, results, signal }: ModelCall, by: string): Promise<Answer> {
  const { text, mode, hold }: TaskInput = JSON.parse(/Input:\n(\{.*?\})\n\nReply with/s.exec(all)?.[1] ?? "");
  const [told] = results;
  if (mode === "ask" && told === undefined) return call("handfast_ask", { question: "Which word?" });
  if (mode === "hold" && hold !== undefined) {
    if (told === undefined) return call("handfast_progress", { fraction: 0.5, note: holding_note });
    writeFileSync(`${hold}.begun`, "");
    try {
      while (!existsSync(`${hold}.go`)) await sleep(look_every_ms, undefined, { signal });
    } catch (error) {
      // The gateway has closed the line to its model: the turn is over.
      writeFileSync(`${hold}.stopped`, "");
      throw error;
    }
  }
  const answer = mode === "ask" && told !== undefined ? { answer: String(JSON.parse(told).answer) } : {};
  const output: TaskOutput = { text: text.toUpperCase(), by, ...answer };
  return { text: JSON.stringify(output) };
}
