/** A gateway of OpenClaw as a sender: each tag has a session of its own, and a command is a turn in it. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@handfast/client";
import { FakeModel } from "../../adapters/openclaw/test/support/fake-model.ts";
import { Gateway } from "../../adapters/openclaw/test/support/gateway.ts";
import type { SenderSeat, Stage } from "../cast/row.ts";
import type { SenderCommand, SenderMessage } from "../protocol.ts";
import { Messages } from "./openclaw-messages.ts";
import { commandText, obey, opening } from "./openclaw-model.ts";

const patience_ms = 180_000;

export class OpenClawSender implements SenderSeat {
  readonly #stage: Stage;
  readonly #model: FakeModel;
  readonly #messages = new Messages(patience_ms);
  readonly #gateway: Promise<Gateway>;
  #isOver = false;

  /** After a kill the gateway is not waited for here: what it had sent may end before it is up. */
  static async open(stage: Stage): Promise<OpenClawSender> {
    const isFirst = !existsSync(join(stage.folder, "gateway"));
    const sender = new OpenClawSender(stage, await FakeModel.start());
    try {
      if (isFirst) await sender.#gateway;
      return sender;
    } catch (error) {
      await sender.stop();
      throw error;
    }
  }

  private constructor(stage: Stage, model: FakeModel) {
    this.#stage = stage;
    this.#model = model;
    model.sends(opening, (said) => obey(said, (message) => this.#messages.put(message)));
    const { url, agent, folder } = stage;
    const handfast = { url, agent, home: join(folder, "home"), capabilities: {} };
    this.#gateway = Gateway.start({ model_url: model.url, handfast, folder: join(folder, "gateway") });
    // Whoever waits for it hears of it.
    this.#gateway.catch(() => {});
  }

  tell(command: SenderCommand): void {
    // The plugin brings what the life before had sent into its sessions, unasked.
    if ("resume" in command) return;
    const [said] = Object.values(command);
    if (said === undefined) return;
    const { tag } = said;
    const done = "verify" in command ? this.#verify(tag) : this.#turn(`agent:main:${tag}`, commandText(command));
    done.catch((error: unknown) => {
      if (!this.#isOver) this.#messages.put({ tag, broken: String(error) });
    });
  }

  async heard<Name extends keyof SenderMessage>(tag: string, member: Name): Promise<NonNullable<SenderMessage[Name]>> {
    await this.#gateway;
    return this.#messages.heard(tag, member);
  }

  count(tag: string, member: keyof SenderMessage): number {
    return this.#messages.count(tag, member);
  }

  async kill(): Promise<void> {
    this.#isOver = true;
    await this.#started((gateway) => gateway.kill());
    await this.#model.stop();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#started((gateway) => gateway.stop());
    await this.#model.stop();
  }

  /** One that did not start has ended already. */
  async #started(act: (gateway: Gateway) => Promise<void>): Promise<void> {
    const gateway = await this.#gateway.catch(() => null);
    if (gateway !== null) await act(gateway);
  }

  async #turn(session: string, text: string): Promise<void> {
    await (await this.#gateway).turn(session, text);
  }

  /** A model has no tool for proofs; whoever looks after the gateway has its key, and checks them here. */
  async #verify(tag: string): Promise<void> {
    const { url, agent, folder } = this.#stage;
    await using client = await connect({ url, agent, home: join(folder, "home") });
    const { receipts } = await client.handle(await this.heard(tag, "sent")).proofs();
    const evidenceOf = (kind: string) => {
      const receipt = receipts.find((each) => each.kind === kind);
      if (receipt === undefined) throw new Error(`there is no receipt of the ${kind}`);
      return receipt.evidence;
    };
    const proven = { handoff: evidenceOf("handoff"), ack: evidenceOf("ack"), outcome: evidenceOf("outcome") };
    this.#messages.put({ tag, proven });
  }
}
