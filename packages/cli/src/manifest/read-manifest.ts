/** A manifest file, looked through: what it says, and every fault and warning with its line. */

import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Finding, lintManifest, parseStrict, protocolLimits } from "@handfast/protocol";
import { manifestChecks } from "@handfast/relay/manifest-checks";
import { type Place, Places, placeAt } from "./places.ts";

export interface PlacedFinding extends Finding, Place {}

export interface ReadManifest {
  /** Undefined: it is not JSON. */
  readonly value: unknown;
  readonly findings: readonly PlacedFinding[];
}

/** `-` is stdin. */
export async function readText(word: string, cwd: string): Promise<Buffer> {
  if (word !== "-") return readFile(resolve(cwd, word));
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part as Uint8Array);
    parts.push(bytes);
    size += bytes.length;
    // Too large already: the rest need not be read to say so.
    if (size > protocolLimits.registration_bytes) break;
  }
  return Buffer.concat(parts);
}

export function readManifest(bytes: Buffer): ReadManifest {
  const text = bytes.toString("utf8");
  const limits = { max_bytes: protocolLimits.registration_bytes, max_depth: protocolLimits.document_depth };
  const parsed = isUtf8(bytes) ? parseStrict(text, limits) : null;
  if (parsed?.ok !== true) {
    const { reason, path, offset } = parsed?.fault ?? { reason: "not_utf8", path: "", offset: 0 };
    const comma = reason === "syntax" ? trailingComma(text, offset) : null;
    const what = comma === null ? faultWords(reason, text, offset) : "a comma after which nothing comes";
    const message = `is not JSON that everybody reads alike: ${what}.`;
    const place = placeAt(text, comma ?? offset);
    const remedy =
      comma !== null
        ? `Take out the comma in line ${place.line}.`
        : reason === "too_large"
          ? `Keep it below ${limits.max_bytes} bytes.`
          : text.startsWith(byte_order_mark)
            ? "Save it as UTF-8 without one."
            : "Write strict JSON, in UTF-8.";
    return { value: undefined, findings: [{ kind: "fault", rule: "json", path, message, remedy, ...place }] };
  }
  const places = new Places(text);
  const found = lintManifest(parsed.value, manifestChecks());
  const findings = found.map((finding) => ({ ...finding, ...places.of(finding.path) }));
  return { value: parsed.value, findings: findings.sort((a, b) => a.line - b.line || a.column - b.column) };
}

const byte_order_mark = "\u{FEFF}";

/** What a person sees who looks at the place. */
function faultWords(reason: string, text: string, offset: number): string {
  if (reason !== "syntax") return reason.replaceAll("_", " ");
  if (text.startsWith(byte_order_mark)) return "it begins with a byte order mark (U+FEFF), which editors do not show";
  if (text.trim() === "") return "it is empty";
  if (offset >= text.trimEnd().length) return "it ends too early, with something still open";
  // YAML and the like.
  return offset === 0 || !/^\s*[{["]/.test(text) ? "it does not begin as JSON does, with {" : "syntax";
}

/** Where the comma stands, if what ends here had one before its end. */
function trailingComma(text: string, offset: number): number | null {
  if (!/^[\]}]/.test(text.slice(offset, offset + 1))) return null;
  const before = text.slice(0, offset).trimEnd();
  return before.endsWith(",") ? before.length - 1 : null;
}
