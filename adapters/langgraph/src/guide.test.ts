/** docs/frameworks/langgraph-js.md, as a reader follows it. */

import { join } from "node:path";
import { expect, test } from "vitest";
import { followed } from "../../kit/src/testing/follow-guide.ts";

test("the guide shows what its program prints", { timeout: 120_000 }, async () => {
  const database = join(import.meta.dirname, "testing/stand-in-database.ts");
  expect(await followed("langgraph-js", ["@langchain"], { NODE_OPTIONS: `--import=${database}` })).toEqual([]);
});
