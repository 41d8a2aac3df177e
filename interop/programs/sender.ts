/** A sender on the TypeScript client; a framework overrides how it sends, and how its next life goes on. */

import { type Client, type Handle, HandoffError, type HandoffView } from "@handfast/client";
import type { Ended, SendCommand, SenderCommand, TaskInput, TaskOutput } from "../protocol.ts";
import { commands, tell } from "./lines.ts";

const open_states = ["queued", "delivered", "working", "waiting"] as const;

export class Sender {
  readonly hf: Client;
  readonly #handles = new Map<string, Handle<TaskOutput>>();

  constructor(hf: Client) {
    this.hf = hf;
  }

  /** Sends; calls `sent` when the relay has it and `ended` with its outcome. A HandoffError is a refusal. */
  async handOff({ tag, capability, input, timeout_ms, lease_ms }: SendCommand): Promise<void> {
    const lease = lease_ms === undefined ? {} : { lease: lease_ms };
    const options = { timeout: timeout_ms, idempotencyKey: tag, labels: { tag }, ...lease };
    const { id } = await this.hf.send<TaskOutput>(capability, input, options);
    this.sent(tag, id);
    await this.#tellEnd(tag, id);
  }

  /** All of them under the tag as their correlation. The outputs in the order of the inputs. */
  scatter(tag: string, capability: string, inputs: readonly TaskInput[]): Promise<readonly unknown[]> {
    const tasks = inputs.map((input) => ({ capability, input }));
    return this.hf.scatter(tasks, { correlation: tag }).all();
  }

  /** In a new life: tells of every outcome that the last one did not. */
  async resume(): Promise<void> {
    const mine = (await this.unfinished()).filter(({ labels }) => labels["tag"] !== undefined);
    await Promise.all(mine.map(({ id, labels }) => this.#tellEnd(`${labels["tag"]}`, id)));
  }

  /** What this agent sent and has not taken. */
  async unfinished(): Promise<readonly HandoffView[]> {
    const open = open_states.map((state) =>
      this.hf.call("list", { query: { state, from: this.hf.agent, limit: 500 } }),
    );
    const pages = await Promise.all([this.hf.call("outcomes", { query: { limit: 500 } }), ...open]);
    return pages.flatMap(({ handoffs }) => handoffs);
  }

  sent(tag: string, id: string): void {
    this.#handles.set(tag, this.hf.handle(id));
    tell({ tag, sent: id });
  }

  ended(tag: string, status: string, code: number, output: unknown): void {
    tell({ tag, outcome: { status, code, ...(output == null ? {} : { output }) } });
  }

  async run(): Promise<void> {
    for await (const command of commands<SenderCommand>()) {
      const [said] = Object.values(command);
      const tag = "tag" in said ? said.tag : "resume";
      void this.#obey(command).catch((error: unknown) => tell({ tag, broken: String(error) }));
    }
    await this.hf.close();
  }

  async #obey(command: SenderCommand): Promise<void> {
    if ("send" in command) return this.#send(command.send);
    if ("scatter" in command) {
      const { tag, capability, inputs } = command.scatter;
      return tell({ tag, scattered: await this.scatter(tag, capability, inputs) });
    }
    if ("watch" in command) return this.#watch(command.watch.tag);
    if ("cancel" in command) {
      const { tag } = command.cancel;
      return tell({ tag, canceled: (await this.#handleOf(tag).cancel()).state });
    }
    if ("verify" in command) return this.#verify(command.verify.tag);
    return this.resume();
  }

  async #send(command: SendCommand): Promise<void> {
    const { tag, answer } = command;
    const over = new AbortController();
    if (answer !== undefined) void this.#answer(tag, answer, over.signal);
    try {
      await this.handOff(command);
    } catch (error) {
      if (!(error instanceof HandoffError)) throw error;
      tell({ tag, refused: error.code });
    } finally {
      over.abort();
    }
  }

  async #tellEnd(tag: string, id: string): Promise<void> {
    const handle = this.hf.handle<TaskOutput>(id);
    this.#handles.set(tag, handle);
    const { state, code, outcome } = await handle.outcome();
    this.ended(tag, state as Ended["status"], code, outcome?.output);
  }

  async #answer(tag: string, answer: string, signal: AbortSignal): Promise<void> {
    for await (const question of this.hf.questions({ signal })) {
      // A question may come before the framework has told which handoff it sent; it comes again with the next.
      if (!(await this.isOf(tag, question.handoff))) continue;
      await this.hf.answer(question, answer);
      return;
    }
  }

  /** Whether the handoff is the one that was sent as `tag`. */
  async isOf(tag: string, id: string): Promise<boolean> {
    return (await this.hf.handle(id).status()).labels["tag"] === tag;
  }

  async #watch(tag: string): Promise<void> {
    for await (const event of this.#handleOf(tag).events()) {
      if (event.type !== "progress" || !("fraction" in event)) continue;
      return tell({ tag, progress: { fraction: event.fraction, note: event.note } });
    }
  }

  async #verify(tag: string): Promise<void> {
    const { receipts } = await this.#handleOf(tag).proofs();
    const evidenceOf = (kind: string) => receipts.find((receipt) => receipt.kind === kind)?.evidence;
    tell({ tag, proven: { handoff: evidenceOf("handoff"), ack: evidenceOf("ack"), outcome: evidenceOf("outcome") } });
  }

  #handleOf(tag: string): Handle<TaskOutput> {
    const handle = this.#handles.get(tag);
    if (handle === undefined) throw new Error(`nothing was sent as ${tag}`);
    return handle;
  }
}
