import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderStatusCodes } from "../../../scripts/generate-status-codes.ts";
import { statusCode, statusCodes } from "./status-codes.ts";

describe("status codes", () => {
  it("are generated from the table as it is now (else run node scripts/generate-status-codes.ts)", () => {
    expect(readFileSync(new URL("status-codes.ts", import.meta.url), "utf8")).toBe(renderStatusCodes());
  });

  it("have one name and one code each, in rising order", () => {
    const codes = statusCodes.map(({ code }) => code);
    expect(codes).toEqual([...new Set(codes)].toSorted((a, b) => a - b));
    expect(new Set(statusCodes.map(({ name }) => name)).size).toBe(statusCodes.length);
  });

  it("say in words what they mean", () => {
    for (const { name, title, meaning } of statusCodes) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(title).toMatch(/^[A-Z].*\.$/);
      expect(meaning).toMatch(/^[A-Z].*\.$/);
    }
  });

  it("are looked up by number", () => {
    expect(statusCode(408).name).toBe("deadline_passed");
    expect(statusCode(499)).toBeUndefined();
  });
});
