/** docs/frameworks/openai-agents.md, as a reader follows it. */

import { expect, test } from "vitest";
import { followed } from "../../kit/src/testing/follow-guide.ts";

test("the guide shows what its program prints", { timeout: 120_000 }, async () => {
  expect(await followed("openai-agents", ["@openai"])).toEqual([]);
});
