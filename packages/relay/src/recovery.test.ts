/** A commit of which nobody knows what is on disk: what the relay keeps in memory is read again, agents and tokens too. */

import { fdatasync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realSurroundings } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AssembledRelay, assembleRelay } from "./assemble.ts";
import { readConfiguration } from "./configuration/read-configuration.ts";
import { fetchFrom } from "./in-process/fetch-call.ts";

const url = "http://relay.test";
const operator = "operator-token-for-tests-only";
let directory: string;
let relay: AssembledRelay;
let isFailing: boolean;
let close: () => Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "handfast-recovery-"));
  isFailing = false;
  const asked = readConfiguration(["--dev", "--data", directory], { HANDFAST_OPERATOR_TOKEN: operator }, directory);
  if (asked.kind !== "start") throw new Error("it only wants to help");
  const store = await openSqliteStore(
    { directory },
    {
      // The bytes reach the disk, and the kernel says that they did not.
      sync: (file, done) =>
        fdatasync(file, (error) => {
          const is_failed = isFailing;
          isFailing = false;
          done(is_failed ? new Error("EIO") : error);
        }),
    },
  );
  const configuration = { ...asked.configuration, public_urls: [url] };
  relay = await assembleRelay({ store, surroundings: realSurroundings(), configuration, process_metrics: false });
  close = async () => {
    await relay.stop();
    await store.close();
  };
});
afterEach(async () => {
  await close();
  rmSync(directory, { recursive: true });
});

async function call(method: string, path: string, token: string, body?: unknown) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const request = new Request(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await fetchFrom(relay.calls, request);
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

test("an agent whose making could not be confirmed can be made again", async () => {
  isFailing = true;
  const made = { agent: "bob", capabilities: [{ name: "work" }] };
  expect(await call("POST", "/v1/tokens", operator, made)).toMatchObject({
    status: 503,
    body: { status: 503, code: 500, reason: "commit_unknown" },
  });
  await expect.poll(async () => (await call("GET", "/v1/agents/bob", operator)).status).toBe(200);
  expect((await call("POST", "/v1/tokens", operator, made)).status).toBe(201);
});

test("a token whose end could not be confirmed is ended", async () => {
  const { body: made } = await call("POST", "/v1/tokens", operator, { agent: "bob", capabilities: [{ name: "work" }] });
  const { body: list } = await call("GET", "/v1/tokens?agent=bob", operator);
  isFailing = true;
  const revoke = () => call("DELETE", `/v1/tokens/${list.tokens[0].id}?agent=bob`, operator);
  expect((await revoke()).status).toBe(503);
  await expect.poll(async () => (await call("GET", "/v1/handoffs", made.token)).status).toBe(401);
});
