/**
 * One connection: it says who it is, waits for the relay's hello, hands frames over as they come, and notices when the
 * relay is gone. States: opening → greeting (the hello was sent) → open → over. It ends once, with what is known about why.
 */

import type { ProblemDocument } from "../errors.ts";
import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";
import { type Hello, type RelayFrame, readRelayFrame } from "./relay-frame.ts";
import type { HeldSocket, OpenSocket } from "./web-socket.ts";

/** Why a connection is over. */
export interface ConnectionEnd {
  /** The close code; 1006 where none came. */
  readonly code: number;
  readonly why: string;
  readonly problem: ProblemDocument | null;
  /** The peer says what no relay says. */
  readonly is_fault: boolean;
  /** Since when the relay has been silent, where that is why. */
  readonly silent_since: number | null;
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
    this.#callOff = surroundings.after(linkLimits.hello_ms, () => this.drop("no hello came from the relay"));
    const { socket } = this.#held;
    socket.onopen = () => void this.#greet(authorization);
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.#receive(data);
    socket.onclose = ({ code, reason }: { readonly code?: number; readonly reason?: string }) =>
      this.#ended({ code: code ?? 1006, why: reason ?? "" });
    // A close follows, and says as much.
    socket.onerror = () => {};
  }

  /** Null until the relay has said hello. */
  get hello(): Hello | null {
    return this.#hello;
  }

  /** The relay's last sign of life; until there is one, when it was called. */
  get heard_at(): number {
    return this.#heard_at;
  }

  /** This process stood still, and what the relay said meanwhile may not be read yet: its silence counts anew. */
  forgiveSilence(): void {
    this.#heard_at = this.#surroundings.now();
  }

  send(text: string): void {
    if (!this.#is_over) this.#held.socket.send(text);
  }

  hold(yes: boolean): void {
    this.#held.hold(yes);
  }

  /** Says goodbye and lets go. */
  end(why: string): void {
    this.#ended({ code: 1006, why });
  }

  /** Lets go of a peer that is gone: it would answer no goodbye either. */
  drop(why: string): void {
    this.#ended({ code: 1006, why, silent_since: this.#heard_at });
    this.#held.drop();
  }

  #ended(end: { readonly code: number; readonly why: string } & Partial<ConnectionEnd>): void {
    if (this.#is_over) return;
    this.#is_over = true;
    this.#callOff();
    const { socket } = this.#held;
    socket.close(1000);
    this.#held.hold(false);
    const callOff = this.#surroundings.after(linkLimits.goodbye_ms, () => this.#held.drop());
    socket.onclose = callOff;
    const { code, why, is_fault = false, silent_since = null } = end;
    this.#listener.ended({
      code,
      why: why === "" ? `the connection was closed with ${code}` : why,
      problem: this.#problem,
      is_fault,
      silent_since,
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
    const frame = readRelayFrame(data);
    if (frame === null) return this.#fault();
    if (frame.problem !== undefined) this.#problem = frame.problem;
    if (this.#hello !== null) return this.#handOver(frame);
    if (frame.hello === undefined) return;
    this.#hello = frame.hello;
    this.#callOff();
    this.#watch(this.#heard_at);
    this.#listener.opened(frame.hello);
  }

  /** What stands in a reply or an event is read by whoever waits for it; a lie there is no reason to end the process. */
  #handOver(frame: RelayFrame): void {
    try {
      this.#listener.frame(frame);
    } catch {
      this.#fault();
    }
  }

  #fault(): void {
    this.#ended({ code: 1006, why: "the relay sent something that is no frame", is_fault: true });
  }

  /** After a long silence it asks; a relay that does not answer that either is gone. `due_at`: when it should look. */
  #watch(due_at: number): void {
    const { pong_within_ms, late_ms } = linkLimits;
    const now = this.#surroundings.now();
    if (now - due_at > late_ms) this.forgiveSilence();
    const ping_after_ms = Math.min(linkLimits.ping_after_ms, this.#hello?.ping_ms ?? Number.POSITIVE_INFINITY);
    const silence_ms = now - this.#heard_at;
    if (this.#pinged && silence_ms >= ping_after_ms + pong_within_ms) return this.drop("the relay went silent");
    if (!this.#pinged && silence_ms >= ping_after_ms) {
      this.#pinged = true;
      this.send('{"ping":1}');
    }
    const next_ms = Math.max(1, (this.#pinged ? ping_after_ms + pong_within_ms : ping_after_ms) - silence_ms);
    this.#callOff = this.#surroundings.after(next_ms, () => this.#watch(now + next_ms));
  }
}
