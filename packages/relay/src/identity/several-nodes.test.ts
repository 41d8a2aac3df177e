/** What nodes of one relay have in common, so that it does not matter which of them somebody speaks to. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../configuration/configuration.ts";
import { StoreRecords } from "../directory/testing/store-records.ts";
import { openOperatorTokens, openSharedOperatorTokens } from "./operator-token.ts";
import { makeRelayKey, openRelayKey, openSharedRelayKey } from "./relay-key.ts";
import { testAgent } from "./testing/test-agent.ts";
import { openHouse } from "./testing/test-house.ts";

describe("challenges", () => {
  const challenge_secret = makeRelayKey().derive("challenges");
  const offering = (name: string) => ({ capabilities: [{ name }] });

  it("one given out by a node is good at another, and at no other relay", async () => {
    const one = await openHouse({ challenge_secret });
    const other = await openHouse({ challenge_secret });
    const stranger = await openHouse({ challenge_secret: makeRelayKey().derive("challenges") });
    const { challenge } = one.registration.challenge();
    const alice = testAgent("alice");
    await expect(stranger.register(alice, { challenge })).rejects.toMatchObject({ reason: "challenge_unknown" });
    expect(await other.register(alice, { challenge })).toMatchObject({ agent_id: "alice", created: true });
    await expect(other.register(alice, { challenge })).rejects.toMatchObject({ reason: "challenge_used" });
  });

  it("what was registered by one cannot be brought back at another node, once something newer is in force", async () => {
    const records = await StoreRecords.open();
    const one = await openHouse({ challenge_secret, records });
    const alice = testAgent("alice");
    const { challenge } = one.registration.challenge();
    await one.register(alice, { challenge, ...offering("old") });
    one.clock.now += 1_000;
    await one.register(alice, offering("new"));

    const other = await openHouse({ challenge_secret, records });
    other.clock.now = one.clock.now;
    const again = other.register(alice, { challenge, ...offering("old") });
    await expect(again).rejects.toMatchObject({ code: 401, reason: "challenge_used" });
    expect(other.directory.offers("alice")).toEqual(["new"]);
  });

  it("workers that start at once say the same, in whatever order their challenges were made", async () => {
    const house = await openHouse({ challenge_secret });
    const alice = testAgent("alice");
    const { challenge: first } = house.registration.challenge();
    house.clock.now += 1_000;
    const { challenge: second } = house.registration.challenge();
    await house.register(alice, { challenge: second, ...offering("upper") });
    await house.register(alice, { challenge: first, ...offering("upper") });
    expect(house.directory.offers("alice")).toEqual(["upper"]);
  });
});

describe("key and operator's token", () => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "handfast-nodes-"));
    store = await openSqliteStore({ memory: true });
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const data = (node: string) => join(folder, node);
  const { jwk } = makeRelayKey();

  it("are made once, also when nodes start at the same moment", async () => {
    const keys = await Promise.all(["1", "2", "3"].map((node) => openSharedRelayKey(store, data(node))));
    expect(new Set(keys.map(({ jwk }) => jwk.x)).size).toBe(1);
    const opened = await Promise.all(
      ["1", "2", "3"].map((node) => openSharedOperatorTokens([], data(node), store, jwk)),
    );
    expect(new Set(opened.flatMap(({ tokens }) => tokens)).size).toBe(1);
    for (const { file, tokens } of opened) expect(readFileSync(file ?? "", "utf8").trim()).toBe(tokens[0]);
  });

  it("of a relay that ran alone become those of all nodes", async () => {
    const before = openRelayKey(data("1"));
    const { tokens } = openOperatorTokens([], data("1"));
    expect((await openSharedRelayKey(store, data("1"))).jwk).toEqual(before.jwk);
    expect((await openSharedRelayKey(store, data("2"))).jwk).toEqual(before.jwk);
    expect((await openSharedOperatorTokens([], data("1"), store, jwk)).tokens).toEqual(tokens);
    expect((await openSharedOperatorTokens([], data("2"), store, jwk)).tokens).toEqual(tokens);
  });

  it("in files that say something else than the database are refused, by name", async () => {
    await openSharedRelayKey(store, data("1"));
    await openSharedOperatorTokens([], data("1"), store, jwk);
    openRelayKey(data("2"));
    openOperatorTokens([], data("2"));
    await expect(openSharedRelayKey(store, data("2"))).rejects.toThrow(ConfigurationError);
    await expect(openSharedRelayKey(store, data("2"))).rejects.toThrow(join(data("2"), "relay-key.json"));
    await expect(openSharedOperatorTokens([], data("2"), store, jwk)).rejects.toThrow(
      join(data("2"), "operator-token"),
    );
  });

  it("lie beside each other as far as a command needs them: the token, and of the key its public half", async () => {
    const told = () => JSON.parse(readFileSync(join(data("1"), "relay-key.public.json"), "utf8"));
    await openSharedOperatorTokens([], data("1"), store, jwk);
    expect(told()).toEqual(jwk);
    const { jwk: another } = makeRelayKey();
    await openSharedOperatorTokens([], data("1"), store, another);
    expect(told()).toEqual(another);
    expect(told()).not.toHaveProperty("d");
  });

  it("a configured token needs no other", async () => {
    const configured = ["a-token-of-twenty-characters"];
    expect(await openSharedOperatorTokens(configured, data("1"), store, jwk)).toEqual({
      tokens: configured,
      file: null,
    });
  });
});
