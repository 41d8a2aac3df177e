import { expect, test } from "vitest";
import { SharedSchemas } from "./shared-schemas.ts";

const capability = (name: string) => ({
  name,
  input_schema: { type: "object", properties: { text: { type: "string" } } },
  output_schema: { type: "string" },
});

test("schemas that are written alike are one, until nobody has them any more", () => {
  const shared = new SharedSchemas();
  const [one, other] = [shared.take(capability("one")), shared.take(capability("other"))];
  expect([one, other]).toEqual([capability("one"), capability("other")]);
  expect(other.input_schema).toBe(one.input_schema);
  expect(other.output_schema).toBe(one.output_schema);
  expect(shared.size).toBe(2);
  shared.release(one);
  expect(shared.take(capability("third")).input_schema).toBe(one.input_schema);
  shared.release(other);
  shared.release(capability("third"));
  expect(shared.size).toBe(0);
});

test("what has no schemas stays as it is", () => {
  const shared = new SharedSchemas();
  const silent = { name: "silent" };
  expect(shared.take(silent)).toBe(silent);
  shared.release(silent);
  expect(shared.size).toBe(0);
});
