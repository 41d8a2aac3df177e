/**
 * Agents that have nothing to do with any of it: they send and work with the client, over both transports, and must
 * not notice a thing.
 */

import { setTimeout } from "node:timers/promises";
import { type Client, connect, HandoffError } from "@handfast/client";
import { bytesOf } from "../chance.ts";
import { AgentKey } from "./agent-key.ts";

const ids_kept = 64;
const result_within = "120s";
/** A trickle: it is there to notice, not to be a load. */
const pause_ms = 200;

export class HonestAgents {
  readonly faults: string[];
  completed = 0;
  /** By an operator among the hostile, who finds their ids in the log and may do so. */
  called_off = 0;
  slowest_ms = 0;
  readonly #ids: string[] = [];
  readonly #clients: readonly Client[];
  #is_over = false;
  #sending: Promise<unknown> = Promise.resolve();

  private constructor(clients: readonly Client[], faults: string[]) {
    this.#clients = clients;
    this.faults = faults;
  }

  static async start(url: string, seed: number, home: string): Promise<HonestAgents> {
    const faults: string[] = [];
    const join = (agent: string, transport: "websocket" | "http") => {
      const { seed: bytes } = new AgentKey(bytesOf(seed, agent));
      const onWarning = ({ reason, message }: { readonly reason: string; readonly message: string }) => {
        faults.push(`${agent} was warned: ${reason}: ${message}`);
      };
      return connect({ url, agent, key: bytes.toString("base64url"), transport, home, onWarning });
    };
    const worker = await join("honest-worker", "websocket");
    const plodder = await join("honest-plodder", "http");
    const senders = [await join("honest-sender", "websocket"), await join("honest-writer", "http")];
    for (const each of [worker, plodder]) {
      await each.serve({
        "honest-work": (text: string, { checkpoint }) => checkpoint({ text }).then(() => turnedRound(text)),
      });
    }
    const agents = new HonestAgents([worker, plodder, ...senders], faults);
    agents.#sending = Promise.all(senders.map((sender) => agents.#send(sender)));
    return agents;
  }

  /** The newest last. */
  ids = (): readonly string[] => this.#ids;

  async #send(sender: Client): Promise<void> {
    for (let number = 0; !this.#is_over; number += 1) {
      const began = performance.now();
      const text = `${sender.agent} ${number} é😀`;
      try {
        const handle = await sender.send<string>("honest-work", text, { timeout: result_within });
        this.#ids.push(handle.id);
        if (this.#ids.length > ids_kept) this.#ids.shift();
        await handle.acknowledged();
        const result = await handle.result();
        if (result !== turnedRound(text)) this.faults.push(`${handle.id} came back as ${JSON.stringify(result)}`);
        this.completed += 1;
        this.slowest_ms = Math.max(this.slowest_ms, Math.round(performance.now() - began));
        await setTimeout(pause_ms);
      } catch (error) {
        if (isCalledOff(error)) {
          this.called_off += 1;
          continue;
        }
        if (!this.#is_over)
          this.faults.push(`an honest handoff failed: ${error instanceof Error ? error.stack : String(error)}`);
        return;
      }
    }
  }

  /** Finishes what was begun. */
  async stop(): Promise<void> {
    this.#is_over = true;
    await this.#sending;
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Lets go at once: the relay is gone. */
  abandon(): void {
    this.#is_over = true;
    for (const client of this.#clients) void client.close();
  }
}

function isCalledOff(error: unknown): boolean {
  return error instanceof HandoffError && error.code === 410 && error.message.includes("canceled by operator:");
}

function turnedRound(text: string): string {
  return [...text].reverse().join("");
}
