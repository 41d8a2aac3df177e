/** handoffs.md, "What came of it" and "Outcomes". */

import type { Check } from "../check.ts";
import { seal } from "../stage/agent.ts";
import { delivered, failure, sent, working } from "../stage/scenes.ts";

const given = "handoffs.md#what-came-of-it";
const outcomes = "handoffs.md#outcomes";
const output_schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

export const whatCameOfIt: readonly Check[] = [
  {
    id: "GIVEN-1",
    promise: "Output that fits completes the handoff, 200, and reaches the sender as it was given.",
    section: given,
    run: async (t) => {
      const pair = await t.pair({ output_schema });
      const lease = await working(pair);
      const reply = await pair.worker.act("complete", lease, {
        output: { n: 1, more: ["ä"] },
        usage: { cost: 5, tokens: 7 },
      });
      t.equal({ state: reply.state, code: reply.code }, { state: "completed", code: 200 }, "the answer");
      const { outcome, state, code } = await pair.sender.get(lease.id);
      t.equal({ state, code }, { state: "completed", code: 200 }, "the handoff");
      t.equal(outcome?.output, { n: 1, more: ["ä"] }, "the output");
      const { agent, fence, usage } = outcome ?? {};
      t.equal(
        { agent, fence, usage },
        { agent: pair.worker.name, fence: 1, usage: { cost: 5, tokens: 7 } },
        "the outcome",
      );
    },
  },
  {
    id: "GIVEN-2",
    promise:
      "Output that does not fit the agent's schema is answered with 502, the lease is kept, and mended output completes.",
    section: given,
    run: async (t) => {
      const pair = await t.pair({ output_schema });
      const lease = await working(pair);
      const problem = await pair.worker.refusedAct("complete", lease, { output: { n: "one" } }, 502, "output_unfit");
      t.that(problem.detail.includes("n"), "a detail that names the path", problem.detail);
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state");
      await pair.worker.act("complete", lease, { output: { n: 1 } });
      t.equal((await pair.sender.eventTypes(lease.id)).slice(3), ["unfit_output", "completed"], "its events");
    },
  },
  {
    id: "GIVEN-3",
    promise: "Output that does not fit for the fourth time ends the handoff as failed, 502.",
    section: given,
    run: async (t) => {
      const pair = await t.pair({ output_schema });
      const lease = await working(pair);
      for (const n of ["a", "b", "c"])
        await pair.worker.refusedAct("complete", lease, { output: { n } }, 502, "output_unfit");
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state after the third time");
      await pair.worker.refusedAct("complete", lease, { output: { n: "d" } }, 502, "output_unfit");
      const { state, code } = await pair.sender.get(lease.id);
      t.equal({ state, code }, { state: "failed", code: 502 }, "how it ended");
    },
  },
  {
    id: "GIVEN-4",
    promise: "A failure that a retry cannot mend ends the handoff as failed, 500, with the error that the agent gave.",
    section: given,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const error = { ...failure, detail: { page: 7 } };
      await pair.worker.act("fail", lease, { error, retryable: false });
      const { state, code, outcome } = await pair.sender.get(lease.id);
      t.equal({ state, code }, { state: "failed", code: 500 }, "how it ended");
      t.equal(outcome?.error, error, "the error");
      t.equal(outcome?.retryable, false, "whether the agent thinks that a retry helps");
    },
  },
  {
    id: "GIVEN-5",
    promise: "A failure that a retry can mend queues the handoff after the longer of backoff and retry_after.",
    section: given,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const one = await working(pair);
      await pair.worker.act("fail", one, { error: failure, retryable: true });
      const first = await pair.sender.event(one.id, "requeued");
      const backoff_ms = Number(first["ready_at"]) - first.at;
      t.equal({ why: first["why"], code: first["code"] }, { why: "failed", code: 500 }, "the event `requeued`");
      t.that(backoff_ms >= 500 && backoff_ms <= 1_000, "a backoff of 500 to 1,000 ms", backoff_ms);
      const next = await pair.worker.lease();
      const { at } = (await pair.sender.events(one.id)).findLast(({ type }) => type === "delivered") ?? first;
      t.that(at >= Number(first["ready_at"]), "no delivery before ready_at", { at, ready_at: first["ready_at"] });
      await pair.worker.act("fail", next, { error: failure, retryable: true, retry_after_ms: 5_000 });
      const second = (await pair.sender.events(one.id)).findLast(({ type }) => type === "requeued") ?? first;
      t.that(Number(second["ready_at"]) - second.at >= 5_000, "no retry before retry_after", second);
    },
  },
  {
    id: "GIVEN-6",
    promise: "A reject queues the handoff for others at once: the agent is excluded, nothing is counted.",
    section: given,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const other = await t.agent(capability);
      const lease = await working(pair);
      await worker.act("reject", lease, { error: failure });
      const { state, attempts, deliveries } = await sender.get(lease.id);
      t.equal({ state, attempts, deliveries }, { state: "queued", attempts: 0, deliveries: 0 }, "the handoff");
      t.equal((await sender.event(lease.id, "requeued"))["why"], "rejected", "why it was requeued");
      t.equal(await worker.claim({ slots: 3 }), [], "what the agent that rejected it is given");
      t.equal((await other.lease()).id, lease.id, "what the other agent is given");
    },
  },
  {
    id: "GIVEN-7",
    promise: "A reject when nobody else may take it ends the handoff as rejected, 501.",
    section: given,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      await pair.worker.act("reject", lease, { error: failure });
      const { state, code, outcome } = await pair.sender.get(lease.id);
      t.equal({ state, code, error: outcome?.error }, { state: "rejected", code: 501, error: failure }, "how it ended");
    },
  },
  {
    id: "OUTCOME-1",
    promise: "A reject is not an ack.",
    section: outcomes,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      await pair.worker.act("reject", lease, { error: failure });
      t.equal(await pair.sender.eventTypes(lease.id), ["accepted", "delivered", "rejected"], "its events");
    },
  },
  {
    id: "OUTCOME-2",
    promise: "Output is checked against what the sender expects, too.",
    section: outcomes,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { expects: { output_schema } });
      await pair.worker.refusedAct("complete", lease, { output: { n: "one" } }, 502, "output_unfit");
      await pair.worker.act("complete", lease, { output: { n: 1 } });
    },
  },
  {
    id: "OUTCOME-3",
    promise: "The same unfit output again is answered alike and counts once.",
    section: outcomes,
    run: async (t) => {
      const pair = await t.pair({ output_schema });
      const lease = await working(pair);
      for (let times = 0; times < 6; times += 1) {
        await pair.worker.refusedAct("complete", lease, { output: { n: "same" } }, 502, "output_unfit");
      }
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state after six times");
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types.filter((type) => type === "unfit_output").length, 1, "how often it was counted");
    },
  },
  {
    id: "OUTCOME-4",
    promise: "A notice takes neither a checkpoint nor a question: 409.",
    section: outcomes,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { kind: "notice" });
      await pair.worker.refusedAct("checkpoint", lease, { state: 1 }, 409, "notice");
      await pair.worker.refusedAct("ask", lease, { question: "which?" }, 409, "notice");
      t.equal((await pair.sender.get(lease.id)).state, "delivered", "the state");
    },
  },
  {
    id: "OUTCOME-5",
    promise:
      "If the sender demands signed, an attested ack or outcome is 401 and changes nothing; a signed one is taken.",
    section: outcomes,
    features: ["signed"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await delivered(pair, { evidence: "signed" });
      await worker.refusedAct("ack", lease, {}, 401, "signature_demanded");
      await worker.refusedAct("complete", lease, { output: 1 }, 401, "signature_demanded");
      t.equal(await sender.eventTypes(lease.id), ["accepted", "delivered"], "its events");
      const params = { id: lease.id };
      await worker.ok("ack", { params, body: await worker.signed(worker.writeAck(lease)) });
      const output = seal("1");
      const outcome = worker.writeOutcome(lease, output);
      await worker.ok("complete", { params, body: await worker.signed(outcome, output.payload) });
      t.equal((await sender.get(lease.id)).state, "completed", "the state");
    },
  },
  {
    id: "OUTCOME-6",
    promise: "An outcome may carry artifacts, which its sender can then read.",
    section: outcomes,
    features: ["artifacts"],
    run: async (t) => {
      const pair = await t.pair();
      const bytes = new TextEncoder().encode(`a report of ${pair.worker.name}`);
      const sha256 = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
      await pair.worker.ok("put_artifact", { params: { sha256 }, bytes, content_type: "text/plain" });
      const lease = await working(pair);
      const artifact = { sha256, size: bytes.length, media_type: "text/plain", name: "report" };
      await pair.worker.act("complete", lease, { output: 1, artifacts: [artifact] });
      t.equal((await pair.sender.get(lease.id)).outcome?.artifacts, [sha256], "the outcome's artifacts");
      const got = await pair.sender.call("get_artifact", { params: { sha256 } });
      t.equal(Buffer.from(got.bytes ?? []).toString(), Buffer.from(bytes).toString(), "the bytes");
    },
  },
  {
    id: "OUTCOME-7",
    promise: "An outcome may be text instead of JSON, and is shown as such.",
    section: outcomes,
    run: async (t) => {
      const pair = await t.pair();
      await sent(pair, { input: undefined, text: "hello" });
      const lease = await pair.worker.lease();
      t.equal(lease.text, "hello", "the text in the lease");
      await pair.worker.act("complete", lease, { text: "HELLO" });
      const { outcome } = await pair.sender.get(lease.id);
      t.equal(
        { text: outcome?.text, type: outcome?.payload?.media_type.split(";")[0] },
        { text: "HELLO", type: "text/plain" },
        "the outcome",
      );
    },
  },
];
