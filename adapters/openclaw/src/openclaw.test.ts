/** An OpenClaw that does not fit is told so, with both versions. */

import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { checkHost, type Runtime, type Sessions } from "./openclaw.ts";

const subagent = {} as Sessions;
const state = { resolveStateDir: () => "" };
const host = (version?: string): Runtime => ({ state, subagent, ...(version === undefined ? {} : { version }) });

test.each(["2026.9.0", "2026.9.6", "2026.11.2-beta.1", "2027.1.1"])("OpenClaw %s fits", (version) => {
  expect(checkHost(host(version))).toBe(subagent);
});

test.each([
  ["2026.1.24", "it is too old"],
  ["2026.8.31", "it is too old"],
  ["2027.9.0", "it is too new"],
  ["nightly", "its version cannot be read"],
  [undefined, "its version cannot be read"],
])("OpenClaw %s does not fit: %s", (version, why) => {
  const told = `@handfast/openclaw ${manifest.version} does not fit OpenClaw ${version ?? "unknown"}: ${why}`;
  expect(() => checkHost(host(version))).toThrow(told);
});

test("an OpenClaw without turns for plugins does not fit, whatever its version", () => {
  expect(() => checkHost({ version: "2026.9.6", state })).toThrow("api.runtime.subagent");
});

test("package.json and the check agree on the oldest that fits", () => {
  const { peerDependencies, openclaw } = manifest;
  expect(peerDependencies.openclaw).toBe(">=2026.9.0");
  expect(openclaw.compat.pluginApi).toBe(peerDependencies.openclaw);
  expect(openclaw.install.minHostVersion).toBe(peerDependencies.openclaw);
});
