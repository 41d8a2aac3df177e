import { createHmac, createPublicKey } from "node:crypto";
import { base64url } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "./caller.ts";
import { type TestAgent, testAgent } from "./testing/test-agent.ts";
import { type House, openHouse, operator_token, relay_url } from "./testing/test-house.ts";

let house: House;
let alice: TestAgent;

beforeEach(async () => {
  house = await openHouse();
  alice = testAgent("alice");
  await house.register(alice);
});

const call = (token: string) => house.identity.authenticate({ authorization: `Bearer ${token}` });
const refusal = (reason: string) => ({ code: 401, reason });

describe("credentials", () => {
  it.each(["EdDSA", "Ed25519"])("prove the agent by its key, alg %s", async (alg) => {
    const token = await alice.credential(relay_url, house.clock.now, {}, { alg });
    const expected: Caller = { namespace: "default", name: "alice", role: "agent", key: alice.key };
    expect(await call(token)).toEqual(expected);
    expect(await call(token)).toEqual(expected);
  });

  it("take any of the relay's public URLs, in any of its spellings", async () => {
    for (const url of ["http://127.0.0.1:7420", "https://RELAY.example:443/"]) {
      expect((await call(await alice.credential(url, house.clock.now))).name).toBe("alice");
    }
  });

  it("of another relay are refused by name of what this one takes: tokens of agents and of operators", async () => {
    const message = expect.stringMatching(/hft_.*hfo_/);
    await expect(call(`hfo_${"A".repeat(43)}`)).rejects.toMatchObject({ ...refusal("credential_malformed"), message });
  });

  it("are missing or malformed: told which", async () => {
    await expect(house.identity.authenticate({})).rejects.toMatchObject(refusal("credential_missing"));
    for (const authorization of ["Basic YTpi", "Bearer", "Bearer a b", "Bearer ü"]) {
      await expect(house.identity.authenticate({ authorization })).rejects.toMatchObject(
        refusal("credential_malformed"),
      );
    }
    for (const token of ["abc", "a.b.c", "..", "e30.e30.", "x".repeat(5_000), `${"W10".repeat(3)}.W10.x`]) {
      await expect(call(token)).rejects.toMatchObject({ code: 401 });
    }
  });

  it("for another relay are refused, and both audiences are named", async () => {
    const error = await call(await alice.credential("https://other.example", house.clock.now)).catch((e) => e);
    expect(error).toMatchObject(refusal("wrong_audience"));
    expect(error.message).toContain("https://other.example");
    expect(error.message).toContain("https://relay.example or http://127.0.0.1:7420");
  });

  it("for two relays at once are refused", async () => {
    const token = await alice.credential(relay_url, house.clock.now, { aud: [relay_url, "https://other.example"] });
    await expect(call(token)).rejects.toMatchObject(refusal("wrong_audience"));
  });

  it("that expired are refused, also after they were cached", async () => {
    const token = await alice.credential(relay_url, house.clock.now);
    await call(token);
    house.clock.now += 309_000;
    await call(token);
    house.clock.now += 2_000;
    await expect(call(token)).rejects.toMatchObject(refusal("credential_expired"));
  });

  it("that live an hour are refused", async () => {
    const iat = house.clock.now / 1_000;
    const token = await alice.credential(relay_url, house.clock.now, { iat, exp: iat + 3_600 });
    await expect(call(token)).rejects.toMatchObject(refusal("credential_life_too_long"));
  });

  it.each([
    ["no exp", { exp: undefined }, "credential_malformed"],
    ["exp as text", { exp: "soon" }, "credential_malformed"],
    ["exp before iat", { exp: 1 }, "credential_life_too_long"],
    ["from the future", { iat: 1_800_000_100, exp: 1_800_000_200 }, "credential_from_the_future"],
    ["not yet valid", { nbf: 1_800_000_100 }, "credential_from_the_future"],
    ["in another's name", { iss: "bob" }, "wrong_issuer"],
    ["in nobody's name", { iss: undefined }, "wrong_issuer"],
    ["for another namespace", { ns: "elsewhere" }, "wrong_namespace"],
  ])("with %s are refused", async (_, claims, reason) => {
    await expect(call(await alice.credential(relay_url, house.clock.now, claims))).rejects.toMatchObject(
      refusal(reason),
    );
  });

  it("with alg none are refused", async () => {
    const [, payload] = (await alice.credential(relay_url, house.clock.now)).split(".");
    const header = base64url.encode(JSON.stringify({ alg: "none", kid: alice.key }));
    await expect(call(`${header}.${payload}.`)).rejects.toMatchObject(refusal("wrong_algorithm"));
  });

  it("with a signature in another spelling are refused", async () => {
    const token = await alice.credential(relay_url, house.clock.now);
    await expect(call(`${token}==`)).rejects.toMatchObject(refusal("credential_malformed"));
    await expect(call(`${token} `)).rejects.toMatchObject({ code: 401 });
  });

  it("with HS256 keyed by the public key are refused", async () => {
    const [, payload] = (await alice.credential(relay_url, house.clock.now)).split(".");
    for (const secret of [
      createPublicKey(alice.privateKey).export({ format: "pem", type: "spki" }),
      Buffer.from(alice.jwk.x, "base64url"),
    ]) {
      for (const alg of ["HS256", "EdDSA"]) {
        const header = base64url.encode(JSON.stringify({ alg, kid: alice.key }));
        const mac = createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url");
        await expect(call(`${header}.${payload}.${mac}`)).rejects.toMatchObject({ code: 401 });
      }
    }
  });

  it("signed by another key under alice's kid are refused", async () => {
    const mallory = testAgent("alice");
    const token = await mallory.credential(relay_url, house.clock.now, {}, { kid: alice.key });
    await expect(call(token)).rejects.toMatchObject(refusal("bad_signature"));
  });

  it("that carry their own key in the header are refused", async () => {
    const mallory = testAgent("alice");
    const token = await mallory.credential(relay_url, house.clock.now, {}, { jwk: mallory.jwk });
    await expect(call(token)).rejects.toMatchObject(refusal("unknown_key"));
  });

  it("with a kid that every object has are refused", async () => {
    const token = await alice.credential(relay_url, house.clock.now, {}, { kid: "__proto__" });
    await expect(call(token)).rejects.toMatchObject(refusal("unknown_key"));
  });

  it("changed after signing are refused, although the original is cached", async () => {
    const token = await alice.credential(relay_url, house.clock.now);
    await call(token);
    const [header, , signature] = token.split(".");
    const iat = house.clock.now / 1_000;
    const claims = base64url.encode(JSON.stringify({ iss: "alice", aud: relay_url, iat, exp: iat + 299 }));
    await expect(call(`${header}.${claims}.${signature}`)).rejects.toMatchObject(refusal("bad_signature"));
  });

  it("of a revoked key are refused at once, cached or not, and listeners are told", async () => {
    const token = await alice.credential(relay_url, house.clock.now);
    const caller = await call(token);
    const told: string[] = [];
    const stop = house.identity.onRevoked((agent) => told.push(agent));
    await house.registration.revoke(caller, "alice", alice.key);
    await expect(call(token)).rejects.toMatchObject(refusal("revoked_key"));
    expect(told).toEqual(["alice"]);
    stop();
    house.identity.revoked("alice");
    expect(told).toEqual(["alice"]);
  });

  it("do not make memory grow: the cache is bounded", async () => {
    house = await openHouse({ limits: { credentials_cached: 3 } });
    await house.register(alice);
    for (let n = 0; n < 10; n++) await call(await alice.credential(relay_url, house.clock.now, { jti: `${n}` }));
    expect((await call(await alice.credential(relay_url, house.clock.now, { jti: "0" }))).name).toBe("alice");
  });
});

describe("tokens", () => {
  it("prove an agent that cannot sign, until they are revoked", async () => {
    const { token, id, hint } = await house.registration.createToken(null, "curl-1");
    expect(token).toMatch(/^hft_[A-Za-z0-9_-]{43}$/);
    expect(token.endsWith(hint)).toBe(true);
    const caller = await call(token);
    expect(caller).toEqual({ namespace: "default", name: "curl-1", role: "agent", key: null });
    await house.registration.revokeToken(caller, "curl-1", id);
    await expect(call(token)).rejects.toMatchObject(refusal("unknown_token"));
  });

  it("are never stored, only their digests", async () => {
    const { token } = await house.registration.createToken(null, "curl-1");
    const stored = await house.records.load("token");
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(token.slice(4, -4));
  });

  it("work after a restart, and run out when they were given a life", async () => {
    const { token } = await house.registration.createToken(null, "curl-1", { life_ms: 60_000 });
    house = await openHouse({ records: house.records });
    expect((await call(token)).name).toBe("curl-1");
    house.clock.now += 60_000;
    await expect(call(token)).rejects.toMatchObject(refusal("unknown_token"));
  });

  it("cannot be guessed: one letter off is as unknown as any other", async () => {
    const { token } = await house.registration.createToken(null, "curl-1");
    const near = token.slice(0, -1) + (token.endsWith("A") ? "E" : "A");
    for (const guess of [near, "hft_", "hft_x", `hft_${"A".repeat(43)}`]) {
      await expect(call(guess)).rejects.toMatchObject(refusal("unknown_token"));
    }
  });
});

describe("operators", () => {
  it("come by the operator's token", async () => {
    expect(await call(operator_token)).toMatchObject({ name: "operator", role: "operator", key: null });
    await expect(call(`${operator_token}x`)).rejects.toMatchObject({ code: 401 });
    await expect(call(operator_token.slice(0, -1))).rejects.toMatchObject({ code: 401 });
  });

  it("come by a configured key, but not by a token of the same agent", async () => {
    house = await openHouse({ operator_keys: [alice.key] });
    await house.register(alice);
    const caller = await call(await alice.credential(relay_url, house.clock.now));
    expect(caller).toMatchObject({ name: "alice", role: "operator" });
    const { token } = await house.registration.createToken(caller, "alice");
    expect(await call(token)).toMatchObject({ name: "alice", role: "agent" });
  });
});

describe("documents", () => {
  const header = { v: 1, relay: relay_url, namespace: "default", from: "alice" };
  const id = "01932f6b-7a00-7c3a-9b1e-0123456789ab";
  const cancel = { ...header, typ: "cancel", id, handoff: "0".repeat(64) };
  const me = (): Caller => ({ namespace: "default", name: "alice", role: "agent", key: alice.key });
  const verify = async (document: object, signer = alice, caller = me()) =>
    house.identity.verify(caller, "cancel", await signer.sign("cancel", document));

  it("are taken from their author", async () => {
    expect(await verify(cancel)).toEqual({ document: cancel, key: alice.key });
  });

  it("of another agent are refused, even with its true signature", async () => {
    const bob = testAgent("bob");
    await house.register(bob);
    await expect(verify({ ...cancel, from: "bob" }, bob)).rejects.toMatchObject({
      code: 403,
      reason: "foreign_document",
    });
  });

  it("in the caller's name but signed by another are refused", async () => {
    const bob = testAgent("bob");
    await house.register(bob);
    await expect(verify(cancel, bob)).rejects.toMatchObject(refusal("unknown_key"));
  });

  it("replayed on another relay or in another namespace are refused", async () => {
    const error = await verify({ ...cancel, relay: "https://other.example" }).catch((e) => e);
    expect(error).toMatchObject(refusal("wrong_relay"));
    expect(error.message).toMatch(/other\.example.*relay\.example/);
    await expect(verify({ ...cancel, namespace: "n2" })).rejects.toMatchObject(refusal("wrong_namespace"));
  });

  it("changed by one letter, or proven as another typ, are refused", async () => {
    const signed = await alice.sign("cancel", cancel);
    const changed = { ...signed, document: signed.document.replace("000", "001") };
    await expect(house.identity.verify(me(), "cancel", changed)).rejects.toMatchObject(refusal("bad_signature"));
    const otherTyp = await alice.sign("ack", cancel);
    await expect(house.identity.verify(me(), "cancel", otherTyp)).rejects.toMatchObject(refusal("bad_signature"));
    const noProof = { ...signed, proof: { nothing: true } };
    await expect(house.identity.verify(me(), "cancel", noProof)).rejects.toMatchObject(refusal("bad_proof"));
  });

  it("with unknown fields, doubled keys or another typ inside are refused by path", async () => {
    await expect(verify({ ...cancel, extra: 1 })).rejects.toMatchObject({ code: 400, extra: { path: "/extra" } });
    await expect(verify({ ...cancel, typ: "ack" })).rejects.toMatchObject({ code: 400, extra: { path: "/typ" } });
    const doubled = { document: '{"v":1,"v":1}', proof: {} };
    await expect(house.identity.verify(me(), "cancel", doubled)).rejects.toMatchObject({ code: 400 });
    const large = { document: `{"v":"${"x".repeat(70_000)}"}`, proof: {} };
    await expect(house.identity.verify(me(), "cancel", large)).rejects.toMatchObject({ code: 413 });
  });

  it("of a revoked key are refused, although its signature was verified a moment ago", async () => {
    const signed = await alice.sign("cancel", cancel);
    await house.identity.verify(me(), "cancel", signed);
    await house.registration.revoke(me(), "alice", alice.key);
    await expect(house.identity.verify(me(), "cancel", signed)).rejects.toMatchObject(refusal("revoked_key"));
  });

  it("cannot be sent by the operator's token in an agent's name", async () => {
    const operator = await call(operator_token);
    await expect(verify(cancel, alice, operator)).rejects.toMatchObject({ code: 403 });
    await expect(verify({ ...cancel, from: "operator" }, alice, operator)).rejects.toMatchObject({ code: 403 });
  });

  it("of one batch cost one verification of the signature", async () => {
    const documents = Array.from({ length: 500 }, (_, n) => ({ ...cancel, reason: `${n}` }));
    const signed = await alice.signAll("cancel", documents);
    const { signatures } = house.identity;
    const checks = signed.map(({ document, proof }) => {
      const root = signatures.open("cancel", document, proof);
      const [key] = house.directory.record("alice")?.keys ?? [];
      if (root === null || key === undefined) throw new Error("The batch is alice's.");
      return signatures.verify(signatures.publicKey(key), root);
    });
    expect(new Set(checks).size).toBe(1);
    await Promise.all(signed.map((envelope) => house.identity.verify(me(), "cancel", envelope)));
  });
});
