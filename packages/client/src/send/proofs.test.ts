import type { HandoffView, LeaseView } from "@handfast/protocol/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { acknowledge, complete } from "../acts.ts";
import { proofsOf, provenOutcome } from "./proofs.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { completes, failure } from "./testing/works.ts";

let relay: TestRelay;
let sender: OpenSender;
let signer: OpenSender;
let attested: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  attested = await relay.agent("attested", "plain");
  sender = await openSender(relay, "sender");
  signer = await openSender(relay, "signer");
  await signer.base.offer([{ name: "sign" }]);
});
afterAll(async () => {
  await sender.close();
  await signer.close();
  await relay.stop();
});

/** By the agent with a key: every act is signed. */
async function signedWork(output: unknown): Promise<LeaseView> {
  const body = { worker: "signer-1", slots: 1 };
  const { leases } = await signer.base.link.call("claim", { body }, { wait_ms: 5_000 });
  const [lease] = leases;
  if (lease === undefined) throw new Error("no lease");
  await acknowledge(signer.base, lease, "signer-1");
  await complete(signer.base, lease, "signer-1", { output });
  return lease;
}

/** As the relay shows it, with its proofs, to be tampered with. */
async function shown(id: string): Promise<HandoffView> {
  return sender.base.link.call("get", { params: { id }, query: { proofs: true } });
}

type Receipt = NonNullable<HandoffView["receipts"]>[number];
const changed = (view: HandoffView, kind: Receipt["kind"], change: (receipt: Receipt) => Receipt): HandoffView => ({
  ...view,
  receipts: (view.receipts ?? []).map((each) => (each.kind === kind ? change(each) : each)),
});

describe("proofs", () => {
  it("are every receipt of a life, each by its author's own signature", async () => {
    const handle = await sender.send("sign", { a: 1 });
    await signedWork({ b: 2 });
    await handle.outcome();
    const { receipts } = await handle.proofs();
    expect(receipts.map(({ kind, by, evidence }) => [kind, by, evidence])).toEqual([
      ["handoff", "sender", "signed"],
      ["ack", "signer", "signed"],
      ["outcome", "signer", "signed"],
    ]);
    const outcome = receipts.find(({ kind }) => kind === "outcome");
    expect(new TextDecoder().decode(outcome?.payload ?? undefined)).toBe('{"b":2}');
  });

  it("tell what is only attested", async () => {
    const handle = await sender.send("plain", 1);
    await completes(attested, () => 1);
    await handle.outcome();
    const { receipts } = await handle.proofs();
    expect(receipts.map(({ kind, evidence }) => [kind, evidence])).toEqual([
      ["handoff", "signed"],
      ["ack", "attested"],
      ["outcome", "attested"],
    ]);
  });

  it.each<[string, Receipt["kind"], (receipt: Receipt) => Receipt, string]>([
    [
      "a payload that is another",
      "outcome",
      (each) => ({ ...each, signed: { ...each.signed, payload: '{"b":3}' } }),
      "another payload",
    ],
    [
      "a document that was changed",
      "outcome",
      (each) => ({ ...each, signed: { ...each.signed, document: each.signed.document.replace('"v":1', '"v": 1') } }),
      "not trusted",
    ],
    ["the fence of another lease", "ack", (each) => ({ ...each, number: 7 }), "another fence"],
    ["what is no document", "ack", (each) => ({ ...each, signed: { ...each.signed, document: "{}" } }), "malformed"],
    [
      "a signature of another document",
      "handoff",
      (each) => ({ ...each, signed: { ...each.signed, document: each.signed.document.replace('"v":1', '"v": 1') } }),
      "another digest",
    ],
  ])("refuse %s", async (_what, kind, change, message) => {
    const handle = await sender.send("sign", 1);
    await signedWork({ b: 2 });
    await handle.outcome();
    const error = await failure(proofsOf(sender.base, changed(await shown(handle.id), kind, change)));
    expect(error).toMatchObject({ code: 401, handoff: handle.id });
    expect(error.message).toContain(message);
  });
});

describe("result()", () => {
  it("gives the output that was signed, where that was demanded when it was sent", async () => {
    const handle = await sender.send("sign", 1, { evidence: "signed" });
    await signedWork({ b: 2 });
    expect(await handle.result()).toEqual({ b: 2 });
  });

  it("rejects what is only attested, where it is to verify, and leaves it untaken", async () => {
    const handle = await sender.send("plain", 1);
    await completes(attested, () => 1);
    expect(await failure(handle.result({ verify: true }))).toMatchObject({ code: 401, reason: "not_proven" });
    await sender.settled();
    expect((await handle.status()).taken_at).toBeNull();
    expect(await handle.result({ verify: false })).toBe(1);
  });

  it("does not ask for a signature under an end that the relay itself decided", async () => {
    const handle = await sender.send("sign", 1, { evidence: "signed", timeout: 100 });
    expect(await failure(handle.result())).toMatchObject({ code: 408 });
    const canceled = await sender.send("sign", 1, { evidence: "signed" });
    await canceled.cancel();
    expect(await failure(canceled.result())).toMatchObject({ code: 410 });
  });

  it("is what the agent signed, whatever the relay shows", async () => {
    const handle = await sender.send("sign", 1);
    await signedWork({ b: 2 });
    await handle.outcome();
    const view = await shown(handle.id);
    if (view.outcome === null) throw new Error("no outcome");
    const lie = { ...view, outcome: { ...view.outcome, output: { b: "forged" } } };
    expect(provenOutcome(await proofsOf(sender.base, lie), lie).outcome?.output).toEqual({ b: 2 });
    const decided = { ...lie, outcome: { ...lie.outcome, evidence: "relay" as const } };
    expect(provenOutcome(await proofsOf(sender.base, decided), decided).outcome?.output).toEqual({ b: 2 });
    const empty = { ...view, outcome: null };
    expect(() => provenOutcome({ handoff: empty, receipts: [] }, empty)).toThrow(/without an outcome/);
    const other = { ...view, state: "failed" as const };
    expect(() => provenOutcome({ handoff: other, receipts: [] }, other)).toThrow(/no receipt/);
  });
});
