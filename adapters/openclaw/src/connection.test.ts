/** The connection of one loading of the plugin. */

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestRelay } from "../../../packages/relay/src/testing/test-relay.ts";
import { Connection } from "./connection.ts";
import { readSettings } from "./settings.ts";

const logger = { info: () => {}, warn: () => {}, error: () => {} };

function connectionTo(url: string): Connection {
  const home = mkdtempSync(join(tmpdir(), "handfast-keys-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return new Connection(readSettings({ url, agent: "claw", home }), logger);
}

test("closing it gives up a relay that does not answer, and whoever waited is told", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const asked = once(silent, "connection");
  const connection = connectionTo(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const told = connection.client().catch((error: unknown) => error);
  const [socket] = await asked;
  // With the patience of connect(), of ten seconds, this would be over only when that is.
  const began_at = performance.now();
  await connection.close();
  expect(performance.now() - began_at).toBeLessThan(5_000);
  expect(await told).toMatchObject({ message: "the plugin was stopped" });
  socket.destroy();
  silent.close();
});

test("it is one for all who ask, and made anew after it was closed", async () => {
  const relay = await TestRelay.start();
  onTestFinished(() => relay.stop());
  const connection = connectionTo(relay.url);
  const client = await connection.client();
  expect(await connection.client()).toBe(client);
  await connection.close();
  const next = await connection.client();
  expect(next).not.toBe(client);
  expect((await next.call("agents")).agents.map(({ name }) => name)).toContain("claw");
  await connection.close();
});
