/** The operations over one WebSocket, opened at the first call and anew after it broke. */

import type { OperationName } from "@handfast/protocol/wire";
import { Broken, shown } from "../broken.ts";
import { type Answer, answer_within_ms, type CallParts, type EventStream, type Link } from "./link.ts";
import { type Item, Peer } from "./peer.ts";

/** A stream says nothing for as long as nothing happens; the longest clock of a check is shorter. */
const event_within_ms = 40_000;

export class SocketLink implements Link {
  readonly #url: string;
  readonly #credential: () => string;
  readonly #over: AbortSignal;
  #peer: Promise<Peer> | null = null;
  #open: Peer | null = null;

  /** After `over` it is not opened any more. */
  constructor(url: string, credential: () => string, over: AbortSignal) {
    this.#url = url;
    this.#credential = credential;
    this.#over = over;
  }

  /** The connection itself, for checks that look at its frames. */
  async peer(): Promise<Peer> {
    this.#over.throwIfAborted();
    if (this.#open?.isOver === true) this.#peer = null;
    this.#peer ??= Peer.greet(this.#url, this.#credential());
    try {
      this.#open = await this.#peer;
      return this.#open;
    } catch (error) {
      this.#peer = null;
      throw error;
    }
  }

  async call(op: OperationName, parts: CallParts): Promise<Answer> {
    const { signal, ...rest } = parts;
    const peer = await this.peer();
    const n = peer.next();
    peer.send({ calls: [{ n, op, ...carried(rest) }] });
    const reply = peer.reply(n, (rest.wait_ms ?? 0) + answer_within_ms);
    return answerOf(await (signal === undefined ? reply : this.#orAbandoned(peer, n, reply, signal)));
  }

  async stream(op: OperationName, parts: CallParts): Promise<EventStream> {
    const peer = await this.peer();
    const n = peer.next();
    peer.send({ calls: [{ n, op, stream: true, ...carried(parts) }] });
    let isClosed = false;
    const close = () => {
      if (!isClosed && !peer.isOver) peer.send({ abandon: [n] });
      isClosed = true;
    };
    return {
      close,
      async *[Symbol.asyncIterator]() {
        for (let seen = 0; !isClosed; seen += 1) {
          const item = await peer.event(n, seen, event_within_ms);
          if (typeof item.event !== "string") throw new Broken("events of a stream", shown(item));
          yield { event: item.event, id: item.id ?? null, data: item["data"] };
          if (item.event === "end") return;
        }
      },
    };
  }

  /** A caller that does not want to wait any longer. */
  async #orAbandoned(peer: Peer, n: number, reply: Promise<Item>, signal: AbortSignal): Promise<Item> {
    const { promise, reject } = Promise.withResolvers<never>();
    const abandon = () => {
      if (!peer.isOver) peer.send({ abandon: [n] });
      reject(signal.reason);
    };
    signal.addEventListener("abort", abandon);
    reply.catch(() => undefined);
    return Promise.race([reply, promise]).finally(() => signal.removeEventListener("abort", abandon));
  }

  close(): void {
    this.#open?.close();
    // One that is still being opened is closed as soon as it is open.
    this.#peer?.then(
      (peer) => peer.close(),
      () => undefined,
    );
  }
}

function carried({ bytes, ...parts }: CallParts): object {
  return bytes === undefined ? parts : { ...parts, base64: Buffer.from(bytes).toString("base64") };
}

function answerOf({ status = 0, body, problem, ...item }: Item): Answer {
  const { text, base64, retry_after_ms } = item;
  return {
    status,
    body: problem ?? body,
    text: typeof text === "string" ? text : null,
    bytes: typeof base64 === "string" ? new Uint8Array(Buffer.from(base64, "base64")) : null,
    retry_after_ms: typeof retry_after_ms === "number" ? retry_after_ms : null,
  };
}
