// Identifiers: UUIDv7 ids made by senders, ASCII names, and the free-form ids that people bring along.
import { toHex } from "./encoding.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The source text of the patterns, for JSON Schema. ASCII only, so that no two names look alike by normalisation. */
export const idPattern = uuid.source;
/** `@` is left out: it is reserved for `name@origin`, agents of other relays. Upper and lower case are different. */
export const namePattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
/** Of an agent here, or of one that is registered elsewhere: `name@origin`, which is host and port. */
export const agentPattern = `${namePattern.slice(0, -1)}(@[a-z0-9.:_\\[\\]-]{1,255})?$`;
/** 1 to 256 code points without control characters and lone surrogates. To be compiled with the `u` flag. */
export const textIdPattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]{1,256}$";

/** Names that would be mistaken for somebody who is no agent. */
export const reservedNames = ["operator", "relay"] as const;

const name = new RegExp(namePattern, "u");
const textId = new RegExp(textIdPattern, "u");
const max_time_ms = 2 ** 48 - 1;

/** A UUIDv7 (RFC 9562) of a time and ten random bytes, of which 74 bits are used. */
export function makeId(now_ms: number, random: Uint8Array): string {
  if (!Number.isInteger(now_ms) || now_ms < 0 || now_ms > max_time_ms) {
    throw new RangeError(`An id needs a time in whole milliseconds since 1970, not ${now_ms}.`);
  }
  if (random.length !== 10) throw new RangeError(`An id needs 10 random bytes, not ${random.length}.`);
  const tail = Uint8Array.from(random);
  tail[0] = ((tail[0] ?? 0) & 0x0f) | 0x70;
  tail[2] = ((tail[2] ?? 0) & 0x3f) | 0x80;
  const hex = now_ms.toString(16).padStart(12, "0") + toHex(tail);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Only the lowercase spelling, so that equal ids are equal strings. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && uuid.test(value);
}

/** When the id says it was made, in milliseconds since 1970: the sender's word, not a fact. */
export function idTime(id: string): number {
  if (!isId(id)) throw new RangeError(`${JSON.stringify(id)} is not an id.`);
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Names of agents, workers, capabilities and namespaces. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && name.test(value);
}

/** Correlation and conversation ids, idempotency and ordering keys. */
export function isTextId(value: unknown): value is string {
  return typeof value === "string" && textId.test(value);
}

/** What to say of a text that is no name. A character that only looks like one of a name's is told by its number. */
export function noName(text: string): string {
  const strange = [...text].find((character) => character < " " || character > "~");
  const rule = "a name is up to 128 of A-Z, a-z, 0-9, dot, underscore and hyphen, and begins with a letter or digit";
  if (strange === undefined) return `is no name: ${rule}`;
  const number = (strange.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `is no name: it has ${JSON.stringify(strange)} (U+${number}), and ${rule}`;
}
