/** What a recipient believes: real handoffs of a real relay, and what a relay that lies would make of them. */

import { makeId, toBase64url } from "@handfast/protocol";
import type { LeaseView } from "@handfast/protocol/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { operator_token, TestRelay } from "../../relay/src/testing/test-relay.ts";
import { type Draft, submit } from "./acts.ts";
import type { Base } from "./base.ts";
import type { Client } from "./client.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { HandoffError } from "./errors.ts";
import { nodeCrypto } from "./identity/node-crypto.ts";
import { realSurroundings } from "./surroundings.ts";
import { Trust, type TrustOptions } from "./trust.ts";

let relay: TestRelay;
let worker: Client;
const clients: Client[] = [];

async function open(agent: string, options: ConnectOptions = {}): Promise<Client> {
  const key = toBase64url(realSurroundings.randomBytes(32));
  const client = await connect({ url: relay.url, agent, key, transport: "http", ...options });
  clients.push(client);
  return client;
}

beforeEach(async () => {
  relay = await TestRelay.start();
  worker = await open("worker");
  await worker.base.offer([{ name: "echo" }, { name: "erase" }]);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await relay.stop();
});

async function lease(sender: Base, draft: Partial<Draft>): Promise<LeaseView> {
  const id = makeId(Date.now(), realSurroundings.randomBytes(10));
  await submit(sender, { id, capability: "echo", ...draft });
  const [only] = await claim(1);
  if (only === undefined) throw new Error("no lease came");
  return only;
}

async function claim(slots: number): Promise<readonly LeaseView[]> {
  const body = { worker: "w1", slots, proofs: true };
  return (await worker.call("claim", { body }, { wait_ms: 30_000 })).leases;
}

function trustWith(options: Partial<TrustOptions> = {}): Trust {
  const { link, crypto, surroundings, namespace, relay: url } = worker.base;
  const given = { link, crypto, surroundings, relays: [url], namespace, pins: {}, requireSigned: false };
  return new Trust({ ...given, ...options });
}

async function refusal(checking: Promise<unknown>): Promise<HandoffError> {
  const error = await checking.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof HandoffError)) throw new Error(`it was trusted: ${String(error)}`);
  expect(error.code).toBe(401);
  expect(error.remedy).not.toBe("");
  return error;
}

describe("a signed handoff", () => {
  test("is trusted, and its input is read from what was signed", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, { input: { a: [1, null, "ü"] } });
    const checked = await worker.base.trust.check({ ...given, input: "the relay's own idea" });
    expect(checked).toEqual({ input: { a: [1, null, "ü"] }, evidence: "signed" });
  });

  test("may be text or bytes", async () => {
    const ann = await open("ann");
    const { trust } = worker.base;
    const text = await lease(ann.base, { text: "hello 👋" });
    expect(await trust.check(text)).toEqual({ input: "hello 👋", text: "hello 👋", evidence: "signed" });
    const data = Uint8Array.from([0, 255, 128]);
    const bytes = await lease(ann.base, { bytes: { media_type: "image/png", data } });
    expect(await trust.check(bytes)).toEqual({ input: data, evidence: "signed" });
  });

  test.each<[string, string, (lease: LeaseView) => LeaseView]>([
    ["another payload", "payload_differs", withSigned({ payload: '{"amount":1000}' })],
    ["no payload", "payload_differs", ({ signed, ...rest }) => ({ ...rest, signed: withoutPayload(signed) })],
    ["another capability", "binds_another", (given) => ({ ...given, capability: "erase" })],
    ["another sender", "binds_another", (given) => ({ ...given, from: "bob" })],
    ["another id", "binds_another", (given) => ({ ...given, id: makeId(1, new Uint8Array(10)) })],
    ["another digest", "binds_another", (given) => ({ ...given, digest: "0".repeat(64) })],
    ["another idempotency key", "binds_another", (given) => ({ ...given, idempotency_key: "other" })],
    ["another kind", "binds_another", (given) => ({ ...given, kind: "notice" })],
    ["another group", "binds_another", (given) => ({ ...given, correlation_id: "other" })],
    ["another cause", "binds_another", (given) => ({ ...given, causation_id: given.id })],
    ["other labels", "binds_another", (given) => ({ ...given, labels: { team: "b" } })],
    ["other artifacts", "binds_another", (given) => ({ ...given, artifacts: [artifact("0")] })],
    [
      "another trace",
      "binds_another",
      (given) => ({ ...given, traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` }),
    ],
    ["another extension", "binds_another", (given) => ({ ...given, ext: { "urn:approved": true } })],
    ["another expectation", "binds_another", (given) => ({ ...given, expects: { output_schema: {} } })],
    ["another demand", "binds_another", (given) => ({ ...given, demands: "signed" })],
    ["a longer deadline", "binds_another", (given) => ({ ...given, deadline_ms: 60_001 })],
    ["no proof, though it is called signed", "proof_missing", withSigned({ proof: null })],
    ["nothing that was signed", "proof_missing", ({ signed: _signed, ...rest }) => rest],
    ["a document that was changed and hashed anew", "bad_signature", forge],
    ["a document that is none", "document_malformed", withSigned({ document: "{}" })],
    ["a proof that is none", "bad_proof", withSigned({ proof: { key: "", sig: "", index: 0, size: 1, path: [] } })],
  ])("with %s is not trusted: %s", async (_what, reason, tamper) => {
    const ann = await open("ann");
    const limits = { deadline_ms: 60_000 };
    const given = await lease(ann.base, { input: { amount: 1 }, idempotency_key: "k1", labels: { team: "a" }, limits });
    const error = await refusal(worker.base.trust.check(tamper(given)));
    expect(error.reason).toBe(reason);
    expect(error.message).toMatch(/^The handoff .* is not trusted: /);
  });

  test("without a key of its own has its id for one, whatever the relay shows", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, { input: 1 });
    expect(given.idempotency_key).toBe(given.id);
    const error = await refusal(worker.base.trust.check({ ...given, idempotency_key: "other" }));
    expect(error.message).toContain("another idempotency_key");
  });

  test("with everything that a sender can say is trusted as it is shown", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, {
      input: 1,
      to: "worker",
      conversation_id: "talk",
      correlation_id: "group",
      labels: { b: "2", a: "1" },
      expects: { output_schema: { type: "number", minimum: 1 } },
      limits: { deadline_ms: 60_000, lease_ms: 5_000, ack_ms: 4_000 },
      evidence: "signed",
      traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
      ext: { "urn:x": { deep: [1, { z: null }] } },
    });
    expect(await worker.base.trust.check(given)).toEqual({ input: 1, evidence: "signed" });
  });

  test("for another relay or namespace is not trusted", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, { input: 1 });
    const error = await refusal(trustWith({ relays: ["https://other.example"], namespace: "other" }).check(given));
    expect(error.message).toContain("another relay, namespace.");
    const elsewhere = await refusal(trustWith({ relays: ["https://other.example"] }).check(given));
    expect(elsewhere.message).toContain("another relay; all nodes on one database need the same --public-url.");
  });

  test("of a whole batch costs one check of a signature", async () => {
    const ann = await open("ann");
    const ids = Array.from({ length: 8 }, () => makeId(Date.now(), realSurroundings.randomBytes(10)));
    await Promise.all(ids.map((id, input) => submit(ann.base, { id, capability: "echo", input })));
    let checks = 0;
    const verify: typeof nodeCrypto.verify = (...given) => {
      checks += 1;
      return nodeCrypto.verify(...given);
    };
    const trust = trustWith({ crypto: { ...nodeCrypto, verify } });
    const leases = await claim(8);
    const all = await Promise.all(leases.map((each) => trust.check(each)));
    expect(all.map(({ evidence }) => evidence)).toEqual(Array(8).fill("signed"));
    expect(checks).toBe(1);
  });

  test("whose key was revoked meanwhile is not trusted", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, { input: 1 });
    await ann.call("revoke_key", { params: { name: "ann", thumbprint: String(ann.key) } });
    expect((await refusal(worker.base.trust.check(given))).reason).toBe("revoked_key");
  });

  test("of an agent that the relay has forgotten is not trusted", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, { input: 1 });
    await relay.call("DELETE", "/v1/agents/ann", { token: operator_token });
    expect((await refusal(worker.base.trust.check(given))).reason).toBe("unknown_agent");
  });
});

describe("pinning", () => {
  test("a name that has another identity than the first one seen is not trusted", async () => {
    const { trust } = worker.base;
    const ann = await open("ann");
    await trust.check(await lease(ann.base, { input: 1 }));
    await relay.call("DELETE", "/v1/agents/ann", { token: operator_token });
    const impostor = await open("ann");
    const error = await refusal(trust.check(await lease(impostor.base, { input: 2 })));
    expect(error.reason).toBe("identity_changed");
    expect(error.message).toContain(String(ann.key));
    expect(error.message).toContain(String(impostor.key));
  });

  test("a key that the user pinned is the only one that is trusted", async () => {
    const ann = await open("ann");
    const given = await lease(ann.base, { input: 1 });
    const other = toBase64url(new Uint8Array(32));
    expect(await trustWith({ pins: { ann: String(ann.key) } }).check(given)).toMatchObject({ evidence: "signed" });
    expect(await trustWith({ pins: { ann: [other, String(ann.key)] } }).check(given)).toMatchObject({ input: 1 });
    expect((await refusal(trustWith({ pins: { ann: other } }).check(given))).reason).toBe("not_pinned");
  });
});

describe("a handoff that its sender did not sign", () => {
  async function attested(): Promise<LeaseView> {
    const bob = await relay.agent("bob");
    await bob.submit({ capability: "echo", input: { n: 1 } });
    const [only] = await claim(1);
    if (only === undefined) throw new Error("no lease came");
    return only;
  }

  test("is taken as attested", async () => {
    expect(await worker.base.trust.check(await attested())).toEqual({ input: { n: 1 }, evidence: "attested" });
  });

  test("is refused once its sender has signed before in this client's life", async () => {
    const ann = await open("ann");
    const { trust } = worker.base;
    const first = await lease(ann.base, { input: 1 });
    await trust.check(first);
    const unsigned = { ...first, evidence: "attested" as const, input: "forged" };
    const error = await refusal(trust.check(withSigned({ proof: null })(unsigned)));
    expect(error.reason).toBe("no_longer_signed");
    expect(error.message).toContain("ann, who has signed until now");
    expect(await trust.check(await attested())).toMatchObject({ evidence: "attested" });
  });

  test("is refused where only signed ones are taken, or its sender is pinned", async () => {
    const given = await attested();
    expect((await refusal(trustWith({ requireSigned: true }).check(given))).reason).toBe("unsigned");
    expect((await refusal(trustWith({ pins: { bob: "any" } }).check(given))).reason).toBe("unsigned");
  });
});

function artifact(digit: string) {
  return { sha256: digit.repeat(64), size: 1, media_type: "text/plain" };
}

type Signed = NonNullable<LeaseView["signed"]>;

function withSigned(change: Partial<Signed>): (lease: LeaseView) => LeaseView {
  return (given) => ({ ...given, signed: { ...signedOf(given), ...change } });
}

function withoutPayload(signed: Signed | undefined): Signed {
  const { payload: _payload, ...rest } = signed ?? { document: "", proof: null };
  return rest;
}

/** A relay that changes the document must also change the digest, and cannot sign. */
function forge(given: LeaseView): LeaseView {
  const signed = signedOf(given);
  const document = signed.document
    .replace('"amount"', '"amount" ')
    .replace('"capability":"echo"', '"capability":"erase"');
  const prefix = "\0handfast/v1/handoff\0";
  const digest = Buffer.from(nodeCrypto.sha256(Buffer.from(prefix + document))).toString("hex");
  return { ...given, capability: "erase", digest, signed: { ...signed, document } };
}

function signedOf({ signed }: LeaseView): Signed {
  if (signed === undefined) throw new Error("the lease was claimed without proofs");
  return signed;
}
