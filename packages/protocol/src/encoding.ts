// Bytes as text: unpadded base64url and lowercase hex. Decoding is strict, so that one value has exactly one spelling.

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const sextets = new Int8Array(128).fill(-1);
for (let value = 0; value < alphabet.length; value++) sextets[alphabet.charCodeAt(value)] = value;

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const utf8 = new TextEncoder();

export function toBase64url(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += alphabet.charAt((held >> bits) & 63);
    }
  }
  return bits > 0 ? text + alphabet.charAt((held << (6 - bits)) & 63) : text;
}

/** Null for padding, a foreign character, an impossible length, or bits set past the last byte. */
export function fromBase64url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const sextet = sextets[text.charCodeAt(i)] ?? -1;
    if (sextet < 0) return null;
    held = ((held << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}

export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += hexPairs[byte];
  return text;
}

/** Null for anything but an even number of lowercase hexadecimal digits. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

export function toUtf8(text: string): Uint8Array {
  return utf8.encode(text);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
