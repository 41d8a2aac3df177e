/** A socket that a test rules: it says what the relay says, breaks, and shows what was sent over it. */

import type { WebSocketLike } from "../web-socket.ts";

type Handler = ((event: never) => unknown) | null;

interface SentCall {
  readonly n: number;
  readonly return?: string;
}

export class RuledSocket implements WebSocketLike {
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  onopen: Handler = null;
  onmessage: Handler = null;
  onclose: Handler = null;
  onerror: Handler = null;
  readonly sent: { readonly calls?: readonly SentCall[]; readonly ping?: number }[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {}

  says(said: object): void {
    this.onmessage?.({ data: JSON.stringify(said) } as never);
  }

  greets(features?: readonly string[]): void {
    const limits = { frame_bytes: 1_000_000, frame_calls: 100, calls_in_flight: 100 };
    this.says({ hello: { agent: "ann", expires_in_ms: null, limits, features } });
  }

  breaks(code = 1006): void {
    this.onclose?.({ code, reason: "" } as never);
  }

  get calls(): readonly SentCall[] {
    return this.sent.flatMap(({ calls = [] }) => calls);
  }

  get numbers(): readonly number[] {
    return this.calls.map(({ n }) => n);
  }
}
