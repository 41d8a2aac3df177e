/** The newest bodies in memory: a handoff that is delivered at once need not be read back from disk. */

import type { Body } from "./store.ts";

export class BodyCache {
  readonly #limit_bytes: number;
  readonly #bodies = new Map<string, Body>();
  #bytes = 0;

  constructor(limit_bytes: number) {
    this.#limit_bytes = limit_bytes;
  }

  get(key: string): Body | undefined {
    return this.#bodies.get(key);
  }

  set(key: string, body: Body): void {
    this.delete(key);
    this.#bodies.set(key, body);
    this.#bytes += bodyBytes(body);
    for (const [oldest] of this.#bodies) {
      if (this.#bytes <= this.#limit_bytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const known = this.#bodies.get(key);
    if (known === undefined) return;
    this.#bodies.delete(key);
    this.#bytes -= bodyBytes(known);
  }

  clear(): void {
    this.#bodies.clear();
    this.#bytes = 0;
  }
}

export function bodyBytes(body: Omit<Body, "number">): number {
  return (body.payload?.byteLength ?? 0) + (body.document?.length ?? 0) + (body.proof?.length ?? 0) + 128;
}
