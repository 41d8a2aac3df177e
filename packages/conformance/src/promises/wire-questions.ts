/** wire.md, "Questions" and "Dead letters". */

import { toUtf8, verifyProof } from "@handfast/protocol";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import { seal } from "../stage/agent.ts";
import { dead, failure, working } from "../stage/scenes.ts";
import { publicKey } from "./public-key.ts";

const questions = "wire.md#questions";
const letters = "wire.md#dead-letters";

export const wireQuestions: readonly Check[] = [
  {
    id: "DESK-1",
    promise:
      "A question's id is the handoff's id, a colon and its name; without a name the relay gives the next number, and a retry means the open one.",
    section: questions,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const named = await pair.worker.act("ask", lease, { question: "which?", question_id: "colour" });
      t.equal(named.id, `${lease.id}:colour`, "the id of a named one");
      await pair.sender.ok("answer", { params: { id: named.id }, body: { answer: 1 } });
      const first = await pair.worker.act("ask", lease, { question: "how many?" });
      const again = await pair.worker.act("ask", lease, { question: "how many?" });
      t.equal(again.id, first.id, "the id of a retry");
      t.that(first.id.startsWith(`${lease.id}:`), "an id that begins with the handoff's", first.id);
    },
  },
  {
    id: "DESK-2",
    promise: "An answer that does not fit the question's schema is 422, and the question stays open.",
    section: questions,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const schema = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] };
      const { id } = await pair.worker.act("ask", lease, { question: "really?", schema });
      await pair.sender.refused("answer", { params: { id }, body: { answer: { yes: "maybe" } } }, 422, "answer_unfit");
      t.equal((await pair.sender.ok("question", { params: { id } })).open, true, "whether it is still open");
      await pair.sender.ok("answer", { params: { id }, body: { answer: { yes: true } } });
    },
  },
  {
    id: "DESK-3",
    promise: "Questions are listed for the sender, for whoever offers the capability asked, and for nobody else.",
    section: questions,
    features: ["questions"],
    run: async (t) => {
      const desk = t.name("desk");
      const [pair, human, stranger] = await Promise.all([t.pair(), t.agent(desk), t.agent()]);
      const [one, two] = [await working(pair), await working(pair)];
      const mine = await pair.worker.act("ask", one, { question: "to you" });
      const theirs = await pair.worker.act("ask", two, { question: "to the desk", to: desk });
      const list = async (who: typeof human) => (await who.ok("questions", {})).questions.map(({ id }) => id);
      t.equal(await list(pair.sender), [mine.id], "the sender's list");
      t.equal(await list(human), [theirs.id], "the desk's list");
      t.equal(await list(stranger), [], "a stranger's list");
      await stranger.refused("question", { params: { id: mine.id } }, 404, "unknown_question");
      await human.refused("get", { params: { id: two.id } }, 404, "unknown_handoff");
      const parts = { params: { id: theirs.id }, body: { answer: 1 } };
      await stranger.refused("answer", parts, 404, "unknown_question");
    },
  },
  {
    id: "DESK-4",
    promise: "Waiting for a question waits until it is resolved.",
    section: questions,
    features: ["questions", "prefer_wait"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const { id } = await pair.worker.act("ask", lease, { question: "which?" });
      const waiting = pair.worker.ok("question", { params: { id }, wait_ms: 30_000 });
      await pair.sender.ok("answer", { params: { id }, body: { answer: "this" } });
      const { resolution, answer, by } = await waiting;
      t.equal(
        { resolution, answer, by },
        { resolution: "answered", answer: "this", by: pair.sender.name },
        "the question",
      );
    },
  },
  {
    id: "DESK-5",
    promise: "An answer may be signed; it binds the handoff and the question, and is handed on as proof.",
    section: questions,
    features: ["questions", "signed"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await working(pair);
      const question = await worker.act("ask", lease, { question: "which?" });
      const sealed = seal('"this"');
      const said = { id: lease.id, handoff: question.digest, question: question.id, answer: sealed.digest };
      const other = await sender.signed(
        sender.write("answer", { ...said, question: `${lease.id}:other` }),
        sealed.payload,
      );
      const params = { id: question.id };
      await sender.refused("answer", { params, body: other }, 400, "binds_another");
      await sender.ok("answer", { params, body: await sender.signed(sender.write("answer", said), sealed.payload) });
      t.equal((await sender.event(lease.id, "answered"))["evidence"], "signed", "the evidence");
      const { receipts = [] } = await sender.get(lease.id, { proofs: true });
      const receipt = receipts.find(({ kind }) => kind === "answer");
      t.equal(receipt?.number, 0, "the number of the receipt: the place of the question");
      const bytes = toUtf8(receipt?.signed.document ?? "");
      const isProven = await verifyProof(nodeCrypto, publicKey(sender.key), "answer", bytes, receipt?.signed.proof);
      t.that(isProven, "a proof that verifies", receipt);
    },
  },
  {
    id: "DEAD-1",
    promise:
      "A signed redrive carries the caller's own document, with redrive_of; one that names another dead letter is refused.",
    section: letters,
    features: ["redrive", "signed"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const [one, two] = [await dead(pair), await dead(pair)];
      const params = { id: one.id };
      const wrong = await sender.signedHandoff({ capability, redrive_of: two.id });
      await sender.refused("redrive", { params, body: wrong }, 400, "binds_another");
      const none = await sender.signedHandoff({ capability });
      await sender.refused("redrive", { params, body: none }, 400, "binds_another");
      const body = await sender.signedHandoff({ capability, redrive_of: one.id }, seal('{"n":"mended"}'));
      const { redriven_as } = await sender.ok("redrive", { params, body }, 202);
      const lease = await worker.lease();
      t.equal(
        { id: lease.id, input: lease.input, evidence: lease.evidence },
        { id: redriven_as, input: { n: "mended" }, evidence: "signed" },
        "the lease",
      );
    },
  },
  {
    id: "DEAD-2",
    promise:
      "Dead letters are listed oldest first, by status, code and capability; only an operator sees those of others.",
    section: "wire.md#operations",
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender } = pair;
      const [one, two] = [await dead(pair), await dead(pair)];
      const list = async (query: Record<string, string | number>) =>
        (await sender.ok("dead_letters", { query })).dead_letters.map(({ id }) => id);
      t.equal(await list({}), [one.id, two.id], "all");
      t.equal(await list({ code: 500, capability: pair.capability }), [one.id, two.id], "by code and capability");
      t.equal(await list({ code: 501 }), [], "by another code");
      await sender.ok("discard", { params: { id: one.id }, body: {} });
      t.equal(await list({}), [two.id], "those that are open");
      t.equal(await list({ status: "discarded" }), [one.id], "those that were discarded");
      t.equal((await pair.worker.ok("dead_letters", {})).dead_letters, [], "the worker's list");
      await pair.worker.refused("dead_letters", { query: { from: sender.name } }, 403);
    },
  },
  {
    id: "DEAD-3",
    promise: "A plan is its caller's own: another's is 404, and a filter beside it is refused.",
    section: letters,
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      await dead(pair);
      const body = { dry_run: true, filter: { capability: pair.capability } };
      const { plan } = await pair.sender.ok("redrive_many", { body });
      await pair.worker.refused("redrive_many", { body: { plan } }, 404);
      await pair.sender.refused("redrive_many", { body: { plan, filter: {} } }, 400);
      await pair.sender.refused("redrive_many", { body: {} }, 400);
    },
  },
  {
    id: "DEAD-4",
    promise: "A redrive may go to another target.",
    section: letters,
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      const elsewhere = t.name("elsewhere");
      const other = await t.agent(elsewhere);
      const { id } = await dead(pair);
      await pair.sender.ok("redrive", { params: { id }, body: { capability: elsewhere } }, 202);
      const lease = await other.lease();
      t.equal(
        { capability: lease.capability, input: lease.input },
        { capability: elsewhere, input: { n: 1 } },
        "the lease",
      );
      await other.act("fail", lease, { error: failure });
    },
  },
];
