/** The lines of a file, one at a time, and where they end. */

import { open } from "node:fs/promises";

/** No line that was ever written is longer: what has none of its own is no export. */
const longest_line_bytes = 64_000_000;
const piece_bytes = 1_000_000;
const line_break = 0x0a;

export interface Line {
  /** Without its line break. */
  readonly bytes: Buffer;
  /** False: the file ends within it. */
  readonly whole: boolean;
  /** Where in the file it ends. */
  readonly end: number;
}

export class LineTooLong extends Error {}

export async function* linesOf(path: string): AsyncGenerator<Line> {
  const file = await open(path, "r");
  try {
    let rest: Buffer[] = [];
    let rest_bytes = 0;
    let end = 0;
    for await (const piece of file.createReadStream({ highWaterMark: piece_bytes, autoClose: false })) {
      let from = 0;
      for (let at = piece.indexOf(line_break); at >= 0; at = piece.indexOf(line_break, from)) {
        const bytes = Buffer.concat([...rest, piece.subarray(from, at)]);
        end += bytes.length + 1;
        yield { bytes, whole: true, end };
        rest = [];
        rest_bytes = 0;
        from = at + 1;
      }
      rest.push(piece.subarray(from));
      rest_bytes += piece.length - from;
      if (rest_bytes > longest_line_bytes) throw new LineTooLong();
    }
    const bytes = Buffer.concat(rest);
    if (bytes.length > 0) yield { bytes, whole: false, end: end + bytes.length };
  } finally {
    await file.close();
  }
}
