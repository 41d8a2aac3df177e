/** WebSocket frames (RFC 6455) as bytes, sound or not; and what a server's bytes say. */

export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameShape {
  readonly opcode: number;
  readonly fin?: boolean;
  /** The three reserved bits, 0 to 7; 4 says "compressed". */
  readonly reserved?: number;
  readonly masked?: boolean;
  /** What it says its length is, where that is not the truth. */
  readonly says_length?: bigint;
  /** In a longer form than it needs: 16 or 64 bits. */
  readonly length_bits?: 16 | 64;
}

const mask = Buffer.from([0x5a, 0xa5, 0x3c, 0xc3]);

export function encodeFrame(payload: Uint8Array, shape: FrameShape): Buffer {
  const { fin = true, reserved = 0, masked = true } = shape;
  const length = shape.says_length ?? BigInt(payload.length);
  const first = (fin ? 0x80 : 0) | (reserved << 4) | (shape.opcode & 0x0f);
  const head = Buffer.concat([Buffer.from([first]), lengthBytes(length, shape.length_bits ?? 0, masked ? 0x80 : 0)]);
  if (!masked) return Buffer.concat([head, payload]);
  const hidden = Buffer.from(payload);
  for (let at = 0; at < hidden.length; at += 1) hidden[at] = (hidden[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return Buffer.concat([head, mask, hidden]);
}

function lengthBytes(length: bigint, least_bits: number, mask_bit: number): Buffer {
  if (length < 126n && least_bits === 0) return Buffer.from([mask_bit | Number(length)]);
  if (length < 65_536n && least_bits <= 16) {
    const bytes = Buffer.from([mask_bit | 126, 0, 0]);
    bytes.writeUInt16BE(Number(length), 1);
    return bytes;
  }
  const bytes = Buffer.alloc(9);
  bytes[0] = mask_bit | 127;
  bytes.writeBigUInt64BE(BigInt.asUintN(64, length), 1);
  return bytes;
}

interface ServerFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The first whole frame and what is left behind it, or how many bytes there must be before one can be whole. */
export type Decoded = { readonly frame: ServerFrame; readonly rest: Buffer } | { readonly needs: number };

/** A server neither masks nor fragments. */
export function decodeFrame(bytes: Buffer): Decoded {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < 2) return { needs: 2 };
  const short = second & 0x7f;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < head) return { needs: head };
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if ((first & 0xf0) !== 0x80 || (second & 0x80) !== 0) throw new Error("the server's frame is masked or in pieces");
  if (bytes.length < head + length) return { needs: head + length };
  const payload = bytes.subarray(head, head + length);
  return { frame: { opcode: first & 0x0f, payload }, rest: bytes.subarray(head + length) };
}
