import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanJson } from "./json-scanner.ts";
import { parseStrict, parseStrictBytes } from "./strict-json.ts";

const limits = { max_depth: 64 };

/** What two readers agree on: neither the key nor the numbers that strict JSON refuses. */
function isOrdinary(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value !== "object" || value === null) return true;
  return !Object.hasOwn(value, "__proto__") && Object.values(value).every(isOrdinary);
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("strict JSON", () => {
  it("reads ordinary values as JSON.parse does, however they are spaced", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(isOrdinary(value));
        expect(parseStrict(text, limits)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
      { numRuns: 1000 },
    );
  });

  it("never accepts what JSON.parse refuses, nor calls a syntax fault what it takes", () => {
    const pieces = fc.constantFrom(..."{}[]:,\"\\u0 \n-+.eE19truefalsn'/\ud83d\ude00\u0001", '"a"', "null", "\\u0041");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        const parsed = parseStrict(text, limits);
        if (parsed.ok || parsed.fault.reason === "syntax") expect(parses(text)).toBe(parsed.ok);
      }),
      { numRuns: 20_000 },
    );
  });

  it("finds any key given twice, whatever else the object holds", () => {
    const entries = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(entries, fc.nat(), (keys, pick) => {
        fc.pre(!keys.includes("__proto__"));
        const again = keys[pick % keys.length];
        const text = `{${[...keys, again].map((key) => `${JSON.stringify(key)}:0`).join(",")}}`;
        expect(parseStrict(text, limits)).toMatchObject({ ok: false, fault: { reason: "duplicate_key" } });
      }),
    );
  });

  it("refuses ten million open brackets without recursion or delay", () => {
    const deep = "[".repeat(10_000_000);
    expect(parseStrict(deep, limits)).toMatchObject({ fault: { reason: "too_deep", offset: 64 } });
  });

  it("walks as deep as it is told to", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(parseStrict(deep, { max_depth: 100_000 }).ok).toBe(true);
  });

  it("leaves every prototype as it was", () => {
    parseStrict('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}', limits);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("counts bytes, not characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (content) => {
        const text = JSON.stringify(content);
        const bytes = new TextEncoder().encode(text).length;
        expect(parseStrict(text, { max_depth: 1, max_bytes: bytes }).ok).toBe(true);
        expect(parseStrict(text, { max_depth: 1, max_bytes: bytes - 1 }).ok).toBe(false);
      }),
    );
  });

  it("refuses raw lone surrogates in strings and keys", () => {
    for (const text of ['"\ud800"', '"\udc00"', '"\ud83d\\ude00"', '"\\ud83d\ude00"', '{"\ud800":1}']) {
      expect(parseStrict(text, limits)).toMatchObject({ ok: false, fault: { reason: "lone_surrogate" } });
    }
  });

  it("says where in the text the fault is", () => {
    expect(parseStrict('{"a": [1, 1e999]}', limits)).toEqual({
      ok: false,
      fault: { reason: "number_out_of_range", path: "/a/1", offset: 10 },
    });
  });

  it("judges a text the same with and without a line break before it, which makes it look at every character", () => {
    const pieces = [
      '"',
      "\\",
      '\\"',
      "\\n",
      "\\x",
      "\\u00e9",
      "\\ud800",
      "\\ud83d\\ude00",
      "😀",
      "a",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "1",
    ];
    const content = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((some) => some.join(""));
    const whole = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `["${text}"]`,
      (text) => `{"a":"${text}","b":${text}}`,
    );
    fc.assert(
      fc.property(content, whole, (text, wrap) => {
        const fault = scanJson(wrap(text), limits);
        const shifted = fault === null ? null : { ...fault, offset: fault.offset + 1 };
        expect(scanJson(`\n${wrap(text)}`, limits)).toEqual(shifted);
      }),
      { numRuns: 2_000 },
    );
  });

  it("refuses bytes that are not UTF-8 instead of mending them", () => {
    expect(parseStrictBytes(Uint8Array.of(0x22, 0xff, 0x22), limits)).toMatchObject({ fault: { reason: "not_utf8" } });
  });
});
