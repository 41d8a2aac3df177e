/** The tests that need a real OpenClaw: one gateway for each file, and one file at a time, for a gateway takes 800 MB. */

import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: join(import.meta.dirname, "../../.."),
    include: ["adapters/openclaw/test/*.openclaw.ts"],
    // A gateway's start is two minutes of work for a machine that has much else to do, and a test may start it twice.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
