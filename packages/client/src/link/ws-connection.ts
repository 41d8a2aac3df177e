/**
 * One connection: it says who it is, waits for the relay's hello, hands frames over as they come, and notices when the
 * relay is gone. States: opening → greeting (the hello was sent) → open → over. It ends once, with what is known about why.
 */

import type { ProblemDocument } from "../errors.ts";
import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";
import { isProblem } from "./refusal.ts";
import type { HeldSocket, OpenSocket } from "./web-socket.ts";

export interface Hello {
  readonly agent: string;
  readonly expires_in_ms: number | null;
  readonly limits: { readonly frame_bytes: number; readonly frame_calls: number; readonly calls_in_flight: number };
}

/** A frame of the relay; only that it is an object is known of it. */
export interface RelayFrame {
  readonly hello?: Hello;
  readonly replies?: readonly Reply[];
  readonly events?: readonly StreamedEvent[];
  readonly over?: readonly unknown[];
  readonly problem?: unknown;
  readonly pong?: number;
}

export interface Reply {
  readonly n: number;
  readonly status: number;
  readonly body?: unknown;
  readonly problem?: unknown;
  readonly retry_after_ms?: number;
}

interface StreamedEvent {
  readonly n: number;
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** Why a connection is over. */
export interface ConnectionEnd {
  /** The close code; 1006 where none came. */
  readonly code: number;
  readonly why: string;
  readonly problem: ProblemDocument | null;
}

export interface ConnectionListener {
  opened(hello: Hello): void;
  frame(frame: RelayFrame): void;
  ended(end: ConnectionEnd): void;
}

const subprotocol = "handfast.v1";

export class WsConnection {
  readonly #surroundings: Surroundings;
  readonly #listener: ConnectionListener;
  readonly #held: HeldSocket;
  #hello: Hello | null = null;
  #problem: ProblemDocument | null = null;
  #is_over = false;
  #heard_at: number;
  #pinged: boolean = false;
  #callOff: () => void;

  constructor(
    url: string,
    open: OpenSocket,
    authorization: () => Promise<string>,
    surroundings: Surroundings,
    listener: ConnectionListener,
  ) {
    this.#surroundings = surroundings;
    this.#listener = listener;
    this.#heard_at = surroundings.now();
    this.#held = open(`${url.replace(/^http/, "ws")}/v1/connect`, [subprotocol]);
    this.#callOff = surroundings.after(linkLimits.hello_ms, () => this.end("no hello came from the relay"));
    const { socket } = this.#held;
    socket.onopen = () => void this.#greet(authorization);
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.#receive(data);
    socket.onclose = ({ code, reason }: { readonly code?: number; readonly reason?: string }) =>
      this.#ended(code ?? 1006, reason ?? "");
    // A close follows, and says as much.
    socket.onerror = () => {};
  }

  /** Null until the relay has said hello. */
  get hello(): Hello | null {
    return this.#hello;
  }

  send(text: string): void {
    if (!this.#is_over) this.#held.socket.send(text);
  }

  hold(yes: boolean): void {
    this.#held.hold(yes);
  }

  /** Lets go at once: a peer that is gone answers no close either. */
  end(why: string): void {
    this.#ended(1006, why);
  }

  #ended(code: number, why: string): void {
    if (this.#is_over) return;
    this.#is_over = true;
    this.#callOff();
    this.#held.socket.close(1000);
    this.#listener.ended({
      code,
      why: why === "" ? `the connection was closed with ${code}` : why,
      problem: this.#problem,
    });
  }

  async #greet(authorization: () => Promise<string>): Promise<void> {
    try {
      this.send(JSON.stringify({ hello: { credential: await authorization() } }));
    } catch (error) {
      this.end(error instanceof Error ? error.message : String(error));
    }
  }

  #receive(data: unknown): void {
    if (this.#is_over) return;
    this.#heard_at = this.#surroundings.now();
    this.#pinged = false;
    const frame = parse(data);
    if (frame === null) return this.end("the relay sent something that is no frame");
    if (isProblem(frame.problem)) this.#problem = frame.problem;
    if (this.#hello !== null) return this.#listener.frame(frame);
    if (frame.hello === undefined) return;
    this.#hello = frame.hello;
    this.#callOff();
    this.#watch();
    this.#listener.opened(frame.hello);
  }

  /** After a long silence it asks; a relay that does not answer that either is gone. */
  #watch(): void {
    const { ping_after_ms, pong_within_ms } = linkLimits;
    const silence_ms = this.#surroundings.now() - this.#heard_at;
    if (this.#pinged && silence_ms >= ping_after_ms + pong_within_ms) return this.end("the relay went silent");
    if (!this.#pinged && silence_ms >= ping_after_ms) {
      this.#pinged = true;
      this.send('{"ping":1}');
    }
    const next_ms = this.#pinged ? pong_within_ms : ping_after_ms - silence_ms;
    this.#callOff = this.#surroundings.after(Math.max(1, next_ms), () => this.#watch());
  }
}

function parse(data: unknown): RelayFrame | null {
  if (typeof data !== "string") return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}
