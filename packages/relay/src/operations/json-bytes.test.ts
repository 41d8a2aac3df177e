import { describe, expect, it } from "vitest";
import { jsonBytes } from "./json-bytes.ts";

describe("the bytes that a payload takes in JSON", () => {
  it.each(["", "plain", '{"a":"b\\n"}', "\u0001\u0002\n\t", "é€😀\u007f"])(
    "are never more than was said: %j",
    (text) => {
      const bytes = Buffer.from(text);
      expect(jsonBytes(bytes)).toBeGreaterThanOrEqual(Buffer.byteLength(JSON.stringify(text)));
      expect(jsonBytes(bytes)).toBeGreaterThanOrEqual(JSON.stringify(bytes.toString("base64")).length);
    },
  );
});
