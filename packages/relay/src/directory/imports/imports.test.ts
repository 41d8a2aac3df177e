/** Imports as time passes: two relays on one virtual clock, the one known to the other. */

import { afterEach, beforeEach, expect, test } from "vitest";
// The engine's own clock for tests: time that passes only when told to.
import { VirtualSurroundings } from "../../../../engine/src/testing/virtual-surroundings.ts";
import { type TestAgent, testAgent } from "../../identity/testing/test-agent.ts";
import { InProcessRelay } from "../../in-process/in-process-relay.ts";
import { limits } from "../../limits.ts";
import { Schemas } from "../../schemas/schemas.ts";
import type { Provider } from "../discovery/entry.ts";
import { StoreRecords } from "../testing/store-records.ts";
import { unreachable } from "./fetch-foreign.ts";
import { Imports } from "./imports.ts";

const minute = 60_000;
const hour = 60 * minute;
const url = "http://relay.test/v1/discovery/far";

let surroundings: VirtualSurroundings;
let there: InProcessRelay;
let records: StoreRecords;
let imports: Imports;
let key: TestAgent;
let fetches: number;
let isDown: boolean;
let failed: string[];
const known = new Map<string, Provider>();

beforeEach(async () => {
  surroundings = new VirtualSurroundings(Date.UTC(2026, 0, 1));
  there = await InProcessRelay.start({ surroundings });
  records = await StoreRecords.open();
  key = testAgent("far");
  fetches = 0;
  isDown = false;
  failed = [];
  known.clear();
  await register({
    version: 1,
    lease_seconds: 7_200,
    capabilities: [{ name: "study", input_schema: { q: "string" } }],
  });
  imports = await open();
});
afterEach(async () => {
  imports.stop();
  await there.stop();
});

async function open(): Promise<Imports> {
  const opened = await Imports.open({
    namespace: "default",
    records,
    schemas: new Schemas(),
    limits,
    surroundings,
    now: () => surroundings.now(),
    fetch: async (from) => {
      fetches += 1;
      if (isDown) throw unreachable(from, "it is down");
      const response = await there.fetch(new Request(from));
      if (response.status !== 200) throw unreachable(from, `it answered ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    },
    onChange: (name, provider) => (provider === null ? known.delete(name) : known.set(name, provider)),
    onFailure: (name) => failed.push(name),
  });
  opened.start();
  return opened;
}

async function register(manifest: object): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    return there.fetch(new Request(there.url + path, { method: "POST", headers, body: JSON.stringify(body) }));
  };
  const { challenge } = (await (await post("/v1/agents/challenge", {})).json()) as { challenge: string };
  const header = { v: 1, typ: "registration", relay: there.url, namespace: "default" };
  const document = { ...header, agent_id: key.name, challenge, key: key.jwk, ...manifest };
  const got = await post("/v1/agents", { signed: await key.sign("registration", document) });
  if (got.status > 201) throw new Error(await got.text());
}

const state = () => imports.liveness("far@relay.test")?.state;

test("an import holds for the lease that its manifest states, and lapses when nobody can refresh it", async () => {
  const { lease_until, fetched_at } = await imports.import(url);
  expect(lease_until - fetched_at).toBe(2 * hour);
  expect(known.get("far@relay.test")).toMatchObject({ signed: true, foreign: { url, verified: true } });
  isDown = true;
  await surroundings.advance(2 * hour - 1);
  expect(state()).toBe("idle");
  await surroundings.advance(1);
  expect(state()).toBe("lapsed");
  expect(imports.get("far@relay.test")?.told.version).toBe(1);
});

test("what is stored has every schema in full", async () => {
  await imports.import(url);
  const [capability] = known.get("far@relay.test")?.capabilities ?? [];
  expect(capability?.input_schema).toMatchObject({ type: "object", properties: { q: { type: "string" } } });
});

test("an import is refreshed by itself when half of its lease is over", async () => {
  await imports.import(url);
  await register({ version: 2, lease_seconds: 7_200, capabilities: [{ name: "teach" }] });
  await surroundings.advance(hour - 1);
  expect(fetches).toBe(1);
  await surroundings.advance(1);
  expect(fetches).toBe(2);
  expect(imports.get("far@relay.test")).toMatchObject({ told: { version: 2 }, failures: 0 });
  expect(known.get("far@relay.test")?.capabilities.map(({ name }) => name)).toEqual(["teach"]);
  await surroundings.advance(2 * hour);
  expect(state()).toBe("idle");
});

test("a refresh that fails is tried again, each time after twice as long, and makes good again", async () => {
  await imports.import(url);
  isDown = true;
  await surroundings.advance(hour);
  expect(imports.get("far@relay.test")).toMatchObject({ failures: 1, failure: expect.stringContaining("it is down") });
  await surroundings.advance(minute);
  expect(imports.get("far@relay.test")?.failures).toBe(2);
  await surroundings.advance(2 * minute - 1);
  expect(imports.get("far@relay.test")?.failures).toBe(2);
  await surroundings.advance(1);
  expect(imports.get("far@relay.test")?.failures).toBe(3);
  expect(failed).toEqual(["far@relay.test", "far@relay.test", "far@relay.test"]);
  isDown = false;
  await surroundings.advance(4 * minute);
  expect(imports.get("far@relay.test")).toMatchObject({ failures: 0, failure: null });
});

test("one that lapsed comes back with the first refresh that succeeds", async () => {
  await imports.import(url);
  isDown = true;
  await surroundings.advance(6 * hour);
  expect(state()).toBe("lapsed");
  isDown = false;
  await surroundings.advance(hour);
  expect(state()).toBe("idle");
});

test("a relay that comes back refreshes what became due meanwhile", async () => {
  await imports.import(url);
  imports.stop();
  await surroundings.advance(90 * minute);
  known.clear();
  imports = await open();
  expect(known.has("far@relay.test")).toBe(true);
  await surroundings.advance(1_000);
  expect(fetches).toBe(2);
});

test("nothing is fetched for what was dropped", async () => {
  await imports.import(url);
  await imports.drop("far@relay.test");
  expect(known.has("far@relay.test")).toBe(false);
  await surroundings.advance(24 * hour);
  expect(fetches).toBe(1);
});

test("an endpoint whose agent is gone keeps its last word until the lease ends", async () => {
  await imports.import(url);
  const headers = { authorization: `Bearer ${there.operator_token}` };
  await there.fetch(new Request(`${there.url}/v1/agents/far`, { method: "DELETE", headers }));
  await surroundings.advance(90 * minute);
  expect(state()).toBe("idle");
  expect(imports.get("far@relay.test")?.failure).toContain("it answered 404");
});
