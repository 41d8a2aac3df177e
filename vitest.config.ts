import { configDefaults, defineConfig } from "vitest/config";
import LongestFirst from "./scripts/longest-first.ts";

export default defineConfig({
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "adapters/*/src/**/*.test.ts",
      "tests/**/*.test.ts",
      "bench/**/*.test.ts",
      "interop/**/*.test.ts",
      "examples/**/*.test.ts",
    ],
    // What the benchmark and the cross-framework suite obtained is not ours.
    exclude: [...configDefaults.exclude, "**/.cache/**"],
    reporters: ["default", "./scripts/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // More than the cores of a small machine: much of what the tests do is wait.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Files share a process, and with it what they import: of a whole run, importing took 202 s anew for each file, and takes 44 s so.
    isolate: false,
  },
});
