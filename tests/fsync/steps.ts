/** A whole life of handoffs, one call at a time, each between two marks: which calls confirm something, and which do not. */

import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Client } from "@handfast/client";
import type { LeaseView, QuestionView } from "@handfast/protocol/wire";
import type { Marks } from "./marks.ts";

/** The answer says that something is safe. */
export const confirmations = [
  "create_token",
  "set_capabilities",
  "put_artifact",
  "submit",
  "submit_batch",
  "claim",
  "ack",
  "checkpoint",
  "ask",
  "answer",
  "complete",
  "take",
  "submit beside a waiting claim",
  "release",
  "fail, to be tried again",
  "fail, for good",
  "reject",
  "cancel",
  "redrive",
  "discard",
] as const;

/** The answer promises nothing that a crash could take back. */
export const passing = ["upkeep of an empty store", "heartbeat", "progress", "write_chunk", "get", "outcomes"] as const;

export type StepName = (typeof confirmations)[number] | (typeof passing)[number] | "backup";

const worker = "hand-1";
/** Longer than the pause between two looks of the relay at what it may drop. */
const upkeep_ms = 1_500;
/** So long that no clock writes anything meanwhile. */
const limits = { deadline_ms: 7_200_000, lease_ms: 3_600_000, ack_ms: 3_600_000, max_attempts: 100 };

/** `way` tells the two ways to the relay apart, in names and marks. */
export async function takeSteps(
  way: string,
  { sender, agent, operator }: Readonly<Record<"sender" | "agent" | "operator", Client>>,
  marks: Marks,
): Promise<void> {
  const step = <Result>(name: StepName, act: () => Promise<Result>) => marks.around(stepOn(way, name), act);
  const capability = `work-${way}`;
  const submit = (input: unknown) => sender.call("submit", { body: { capability, input, limits } });
  const claim = async (): Promise<LeaseView> => {
    const { leases } = await agent.call("claim", { body: { worker, slots: 1, request_id: randomUUID() } });
    const [lease] = leases;
    if (lease === undefined) throw new Error("there was nothing to claim");
    return lease;
  };
  const held = ({ id, fence }: LeaseView) => ({ params: { id }, body: { fence, worker } });
  const taken = async () => {
    const lease = await claim();
    await agent.call("ack", held(lease));
    return lease;
  };

  await step("upkeep of an empty store", async () => {
    await setTimeout(upkeep_ms);
    await sender.call("outcomes");
  });
  await step("create_token", () => sender.call("create_token", { body: { agent: `other-${way}` } }));
  await step("set_capabilities", () =>
    agent.call("set_capabilities", {
      params: { name: agent.agent },
      body: { capabilities: [{ name: capability }] },
    }),
  );
  await step("put_artifact", () => putArtifact(sender, `bytes by ${way}`));

  await step("submit", () => submit(1));
  const lease = await step("claim", claim);
  await step("ack", () => agent.call("ack", held(lease)));
  await step("heartbeat", () => agent.call("heartbeat", held(lease)));
  const { params, body } = held(lease);
  await step("progress", () => agent.call("heartbeat", { params, body: { ...body, progress: { fraction: 0.5 } } }));
  await step("write_chunk", () => agent.call("write_chunk", { params, body: { ...body, offset: 0, text: "a word" } }));
  await step("get", () => sender.call("get", { params }));
  await step("outcomes", () => sender.call("outcomes"));
  await step("checkpoint", () => agent.call("checkpoint", { params, body: { ...body, state: { far: 1 } } }));
  const question: QuestionView = await step("ask", () =>
    agent.call("ask", { params, body: { ...body, question: "Where to?" } }),
  );
  await step("answer", () => sender.call("answer", { params: { id: question.id }, body: { answer: "there" } }));
  await step("complete", () => agent.call("complete", { params, body: { ...body, output: 2 } }));
  await step("take", () => sender.call("take", { params, body: {} }));

  await besideWaitingClaim(step, submit, agent);
  await takeEnds(step, { sender, agent, submit, claim, taken, held, capability });
  await step("backup", () => operator.call("backup", { body: { name: backupOf(way) } }));
}

type Step = <Result>(name: StepName, act: () => Promise<Result>) => Promise<Result>;

/** A submit and the lease for an idle worker share one commit: neither may be told of it too early. */
async function besideWaitingClaim(step: Step, submit: (input: unknown) => Promise<unknown>, agent: Client) {
  const body = { worker, slots: 1, request_id: randomUUID() };
  const claimed = agent.call("claim", { body }, { wait_ms: 30_000 });
  while (!(await isAsking(agent)));
  const [, { leases }] = await step("submit beside a waiting claim", () => Promise.all([submit(3), claimed]));
  for (const { id, fence } of leases) {
    await agent.call("complete", { params: { id }, body: { fence, worker, output: null } });
  }
}

async function isAsking(agent: Client): Promise<boolean> {
  const { workers } = await agent.call("agent", { params: { name: agent.agent } });
  return workers.some(({ asking }) => asking);
}

interface Hands {
  readonly sender: Client;
  readonly agent: Client;
  readonly capability: string;
  submit(input: unknown): Promise<{ readonly id: string }>;
  claim(): Promise<LeaseView>;
  taken(): Promise<LeaseView>;
  held(lease: LeaseView): { readonly params: { id: string }; readonly body: { fence: number; worker: string } };
}

/** Every other way in which a lease or a handoff comes to an end. */
async function takeEnds(step: Step, { sender, agent, capability, submit, claim, taken, held }: Hands): Promise<void> {
  const error = { reason: "broken", message: "It broke." };
  await step("submit_batch", () =>
    sender.call("submit_batch", {
      body: { handoffs: [4, 5, 6].map((input) => ({ capability, input, limits })) },
    }),
  );
  const released = await taken();
  await step("release", () => agent.call("release", held(released)));
  const tried = held(await taken());
  await step("fail, to be tried again", () =>
    agent.call("fail", { ...tried, body: { ...tried.body, error, retryable: true, retry_after_ms: limits.lease_ms } }),
  );
  const failed = held(await taken());
  await step("fail, for good", () =>
    agent.call("fail", { ...failed, body: { ...failed.body, error, retryable: false } }),
  );
  const rejected = held(await claim());
  await step("reject", () => agent.call("reject", { ...rejected, body: { ...rejected.body, error } }));
  const { id: unwanted } = await submit(7);
  await step("cancel", () => sender.call("cancel", { params: { id: unwanted }, body: {} }));
  await step("redrive", () => sender.call("redrive", { params: failed.params, body: {} }));
  await step("discard", () => sender.call("discard", { params: rejected.params, body: {} }));
}

function putArtifact(sender: Client, text: string): Promise<unknown> {
  const body = new TextEncoder().encode(text);
  const sha256 = createHash("sha256").update(body).digest("hex");
  return sender.call("put_artifact", { params: { sha256 }, body });
}

/** What the backup is called that is made on this way. */
export function backupOf(way: string): string {
  return `copy-${way}.db`;
}

/** What a step is called in the trace. */
export function stepOn(way: string, name: StepName): string {
  return `${way}: ${name}`;
}
