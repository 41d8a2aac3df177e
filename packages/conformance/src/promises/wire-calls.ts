/** wire.md, "Calls": identity, bodies, the two forms, payloads, proofs, waiting. */

import { toUtf8, verifyProof } from "@handfast/protocol";
import { HttpLink } from "../caller/http-link.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";
import { rawRequest } from "../caller/raw-http.ts";
import type { Check } from "../check.ts";
import { digestOf, newId, seal } from "../stage/agent.ts";
import { refusal } from "../stage/caller.ts";
import { completed, delivered, sent, working } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";
import { publicKey } from "./public-key.ts";

const section = "wire.md#calls";

/** A body as it is, over HTTP, by an agent. */
async function post(t: Stage, path: string, body: string | Uint8Array, type = "application/json") {
  const agent = await t.agent();
  const authorization = `Bearer ${agent.key.credential(agent.name, t.audience)}`;
  const headers = { authorization, "content-type": type };
  const answer = await rawRequest(t.url, { method: "POST", path, headers, body });
  t.journal.note(agent.name, ["POST", path, String(body)], [answer.status, answer.body]);
  return answer;
}

function fieldsOf(problem: object): unknown {
  const { fields }: { fields?: unknown } = problem;
  return fields;
}

export const wireCalls: readonly Check[] = [
  {
    id: "CALL-1",
    promise: "A call without a credential is 401, except where anyone may call.",
    section,
    over: ["http"],
    run: async (t) => {
      const stranger = t.stranger();
      const body = { capability: "x", input: 1 };
      await stranger.refused("submit", { body }, 401, "credential_missing");
      await stranger.refused("list", {}, 401, "credential_missing");
      await stranger.refused("claim", { body: { worker: "w" } }, 401, "credential_missing");
      await stranger.ok("challenge", {});
      await stranger.ok("well_known", {});
    },
  },
  {
    id: "CALL-2",
    promise: "A body of another content type than application/json is refused.",
    section,
    over: ["http"],
    run: async (t) => {
      const { capability } = await t.pair();
      const body = JSON.stringify({ capability, input: 1 });
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
        const { status } = await post(t, "/v1/handoffs", body, type);
        t.that(status >= 400 && status < 500, `a refusal of ${type}`, status);
      }
      const { status } = await post(t, "/v1/handoffs", body, "application/json; charset=utf-8");
      t.equal(status, 202, "the answer to JSON");
    },
  },
  {
    id: "CALL-3",
    promise:
      "Duplicate keys, numbers that would lose digits, lone surrogates and what is not UTF-8 are refused, each with its reason and the path.",
    section,
    over: ["http"],
    run: async (t) => {
      const { capability } = await t.pair();
      const text = (input: string) => `{"capability":"${capability}","input":${input}}`;
      const wrong: readonly (readonly [string | Uint8Array, string, string])[] = [
        [text('{"a":1,"a":2}'), "duplicate_key", "/input/a"],
        [text('{"a":1,"\\u0061":2}'), "duplicate_key", "/input/a"],
        [`{"capability":"x","capability":"${capability}","input":1}`, "duplicate_key", "/capability"],
        [text('{"n":9007199254740993}'), "number_out_of_range", "/input/n"],
        [text('{"n":1e400}'), "number_out_of_range", "/input/n"],
        [text('{"s":"\\ud800"}'), "lone_surrogate", "/input/s"],
        [text('{"__proto__":1}'), "forbidden_key", "/input/__proto__"],
        [`${text("1")}x`, "syntax", ""],
        [Buffer.concat([Buffer.from('{"capability":"'), Buffer.from([0xff]), Buffer.from('"}')]), "not_utf8", ""],
      ];
      for (const [body, reason, path] of wrong) {
        const answer = await post(t, "/v1/handoffs", body);
        const problem = refusal(`a body with ${reason}`, answer.status, answer.body, 400, reason);
        if (path !== "") t.equal(fieldsOf(problem), [path], `the fields of ${reason}`);
      }
    },
  },
  {
    id: "CALL-4",
    promise: "A body that is too deep is refused before it is parsed.",
    section,
    over: ["http"],
    run: async (t) => {
      const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
      const { status } = await post(t, "/v1/handoffs", `{"capability":"x","input":${deep}}`);
      t.that(status >= 400 && status < 500, "a refusal", status);
    },
  },
  {
    id: "CALL-5",
    promise: "Unknown fields are refused with 400 and named, in bodies and in queries, at every depth.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, capability } = pair;
      const body = { capability, input: 1, deadline: "soon" };
      const problem = await sender.refused("submit", { body }, 400, "unknown_field");
      t.equal(fieldsOf(problem), ["/deadline"], "the fields that are named");
      const deep = { capability, input: 1, limits: { deadline_s: 1 } };
      const below = await sender.refused("submit", { body: deep }, 400, "unknown_field");
      t.equal(fieldsOf(below), ["/limits/deadline_s"], "the fields that are named, below");
      const asked = await sender.refused("list", { query: { colour: "red" } }, 400, "unknown_field");
      t.equal(fieldsOf(asked), ["/colour"], "the fields that are named, in a query");
      const lease = await delivered(pair);
      await pair.worker.refusedAct("ack", lease, { urgent: true }, 400, "unknown_field");
    },
  },
  {
    id: "CALL-6",
    promise: "The plain form counts as attested, the signed form as signed.",
    section,
    features: ["signed", "attested"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const plain = await completed(pair);
      const evidence = async (id: string) =>
        (await sender.events(id)).map((event) => event["evidence"]).filter(Boolean);
      t.equal(await evidence(plain.id), ["attested", "attested", "attested"], "evidence of accept, ack and outcome");
      const { id } = await sender.ok("submit", { body: await sender.signedHandoff({ capability }) }, 202);
      const lease = await worker.lease();
      t.equal(lease.evidence, "signed", "evidence in the lease");
      await worker.ok("ack", { params: { id }, body: await worker.signed(worker.writeAck(lease)) });
      const output = seal('{"done":true}');
      const body = await worker.signed(worker.writeOutcome(lease, output), output.payload);
      await worker.ok("complete", { params: { id }, body });
      t.equal(await evidence(id), ["signed", "signed", "signed"], "evidence of accept, ack and outcome, signed");
      t.equal((await sender.get(id)).outcome?.output, { done: true }, "the output");
    },
  },
  {
    id: "CALL-7",
    promise:
      "A document that binds another handoff, digest, fence or manifest than it is sent for is refused: 400, binds_another.",
    section,
    features: ["signed"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const [lease, other] = [await delivered(pair), await delivered(pair)];
      const params = { id: lease.id };
      const wrong = [{ id: other.id }, { handoff: other.digest }, { manifest: "0".repeat(64) }, { manifest: null }];
      for (const said of wrong) {
        const body = await worker.signed(worker.writeAck(lease, said));
        await worker.refused("ack", { params, body }, 400, "binds_another");
      }
      const stale = await worker.signed(worker.writeAck(lease, { fence: 7 }));
      await worker.refused("ack", { params, body: stale }, 412, "lease_lost");
      const foreign = await worker.signed(worker.writeAck(lease, { worker: "w9" }));
      await worker.refused("ack", { params, body: foreign }, 403, "foreign_worker");
      const cancel = sender.write("cancel", { id: other.id, handoff: other.digest });
      await sender.refused("cancel", { params, body: await sender.signed(cancel) }, 400, "binds_another");
      t.equal((await sender.get(lease.id)).state, "delivered", "the state");
    },
  },
  {
    id: "CALL-8",
    promise: "A payload that is not the one signed is refused: 400, payload_differs.",
    section,
    features: ["signed"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const sealed = seal('{"n":1}');
      const document = sender.writeHandoff({ capability }, sealed);
      for (const payload of ['{"n":2}', '{"n":1} ', ""]) {
        await sender.refused("submit", { body: await sender.signed(document, payload) }, 400, "payload_differs");
      }
      await sender.refused("submit", { body: await sender.signed(document) }, 400, "payload_missing");
      await sender.ok("submit", { body: await sender.signed(document, sealed.payload) }, 202);
    },
  },
  {
    id: "CALL-9",
    promise: "JSON is shown as `input`, text as `text`, anything else as `base64`, with the digest beside it.",
    section,
    features: ["signed"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const bytes = Buffer.from([0, 1, 2, 250, 251]);
      const sealed = seal("x", "image/png");
      const { salt } = sealed.digest;
      const sha256 = Buffer.from(nodeCrypto.sha256(Buffer.concat([Buffer.from(salt, "base64url"), bytes]))).toString(
        "hex",
      );
      const document = sender.write("handoff", {
        id: newId(),
        capability,
        input: { media_type: "image/png", size: bytes.length, salt, sha256 },
      });
      const proof = await sender.key.proof(document);
      const payload = bytes.toString("base64");
      const signed = { document: document.text, payload, payload_encoding: "base64", proof };
      await sender.ok("submit", { body: { signed } }, 202);
      const lease = await worker.lease();
      t.equal(lease.base64, payload, "base64 in the lease");
      t.equal(lease.payload.media_type, "image/png", "the media type beside it");
      await sent(pair, { input: undefined, text: "grüße" });
      const text = await worker.lease();
      t.equal({ text: text.text, input: text.input }, { text: "grüße", input: undefined }, "a text in the lease");
    },
  },
  {
    id: "CALL-10",
    promise:
      "Proofs are handed on as the exact bytes: whoever asks gets the author's own document, payload and proof, which verify.",
    section,
    features: ["signed"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const sealed = seal('{ "n" :  1 }');
      const { text: tight, typ } = sender.writeHandoff({ capability }, sealed);
      // White space is the author's: nobody may write it anew.
      const document = { typ, text: tight.replace('{"v":1,', '{ "v" : 1 ,\n ') };
      const { id } = await sender.ok("submit", { body: await sender.signed(document, sealed.payload) }, 202);
      const lease = await worker.lease({ proofs: true });
      t.equal(lease.digest, digestOf(document), "the digest in the lease");
      t.equal(
        { document: lease.signed?.document, payload: lease.signed?.payload },
        { document: document.text, payload: sealed.payload },
        "the signed bytes in the lease",
      );
      const ack = worker.writeAck(lease);
      await worker.ok("ack", { params: { id }, body: await worker.signed(ack) });
      const output = seal('"done"');
      const outcome = worker.writeOutcome(lease, output);
      await worker.ok("complete", { params: { id }, body: await worker.signed(outcome, output.payload) });
      const { receipts = [] } = await sender.get(id, { proofs: true });
      const told = receipts.map(({ kind, number, signed }) => ({ kind, number, document: signed.document }));
      const wanted = [
        { kind: "handoff", number: 0, document: document.text },
        { kind: "ack", number: 1, document: ack.text },
        { kind: "outcome", number: 1, document: outcome.text },
      ];
      const byKind = (a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1);
      t.equal(told.toSorted(byKind), wanted.toSorted(byKind), "the receipts");
      const authors = { handoff: sender, ack: worker, outcome: worker } as const;
      for (const { kind, signed } of receipts) {
        if (kind === "answer" || kind === "cancel") continue;
        const key = publicKey(authors[kind].key);
        const isProven = await verifyProof(nodeCrypto, key, kind, toUtf8(signed.document), signed.proof);
        t.that(isProven, `a proof of the ${kind} that verifies`, signed.proof);
      }
    },
  },
  {
    id: "CALL-11",
    promise: "Where an act was attested, its document is of the relay's writing and has no proof.",
    section,
    features: ["attested"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await completed(pair);
      const { receipts = [] } = await pair.sender.get(lease.id, { proofs: true });
      t.equal(receipts.map(({ kind }) => kind).toSorted(), ["ack", "handoff", "outcome"], "the receipts");
      t.that(
        receipts.every(({ signed }) => signed.proof === null),
        "no proof",
        receipts,
      );
      const handoff = receipts.find(({ kind }) => kind === "handoff");
      const digest = digestOf({ typ: "handoff", text: handoff?.signed.document ?? "" });
      t.equal(digest, lease.digest, "the digest of the document");
    },
  },
  {
    id: "CALL-12",
    promise: "`Prefer: wait` waits for what the operation is about and is confirmed by `Preference-Applied`.",
    section,
    features: ["prefer_wait"],
    over: ["http"],
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const { link } = pair.sender;
      if (!(link instanceof HttpLink)) throw new Error("this check is for HTTP");
      const began = performance.now();
      const response = await link.fetch("get", { params: { id }, query: { until: "ended" }, wait_ms: 1_000 });
      await response.arrayBuffer();
      t.that(performance.now() - began >= 900, "a wait of a second", performance.now() - began);
      const applied = response.headers.get("preference-applied");
      t.that(/^wait=1\b/.test(applied ?? ""), "Preference-Applied: wait=1", applied);
    },
  },
  {
    id: "CALL-13",
    promise: "A wait that is over answers as if nobody had waited.",
    section,
    features: ["prefer_wait"],
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const waited = await pair.sender.ok("get", { params: { id }, query: { until: "ended" }, wait_ms: 1_000 });
      t.equal(waited, await pair.sender.get(id), "the answer");
    },
  },
  {
    id: "CALL-14",
    promise:
      "A wait ends as soon as what it is for is there: the ack with `until=acknowledged`, the end with `until=ended`.",
    section,
    features: ["prefer_wait"],
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const acknowledged = pair.sender.ok("get", { params: { id }, query: { until: "acknowledged" }, wait_ms: 30_000 });
      const ended = pair.sender.ok("get", { params: { id }, query: { until: "ended" }, wait_ms: 30_000 });
      const lease = await pair.worker.lease();
      await pair.worker.act("ack", lease);
      t.equal((await acknowledged).state, "working", "the state when the first wait was over");
      await pair.worker.act("complete", lease, { output: 1 });
      t.equal((await ended).state, "completed", "the state when the second wait was over");
    },
  },
  {
    id: "CALL-15",
    promise: "A body without a required member may be left out.",
    section: "wire.md#operations",
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      await pair.sender.ok("take", { params: { id } });
      await pair.sender.ok("cancel", { params: { id } });
    },
  },
  {
    id: "CALL-16",
    promise: "A body beyond the relay's limit is refused with 413.",
    section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const { limits } = t.about;
      const most = limits["inline_payload_bytes"] ?? 1_000_000;
      const input = "x".repeat(most + 1_000);
      await sender.refused("submit", { body: { capability, input } }, 413);
      const body = { capability, input: "x".repeat(3 * most) };
      await sender.refused("submit", { body }, 413);
    },
  },
  {
    id: "CALL-17",
    promise: "Every answer fits the schema of its operation: the lists, views and figures of a relay at work.",
    section: "wire.md#operations",
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await working(pair);
      await worker.act("ask", lease, { question: "which?" });
      await sender.ok("list", { query: { state: "waiting", limit: 10 } });
      await sender.ok("questions", {});
      await sender.ok("correlation", { params: { id: lease.id } });
      await sender.ok("agents", { query: { capability: pair.capability } });
      await sender.ok("agent", { params: { name: worker.name } });
      await sender.ok("outcomes", {});
      await sender.ok("dead_letters", {});
      await sender.ok("healthz", {}, 200);
      await sender.ok("readyz", {}, 200);
    },
  },
  {
    id: "CALL-18",
    promise: "An OpenAPI 3.1 description is served, with every operation of the specification under its name.",
    section: "wire.md#operations",
    over: ["http"],
    run: async (t) => {
      const { status, body } = await t.stranger().call("openapi", {});
      t.equal(status, 200, "the HTTP status");
      const { openapi, paths }: { openapi?: unknown; paths?: unknown } = Object(body);
      t.that(String(openapi).startsWith("3.1"), "OpenAPI 3.1", openapi);
      const names = JSON.stringify(paths);
      for (const name of ["submit", "claim", "complete", "handoff_events", "redrive_many", "rotate_key"]) {
        t.that(names.includes(`"operationId":"${name}"`), `an operation ${name}`, names.slice(0, 300));
      }
    },
  },
  {
    id: "CALL-19",
    promise: "Operations of an operator are refused to agents with 403.",
    section: "wire.md#operations",
    run: async (t) => {
      const agent = await t.agent();
      await agent.refused("backup", { body: {} }, 403);
    },
  },
  {
    id: "CALL-20",
    promise: "In development mode a foreign Host or Origin is refused with 403, so that no web page reaches the relay.",
    section: "wire.md#operations",
    mode: "development",
    over: ["http"],
    run: async (t) => {
      const look = (headers: Record<string, string>) =>
        rawRequest(t.url, { method: "GET", path: "/.well-known/handfast", headers });
      t.equal((await look({})).status, 200, "the answer to the relay's own host");
      const host = await look({ host: "evil.example" });
      refusal("a foreign Host", host.status, host.body, 403);
      const origin = await look({ origin: "https://evil.example" });
      refusal("a foreign Origin", origin.status, origin.body, 403);
    },
  },
  {
    id: "CALL-21",
    promise:
      "Whoever follows a list from the mark of a page is answered when something has come into it since, whatever still stays in it.",
    section,
    features: ["prefer_wait"],
    run: async (t) => {
      const pair = await t.pair();
      const first = await completed(pair);
      const page = await pair.sender.ok("outcomes", { wait_ms: 30_000 });
      const query = { since: page.mark };
      const news = t.meanwhile(pair.sender.ok("outcomes", { query, wait_ms: 30_000 }));
      const second = await completed(pair);
      t.equal((await news).handoffs.map(({ id }) => id).toSorted(), [first.id, second.id].toSorted(), "the list then");
      const known = await pair.sender.ok("outcomes", { query, wait_ms: 30_000 });
      t.equal(known.handoffs.length, 2, "outcomes at once, where the mark is older than the last of them");
    },
  },
];
