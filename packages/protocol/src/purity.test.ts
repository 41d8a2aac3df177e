import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const folder = new URL(".", import.meta.url).pathname;
const sources = globSync("{*,manifest/*}.ts", { cwd: folder }).filter((name) => !name.endsWith(".test.ts"));

it.each(sources)("%s has no I/O, clock or randomness, so it runs in a browser and in a simulator", (name) => {
  const text = readFileSync(`${folder}${name}`, "utf8");
  expect(text).not.toMatch(/from "node:|Buffer\.|process\.|Date\.now|new Date|Math\.random|performance\.|globalThis/);
});
