/** The connections of one episode: one for HTTP that is used again, and a WebSocket for each of the cast. */

import { randomBytes } from "node:crypto";
import type { BaseCall } from "../calls/base-call.ts";
import type { Persona } from "../cast/persona.ts";
import { HttpWire } from "../wire/http-wire.ts";
import { WsWire } from "../wire/ws-wire.ts";
import type { Stage } from "./stage.ts";

export interface Line {
  readonly wire: HttpWire;
  readonly is_new: boolean;
}

export class Lines {
  readonly #port: number;
  readonly #within_ms: number;
  #http: HttpWire | null = null;
  #strange: HttpWire | null = null;
  readonly #ws = new Map<string, WsWire>();
  /** Calls over the WebSocket whose answers may still come. */
  readonly calls = new Map<number, BaseCall>();
  /** What was really asked under each number, however it was mutated: it may be answered late, or twice. */
  readonly operations = new Map<number, string>();
  /** The id under which it was really asked. */
  readonly places = new Map<number, string>();
  #n = 0;

  constructor({ port, answer_within_ms }: Pick<Stage, "port" | "answer_within_ms">) {
    this.#port = port;
    this.#within_ms = answer_within_ms;
  }

  /** One that is free; `is_new`: nothing went over it yet. */
  async http(): Promise<Line> {
    if (this.#http?.isIdle === true) return { wire: this.#http, is_new: false };
    this.#http?.drop();
    this.#http = await HttpWire.open(this.#port);
    return { wire: this.#http, is_new: true };
  }

  /** The same for whoever proves nothing, from an address of its own: few calls of strangers are taken from one. */
  async strange(address: string | null): Promise<Line> {
    if (this.#strange?.isIdle === true) return { wire: this.#strange, is_new: false };
    this.#strange?.drop();
    this.#strange = await HttpWire.open(this.#port, address);
    return { wire: this.#strange, is_new: true };
  }

  /** It cannot be used again. */
  done(wire: HttpWire): void {
    wire.drop();
    if (this.#http === wire) this.#http = null;
    if (this.#strange === wire) this.#strange = null;
  }

  /** A connection on which this persona was greeted, or why there is none. */
  async ws(persona: Persona): Promise<WsWire | string> {
    const known = this.#ws.get(persona.name);
    if (known?.isOver === false) return known;
    this.dropWs(persona);
    const { wire, reply } = await WsWire.open(this.#port, upgradeRequest(this.#port));
    if (reply?.status !== 101) return `the upgrade was answered with ${reply?.status}: ${reply?.body.toString("utf8")}`;
    this.#ws.set(persona.name, wire);
    wire.say(JSON.stringify({ hello: { credential: await persona.credential() } }));
    await wire.until(() => wire.frames.length > 0, this.#within_ms);
    const first = wire.frames.shift();
    if (first?.["hello"] !== undefined) return wire;
    return `the hello was answered with ${JSON.stringify(first)} and ${wire.closing?.code}`;
  }

  dropWs({ name }: Persona): void {
    this.#ws.get(name)?.drop();
    this.#ws.delete(name);
  }

  /** The next number of a call over the WebSocket. */
  next(): number {
    this.#n += 1;
    return this.#n;
  }

  close(): void {
    this.#http?.drop();
    this.#strange?.drop();
    for (const wire of this.#ws.values()) wire.drop();
    this.#ws.clear();
  }
}

export function upgradeRequest(port: number): Buffer {
  const lines = [
    "GET /v1/connect HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    "sec-websocket-protocol: handfast.v1",
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}
