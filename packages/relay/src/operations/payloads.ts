/** From what a caller gives to payload bytes with their digest, and back to what the wire shows. */

import { isUtf8 } from "node:buffer";
import { type PayloadDigest, payloadDigest, salt_bytes } from "@handfast/protocol";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { canonicalJson } from "../schemas/canonical-json.ts";
import type { Relay } from "./relay.ts";

const json_media_type = "application/json";
const text_media_type = "text/plain; charset=utf-8";

export interface Sealed {
  readonly bytes: Uint8Array;
  readonly digest: PayloadDigest;
}

/** Salts come from the relay, which a test may give a chance of its own. */
type Chance = Pick<Relay, "randomBytes">;

export function sealJson(relay: Chance, value: unknown): Sealed {
  return seal(relay, Buffer.from(canonicalJson(value)), json_media_type);
}

export function sealText(relay: Chance, text: string): Sealed {
  return seal(relay, Buffer.from(text), text_media_type);
}

function seal({ randomBytes }: Chance, bytes: Uint8Array, media_type: string): Sealed {
  const salt = randomBytes(salt_bytes);
  const sha256 = payloadDigest(nodeCrypto, salt, bytes);
  return {
    bytes,
    digest: {
      media_type,
      size: bytes.length,
      salt: Buffer.from(salt.buffer, salt.byteOffset, salt.length).toString("base64url"),
      sha256,
    },
  };
}

/**
 * A payload as a member of an object, `"name":value`, under the name that fits its media type; an empty text where there
 * are no bytes. JSON goes in as it came.
 */
export function payloadMember(name: "input" | "output", media_type: string, bytes: Uint8Array | null): string {
  if (bytes === null) return "";
  const is_json = isJson(media_type);
  const text = is_json || isText(media_type) ? asText(bytes) : null;
  if (text === null) return `"base64":"${Buffer.from(bytes).toString("base64")}"`;
  // That it calls itself JSON is the word of whoever signed it.
  return is_json && asJson(text) !== undefined ? `"${name}":${text}` : `"text":${JSON.stringify(text)}`;
}

function isJson(media_type: string): boolean {
  if (media_type === json_media_type) return true;
  const essence = media_type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === json_media_type || essence.endsWith("+json");
}

function isText(media_type: string): boolean {
  return media_type.toLowerCase().startsWith("text/");
}

/** Null where the bytes are not what their media type says: a signer may say anything. */
export function asText(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() : null;
}

export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
