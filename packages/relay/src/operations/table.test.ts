import { routes } from "@handfast/protocol/wire";
import { expect, test } from "vitest";
import { operations } from "./table.ts";

test("the protocol's list of operations is what the relay serves", () => {
  const served = operations.map(({ name, method, path }) => [name, { method, path }]);
  expect(Object.entries(routes).sort()).toEqual(served.sort());
});
