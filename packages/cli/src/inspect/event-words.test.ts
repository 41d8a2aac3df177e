import { expect, test } from "vitest";
import { eventWords } from "./event-words.ts";
import { noon, otherId, sampleEvent, sampleId } from "./testing/sample.ts";

const held = { agent: "upper-1", worker: "w-1", fence: 2 };
const question = `${sampleId}:colour`;

test.each([
  ["accepted", { from: "alice", evidence: "attested" }, "by the relay from alice, attested"],
  ["delivered", held, "to worker w-1 of agent upper-1 under fence 2"],
  [
    "delivered",
    { ...held, why: { rule: "better_of_two", among: 5, score: 210, over: "carol" } },
    "to worker w-1 of agent upper-1 under fence 2: it was the better of two drawn from 5 agents, at 210 ms before carol",
  ],
  ["delivered", { ...held, why: { rule: "only", among: 1 } }, "to worker w-1 of agent upper-1 under fence 2"],
  [
    "delivered",
    { ...held, why: { rule: "only", among: 1, canary: { version: "2.x", met: true } } },
    "to worker w-1 of agent upper-1 under fence 2: canary 2.x",
  ],
  ["asked", { ...held, question, to: null, parked: true }, "colour by agent upper-1, of the sender, parked"],
  ["asked", { ...held, question, to: "desk", parked: false }, "colour by agent upper-1, of capability desk"],
  ["answered", { question, by: "alice", evidence: "signed" }, "colour by alice, signed"],
  ["unanswered", { question }, "colour was not answered in time"],
  ["parked", { ...held, question }, "colour: agent upper-1 gave up its lease, fence 2"],
  ["requeued", { ...held, why: "lease_lost", code: 521 }, "lease lost 521 by worker w-1 of agent upper-1"],
  ["requeued", { agent: null, why: "answered", code: null }, "answered"],
  ["unblocked", {}, "it is now the head of its ordering key"],
  ["excluded", { agent: "upper-1", error: { reason: "x", message: "unfit" } }, "agent upper-1: unfit"],
  ["unfit_output", { ...held, error: { reason: "x", message: "unfit" } }, "of agent upper-1, fence 2: unfit"],
  ["canceled", { ...held, code: 410, by: "alice", evidence: "signed" }, "410 by alice, signed"],
  ["expired", { code: 408, agent: null, by: null, evidence: "relay" }, "408 by the relay"],
  [
    "late",
    { ...held, state: "completed", code: 200 },
    "completed 200 by worker w-1 of agent upper-1, fence 2: kept, changes nothing",
  ],
  ["taken", { by: "alice" }, "by alice"],
  ["discarded", { by: "operator:operator" }, "by operator:operator"],
  ["redriven", { by: "alice", to: otherId }, `by alice as ${otherId}`],
  ["routed", { to: otherId }, `the dead letter went on as ${otherId}`],
  ["purged", {}, "state and payloads were dropped by retention"],
  ["of_a_newer_relay", {}, ""],
] as const)("%s says %o as %s", (type, fields, words) => {
  expect(eventWords(sampleEvent(type, { at: noon, ...fields }))).toBe(words);
});
