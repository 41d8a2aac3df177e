/** From what a caller gives to payload bytes with their digest, and back to what the wire shows. */

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

/** The bytes under the name that fits their media type; nothing where there are none. */
export function showPayload<Name extends "input" | "output">(
  name: Name,
  media_type: string,
  bytes: Uint8Array | null,
): { [name in Name]?: unknown } & { text?: string; base64?: string } {
  if (bytes === null) return {} as { [name in Name]?: unknown };
  const text = isJson(media_type) || isText(media_type) ? asText(bytes) : null;
  if (text !== null && isJson(media_type)) {
    const value = asJson(text);
    if (value !== undefined) return { [name]: value } as { [name in Name]?: unknown };
  }
  if (text !== null) return { text } as { [name in Name]?: unknown } & { text: string };
  return { base64: Buffer.from(bytes).toString("base64") } as { [name in Name]?: unknown } & { base64: string };
}

function isJson(media_type: string): boolean {
  const essence = media_type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === json_media_type || essence.endsWith("+json");
}

function isText(media_type: string): boolean {
  return media_type.toLowerCase().startsWith("text/");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Null where the bytes are not what their media type says: a signer may say anything. */
export function asText(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
