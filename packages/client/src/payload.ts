/** Payloads: from what a user gives to the bytes that are hashed, and from signed bytes back to the value. */

import type { PayloadDigest } from "@handfast/protocol";
import { parseStrict, payloadDigest, salt_bytes, toBase64url, toUtf8 } from "@handfast/protocol/client";
import type { Base } from "./base.ts";
import { UsageError } from "./errors.ts";

/** One of the three: any JSON under its name, text, or bytes of another media type. */
export type Given<Name extends string> = { readonly [name in Name]?: unknown } & {
  readonly text?: string;
  readonly bytes?: { readonly media_type: string; readonly data: Uint8Array };
};

export interface Sealed {
  readonly digest: PayloadDigest;
  /** The exact bytes, as the wire carries them. */
  readonly payload: { readonly payload: string; readonly payload_encoding?: "base64" };
}

const json_media_type = "application/json";
const text_media_type = "text/plain; charset=utf-8";
const json_depth = 64;

/** `ordered`: the same value gives the same bytes, in whatever order its members stand. */
export function seal<Name extends string>(
  base: Pick<Base, "crypto" | "surroundings">,
  given: Given<Name>,
  name: Name,
  ordered = false,
): Sealed {
  const { text, bytes } = given;
  const forms = [name, "text", "bytes"].filter((form) => Object.hasOwn(given, form));
  if (forms.length !== 1) {
    const message =
      forms.length === 0 ? `There is no ${name}: it is undefined.` : `There are two: ${forms.join(" and ")}.`;
    throw new UsageError(message, `Give exactly one of ${name} (JSON; null for nothing), text and bytes.`);
  }
  if (bytes !== undefined) {
    const payload = { payload: toBase64(bytes.data), payload_encoding: "base64" } as const;
    return { digest: digestOf(base, bytes.data, bytes.media_type), payload };
  }
  const whole = text === undefined ? toJson(given[name], name, ordered) : text.toWellFormed();
  const media_type = text === undefined ? json_media_type : text_media_type;
  return { digest: digestOf(base, toUtf8(whole), media_type), payload: { payload: whole } };
}

function digestOf(
  { crypto, surroundings }: Pick<Base, "crypto" | "surroundings">,
  data: Uint8Array,
  media_type: string,
): PayloadDigest {
  const salt = surroundings.randomBytes(salt_bytes);
  return { media_type, size: data.length, salt: toBase64url(salt), sha256: payloadDigest(crypto, salt, data) };
}

function toJson(value: unknown, name: string, ordered: boolean): string {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return ordered ? inOrder(JSON.parse(text)) : text;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(
      `The ${name} cannot be written as JSON: ${why}`,
      "Give plain data without cycles.",
      "usage",
      cause,
    );
  }
  throw new UsageError(`The ${name} is a ${typeof value}, which JSON cannot hold.`, "Give plain data.");
}

/** As RFC 8785 orders members, so in every language alike: JavaScript alone would put "9" before "10". */
function inOrder(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inOrder).join(",")}]`;
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${inOrder(member)}`).join(",")}}`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What the bytes say, by their media type; null where they are not what it promises. */
export function openPayload(bytes: Uint8Array, media_type: string): { input: unknown; text?: string } | null {
  if (!isJson(media_type) && !media_type.toLowerCase().startsWith("text/")) return { input: bytes };
  try {
    const text = utf8.decode(bytes);
    if (!isJson(media_type)) return { input: text, text };
    const parsed = parseStrict(text, { max_depth: json_depth });
    return parsed.ok ? { input: parsed.value } : null;
  } catch {
    return null;
  }
}

function isJson(media_type: string): boolean {
  const essence = media_type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === json_media_type || essence.endsWith("+json");
}

/** Base64 with padding, as payloads carry it. */
export function toBase64(bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    characters += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(characters);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
