import { describe, expect, it, test } from "vitest";
import { Places } from "./places.ts";

describe("the place of a value", () => {
  const text = `{
  "agent_id": "a\\"b",
  "list": [
    1, {"x~/y": null}
  ],
  "": true, "empty": {}
}`;
  const places = new Places(text);
  test.each([
    ["", 1, 1],
    ["/agent_id", 2, 3],
    ["/list", 3, 3],
    ["/list/0", 4, 5],
    ["/list/1", 4, 8],
    ["/list/1/x~0~1y", 4, 9],
    ["/", 6, 3],
    ["/empty", 6, 13],
    ["/empty/missing/deeper", 6, 13],
    ["/nowhere", 1, 1],
  ])("%j is line %i, column %i", (pointer, line, column) => expect(places.of(pointer)).toEqual({ line, column }));

  it("is found in a text that is one value, with blanks around it", () => {
    expect(new Places(" \n 5 ").of("")).toEqual({ line: 2, column: 2 });
  });
});
