/** For tests: what may happen to a world, at random, and how each step is carried out. */

import fc from "fast-check";
import type { Command } from "../command.ts";
import type { Handoff } from "../handoff.ts";
import { hasEnded, liveLease } from "../handoff.ts";
import { digestOf, draft, idOf, payload, trouble } from "./sample.ts";
import { agents, type World } from "./world.ts";

const nat = fc.nat({ max: 1_000 });
const agent = fc.constantFrom(...agents);
const small = fc.constantFrom("a", "b");
/** Mostly the ordinary, else the rare. */
const seldom = <T>(rare: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: rare });
const rarely = seldom(fc.constant(true)).map((rare) => rare !== null);

const submit = fc.record({
  op: fc.constant("submit"),
  /** Null: a root; else a child of one of the handoffs that are held. */
  parent: fc.option(nat),
  foreign: rarely,
  detached: fc.boolean(),
  lane: fc.option(small, { freq: 2 }),
  to: seldom(agent),
  notice: rarely,
  deadline_ms: fc.constantFrom(2_000, 45_000, 400_000, 400_000),
  queue_ms: fc.constantFrom(5_000, 400_000, 400_000),
  attempt_ms: fc.constantFrom(null, 3_000, 60_000),
  max_attempts: fc.integer({ min: 1, max: 3 }),
  max_deliveries: fc.integer({ min: 1, max: 4 }),
  until_ack: rarely,
  handoffs: fc.option(fc.integer({ min: 0, max: 4 })),
  correlation: fc.option(small),
  route: fc.boolean(),
});
const deliver = fc.record({ op: fc.constant("deliver"), pick: nat, agent, worker: small, unsafe: rarely });
const act = fc.record({
  op: fc.constant("act"),
  verb: fc.constantFrom(
    ...(["ack", "ack", "ack", "beat", "beat", "checkpoint", "ask", "ask", "ask"] as const),
    ...(["complete", "unfit", "fail", "reject", "release"] as const),
  ),
  pick: nat,
  /** How far behind the newest fence. */
  stale: fc.constantFrom(0, 0, 0, 0, 1, 2),
  /** Null: whoever held that fence. */
  agent: seldom(agent),
  content: small,
  retry: fc.boolean(),
  park: fc.boolean(),
  ms: fc.constantFrom(null, 500, 20_000),
  cost: fc.option(fc.integer({ min: 0, max: 5 })),
});
const other = fc.record({
  op: fc.constant("other"),
  verb: fc.constantFrom(
    ...(["answer", "answer", "answer", "answer", "cancel", "take", "redrive"] as const),
    ...(["discard", "exclude", "resubmit", "repeat", "tick"] as const),
  ),
  pick: nat,
  agent,
  content: small,
});
const wait = fc.record({
  op: fc.constant("wait"),
  ms: fc.constantFrom(1, 400, 400, 2_000, 2_000, 9_999, 10_000, 30_000, 100_000),
  tick: fc.boolean(),
  random: fc.double({ min: 0, max: 0.999, noNaN: true }),
});
const restart = fc.record({ op: fc.constant("restart"), ms: fc.constantFrom(0, 20_000, 120_000) });

const step = fc.oneof(
  { weight: 3, arbitrary: submit },
  { weight: 6, arbitrary: deliver },
  { weight: 12, arbitrary: act },
  { weight: 4, arbitrary: other },
  { weight: 4, arbitrary: wait },
  { weight: 1, arbitrary: restart },
);
type StepOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type Step = StepOf<typeof step>;

export const steps = fc.array(step, { minLength: 1, maxLength: 80, size: "max" });

export function take(world: World, step: Step): void {
  switch (step.op) {
    case "submit":
      return submitStep(world, step);
    case "deliver":
      return deliverStep(world, step);
    case "act":
      return actStep(world, step);
    case "other":
      return otherStep(world, step);
    case "wait":
      world.now += step.ms;
      world.random = step.random;
      return step.tick ? world.tickDue() : undefined;
    case "restart":
      world.now += step.ms;
      world.resumed_at = world.now;
      return;
    default:
      throw new Error(`unreachable step ${JSON.stringify(step satisfies never)}`);
  }
}

/** Longer than any deadline, then longer than any keeping: nothing may be left. */
export function finish(world: World): void {
  world.now += 500_000;
  world.tickDue();
}

function pickOf<T>(all: readonly T[], pick: number): T | undefined {
  return all[pick % all.length];
}

function submitStep(world: World, step: StepOf<typeof submit>): void {
  const held = world.all.filter((handoff) => handoff.fence > 0);
  const parent = step.parent === null ? undefined : pickOf(held, step.parent);
  const holder = parent?.holders.at(-1);
  const id = idOf(world.drafts.length + 1, world.now);
  const target = step.to === null ? { to: null, capability: "summarize" } : { to: step.to, capability: null };
  world.submit(
    draft({
      id,
      ...target,
      kind: step.notice ? "notice" : "handoff",
      from: holder !== undefined && !step.foreign ? holder.agent : "alice",
      causation: parent === undefined ? null : { id: parent.accepted.id, fence: parent.fence },
      correlation_id: parent === undefined ? step.correlation : null,
      detached: step.detached,
      ordering_key: step.lane,
      budget: step.handoffs === null ? null : { cost: 3, tokens: null, handoffs: step.handoffs },
      dead_letter_to: step.route ? "human_desk" : null,
      terms: {
        deadline_ms: step.deadline_ms,
        queue_ms: step.queue_ms,
        attempt_ms: step.attempt_ms,
        max_attempts: step.max_attempts,
        max_deliveries: step.max_deliveries,
        retry: step.until_ack ? "until_ack" : "attempts",
      },
    }),
  );
}

function deliverStep(world: World, { pick, agent, worker, unsafe }: StepOf<typeof deliver>): void {
  const ready = world.all.filter(({ status }) => status.state === "queued");
  const handoff = pickOf(ready, pick);
  if (handoff === undefined) return;
  world.run(handoff.accepted.id, {
    type: "deliver",
    agent: handoff.accepted.to ?? agent,
    worker: `${agent}-${worker}`,
    request_id: "claim",
    manifest: null,
    attempt_ms: null,
    idempotent: !unsafe,
    why: { rule: "only", among: 1 },
  });
}

function actStep(world: World, step: StepOf<typeof act>): void {
  const delivered = world.all.filter((handoff) => handoff.fence > 0);
  const live = delivered.filter((handoff) => liveLease(handoff) !== null);
  const handoff = pickOf(step.stale === 0 && live.length > 0 ? live : delivered, step.pick);
  if (handoff === undefined) return;
  world.run(handoff.accepted.id, workersCommand(handoff, step));
}

function workersCommand(handoff: Handoff, step: StepOf<typeof act>): Exclude<Command, { type: "submit" }> {
  const fence = Math.max(1, handoff.fence - step.stale);
  const holder = handoff.holders.find((h) => h.fence === fence);
  const by = { agent: step.agent ?? holder?.agent ?? "bob", fence };
  const usage = step.cost === null ? null : { cost: step.cost, tokens: 0 };
  const said = {
    ...by,
    worker: holder?.worker ?? "w",
    content: digestOf(step.content),
    evidence: "signed" as const,
    usage,
    artifacts: [],
  };
  switch (step.verb) {
    case "ack":
      return { type: "ack", ...by, evidence: "signed" };
    case "beat":
      return { type: "beat", ...by, progress: { fraction: 0.5, note: null } };
    case "checkpoint":
      return { type: "checkpoint", ...by, state: payload("state") };
    case "ask":
      return { type: "ask", ...by, question: step.content, to: null, answer_ms: step.ms, park: step.park };
    case "complete":
      return { type: "complete", ...said, output: payload(step.content), fault: null };
    case "unfit":
      return { type: "complete", ...said, output: payload(step.content), fault: trouble };
    case "fail":
      return { type: "fail", ...said, error: trouble, output: null, retryable: step.retry, retry_after_ms: step.ms };
    case "reject":
      return { type: "reject", ...said, error: trouble };
    case "release":
      return { type: "release", ...by };
    default:
      throw new Error(`unreachable verb ${JSON.stringify(step.verb satisfies never)}`);
  }
}

function otherStep(world: World, { verb, pick, agent, content }: StepOf<typeof other>): void {
  if (verb === "repeat") {
    const said = pickOf(world.said, pick);
    if (said !== undefined && said.command.type !== "submit") world.run(said.id, said.command);
    return;
  }
  if (verb === "resubmit") {
    const first = pickOf(world.drafts, pick);
    if (first === undefined) return;
    const id = idOf(900_000 + pick, world.now);
    const input = { ...first.input, salt: `another ${pick}` };
    world.submit({ ...first, id, input, digest: digestOf(id), evidence: "attested" });
    return;
  }
  const waiting = world.all.filter(({ status }) => status.state === "waiting");
  const ended = world.all.filter(({ status }) => hasEnded(status));
  const among = { answer: waiting, take: ended, redrive: ended, discard: ended, tick: world.all };
  const handoff = pickOf(verb === "cancel" || verb === "exclude" ? world.all : among[verb], pick);
  if (handoff === undefined) return;
  const actor = { kind: "operator", name: "olga" } as const;
  const { id } = handoff.accepted;
  switch (verb) {
    case "answer":
      world.run(id, {
        type: "answer",
        actor,
        question: handoff.questions.at(-1)?.id ?? "",
        content: digestOf(content),
        answer: payload(content),
        evidence: "attested",
        offers: [],
      });
      return;
    case "cancel":
      world.run(id, { type: "cancel", actor, reason: null, evidence: "attested" });
      return;
    case "redrive":
      world.run(id, { type: "redrive", actor, id: `redriven ${id}` });
      return;
    case "exclude":
      world.run(id, { type: "exclude", agent, error: trouble });
      return;
    case "take":
    case "discard":
      world.run(id, { type: verb, actor });
      return;
    case "tick":
      world.run(id, { type: "tick" });
      return;
    default:
      throw new Error(`unreachable verb ${JSON.stringify(verb satisfies never)}`);
  }
}
