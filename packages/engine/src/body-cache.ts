/**
 * The newest bodies in memory: a handoff that is delivered at once need not be read back from disk, nor the outcome that
 * its sender waits for. Other kinds are rarely read soon.
 */

import { Names } from "./names.ts";
import type { Body, BodyKind } from "./store.ts";

/** What is kept of one handoff. */
interface Kept {
  readonly namespace: string;
  readonly id: string;
  readonly bodies: Body[];
  bytes: number;
}

export class BodyCache {
  readonly #limit_bytes: number;
  readonly #kept = new Names<Kept>();
  /** In the order they came: the oldest go first. */
  readonly #order = new Set<Kept>();
  #bytes = 0;

  constructor(limit_bytes: number) {
    this.#limit_bytes = limit_bytes;
  }

  get(namespace: string, id: string, kind: BodyKind, number: number): Body | undefined {
    return this.#kept.get(namespace, id)?.bodies.find((body) => body.kind === kind && body.number === number);
  }

  add(namespace: string, id: string, body: Body): void {
    if (body.kind !== "handoff" && body.kind !== "outcome") return;
    const kept = this.#kept.get(namespace, id) ?? this.#begin(namespace, id);
    const bytes = bodyBytes(body);
    kept.bodies.push(alone(body));
    kept.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#order) {
      if (this.#bytes <= this.#limit_bytes) break;
      this.delete(oldest.namespace, oldest.id);
    }
  }

  delete(namespace: string, id: string): void {
    const kept = this.#kept.get(namespace, id);
    if (kept === undefined) return;
    this.#kept.delete(namespace, id);
    this.#order.delete(kept);
    // The order outlives it in tables that nobody can reach (see `Passing`): they must not lead to its bodies.
    kept.bodies.length = 0;
    this.#bytes -= kept.bytes;
  }

  clear(): void {
    this.#kept.clear();
    this.#order.clear();
    this.#bytes = 0;
  }

  #begin(namespace: string, id: string): Kept {
    const kept = { namespace, id, bodies: [], bytes: 0 };
    this.#kept.set(namespace, id, kept);
    this.#order.add(kept);
    return kept;
  }
}

/**
 * Small buffers are cut from a slab of 64 KB that they share: one payload kept would hold all of it, uncounted. One whose
 * memory is its own stays as it is.
 */
function alone(body: Body): Body {
  const { payload } = body;
  if (payload === null || payload.buffer.byteLength === payload.byteLength) return body;
  return { ...body, payload: new Uint8Array(payload) };
}

export function bodyBytes(body: Omit<Body, "number">): number {
  return (body.payload?.byteLength ?? 0) + (body.document?.length ?? 0) + (body.proof?.length ?? 0) + 128;
}
