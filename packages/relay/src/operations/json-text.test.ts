import { expect, it } from "vitest";
import { withMembers } from "./json-text.ts";

it("members are added to an object, also to an empty one, and empty texts are none", () => {
  expect(withMembers("{}")).toBe("{}");
  expect(withMembers("{}", "", '"a":1', '"b":[]')).toBe('{"a":1,"b":[]}');
  expect(withMembers('{"x":{}}', '"a":1', "")).toBe('{"x":{},"a":1}');
});
