/** signing.md, "Encodings", "Documents", "Strict JSON", digests, "Signatures" and "Verifying". */

import { toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import { type Agent, digestOf, newId, seal } from "../stage/agent.ts";
import { delivered } from "../stage/scenes.ts";

const documents = "signing.md#documents";
const strict = "signing.md#strict-json";
const signatures = "signing.md#signatures";
const verifying = "signing.md#verifying";
const features = ["signed"];

/** A signed submit of exactly this text. */
async function submitText(sender: Agent, text: string, payload = '{"n":1}') {
  return { body: await sender.signed({ typ: "handoff", text }, payload) };
}

export const signingDocuments: readonly Check[] = [
  {
    id: "ENCODE-1",
    promise:
      "In base64url everything has one spelling: padding, other characters and stray bits in a proof are refused.",
    section: "signing.md#encodings",
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const sealed = seal("1");
      const document = sender.writeHandoff({ capability }, sealed);
      const proof = await sender.key.proof(document);
      const stray = `${proof.sig.slice(0, -1)}${{ A: "B", Q: "R", g: "h", w: "x" }[proof.sig.at(-1) ?? ""] ?? "B"}`;
      for (const sig of [`${proof.sig}==`, stray, proof.sig.replace(/[A-Za-z0-9]/, "+"), proof.sig.slice(1)]) {
        const signed = { document: document.text, payload: "1", proof: { ...proof, sig } };
        const { status } = await sender.call("submit", { body: { signed } });
        t.that(status === 400 || status === 401, "a refusal with 400 or 401", status);
      }
      await sender.ok("submit", { body: { signed: { document: document.text, payload: "1", proof } } }, 202);
    },
  },
  {
    id: "DOC-1",
    promise: "A document that is meant for another relay is 401, wrong_relay; for another namespace, wrong_namespace.",
    section: documents,
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const other = await sender.signedHandoff({ capability, relay: "https://other.example" });
      await sender.refused("submit", { body: other }, 401, "wrong_relay");
      const namespace = await sender.signedHandoff({ capability, namespace: "another" });
      await sender.refused("submit", { body: namespace }, 401, "wrong_namespace");
    },
  },
  {
    id: "DOC-2",
    promise: "A document from another agent than the caller is refused with 403.",
    section: documents,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const foreign = await sender.signedHandoff({ capability, from: worker.name });
      await sender.refused("submit", { body: foreign }, 403);
      const borrowed = await worker.signedHandoff({ capability });
      await sender.refused("submit", { body: borrowed }, 403);
    },
  },
  {
    id: "DOC-3",
    promise: "Unknown fields in a document are refused with 400, except under `ext`.",
    section: documents,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const id = newId();
      const odd = await sender.signedHandoff({ id, capability, colour: "red" });
      await sender.refused("submit", { body: odd }, 400);
      const ext = { "https://example.com/ext/colour": "red" };
      await sender.ok("submit", { body: await sender.signedHandoff({ id, capability, ext }) }, 202);
      t.equal((await worker.lease()).ext, ext, "what the worker is shown of it");
    },
  },
  {
    id: "DOC-4",
    promise: "A document of more than 65,536 bytes is 413.",
    section: documents,
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const large = await sender.signedHandoff({ capability, ext: { "https://example.com/x": "x".repeat(66_000) } });
      await sender.refused("submit", { body: large }, 413);
      const fits = { "https://example.com/x": "x".repeat(60_000) };
      await sender.ok("submit", { body: await sender.signedHandoff({ capability, ext: fits }) }, 202);
    },
  },
  {
    id: "DOC-5",
    promise: "A document cannot pass for one of another typ: an ack is no outcome, whatever its bytes.",
    section: "signing.md#digest-of-a-document",
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      const { worker } = pair;
      const ack = worker.writeAck(lease);
      const asOutcome = await worker.signed({ typ: "outcome", text: ack.text });
      await worker.refused("complete", { params: { id: lease.id }, body: asOutcome }, 400);
      const output = seal("1");
      const outcome = worker.writeOutcome(lease, output);
      const proof = await worker.key.proof({ typ: "ack", text: outcome.text });
      const signed = { document: outcome.text, payload: output.payload, proof };
      await worker.refused("complete", { params: { id: lease.id }, body: { signed } }, 401, "bad_signature");
      t.equal((await pair.sender.get(lease.id)).state, "delivered", "the state");
    },
  },
  {
    id: "DOC-6",
    promise: "The digest that names a handoff is that of its exact bytes.",
    section: "signing.md#digest-of-a-document",
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const sealed = seal("1");
      const document = sender.writeHandoff({ capability, conversation_id: "ä 🏔" }, sealed);
      const receipt = await sender.ok("submit", { body: await sender.signed(document, "1") }, 202);
      t.equal(receipt.digest, digestOf(document), "the digest in the receipt");
      t.equal((await worker.lease()).digest, digestOf(document), "the digest in the lease");
    },
  },
  {
    id: "DOC-7",
    promise:
      "An outcome document says 200, 500 or 501 and nothing else; completed goes with output, the others with an error.",
    section: documents,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const { worker } = pair;
      const lease = await delivered(pair);
      const output = seal("1");
      const params = { id: lease.id };
      const wrong = [{ code: 201 }, { code: 408 }, { error: { reason: "x", message: "y" } }, { output: undefined }];
      for (const said of wrong) {
        const document = worker.writeOutcome(lease, output, said);
        await worker.refused("complete", { params, body: await worker.signed(document, output.payload) }, 400);
      }
      const failed = worker.writeOutcome(lease, output, { status: "failed", code: 500 });
      await worker.refused("fail", { params, body: await worker.signed(failed) }, 400);
      t.equal((await pair.sender.get(lease.id)).state, "delivered", "the state");
    },
  },
  {
    id: "DOC-8",
    promise: "The manifest's digest is that of the canonical JSON of agent and capabilities, and a lease states it.",
    section: documents,
    run: async (t) => {
      const pair = await t.pair({ description: "does ä", tags: ["x"] });
      const lease = await delivered(pair);
      const canonical = `{"agent_id":"${pair.worker.name}","capabilities":[{"description":"does ä","name":"${pair.capability}","tags":["x"]}]}`;
      const digest = Buffer.from(nodeCrypto.sha256(toUtf8(canonical))).toString("hex");
      t.equal(lease.manifest, digest, "the manifest in the lease");
    },
  },
  {
    id: "STRICT-1",
    promise:
      "A document that another reader could understand differently is refused: duplicate keys, lone surrogates, numbers that lose digits, a byte order mark.",
    section: strict,
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const { text } = sender.writeHandoff({ capability, idempotency_key: "k" }, seal('{"n":1}'));
      const wrong = [
        text.replace('"typ":"handoff"', '"typ":"handoff","typ":"handoff"'),
        text.replace('"idempotency_key":"k"', '"idempotency_key":"k","\\u0069dempotency_key":"k"'),
        text.replace('"idempotency_key":"k"', '"idempotency_key":"\\ud800"'),
        text.replace('"v":1', '"v":1.0000000000000000000000001e400'),
        text.replace('"v":1', '"__proto__":{},"v":1'),
        `\ufeff${text}`,
        `${text},`,
        text.replace('"v":1', "'v':1"),
      ];
      for (const each of wrong) await sender.refused("submit", await submitText(sender, each), 400);
    },
  },
  {
    id: "PAYLOAD-1",
    promise: "A payload is bound by its size and by the SHA-256 of salt and bytes: 400 where either does not fit.",
    section: "signing.md#payload-digests",
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const { digest, payload } = seal('{"n":1}');
      const unsalted = Buffer.from(nodeCrypto.sha256(toUtf8(payload))).toString("hex");
      for (const wrong of [{ size: digest.size + 1 }, { sha256: unsalted }, { salt: "AAAAAAAAAAAAAAAAAAAAAA" }]) {
        const document = sender.write("handoff", { id: newId(), capability, input: { ...digest, ...wrong } });
        await sender.refused("submit", { body: await sender.signed(document, payload) }, 400, "payload_differs");
      }
    },
  },
  {
    id: "SIGN-1",
    promise: "One signature may cover many documents, and each can be sent and proven alone.",
    section: signatures,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const sealed = seal("1");
      const written = Array.from({ length: 5 }, () => sender.writeHandoff({ capability }, sealed));
      const proofs = await sender.key.proofs(written);
      for (const [index, document] of written.entries()) {
        const signed = { document: document.text, payload: "1", proof: proofs[index] };
        await sender.ok("submit", { body: { signed } }, 202);
      }
      t.equal((await worker.claim({ slots: 9 })).length, 5, "how many were accepted");
    },
  },
  {
    id: "SIGN-2",
    promise: "A signature that does not verify is 401, bad_signature, and nothing is accepted.",
    section: verifying,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const sealed = seal("1");
      const id = newId();
      const document = sender.writeHandoff({ id, capability }, sealed);
      const by = async (key: typeof sender.key) => ({ ...(await key.proof(document)), key: sender.key.thumbprint });
      const other = await sender.key.proof(sender.writeHandoff({ capability }, sealed));
      const changed = { ...document, text: document.text.replace('"v":1', '"v":1 ') };
      const forgeries = [
        { document: document.text, payload: "1", proof: await by(worker.key) },
        { document: document.text, payload: "1", proof: other },
        { document: changed.text, payload: "1", proof: await sender.key.proof(document) },
        { document: document.text, payload: "1", proof: { ...other, sig: "A".repeat(86) } },
      ];
      for (const signed of forgeries) await sender.refused("submit", { body: { signed } }, 401, "bad_signature");
      await sender.refused("get", { params: { id } }, 404, "unknown_handoff");
    },
  },
  {
    id: "SIGN-3",
    promise:
      "The path from a document to the signed root is checked: a changed, shortened, lengthened or reordered one proves nothing.",
    section: verifying,
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const sealed = seal("1");
      const written = Array.from({ length: 5 }, () => sender.writeHandoff({ capability }, sealed));
      const proofs = await sender.key.proofs(written);
      const [document, proof] = [written[2], proofs[2]];
      if (document === undefined || proof === undefined) throw new Error("five documents give five proofs");
      const { path } = proof;
      const zero = "A".repeat(43);
      const wrong = [
        { path: [zero, ...path.slice(1)] },
        { path: path.slice(1) },
        { path: path.slice(0, -1) },
        { path: [...path, zero] },
        { path: path.toReversed() },
        { path: [] },
        { index: 3 },
        { index: 4 },
        { size: 4 },
        { size: 6 },
        { size: 1, index: 0, path: [] },
      ];
      for (const change of wrong) {
        const signed = { document: document.text, payload: "1", proof: { ...proof, ...change } };
        const { status } = await sender.call("submit", { body: { signed } });
        t.that(status === 401 || status === 400, `a refusal of ${JSON.stringify(Object.keys(change))}`, status);
      }
      await sender.ok("submit", { body: { signed: { document: document.text, payload: "1", proof } } }, 202);
    },
  },
  {
    id: "SIGN-4",
    promise:
      "A signature that verified once proves nothing for another document: the relay must not remember it by itself alone.",
    section: verifying,
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const sealed = seal("1");
      const document = sender.writeHandoff({ capability }, sealed);
      const proof = await sender.key.proof(document);
      await sender.ok("submit", { body: { signed: { document: document.text, payload: "1", proof } } }, 202);
      const other = sender.writeHandoff({ capability }, sealed);
      const replayed = { document: other.text, payload: "1", proof };
      await sender.refused("submit", { body: { signed: replayed } }, 401, "bad_signature");
    },
  },
  {
    id: "SIGN-5",
    promise: "Proofs without the shape of one are refused, and none ends in a crash.",
    section: verifying,
    features,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const document = sender.writeHandoff({ capability }, seal("1"));
      const proof = await sender.key.proof(document);
      const wrong: readonly unknown[] = [
        null,
        [],
        "proof",
        { ...proof, index: -1 },
        { ...proof, size: 0 },
        { ...proof, size: 4_097 },
        { ...proof, index: 1 },
        { ...proof, index: 0.5 },
        { ...proof, path: "none" },
        { ...proof, path: Array.from({ length: 13 }, () => "A".repeat(43)) },
        { ...proof, key: "short" },
        { ...proof, extra: 1 },
      ];
      for (const each of wrong) {
        const signed = { document: document.text, payload: "1", proof: each };
        const { status } = await sender.call("submit", { body: { signed } });
        t.that([400, 401, 413].includes(status), "a refusal with 400, 401 or 413", status);
      }
    },
  },
];
