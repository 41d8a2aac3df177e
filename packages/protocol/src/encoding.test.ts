import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromBase64url, fromHex, toBase64url, toHex } from "./encoding.ts";

describe("base64url", () => {
  it("agrees with Node for any bytes, both ways", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = toBase64url(bytes);
        expect(text).toBe(Buffer.from(bytes).toString("base64url"));
        expect(fromBase64url(text)).toEqual(bytes);
      }),
    );
  });

  it("gives every value one spelling: what decodes encodes back to the same text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), (text) => {
        const bytes = fromBase64url(text);
        if (bytes !== null) expect(toBase64url(bytes)).toBe(text);
      }),
    );
  });

  it.each(["A", "AB", "AA=", "AA==", "AA+A", "AA/A", "AA A", "AAA\n", "AAé"])("refuses %j", (text) => {
    expect(fromBase64url(text)).toBeNull();
  });
});

describe("hex", () => {
  it("round-trips any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(fromHex(toHex(bytes))).toEqual(bytes);
      }),
    );
  });

  it.each(["A0", "a", "0g", "a0\n"])("refuses %j", (text) => {
    expect(fromHex(text)).toBeNull();
  });
});
