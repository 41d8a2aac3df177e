/** What bytes take in a reply: a control character is six of them there. */

const quote = 0x22;
const backslash = 0x5c;
const first_printable = 0x20;

/** At least as many as these bytes take as a string in JSON, or as base64 where they are no text. */
export function jsonBytes(bytes: Uint8Array): number {
  let size = 2 + bytes.length;
  for (const byte of bytes) {
    if (byte < first_printable) size += 5;
    else if (byte === quote || byte === backslash) size += 1;
  }
  return Math.max(size, Math.ceil(bytes.length / 3) * 4 + 2);
}
