/** events.md: what every event has, the types, following, who sees what. Streams are in streams.ts, retention in retention.ts. */

import type { Check } from "../check.ts";
import { completed, dead, delivered, failure, sent, working } from "../stage/scenes.ts";

const has = "events.md#every-event-has";
const types_section = "events.md#types";
const following = "events.md#following";
const see = "events.md#who-sees-what";

export const events: readonly Check[] = [
  {
    id: "EVENT-1",
    promise:
      "Every event has type, namespace, handoff, seq, pos, at, correlation_id, causation_id, from, to_agent and capability.",
    section: has,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair, { to: pair.worker.name });
      for (const event of await pair.sender.events(id)) {
        const { namespace, handoff, correlation_id, causation_id, from, to_agent, capability } = event;
        const had = { namespace, handoff, correlation_id, causation_id, from, to_agent, capability };
        const wanted = {
          namespace: t.about.namespace,
          handoff: id,
          correlation_id: id,
          causation_id: null,
          from: pair.sender.name,
          to_agent: pair.worker.name,
          capability: pair.capability,
        };
        t.equal(had, wanted, `the fields of ${event.type}`);
      }
    },
  },
  {
    id: "EVENT-2",
    promise: "An event never changes: the same is shown again and to everybody, whatever becomes of its handoff.",
    section: has,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const before = await pair.sender.events(lease.id);
      await pair.worker.act("complete", lease, { output: 1 });
      await pair.sender.ok("take", { params: { id: lease.id }, body: {} });
      const after = await pair.sender.events(lease.id);
      t.equal(after.slice(0, before.length), before, "the events again");
      t.equal(await pair.worker.events(lease.id), after, "the events as the worker is shown them");
    },
  },
  {
    id: "EVENT-3",
    promise: "Times in the log never go back.",
    section: has,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      const times = (await pair.sender.events(id)).map(({ at }) => at);
      t.that(
        times.every((at, index) => index === 0 || at >= (times[index - 1] ?? 0)),
        "times that do not go back",
        times,
      );
    },
  },
  {
    id: "TYPE-1",
    promise: "The events of a life have the codes and fields that the table of types gives them.",
    section: types_section,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await working(pair);
      await worker.act("checkpoint", lease, { state: { page: 1 } });
      const question = await worker.act("ask", lease, { question: "which?", question_id: "q" });
      await sender.ok("answer", { params: { id: question.id }, body: { answer: "this" } });
      await worker.act("complete", lease, { output: { n: 1 }, usage: { cost: 1, tokens: 2 } });
      const digest = (value: unknown) => typeof value === "object" && value !== null && "sha256" in value;
      const by = { agent: worker.name, worker: worker.worker, fence: 1 };
      const told = new Map((await sender.events(lease.id)).map((event) => [event.type, event]));
      const fields = (type: string, names: readonly string[]) =>
        Object.fromEntries(names.map((name) => [name, told.get(type)?.[name]]));
      t.equal(
        fields("accepted", ["code", "evidence", "digest"]),
        { code: 202, evidence: "attested", digest: lease.digest },
        "`accepted`",
      );
      t.equal(fields("delivered", ["code", "agent", "worker", "fence"]), { code: 210, ...by }, "`delivered`");
      const acknowledged = fields("acknowledged", ["code", "agent", "worker", "fence", "attempt", "evidence"]);
      t.equal(acknowledged, { code: 211, ...by, attempt: 1, evidence: "attested" }, "`acknowledged`");
      t.equal(
        fields("checkpointed", ["agent", "fence", "number"]),
        { agent: worker.name, fence: 1, number: 1 },
        "`checkpointed`",
      );
      const asked = fields("asked", ["code", "agent", "fence", "question", "to", "parked"]);
      t.equal(
        asked,
        { code: 213, agent: worker.name, fence: 1, question: question.id, to: null, parked: false },
        "`asked`",
      );
      t.equal(
        fields("answered", ["by", "question", "evidence"]),
        { by: sender.name, question: question.id, evidence: "attested" },
        "`answered`",
      );
      const completedFields = fields("completed", [
        "code",
        "agent",
        "worker",
        "fence",
        "by",
        "evidence",
        "error",
        "usage",
      ]);
      const wanted = { code: 200, ...by, by: null, evidence: "attested", error: null, usage: { cost: 1, tokens: 2 } };
      t.equal(completedFields, wanted, "`completed`");
      const payloads = { input: told.get("accepted")?.["input"], output: told.get("completed")?.["output"] };
      t.that(digest(payloads.input) && digest(payloads.output), "digests of input and output", payloads);
      t.that(digest(told.get("checkpointed")?.["state"]), "the digest of the checkpoint", told.get("checkpointed"));
      t.that(digest(told.get("answered")?.["answer"]), "the digest of the answer", told.get("answered"));
    },
  },
  {
    id: "TYPE-2",
    promise: "Events name payloads by their digests and never contain them.",
    section: types_section,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const secret = "swordfish-7781";
      const lease = await working(pair, { input: { secret } });
      await worker.act("checkpoint", lease, { state: { secret } });
      const { id } = await worker.act("ask", lease, { question: { secret } });
      await sender.ok("answer", { params: { id }, body: { answer: { secret } } });
      await worker.act("complete", lease, { output: { secret } });
      const text = JSON.stringify(await sender.events(lease.id));
      t.that(!text.includes(secret), "events without the payload", text);
    },
  },
  {
    id: "TYPE-3",
    promise:
      "An end that the relay brought about has the evidence `relay`; one that nobody held has no agent and no fence.",
    section: types_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const held = await working(pair, { limits: { deadline_ms: 4_000 } });
      const { id } = await sent(pair, { limits: { queue_ms: 400 } });
      const queued = await pair.sender.event(id, "expired");
      const fields = ({ agent, worker, fence, evidence, code }: typeof queued) => ({
        agent,
        worker,
        fence,
        evidence,
        code,
      });
      t.equal(
        fields(queued),
        { agent: null, worker: null, fence: null, evidence: "relay", code: 503 },
        "the end of what nobody held",
      );
      const expired = await pair.sender.event(held.id, "expired");
      t.equal(
        fields(expired),
        { agent: pair.worker.name, worker: pair.worker.worker, fence: 1, evidence: "relay", code: 408 },
        "the end under a lease",
      );
    },
  },
  {
    id: "TYPE-4",
    promise: "`requeued` says why: released, failed, rejected, with the code and error of the cause.",
    section: types_section,
    run: async (t) => {
      const pair = await t.pair();
      await t.agent(pair.capability);
      const one = await delivered(pair);
      await pair.worker.act("release", one);
      const two = await pair.worker.lease();
      await pair.worker.act("reject", two, { error: failure });
      const three = await working(pair);
      await pair.worker.act("fail", three, { error: failure, retryable: true });
      const told = [...(await pair.sender.events(one.id)), ...(await pair.sender.events(three.id))]
        .filter(({ type }) => type === "requeued")
        .map(({ why, code, error, agent }) => ({ why, code, error, agent }));
      const agent = pair.worker.name;
      const wanted = [
        { why: "released", code: null, error: null, agent },
        { why: "rejected", code: 501, error: failure, agent },
        { why: "failed", code: 500, error: failure, agent },
      ];
      t.equal(told, wanted, "the events `requeued`");
    },
  },
  {
    id: "TYPE-5",
    promise: "An end is followed by nothing but late, taken, redriven, discarded and routed.",
    section: types_section,
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      const desk = t.name("desk");
      await t.agent(desk);
      const stale = await working(pair, { dead_letter_to: desk });
      await pair.worker.act("release", stale);
      const lease = await pair.worker.lease();
      await pair.worker.act("fail", lease, { error: failure, retryable: false });
      await pair.worker.refusedAct("complete", stale, { output: 1 }, 412, "lease_lost");
      await pair.sender.event(stale.id, "routed");
      await pair.sender.ok("take", { params: { id: stale.id }, body: {} });
      await pair.sender.ok("redrive", { params: { id: stale.id }, body: {} }, 202);
      const types = await pair.sender.eventTypes(stale.id);
      const after = types.slice(types.indexOf("failed") + 1);
      t.equal(after.toSorted(), ["late", "redriven", "routed", "taken"], "what follows the end");
    },
  },
  {
    id: "TYPE-6",
    promise: "Progress is no event: it leaves no trace in the log.",
    section: types_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      for (const fraction of [0.1, 0.2]) await pair.worker.act("heartbeat", lease, { progress: { fraction } });
      t.equal(await pair.sender.eventTypes(lease.id), ["accepted", "delivered", "acknowledged"], "its events");
    },
  },
  {
    id: "FOLLOW-1",
    promise:
      "Every page ends with the cursor to go on from, also an empty one; going on from it gives exactly what came after.",
    section: following,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const params = { id: lease.id };
      const first = await pair.sender.ok("handoff_events", { params });
      const empty = await pair.sender.ok("handoff_events", { params, query: { cursor: first.cursor } });
      t.equal(empty.events, [], "events after the last");
      await pair.worker.act("complete", lease, { output: 1 });
      for (const { cursor } of [first, empty]) {
        const page = await pair.sender.ok("handoff_events", { params, query: { cursor } });
        t.equal(
          { types: page.events.map(({ type }) => type), ended: page.ended },
          { types: ["completed"], ended: true },
          "what came after",
        );
      }
    },
  },
  {
    id: "FOLLOW-2",
    promise: "Read page by page, the events are the same as read at once: none is skipped, none comes twice.",
    section: following,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      await pair.sender.ok("take", { params: { id }, body: {} });
      const all = await pair.sender.events(id);
      const pieces: number[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages < 20; pages += 1) {
        const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
        const page = await pair.sender.ok("handoff_events", { params: { id }, query });
        t.that(page.events.length <= 2, "at most two events", page.events.length);
        pieces.push(...page.events.map(({ seq }) => seq));
        if (page.events.length === 0 || page.ended) break;
        ({ cursor } = page);
      }
      t.equal(
        pieces,
        all.map(({ seq }) => seq),
        "seq of the events page by page",
      );
    },
  },
  {
    id: "FOLLOW-3",
    promise:
      "A long poll is answered as soon as something happens, and after its time at the latest, with or without events.",
    section: following,
    features: ["prefer_wait"],
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const params = { id: lease.id };
      const { cursor } = await pair.sender.ok("handoff_events", { params });
      const began = performance.now();
      const nothing = await pair.sender.ok("handoff_events", { params, query: { cursor }, wait_ms: 1_000 });
      const waited_ms = performance.now() - began;
      t.equal(nothing.events, [], "events after a wait in which nothing happened");
      t.that(waited_ms >= 900 && waited_ms < 15_000, "a wait of about a second", waited_ms);
      const query = { cursor };
      const news = t.meanwhile(pair.sender.ok("handoff_events", { params, query, wait_ms: 30_000 }));
      await t.pause(200);
      await pair.worker.act("complete", lease, { output: 1 });
      const done = performance.now();
      t.equal(
        (await news).events.map(({ type }) => type),
        ["completed"],
        "what ended the wait",
      );
      t.that(performance.now() - done < 10_000, "an answer soon after it happened", performance.now() - done);
    },
  },
  {
    id: "FOLLOW-4",
    promise: "The events of a correlation are those of all its handoffs, in the log's order.",
    section: following,
    run: async (t) => {
      const pair = await t.pair();
      const correlation_id = t.name("group");
      const one = await sent(pair, { correlation_id });
      const two = await sent(pair, { correlation_id, input: { n: 2 } });
      const other = await sent(pair, { input: { n: 3 } });
      await pair.worker.claim({ slots: 5 });
      const { events: told } = await pair.sender.ok("correlation_events", { params: { id: correlation_id } });
      const positions = told.map(({ pos }) => pos);
      t.equal(
        positions,
        positions.toSorted((a, b) => a - b),
        "the order of the positions",
      );
      const handoffs = new Set(told.map(({ handoff }) => handoff));
      t.equal(
        [handoffs.has(one.id), handoffs.has(two.id), handoffs.has(other.id)],
        [true, true, false],
        "whose events they are",
      );
      t.equal(told.length, 4, "how many events there are");
    },
  },
  {
    id: "FOLLOW-5",
    promise: "A cursor is good only for the list it comes from; what is none is refused with 400.",
    section: following,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      await sent(pair, { input: { n: 2 } });
      const { cursor } = await pair.sender.ok("list", { query: { limit: 1 } });
      for (const wrong of [cursor ?? "", "bm9uZQ", "AAAA"]) {
        await pair.sender.refused("handoff_events", { params: { id }, query: { cursor: wrong } }, 400);
      }
    },
  },
  {
    id: "SEE-1",
    promise: "The sender, the addressee and every agent that a handoff was delivered to see it.",
    section: see,
    run: async (t) => {
      const pair = await t.pair();
      const toWorker = await pair.sender.submit({ to: pair.worker.name, input: 1 });
      t.equal((await pair.worker.get(toWorker.id)).id, toWorker.id, "what its addressee sees");
      const { id } = await sent(pair);
      await pair.worker.refused("get", { params: { id } }, 404, "unknown_handoff");
      const lease = await pair.worker.lease({ capabilities: [pair.capability] });
      t.equal(lease.id, id, "what is delivered");
      await pair.worker.events(id);
      await pair.worker.act("release", lease);
      t.equal((await pair.worker.get(id)).state, "queued", "what it sees after it gave it back");
    },
  },
  {
    id: "SEE-2",
    promise: "To anybody else every operation on a handoff answers exactly as if it were not there: 404.",
    section: see,
    features: ["questions", "redrive", "chunks"],
    run: async (t) => {
      const [pair, stranger] = await Promise.all([t.pair(), t.agent()]);
      const { id, fence } = await dead(pair);
      const missing = "01932f6b-7a00-7c3a-9b1e-0123456789ab";
      const acts = [
        ["get", {}],
        ["handoff_events", {}],
        ["read_chunks", {}],
        ["cancel", { body: {} }],
        ["take", { body: {} }],
        ["ack", { body: { fence } }],
        ["heartbeat", { body: { fence } }],
        ["write_chunk", { body: { fence, offset: 0, text: "x" } }],
        ["checkpoint", { body: { fence, state: 1 } }],
        ["ask", { body: { fence, question: "?" } }],
        ["complete", { body: { fence, output: 1 } }],
        ["fail", { body: { fence, error: failure } }],
        ["reject", { body: { fence, error: failure } }],
        ["release", { body: { fence } }],
        ["dead_letter", {}],
        ["redrive", { body: {} }],
        ["discard", { body: {} }],
      ] as const;
      for (const [op, parts] of acts) {
        const seen = await stranger.refused(op, { ...parts, params: { id } }, 404);
        const absent = await stranger.refused(op, { ...parts, params: { id: missing } }, 404);
        const text = (problem: typeof seen) => JSON.stringify(problem).replaceAll(id, "ID").replaceAll(missing, "ID");
        t.equal(text(seen), text(absent), `the problem of ${op}`);
      }
      t.equal((await stranger.ok("list", {})).handoffs, [], "the list of a stranger");
    },
  },
  {
    id: "SEE-3",
    promise: "Operators see all.",
    section: see,
    needs: ["operator"],
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      const operator = t.operator();
      t.equal((await operator.get(id)).state, "completed", "what an operator sees");
      t.equal((await operator.events(id)).length, 4, "how many events an operator sees");
      const { handoffs } = await operator.ok("list", { query: { from: pair.sender.name } });
      t.equal(
        handoffs.map((handoff) => handoff.id),
        [id],
        "the list of an operator",
      );
    },
  },
  {
    id: "SEE-4",
    promise:
      "Whoever held it until another agent got it sees it from then on as it stood before: no event, outcome, proof or cost of what came after.",
    section: see,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const next = await t.agent(capability);
      const { id } = await sender.submit({ capability, input: 1 });
      const lease = await worker.lease({ capabilities: [capability] });
      await worker.act("reject", lease, { error: failure });
      const before = (await sender.events(id)).length;
      await next.act("complete", await next.lease({ capabilities: [capability] }), { output: 1, usage: { cost: 7 } });
      const { state, outcome, spent, receipts } = await worker.ok("get", { params: { id }, query: { proofs: true } });
      t.equal({ state, outcome, cost: spent.cost }, { state: "queued", outcome: null, cost: 0 }, "what it sees");
      t.equal(receipts?.filter(({ number }) => number > lease.fence).length, 0, "documents of the other");
      t.equal((await worker.events(id)).length, before, "how many events it sees");
      t.equal((await sender.get(id)).spent.cost, 7, "what the sender is told that it cost");
    },
  },
];
