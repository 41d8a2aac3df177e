/** The plugin's configuration. */

import { expect, test } from "vitest";
import { readSettings } from "./settings.ts";

test("nothing configured: the environment decides, and nothing is served", () => {
  expect(readSettings(undefined)).toEqual({ connect: {}, concurrency: 4, replies_late: true, capabilities: new Map() });
});

test("a capability is done by the agent that it names, else by main", () => {
  const { capabilities } = readSettings({ capabilities: { a: { agent: "worker", timeout: "1m" }, b: {} } });
  expect(capabilities.get("a")).toEqual({ name: "a", agent: "worker", timeout: "1m" });
  expect(capabilities.get("b")).toEqual({ name: "b", agent: "main" });
});

test("what is no object is refused, with its place", () => {
  expect(() => readSettings("http://x")).toThrow("The plugin's config");
  expect(() => readSettings({ capabilities: { a: true } })).toThrow("The capability a is true");
});
