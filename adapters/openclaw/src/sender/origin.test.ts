/** The session that sent a handoff is found again from the handoff. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gatewayId, hasChannel, keyOf, originLabels, originOf } from "./origin.ts";

test.each(["agent:main:main", `agent:main:${"x".repeat(600)}`])("a session key comes back whole: %s", (key) => {
  const labels = originLabels("g1", { sessionKey: key });
  expect(Object.values(labels).every((value) => value.length <= 256)).toBe(true);
  expect(originOf({ labels }, "g1")).toBe(key);
});

test("what another gateway or another program sent is not ours", () => {
  expect(originOf({ labels: originLabels("g1", { sessionKey: "agent:main:main" }) }, "g2")).toBeNull();
  expect(originOf({ labels: {} }, "g1")).toBeNull();
});

test("a gateway keeps its name", () => {
  const folder = mkdtempSync(join(tmpdir(), "handfast-gateway-"));
  try {
    const id = gatewayId(folder);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(gatewayId(folder)).toBe(id);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a tool call has one key; another session, call or content has another", () => {
  const base = { scope: "s1", key: "c1", content: [{ capability: "a" }, 1] };
  const keys = [base, { ...base, scope: "s2" }, { ...base, key: "c2" }, { ...base, content: [{ capability: "a" }, 2] }];
  expect(keyOf("g1", base)).toBe(keyOf("g1", { ...base }));
  expect(new Set(keys.map((each) => keyOf("g1", each))).size).toBe(4);
});

test("a session that talks over a channel is known as such", () => {
  const sessionKey = "agent:main:telegram:direct:1";
  expect(
    hasChannel({ labels: originLabels("g1", { sessionKey, deliveryContext: { channel: "telegram", to: "1" } }) }),
  ).toBe(true);
  expect(hasChannel({ labels: originLabels("g1", { sessionKey, deliveryContext: { channel: "webchat" } }) })).toBe(
    false,
  );
});
