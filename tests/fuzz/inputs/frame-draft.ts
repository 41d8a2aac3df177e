/** A WebSocket message before it is bytes: how it is cut into frames, and what stands around it. */

import { encodeFrame, type FrameShape, opcode } from "../wire/ws-frames.ts";

/**
 * `answer`: the relay must answer, or close where the message is refused. `close`: what follows cannot be understood, so
 * it must close. `nothing`: the sender is gone.
 */
type Expected = "answer" | "close" | "nothing";

export interface FrameDraft {
  readonly payload: Buffer;
  readonly shape: FrameShape;
  /** In so many frames. */
  readonly pieces: number;
  /** Whole frames that come before, between the pieces, and behind. */
  readonly before: Buffer;
  readonly between: Buffer;
  readonly behind: Buffer;
  /** Of the bytes, so many are sent; null: all. */
  readonly sends: number | null;
  readonly expected: Expected;
  readonly is_touched: boolean;
}

const nothing = Buffer.alloc(0);

export function frameDraft(payload: Buffer): FrameDraft {
  return {
    payload,
    shape: { opcode: opcode.text },
    pieces: 1,
    before: nothing,
    between: nothing,
    behind: nothing,
    sends: null,
    expected: "answer",
    is_touched: false,
  };
}

export function renderFrames({ payload, shape, pieces, before, between, behind, sends }: FrameDraft): Buffer {
  const size = Math.max(1, Math.ceil(payload.length / pieces));
  const parts: Buffer[] = [before];
  for (let piece = 0; piece < pieces; piece += 1) {
    const is_last = piece === pieces - 1;
    const kind = piece === 0 ? shape.opcode : opcode.continuation;
    const fin = is_last ? (shape.fin ?? true) : false;
    parts.push(encodeFrame(payload.subarray(piece * size, (piece + 1) * size), { ...shape, opcode: kind, fin }));
    if (!is_last) parts.push(between);
  }
  const bytes = Buffer.concat([...parts, behind]);
  return sends === null ? bytes : bytes.subarray(0, Math.min(sends, bytes.length));
}
