import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import type { Caller } from "./caller.ts";
import { type TestAgent, testAgent } from "./testing/test-agent.ts";
import { type House, openHouse, operator_token, relay_url } from "./testing/test-house.ts";

let house: House;
let alice: TestAgent;
const operator: Caller = { namespace: "default", name: "operator", role: "operator", key: null };
const asOperator = `Bearer ${operator_token}`;

beforeEach(async () => {
  house = await openHouse();
  alice = testAgent("alice");
});

const self = (agent: TestAgent): Caller => ({ namespace: "default", name: agent.name, role: "agent", key: agent.key });

describe("registration", () => {
  it("makes an agent of a key, a name and what it offers", async () => {
    const registered = await house.register(alice, { capabilities: [{ name: "sum" }], description: "adds" });
    expect(registered).toMatchObject({ agent_id: "alice", identity: alice.key, created: true });
    expect(registered.manifest).toMatch(/^[0-9a-f]{64}$/);
    expect(house.directory.agent("alice")).toMatchObject({
      description: "adds",
      capabilities: [{ name: "sum" }],
      manifest: { signed: true, digest: registered.manifest },
    });
  });

  it("again by the same key changes what is offered, also after a restart", async () => {
    await house.register(alice, { capabilities: [{ name: "sum" }] });
    house = await openHouse({ records: house.records });
    const again = await house.register(alice, { capabilities: [{ name: "product" }] });
    expect(again.created).toBe(false);
    expect(house.directory.offers("alice")).toEqual(["product"]);
  });

  it("keeps the signed bytes, so that others need not trust the relay", async () => {
    await house.register(alice);
    const { registration } = house.directory.agent("alice") ?? {};
    expect(JSON.parse(registration?.document ?? "")).toMatchObject({ agent_id: "alice", key: alice.jwk });
  });
});

describe("registration: attacks", () => {
  const vectors = JSON.parse(readFileSync(new URL("../../../../spec/vectors/keys.json", import.meta.url), "utf8"));
  const weak: [string, unknown][] = vectors.refused
    .filter(({ fault }: { fault: string }) => fault === "weak_or_invalid_point")
    .map(({ name, jwk }: { name: string; jwk: unknown }) => [name, jwk]);

  it.each(weak)("a weak key registers: %s", async (_, key) => {
    await expect(house.register(alice, { key })).rejects.toMatchObject({ code: 400, reason: "key_refused" });
    expect(house.directory.agents()).toEqual([]);
  });

  it("a private key is given away", async () => {
    const key = { ...alice.jwk, d: "A".repeat(43) };
    await expect(house.register(alice, { key })).rejects.toMatchObject({ code: 400, reason: "document_malformed" });
  });

  it("a challenge is used twice, in turn or at once", async () => {
    const { challenge } = house.registration.challenge();
    await house.register(alice, { challenge });
    await expect(house.register(alice, { challenge })).rejects.toMatchObject({ code: 401, reason: "challenge_used" });
    const { challenge: next } = house.registration.challenge();
    const both = await Promise.allSettled([
      house.register(alice, { challenge: next }),
      house.register(alice, { challenge: next }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("a challenge is old, invented, changed, or another relay's", async () => {
    const { challenge } = house.registration.challenge();
    house.clock.now += limits.challenge_life_ms;
    await expect(house.register(alice, { challenge })).rejects.toMatchObject({ reason: "challenge_expired" });
    const other = await openHouse();
    for (const strange of ["A".repeat(54), other.registration.challenge().challenge, `B${challenge.slice(1)}`]) {
      await expect(house.register(alice, { challenge: strange })).rejects.toMatchObject({
        reason: "challenge_unknown",
      });
    }
  });

  it("a wrong signature does not use the challenge up", async () => {
    const { challenge } = house.registration.challenge();
    const mallory = testAgent("alice");
    await expect(house.register(mallory, { challenge, key: alice.jwk })).rejects.toMatchObject({
      reason: "bad_signature",
    });
    await house.register(alice, { challenge });
  });

  it("too many register in one minute", async () => {
    house = await openHouse({ limits: { challenges_remembered: 2 } });
    await house.register(alice);
    await house.register(alice);
    await expect(house.register(alice)).rejects.toMatchObject({ code: 429, retry_after_seconds: 60 });
    house.clock.now += limits.challenge_life_ms;
    await house.register(alice);
  });

  it("a registration for another relay is replayed here", async () => {
    const relay = "https://other.example";
    await expect(house.register(alice, { relay })).rejects.toMatchObject({ code: 401, reason: "wrong_relay" });
    await expect(house.register(alice, { namespace: "n2" })).rejects.toMatchObject({ reason: "wrong_namespace" });
  });

  it("a name is taken over by another key", async () => {
    await house.register(alice);
    const error = await house.register(testAgent("alice")).catch((e) => e);
    expect(error).toMatchObject({ code: 403, reason: "name_taken" });
    expect(error.message).toMatch(/rotate .* with the old key|operator must make the relay forget/);
    expect(house.directory.agent("alice")?.identity).toBe(alice.key);
  });

  it("a name is taken by two keys in the same moment: one gets it", async () => {
    const rivals = [testAgent("alice"), testAgent("alice"), testAgent("alice")];
    const results = await Promise.allSettled(rivals.map((rival) => house.register(rival)));
    expect(results.filter(({ status }) => status === "fulfilled").length).toBe(1);
    expect(house.directory.agent("alice")?.keys.length).toBe(1);
  });

  it("one key takes two names", async () => {
    await house.register(alice);
    await expect(house.register(alice, { agent_id: "alice2" })).rejects.toMatchObject({
      code: 403,
      reason: "key_taken",
    });
  });

  it.each(["operator", "relay"])("an agent calls itself %s", async (agent_id) => {
    await expect(house.register(alice, { agent_id })).rejects.toMatchObject({ code: 403, reason: "name_reserved" });
    await expect(house.registration.createToken(operator, agent_id)).rejects.toMatchObject({ code: 403 });
  });

  it("a schema that bites comes with a registration: nobody is registered", async () => {
    const capabilities = [{ name: "x", input_schema: { $ref: "https://evil.example" } }];
    await expect(house.register(alice, { capabilities })).rejects.toMatchObject({
      code: 400,
      reason: "schema_refused",
      extra: { path: "/capabilities/0/input_schema" },
    });
    expect(house.directory.agent("alice")).toBeUndefined();
  });

  it("a revoked key comes back, under its name or another", async () => {
    await house.register(alice);
    await house.registration.revoke(operator, "alice", alice.key);
    await expect(house.register(alice)).rejects.toMatchObject({ code: 401, reason: "revoked_key" });
    await expect(house.register(alice, { agent_id: "eve" })).rejects.toMatchObject({ code: 403, reason: "key_taken" });
  });
});

describe("admission outside development mode", () => {
  it("takes the keys that are listed, under the name they are listed with", async () => {
    const bob = testAgent("bob");
    const keys = [
      { thumbprint: alice.key, name: null },
      { thumbprint: bob.key, name: "bob" },
    ];
    house = await openHouse({ admission: { kind: "listed", keys } });
    await house.register(alice);
    await expect(house.register(bob, { agent_id: "eve" })).rejects.toMatchObject({ code: 403, reason: "not_admitted" });
    await house.register(bob);
  });

  it("refuses a stranger and says how an operator admits it", async () => {
    house = await openHouse({ admission: { kind: "listed", keys: [] } });
    const error = await house.register(alice).catch((e) => e);
    expect(error).toMatchObject({ code: 403, reason: "not_admitted", extra: { key: alice.key } });
    expect(error.message).toContain(`alice=${alice.key}`);
    expect(error.message).toContain("operator's token");
  });

  it("takes whom the operator brings; from then on its own key is enough", async () => {
    house = await openHouse({ admission: { kind: "listed", keys: [] } });
    await house.register(alice, {}, asOperator);
    await house.register(alice, { capabilities: [{ name: "sum" }] });
  });

  it("gives tokens by the operator only", async () => {
    house = await openHouse({ admission: { kind: "listed", keys: [] } });
    await expect(house.registration.createToken(null, "curl-1")).rejects.toMatchObject({ code: 403 });
    const { token } = await house.registration.createToken(operator, "curl-1");
    const caller = await house.identity.authenticate({ authorization: `Bearer ${token}` });
    await expect(house.registration.createToken(caller, "curl-1")).rejects.toMatchObject({
      reason: "token_not_allowed",
    });
  });
});

describe("tokens", () => {
  it("make an agent in development mode, with what it offers", async () => {
    await house.registration.createToken(null, "curl-1", { capabilities: [{ name: "sum" }], label: "laptop" });
    expect(house.directory.agent("curl-1")).toMatchObject({ identity: null, manifest: { signed: false } });
    expect(house.directory.offers("curl-1")).toEqual(["sum"]);
    expect(house.registration.listTokens(operator, "curl-1")).toMatchObject([{ agent: "curl-1", label: "laptop" }]);
  });

  it("for a name with a key are given to that key and to operators only", async () => {
    await house.register(alice);
    const bob = testAgent("bob");
    await house.register(bob);
    for (const caller of [null, self(bob), { ...self(alice), key: null }]) {
      await expect(house.registration.createToken(caller, "alice")).rejects.toMatchObject({ code: 403 });
    }
    await house.registration.createToken(self(alice), "alice");
    await house.registration.createToken(operator, "alice");
    await expect(async () => house.registration.listTokens(self(bob), "alice")).rejects.toMatchObject({ code: 403 });
  });

  it("stay when their own holder brings the key", async () => {
    const { token } = await house.registration.createToken(null, "alice");
    await house.register(alice, {}, `Bearer ${token}`);
    expect(await house.identity.authenticate({ authorization: `Bearer ${token}` })).toMatchObject({ name: "alice" });
  });

  it("that a key made end when the key is revoked", async () => {
    await house.register(alice);
    const stolen = await house.registration.createToken(self(alice), "alice");
    const kept = await house.registration.createToken(operator, "alice");
    await house.registration.revoke(operator, "alice", alice.key);
    expect(house.registration.listTokens(operator, "alice").map(({ id }) => id)).toEqual([kept.id]);
    const authorization = `Bearer ${stolen.token}`;
    await expect(house.identity.authenticate({ authorization })).rejects.toMatchObject({ reason: "unknown_token" });
  });

  it("whose time is over make room for new ones", async () => {
    house = await openHouse({ limits: { tokens_per_agent: 1 } });
    await house.registration.createToken(null, "curl-1", { life_ms: 1_000 });
    house.clock.now += 1_000;
    const { id } = await house.registration.createToken(operator, "curl-1");
    expect(house.registration.listTokens(operator, "curl-1").map((token) => token.id)).toEqual([id]);
    expect(await house.records.load("token")).toHaveLength(1);
  });

  it("are limited in number, label and life", async () => {
    house = await openHouse({ limits: { tokens_per_agent: 2 } });
    const make = (options = {}) => house.registration.createToken(operator, "curl-1", options);
    await expect(make({ label: "x".repeat(101) })).rejects.toMatchObject({ code: 400 });
    for (const life_ms of [0, -1, 1.5, Number.NaN, 1e15])
      await expect(make({ life_ms })).rejects.toMatchObject({ code: 400 });
    await make();
    await make();
    await expect(make()).rejects.toMatchObject({ code: 429 });
  });

  it.each(["", "a b", "ä", "a/b", "x".repeat(129), "a@b"])("are refused for the name %j", async (name) => {
    await expect(house.registration.createToken(null, name)).rejects.toMatchObject({ code: 400 });
  });
});

describe("names without a key, in development mode: attacks", () => {
  const refusal = { code: 403, reason: "name_taken" };
  let token: string;
  let owner: Caller;

  beforeEach(async () => {
    ({ token } = await house.registration.createToken(null, "alice", { capabilities: [{ name: "sum" }] }));
    owner = await house.identity.authenticate({ authorization: `Bearer ${token}` });
  });
  const stillWorks = () => house.identity.authenticate({ authorization: `Bearer ${token}` });

  it("a stranger asks for a second token of the name", async () => {
    const error = await house.registration.createToken(null, "alice").catch((e) => e);
    expect(error).toMatchObject(refusal);
    expect(error.message).toMatch(/token that you were given, or choose another name, .* file operator-token/);
    expect(house.registration.listTokens(operator, "alice")).toHaveLength(1);
  });

  it("another agent asks for a token of the name", async () => {
    const bob = await house.registration.createToken(null, "bob");
    const caller = await house.identity.authenticate({ authorization: `Bearer ${bob.token}` });
    await expect(house.registration.createToken(caller, "alice")).rejects.toMatchObject(refusal);
    await expect(house.register(alice, {}, `Bearer ${bob.token}`)).rejects.toMatchObject(refusal);
  });

  it("a stranger changes what the name offers by asking for a token", async () => {
    await expect(house.registration.createToken(null, "alice", { capabilities: [] })).rejects.toMatchObject(refusal);
    expect(house.directory.offers("alice")).toEqual(["sum"]);
  });

  it("a stranger registers a key for the name", async () => {
    await expect(house.register(alice)).rejects.toMatchObject(refusal);
    expect(house.directory.agent("alice")?.identity).toBeNull();
    expect(await stillWorks()).toMatchObject({ name: "alice" });
  });

  it("two strangers ask for the same new name in one moment: one gets it", async () => {
    const asked = [1, 2, 3].map(() => house.registration.createToken(null, "carol"));
    const results = await Promise.allSettled(asked);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("the name's own token, and the operator's, still get all of that", async () => {
    await house.registration.createToken(owner, "alice", { capabilities: [{ name: "product" }] });
    await house.registration.createToken(operator, "alice");
    expect(house.directory.offers("alice")).toEqual(["product"]);
    expect(await house.register(alice, {}, `Bearer ${token}`)).toMatchObject({ identity: alice.key, created: false });
    expect(await stillWorks()).toMatchObject({ name: "alice" });
  });
});

describe("what an agent offers: attacks", () => {
  it("a token replaces the manifest that the agent's key signed", async () => {
    await house.register(alice, { capabilities: [{ name: "sum" }] });
    const { token } = await house.registration.createToken(self(alice), "alice");
    const caller = await house.identity.authenticate({ authorization: `Bearer ${token}` });
    const set = (who: Caller) => house.registration.setCapabilities(who, "alice", []);
    await expect(set(caller)).rejects.toMatchObject({ code: 403, reason: "not_yours" });
    await expect(set(self(testAgent("bob")))).rejects.toMatchObject({ code: 403, reason: "not_yours" });
    expect(house.directory.agent("alice")).toMatchObject({
      manifest: { signed: true },
      capabilities: [{ name: "sum" }],
    });
    await set(self(alice));
    await set(operator);
    expect(house.directory.offers("alice")).toEqual([]);
  });

  it("a token says what its own agent offers, as long as that has no key", async () => {
    const { token } = await house.registration.createToken(null, "curl-1");
    const caller = await house.identity.authenticate({ authorization: `Bearer ${token}` });
    await house.registration.setCapabilities(caller, "curl-1", [{ name: "sum" }]);
    expect(house.directory.offers("curl-1")).toEqual(["sum"]);
  });
});

describe("rotation", () => {
  const next = () => testAgent("alice");

  async function rotate(
    from: TestAgent,
    to: TestAgent,
    changes: { document?: object; by?: TestAgent; and?: TestAgent; path?: string } = {},
  ) {
    const { challenge } = house.registration.challenge();
    const header = { v: 1, typ: "rotation", relay: relay_url, namespace: "default", agent_id: "alice" };
    const document = { ...header, challenge, old: from.key, key: to.jwk, ...changes.document };
    const signed = await (changes.by ?? from).sign("rotation", document);
    const { proof: new_proof } = await (changes.and ?? to).sign("rotation", document);
    return house.registration.rotate(changes.path ?? "alice", { ...signed, new_proof });
  }
  const call = async (agent: TestAgent) =>
    house.identity.authenticate({ authorization: `Bearer ${await agent.credential(relay_url, house.clock.now)}` });

  beforeEach(async () => void (await house.register(alice)));

  it("hands the name over; the identity stays and both keys work for a while", async () => {
    const fresh = next();
    expect(await rotate(alice, fresh)).toMatchObject({ agent_id: "alice", identity: alice.key, created: false });
    expect((await call(alice)).key).toBe(alice.key);
    expect((await call(fresh)).key).toBe(fresh.key);
    house.clock.now += limits.rotation_overlap_ms;
    await expect(call(alice)).rejects.toMatchObject({ reason: "retired_key" });
    expect((await call(fresh)).name).toBe("alice");
    await expect(house.register(alice)).rejects.toMatchObject({ reason: "retired_key" });
  });

  it("is refused without the old key's signature, or without the new one's", async () => {
    const [fresh, mallory] = [next(), next()];
    await expect(rotate(alice, fresh, { by: mallory })).rejects.toMatchObject({ code: 401, reason: "bad_signature" });
    await expect(rotate(alice, fresh, { and: mallory })).rejects.toMatchObject({ code: 401, reason: "bad_signature" });
    await expect(rotate(mallory, fresh)).rejects.toMatchObject({ code: 401, reason: "unknown_key" });
  });

  it("is refused under the path of another agent", async () => {
    await house.register(testAgent("bob"));
    await expect(rotate(alice, next(), { path: "bob" })).rejects.toMatchObject({ code: 400, reason: "other_agent" });
    expect(house.directory.agent("alice")?.keys).toHaveLength(1);
  });

  it("is refused by a key that was replaced already: a stolen old key takes nothing over", async () => {
    await rotate(alice, next());
    await expect(rotate(alice, next())).rejects.toMatchObject({ code: 403, reason: "key_replaced" });
  });

  it("leaves the old key nothing to decide that would outlast it, but to end itself", async () => {
    const fresh = next();
    await rotate(alice, fresh);
    const refused = { code: 403, reason: "key_replaced" };
    await expect(house.registration.revoke(self(alice), "alice", fresh.key)).rejects.toMatchObject(refused);
    await expect(house.registration.forget(self(alice), "alice")).rejects.toMatchObject(refused);
    await expect(house.registration.createToken(self(alice), "alice")).rejects.toMatchObject(refused);
    await house.registration.revoke(self(alice), "alice", alice.key);
    await expect(call(alice)).rejects.toMatchObject({ reason: "revoked_key" });
    expect((await call(fresh)).name).toBe("alice");
  });

  it("keeps the first key taken for ever: nobody passes for the identity under another name", async () => {
    house = await openHouse({ limits: { keys_per_agent: 3 }, operator_keys: [alice.key] });
    await house.register(alice);
    let old = alice;
    for (let n = 0; n < 4; n++) {
      const fresh = next();
      await rotate(old, fresh);
      house.clock.now += limits.rotation_overlap_ms;
      old = fresh;
    }
    await expect(house.register(alice, { agent_id: "eve" })).rejects.toMatchObject({ reason: "key_taken" });
    expect((await call(old)).role).toBe("operator");
  });

  it("is refused to a key in use, and by a revoked key", async () => {
    const bob = testAgent("bob");
    await house.register(bob);
    await expect(rotate(alice, bob)).rejects.toMatchObject({ code: 403, reason: "key_taken" });
    await expect(rotate(alice, alice)).rejects.toMatchObject({ code: 403, reason: "key_taken" });
    await house.registration.revoke(self(alice), "alice", alice.key);
    await expect(rotate(alice, next())).rejects.toMatchObject({ code: 401, reason: "revoked_key" });
  });

  it("goes on for ever within a bounded number of keys", async () => {
    house = await openHouse({ limits: { keys_per_agent: 3 } });
    await house.register(alice);
    let old = alice;
    for (let n = 0; n < 6; n++) {
      const fresh = next();
      await rotate(old, fresh);
      house.clock.now += limits.rotation_overlap_ms;
      old = fresh;
    }
    expect(house.directory.agent("alice")).toMatchObject({ identity: alice.key });
    expect(house.directory.agent("alice")?.keys.length).toBe(3);
    await rotate(old, next());
    old = next();
    await expect(rotate(alice, old)).rejects.toMatchObject({ code: 401 });
  });
});

describe("forgetting", () => {
  it("frees name and key and ends the tokens; only the agent's key or an operator may", async () => {
    await house.register(alice);
    const { token } = await house.registration.createToken(self(alice), "alice");
    const bob = testAgent("bob");
    await house.register(bob);
    const byToken = await house.identity.authenticate({ authorization: `Bearer ${token}` });
    for (const caller of [self(bob), byToken]) {
      await expect(house.registration.forget(caller, "alice")).rejects.toMatchObject({ code: 403 });
      await expect(house.registration.revoke(caller, "alice", alice.key)).rejects.toMatchObject({ code: 403 });
    }
    await house.registration.forget(operator, "alice");
    await expect(house.identity.authenticate({ authorization: `Bearer ${token}` })).rejects.toMatchObject({
      code: 401,
    });
    expect(await house.register(testAgent("alice"))).toMatchObject({ created: true });
    await expect(house.registration.forget(operator, "nobody")).rejects.toMatchObject({ code: 404 });
  });
});
