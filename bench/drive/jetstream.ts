/**
 * NATS JetStream: a work-queue stream that the worker consumes with explicit acks, and a second one for the answers, so
 * that an answer is kept until its sender has it. Every publish is confirmed by the server.
 */

import { loadPackage } from "../obtain/npm-packages.ts";
import type { Address } from "../servers/server.ts";
import { type Driver, slots } from "./driver.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";

interface Message {
  readonly subject: string;
  json(): unknown;
  ack(): void;
}
interface Messages extends AsyncIterable<Message> {
  close(): Promise<unknown>;
}
interface Connection {
  drain(): Promise<void>;
}
interface JetStream {
  publish(subject: string, payload: string): Promise<unknown>;
  readonly consumers: {
    get(stream: string, consumer: string): Promise<{ consume(options: object): Promise<Messages> }>;
  };
}
interface JetStreamManager {
  readonly streams: { add(config: object): Promise<unknown> };
  readonly consumers: { add(stream: string, config: object): Promise<unknown> };
}
interface JetStreamModule {
  jetstream(connection: Connection): JetStream;
  jetstreamManager(connection: Connection): Promise<JetStreamManager>;
}

const in_flight = 2_048;

export async function openJetStream({ servers = "" }: Address): Promise<Driver> {
  const { connect } = await loadPackage<{ connect(options: object): Promise<Connection> }>("@nats-io/transport-node");
  const { jetstream, jetstreamManager } = await loadPackage<JetStreamModule>("@nats-io/jetstream");
  const [sending, working] = [await connect({ servers }), await connect({ servers })];
  const manager = await jetstreamManager(sending);
  for (const name of ["work", "done"]) {
    await manager.streams.add({ name, subjects: [`${name}.*`], retention: "workqueue", storage: "file" });
    await manager.consumers.add(name, { durable_name: name, ack_policy: "explicit", max_ack_pending: in_flight });
  }
  const [sender, worker] = [jetstream(sending), jetstream(working)];
  const [input, output] = [JSON.stringify(makeKilobyte()), makeKilobyte()];
  const answer = JSON.stringify(output);
  const waiting = new Map<string, (answer: unknown) => void>();

  const consume = async (stream: string, from: JetStream, take: (message: Message) => Promise<void>) => {
    const messages = await (await from.consumers.get(stream, stream)).consume({ max_messages: slots * 2 });
    const over = (async () => {
      for await (const message of messages)
        void take(message).catch((error: Error) => process.stderr.write(`jetstream: ${error.message}\n`));
    })();
    return async () => {
      await messages.close();
      await over;
    };
  };
  const stopWorking = await consume("work", worker, async (message) => {
    await worker.publish(message.subject.replace("work.", "done."), answer);
    // Only after the answer is safe: a worker that dies in between does the work again.
    message.ack();
  });
  const stopTaking = await consume("done", sender, async (message) => {
    const [, id = ""] = message.subject.split(".");
    waiting.get(id)?.(message.json());
    waiting.delete(id);
    message.ack();
  });
  let count = 0;
  return {
    handoff: async () => {
      count += 1;
      const id = `${count}`;
      const answered = new Promise<unknown>((resolve) => waiting.set(id, resolve));
      await sender.publish(`work.${id}`, input);
      checkAnswer(await answered, output);
    },
    close: async () => {
      await stopWorking();
      await stopTaking();
      await sending.drain();
      await working.drain();
    },
  };
}
