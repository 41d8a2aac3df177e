import { describe, expect, it } from "vitest";
import { decide } from "./decide.ts";
import { liveLease } from "./handoff.ts";
import { coreLimits } from "./limits.ts";
import { Life } from "./testing/life.ts";
import { childDraft, context, type DraftPatch, digestOf, draft, idOf, payload, start } from "./testing/sample.ts";

const known = { id: idOf(1), content: digestOf("content") };

describe("submit", () => {
  it("accepts a handoff as queued, fixes its absolute times, and says 202", () => {
    const { next, events, refusal, keep } = new Life().submit();
    expect(refusal).toBeNull();
    expect(next).toMatchObject({ version: 1, seq: 1, fence: 0, attempts: 0, deliveries: 0 });
    expect(next?.accepted).toMatchObject({ accepted_at: start, deadline_at: start + 900_000, hops: 0 });
    expect(next?.status).toEqual({ state: "queued", ready_at: start, queue_until: start + 900_000, blocked: false });
    expect(events).toMatchObject([{ type: "accepted", code: 202, seq: 1, evidence: "signed" }]);
    expect(keep).toBe(0);
  });

  it("answers the same content under the same key as the first time, and changes nothing", () => {
    const decision = new Life().submit({}, { known });
    expect(decision).toMatchObject({ next: null, events: [], refusal: null, follow: [] });
  });

  it.each<[string, DraftPatch]>([
    ["id", { id: idOf(2) }],
    ["salt", { input: { ...payload("input"), salt: "other" } }],
    ["document digest", { digest: digestOf("other document") }],
    ["evidence", { evidence: "attested" }],
    ["an id of long ago", { id: idOf(1, start - 40 * 86_400_000) }],
  ])("never answers an honest retry with 409: another %s", (_, patch) => {
    expect(new Life().submit(patch, { known }).refusal).toBeNull();
  });

  it("answers an honest retry also when the budget is spent, the parent is over and the target is gone", () => {
    const causation = { id: idOf(9), fence: 1 };
    const patch = { known, parent: null, target: { kind: "absent" } } as const;
    expect(new Life().submit({ causation }, patch).refusal).toBeNull();
  });

  it("refuses other content under the same key with 409", () => {
    const { refusal, next } = new Life().submit({ content: digestOf("other") }, { known });
    expect(refusal).toMatchObject({ code: 409, reason: "key_conflict" });
    expect(next).toBeNull();
  });

  it("refuses an id that another handoff has", () => {
    const life = Life.of();
    expect(life.submit({ idempotency_key: "another" }).refusal).toMatchObject({ code: 409, reason: "id_taken" });
  });

  it.each([
    ["too far ahead", idOf(1, start + coreLimits.id_ahead_ms + 1)],
    ["before the dedupe window", idOf(1, start - coreLimits.id_behind_ms - 1)],
    ["unreadable", "not-an-id"],
  ])("refuses an id whose time is %s", (_, id) => {
    expect(new Life().submit({ id }).refusal).toMatchObject({ code: 400, reason: "id_time" });
  });

  it("gives a handoff without a parent its own id as correlation, unless it brings one", () => {
    expect(Life.of().handoff.accepted.correlation_id).toBe(idOf(1));
    expect(Life.of({ correlation_id: "trip" }).handoff.accepted.correlation_id).toBe("trip");
  });

  it("leaves out the agents whose schema the input does not fit", () => {
    const life = Life.of({}, { target: { kind: "fits", except: ["carol"] } });
    expect(life.handoff.excluded).toEqual(["carol"]);
    expect(life.deliver({ agent: "carol" }).refusal).toMatchObject({ code: 403 });
  });

  it("refuses input that fits nobody's schema with 422, path and reason", () => {
    const error = { reason: "required", message: "/query is missing" };
    expect(new Life().submit({}, { target: { kind: "unfit", error } }).refusal).toEqual({ code: 422, ...error });
  });

  it("refuses a capability that nobody offers with 406, unless the sender will wait for one", () => {
    const absent = { target: { kind: "absent" } } as const;
    expect(new Life().submit({}, absent).refusal).toMatchObject({ code: 406 });
    expect(new Life().submit({}, absent, true).refusal).toBeNull();
  });

  it("refuses an unknown agent with 404, unless the sender will wait for it", () => {
    const unknown = { target: { kind: "unknown_agent" } } as const;
    expect(new Life().submit({ to: "zoe" }, unknown).refusal).toMatchObject({ code: 404 });
    expect(new Life().submit({ to: "zoe" }, unknown, true).refusal).toBeNull();
  });

  it("refuses more open handoffs than a sender may have with 429, but never a retry of one", () => {
    const { max_open_per_sender } = coreLimits;
    const submit = { type: "submit", draft: draft(), queue_if_absent: false } as const;
    const full = { sender_open: max_open_per_sender };
    expect(decide(null, submit, context(full), start).refusal).toMatchObject({ code: 429, reason: "over_quota" });
    expect(decide(null, submit, context({ sender_open: max_open_per_sender - 1 }), start).refusal).toBeNull();
    expect(decide(null, submit, context({ ...full, known }), start).refusal).toBeNull();
  });

  it("stands blocked behind an open handoff of its lane, without a queue clock", () => {
    const life = Life.of({ ordering_key: "k" }, { lane_busy: true });
    expect(life.handoff.status).toMatchObject({ state: "queued", blocked: true, queue_until: null });
    expect(life.deliver().refusal).toMatchObject({ code: 412, reason: "not_ready" });
  });
});

describe("a child", () => {
  function childOf(parent: Life, patch: DraftPatch = {}, limits = coreLimits) {
    const command = { type: "submit", draft: childDraft(parent.handoff, patch), queue_if_absent: false } as const;
    const child = new Life();
    child.now = parent.now;
    const decision = child.do(command, { parent: parent.handoff, limits });
    return { child, decision };
  }

  it("belongs to its parent's correlation and tells the parent that it has a child", () => {
    const parent = Life.working({ correlation_id: "trip" });
    const { child, decision } = childOf(parent);
    expect(child.handoff.accepted).toMatchObject({ correlation_id: "trip", hops: 1, from: "bob" });
    expect(decision.events[0]).toMatchObject({ correlation_id: "trip", causation_id: parent.handoff.accepted.id });
    expect(decision.follow).toEqual([{ kind: "command", id: parent.handoff.accepted.id, command: { type: "adopt" } }]);
  });

  it("tells a parent only once that it has children", () => {
    const parent = Life.working();
    parent.do({ type: "adopt" });
    expect(childOf(parent).decision.follow).toEqual([]);
  });

  it("may not leave its parent's correlation", () => {
    const { decision } = childOf(Life.working(), { correlation_id: "elsewhere" });
    expect(decision.refusal).toMatchObject({ code: 400, reason: "correlation_differs" });
  });

  it.each([false, true])("never outlives its parent's deadline (detached: %s)", (detached) => {
    const parent = Life.working({ terms: { deadline_ms: 60_000 } }).wait(5_000);
    const { child } = childOf(parent, { detached });
    expect(child.handoff.accepted.deadline_at).toBe(parent.handoff.accepted.deadline_at);
  });

  it("keeps a shorter deadline of its own", () => {
    const parent = Life.working().wait(5_000);
    expect(childOf(parent, { terms: { deadline_ms: 1_000 } }).child.handoff.accepted.deadline_at).toBe(start + 6_000);
  });

  it("gets 404 for a parent that does not exist", () => {
    const life = new Life();
    const { refusal } = life.submit({ causation: { id: idOf(9), fence: 1 } });
    expect(refusal).toMatchObject({ code: 404, reason: "unknown_parent" });
  });

  it("gets 403 for a parent whose fence another agent holds", () => {
    expect(childOf(Life.working(), { from: "mallory" }).decision.refusal).toMatchObject({ code: 403 });
  });

  it("gets 412 for a fence that is over", () => {
    const parent = Life.working();
    parent.release();
    expect(childOf(parent).decision.refusal).toMatchObject({ code: 412, reason: "lease_lost" });
  });

  it("gets 412 for a lease that has run out, also before any timer noticed", () => {
    const parent = Life.working().wait(30_000);
    expect(liveLease(parent.handoff)?.fence).toBe(1);
    expect(childOf(parent).decision.refusal).toMatchObject({ code: 412 });
  });

  it("gets 412 at the parent's deadline", () => {
    const parent = Life.working({ terms: { deadline_ms: 20_000 } }).wait(20_000);
    expect(childOf(parent).decision.refusal).toMatchObject({ code: 412 });
  });

  it("gets 508 when there are too many hops above it", () => {
    const parent = Life.working();
    expect(childOf(parent, {}, { ...coreLimits, max_hops: 1 }).decision.refusal).toBeNull();
    expect(childOf(parent, {}, { ...coreLimits, max_hops: 0 }).decision.refusal).toMatchObject({ code: 508 });
  });
});

describe("a budget", () => {
  const asked = { cost: 10, tokens: 1_000, handoffs: 2 };

  function below(holder: Life, patch: DraftPatch = {}) {
    const parent = holder.handoff;
    const command = { type: "submit", draft: childDraft(parent, patch), queue_if_absent: false } as const;
    return new Life().do(command, { parent, budgets: [parent] });
  }

  it("is charged one handoff for every handoff below it, in the same commit", () => {
    const root = Life.working({ budget: asked });
    const { follow, next } = below(root);
    expect(next?.accepted.budget_holders).toEqual([root.handoff.accepted.id]);
    const charge = { type: "charge", usage: { cost: 0, tokens: 0 }, handoffs: 1 };
    expect(follow).toContainEqual({ kind: "command", id: root.handoff.accepted.id, command: charge });
  });

  it.each([
    ["handoffs", { usage: { cost: 0, tokens: 0 }, handoffs: 2 }],
    ["cost", { usage: { cost: 10, tokens: 0 }, handoffs: 0 }],
    ["tokens", { usage: { cost: 0, tokens: 1_000 }, handoffs: 0 }],
  ])("whose %s are spent refuses with 402", (what, charge) => {
    const root = Life.working({ budget: asked });
    root.do({ type: "charge", ...charge });
    const { refusal } = below(root);
    expect(refusal).toMatchObject({ code: 402, reason: "budget_spent" });
    expect(refusal?.message).toContain(what);
  });

  it("further up refuses as well", () => {
    const root = Life.working({ budget: { cost: null, tokens: null, handoffs: 0 } });
    const near = Life.working({ budget: asked });
    const patch = context({ parent: near.handoff, budgets: [near.handoff, root.handoff] });
    const command = { type: "submit", draft: childDraft(near.handoff), queue_if_absent: false } as const;
    expect(new Life().do(command, patch).refusal).toMatchObject({ code: 402 });
  });

  it("below another only narrows it to what is left", () => {
    const root = Life.working({ budget: asked });
    root.do({ type: "charge", usage: { cost: 4, tokens: 0 }, handoffs: 1 });
    const { next } = below(root, { budget: { cost: 100, tokens: 5, handoffs: null } });
    expect(next?.accepted.budget).toEqual({ cost: 6, tokens: 5, handoffs: 1 });
  });

  it("below several is narrowed to what is left of each: the nearest does not know what was spent beside it", () => {
    const root = Life.working({ budget: { cost: 10, tokens: null, handoffs: null } });
    root.do({ type: "charge", usage: { cost: 9, tokens: 0 }, handoffs: 1 });
    const near = Life.working({ budget: asked });
    const patch = context({ parent: near.handoff, budgets: [near.handoff, root.handoff] });
    const budget = { cost: 100, tokens: null, handoffs: null };
    const command = { type: "submit", draft: childDraft(near.handoff, { budget }), queue_if_absent: false } as const;
    expect(new Life().do(command, patch).next?.accepted.budget).toEqual({ cost: 1, tokens: 1_000, handoffs: 2 });
  });

  it("is not invented where a child asks for none", () => {
    expect(below(Life.working({ budget: asked })).next?.accepted.budget).toBeNull();
    expect(draft().budget).toBeNull();
  });
});

describe("submit of what was posted: its sender has committed to it and hears no answer", () => {
  const post = (patch: DraftPatch, contextPatch: Parameters<Life["submit"]>[1] = {}, life = new Life()) => {
    const decision = life.do(
      { type: "submit", draft: draft(patch), queue_if_absent: false, posted: true },
      contextPatch,
    );
    return { decision, life };
  };

  it("accepts what fits like any other, also under an id of long ago", () => {
    const { decision } = post({ id: idOf(1, start - 40 * 86_400_000) });
    expect(decision).toMatchObject({ refusal: null, next: { status: { state: "queued" } } });
  });

  it.each([
    ["input that fits nobody", 422, { target: { kind: "unfit", error: { reason: "input_unfit", message: "no" } } }],
    ["a capability that nobody offers", 406, { target: { kind: "absent" } }],
    [
      "what says nothing that can be taken",
      400,
      { target: { kind: "malformed", refusal: { code: 400, reason: "unknown_field", message: "no" } } },
    ],
    ["other content under the same key", 409, { known: { id: idOf(7), content: digestOf("other") } }],
  ] as const)("makes a dead letter of %s", (_, code, contextPatch) => {
    const { decision, life } = post({ idempotency_key: "mine" }, contextPatch);
    expect(decision.refusal).toBeNull();
    expect(decision.events).toMatchObject([
      { type: "accepted", code: 202 },
      { type: "failed", code, evidence: "relay", agent: null },
    ]);
    expect(decision.next?.accepted).toMatchObject({ idempotency_key: idOf(1), causation: null });
    expect(decision.next?.status).toMatchObject({
      state: "failed",
      dead_letter: { status: "open" },
      outcome: { code },
    });
    expect(decision.keep).toBe(0);
    // Picked up a second time, whatever it is taken for by then.
    expect(post({ idempotency_key: "mine" }, contextPatch, life).decision).toMatchObject({ next: null, refusal: null });
    expect(post({ idempotency_key: "mine" }, {}, life).decision).toMatchObject({ next: null, refusal: null });
  });

  it("charges nothing to a parent that is not its own, and is no child of it", () => {
    const { decision } = post({ causation: { id: idOf(9), fence: 1 } }, { parent: null });
    expect(decision.next).toMatchObject({ accepted: { causation: null }, status: { outcome: { code: 404 } } });
    expect(decision.follow).toEqual([]);
  });

  it("does not answer again for an id that retention has dropped", () => {
    expect(post({}, { id_used: true }).decision).toMatchObject({ next: null, refusal: null });
  });

  it("refuses what time may mend, to be asked again", () => {
    const { decision } = post({}, { sender_open: coreLimits.max_open_per_sender });
    expect(decision).toMatchObject({ next: null, refusal: { code: 429 } });
  });
});
