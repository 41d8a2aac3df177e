/** What is done wrong to WebSocket frames themselves, and what is unusual and right. */

import type { FrameDraft } from "../inputs/frame-draft.ts";
import { encodeFrame, opcode } from "../wire/ws-frames.ts";
import type { Around, Mutation } from "./mutation.ts";

function mutation(
  name: string,
  change: (draft: FrameDraft, around: Around) => Partial<FrameDraft>,
): Mutation<FrameDraft> {
  // One is enough: of two, the second could take back what the first one did, and what is expected with it.
  return {
    name,
    apply: (draft, around) => (draft.is_touched ? draft : { ...draft, ...change(draft, around), is_touched: true }),
  };
}

const close = (payload: Uint8Array) => encodeFrame(payload, { opcode: opcode.close });

/** Just beyond what a frame may hold: white space, so that nothing but its size is wrong. */
const padded = (payload: Buffer, size: number) =>
  Buffer.concat([payload, Buffer.alloc(Math.max(0, size - payload.length), " ")]);

export const frameMutations: readonly Mutation<FrameDraft>[] = [
  mutation("binary", ({ shape }) => ({ shape: { ...shape, opcode: opcode.binary } })),
  mutation("in pieces", (_draft, { random }) => ({ pieces: random.pick([2, 3, 10, 200]) })),
  mutation("in pieces, pings between them", (_draft, { random }) => ({
    pieces: random.between(2, 5),
    between: encodeFrame(random.bytes(random.between(0, 125)), { opcode: opcode.ping }),
  })),
  mutation("in pieces, another message between them", ({ shape }, { random }) => ({
    pieces: 2,
    between: encodeFrame(Buffer.from('{"ping":1}'), { opcode: random.pick([opcode.text, shape.opcode]) }),
    expected: "close",
  })),
  mutation("pieces that never end", ({ shape }) => ({ shape: { ...shape, fin: false }, pieces: 2, expected: "close" })),
  mutation("a piece of nothing", ({ shape }) => ({
    shape: { ...shape, opcode: opcode.continuation },
    expected: "close",
  })),
  mutation("reserved bits, as if compressed", ({ shape }, { random }) => ({
    shape: { ...shape, reserved: random.between(1, 7) },
    expected: "close",
  })),
  mutation("an unknown opcode", ({ shape }, { random }) => ({
    shape: { ...shape, opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) },
    expected: "close",
  })),
  mutation("not masked", ({ shape }) => ({ shape: { ...shape, masked: false }, expected: "close" })),
  mutation("a length in a longer form", ({ shape }, { random }) => ({
    shape: { ...shape, length_bits: random.pick([16, 64]) },
  })),
  mutation("a length beyond all bounds", ({ shape }, { random }) => ({
    shape: { ...shape, says_length: random.pick([2n ** 63n, 2n ** 64n - 1n, 2n ** 32n, 16_000_001n, 2n ** 53n]) },
    expected: "close",
  })),
  mutation("a length that never comes", ({ shape, payload }) => ({
    shape: { ...shape, says_length: BigInt(payload.length + 1_000) },
    expected: "nothing",
  })),
  mutation("cut off", (_draft, { random }) => ({ sends: random.between(1, 60), expected: "nothing" })),
  mutation("gone before the answer", () => ({ expected: "nothing" })),
  mutation("said twice", (draft) => ({ behind: encodeFrame(draft.payload, { opcode: opcode.text }) })),
  mutation("pings", (_draft, { random }) => {
    const ping = encodeFrame(random.bytes(random.between(0, 125)), { opcode: opcode.ping });
    return { before: Buffer.concat(Array.from({ length: random.pick([1, 20, 300]) }, () => ping)) };
  }),
  mutation("a pong that nobody asked for", () => ({ before: encodeFrame(Buffer.from("x"), { opcode: opcode.pong }) })),
  mutation("a ping that is too long", (_draft, { random }) => ({
    before: encodeFrame(random.bytes(random.pick([126, 1_000, 70_000])), { opcode: opcode.ping }),
    expected: "close",
  })),
  mutation("a ping in pieces", () => ({
    before: encodeFrame(Buffer.from("x"), { opcode: opcode.ping, fin: false }),
    expected: "close",
  })),
  mutation("a close before it", (_draft, { random }) => {
    const code = Buffer.alloc(2);
    code.writeUInt16BE(random.pick([1000, 1001, 3000, 4000, 4999]));
    return { before: close(code), expected: "close" };
  }),
  mutation("a close that is none", (_draft, { random }) => {
    const code = Buffer.alloc(random.pick([1, 2, 3, 130]), 0xff);
    if (code.length === 2) code.writeUInt16BE(random.pick([0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535]));
    return { before: close(code), expected: "close" };
  }),
  mutation("an empty message before it", () => ({ before: encodeFrame(Buffer.alloc(0), { opcode: opcode.text }) })),
  mutation("a second hello before it", () => ({
    before: encodeFrame(Buffer.from('{"hello":{"credential":"x"}}'), { opcode: opcode.text }),
  })),
  mutation("large", ({ payload }, { random }) =>
    random.chance(0.04)
      ? { payload: padded(payload, random.pick([15_999_000, 16_000_000, 16_000_001])) }
      : { payload: padded(payload, 70_000) },
  ),
];
