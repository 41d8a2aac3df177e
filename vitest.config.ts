import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "bench/**/*.test.ts"],
    // What the benchmark obtained is not ours.
    exclude: [...configDefaults.exclude, "bench/.cache/**"],
    reporters: ["default", "./scripts/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
