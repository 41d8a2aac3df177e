/** The same load as `Load`, on the real client over WebSockets: senders and workers that live through whatever happens. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type Context, connect, type Handle } from "@handfast/client";
import { expect } from "vitest";

const senders = 6;
const longest_work_ms = 200;
/** Longer than any absence of the relay in a test. */
const patience = "3m";

export class ClientLoad implements AsyncDisposable {
  readonly #home: string;
  readonly #sender: Client;
  readonly #worker: Client;
  readonly #handles: Handle[] = [];
  /** How often each handoff was worked on. */
  readonly #runs = new Map<string, number>();
  readonly #warnings: readonly string[];
  #sending = true;
  #sent: Promise<unknown> = Promise.resolve();

  private constructor(home: string, sender: Client, worker: Client, warnings: readonly string[]) {
    this.#home = home;
    this.#warnings = warnings;
    this.#sender = sender;
    this.#worker = worker;
  }

  static async start(url: string): Promise<ClientLoad> {
    const home = mkdtempSync(join(tmpdir(), "handfast-home-"));
    const warnings: string[] = [];
    const options = {
      url,
      home,
      patience,
      transport: "websocket",
      onWarning: ({ reason }: { readonly reason: string }) => warnings.push(reason),
      onConnection: () => {},
    } as const;
    const sender = await connect({ ...options, agent: "client-sender" });
    const worker = await connect({ ...options, agent: "client-worker" });
    const load = new ClientLoad(home, sender, worker, warnings);
    await worker.serve({ client_work: (input, ctx) => load.#work(input, ctx) }, { signals: false });
    load.#sent = Promise.all(Array.from({ length: senders }, () => load.#send()));
    return load;
  }

  get accepted(): number {
    return this.#handles.length;
  }

  async #send(): Promise<void> {
    while (this.#sending) {
      // Of several nodes one may not know the worker yet.
      const terms = { queueIfAbsent: true };
      const handle = await this.#sender.send("client_work", { n: this.#handles.length }, terms);
      this.#handles.push(handle);
      // As much is under way as there are senders.
      await handle.result({ take: false });
    }
  }

  async #work(input: unknown, { handoff, signal }: Context): Promise<unknown> {
    this.#runs.set(handoff.id, (this.#runs.get(handoff.id) ?? 0) + 1);
    await sleep(Math.random() * longest_work_ms, undefined, { signal });
    return { id: handoff.id, input };
  }

  /** No more submits; waits until everything accepted has ended and was taken. */
  async drain(): Promise<void> {
    this.#sending = false;
    await this.#sent;
    for (const handle of this.#handles) await handle.take();
  }

  /** Every handle's word holds: completed under the first fence, worked on once, taken once. */
  async check(): Promise<void> {
    expect(this.#warnings).toEqual([]);
    for (const { id } of this.#handles) {
      const { events } = await this.#sender.call("handoff_events", { params: { id }, query: { limit: 100 } });
      const view = await this.#sender.call("get", { params: { id } });
      expect({
        types: events.map(({ type }) => type),
        seqs: events.map(({ seq }) => seq),
        fence: view.fence,
        output: view.outcome?.output,
        runs: this.#runs.get(id),
      }).toMatchObject({
        types: ["accepted", "delivered", "acknowledged", "completed", "taken"],
        seqs: [1, 2, 3, 4, 5],
        fence: 1,
        output: { id },
        runs: 1,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sending = false;
    await Promise.all([this.#worker.close(), this.#sender.close()]);
    rmSync(this.#home, { recursive: true });
  }
}
