// JSON read so that two readers cannot understand it differently: no duplicate keys, no numbers that lose digits, no
// lone surrogates, bounded depth. The scanner judges the text, then JSON.parse makes the value.
import { type JsonFault, type JsonLimits, type JsonReason, scanJson } from "./json-scanner.ts";

export type ParsedJson = { ok: true; value: unknown } | { ok: false; fault: JsonFault };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function parseStrictBytes(bytes: Uint8Array, limits: JsonLimits): ParsedJson {
  if (bytes.length > (limits.max_bytes ?? Number.POSITIVE_INFINITY)) return refused("too_large");
  const text = decodeUtf8(bytes);
  return text === null ? refused("not_utf8") : parseStrict(text, limits);
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

export function parseStrict(text: string, limits: JsonLimits): ParsedJson {
  if (limits.max_bytes !== undefined && isLongerThan(text, limits.max_bytes)) return refused("too_large");
  const fault = scanJson(text, limits);
  if (fault !== null) return { ok: false, fault };
  return { ok: true, value: JSON.parse(text) };
}

function refused(reason: JsonReason): ParsedJson {
  return { ok: false, fault: { reason, path: "", offset: 0 } };
}

/** Counts UTF-8 bytes only when the number of code units leaves it open. */
function isLongerThan(text: string, max_bytes: number): boolean {
  if (text.length > max_bytes) return true;
  if (text.length * 3 <= max_bytes) return false;
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Each half of a surrogate pair counts two of the pair's four bytes.
    if (code >= 0x80) bytes += code >= 0x800 && !(code >= 0xd800 && code <= 0xdfff) ? 2 : 1;
  }
  return bytes > max_bytes;
}
