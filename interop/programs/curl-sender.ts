/** A sender that has nothing but `curl`. Its tags are its idempotency keys, and labels by which its next life finds them. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Ended, SendCommand, SenderCommand, TaskInput } from "../protocol.ts";
import { Caller } from "./curl.ts";
import { commands, setting, tell } from "./lines.ts";

const caller = await Caller.as(setting("HANDFAST_AGENT"));
const ids = new Map<string, string>();
const look_every_ms = 100;

interface View {
  readonly id: string;
  readonly state: string;
  readonly code: number;
  readonly labels: { readonly tag?: string };
  readonly progress: { readonly fraction: number | null; readonly note: string | null } | null;
  readonly outcome: { readonly output?: unknown } | null;
}

for await (const command of commands<SenderCommand>()) {
  const [said] = Object.values(command);
  const tag = "tag" in said ? said.tag : "resume";
  void obey(command).catch((error: unknown) => tell({ tag, broken: String(error) }));
}
process.exit(0);

async function obey(command: SenderCommand): Promise<void> {
  if ("send" in command) return send(command.send);
  if ("scatter" in command) return scatter(command.scatter);
  if ("watch" in command) return watch(command.watch.tag);
  if ("cancel" in command) return cancel(command.cancel.tag);
  if ("verify" in command) return verify(command.verify.tag);
  return resume();
}

async function send({ tag, capability, input, timeout_ms, lease_ms, answer }: SendCommand): Promise<void> {
  const limits = { deadline_ms: timeout_ms, ...(lease_ms === undefined ? {} : { lease_ms }) };
  const { status, body } = await caller.call("POST", "/v1/handoffs", {
    body: { capability, input, idempotency_key: tag, labels: { tag }, limits },
  });
  if (status >= 400) return tell({ tag, refused: body["code"] });
  const id = String(body["id"]);
  ids.set(tag, id);
  tell({ tag, sent: id });
  if (answer !== undefined) void answerTo(id, answer);
  await awaitEnd(tag, id);
}

async function awaitEnd(tag: string, id: string): Promise<void> {
  const { state, code, outcome } = await ended(id);
  const output = outcome?.output;
  const status = state as Ended["status"];
  tell({ tag, outcome: { status, code, ...(output == null ? {} : { output }) } });
  await caller.call("POST", `/v1/handoffs/${id}/take`, { body: {} });
}

async function ended(id: string): Promise<View> {
  for (;;) {
    const { body } = await caller.call("GET", `/v1/handoffs/${id}?until=ended`, { wait: true });
    const view = body as unknown as View;
    if (view.outcome !== null) return view;
  }
}

async function scatter({ tag, capability, inputs }: { tag: string; capability: string; inputs: readonly TaskInput[] }) {
  const handoffs = inputs.map((input, nth) => ({
    capability,
    input,
    correlation_id: tag,
    idempotency_key: `${tag}-${nth}`,
  }));
  const { body } = await caller.call("POST", "/v1/handoffs/batch", { body: { handoffs } });
  const receipts = body["receipts"] as unknown as readonly { id: string }[];
  const views = await Promise.all(receipts.map(({ id }) => ended(id)));
  await Promise.all(receipts.map(({ id }) => caller.call("POST", `/v1/handoffs/${id}/take`, { body: {} })));
  tell({ tag, scattered: views.map(({ outcome }) => outcome?.output) });
}

async function watch(tag: string): Promise<void> {
  for (;;) {
    const { body } = await caller.call("GET", `/v1/handoffs/${idOf(tag)}`);
    const { progress } = body as unknown as View;
    if (progress !== null) return tell({ tag, progress: { fraction: progress.fraction, note: progress.note } });
    await sleep(look_every_ms);
  }
}

async function cancel(tag: string): Promise<void> {
  const { body } = await caller.call("POST", `/v1/handoffs/${idOf(tag)}/cancel`, { body: {} });
  tell({ tag, canceled: body["state"] });
}

async function answerTo(handoff: string, answer: string): Promise<void> {
  for (;;) {
    const { body } = await caller.call("GET", "/v1/questions", { wait: true });
    const questions = (body["questions"] ?? []) as unknown as readonly { id: string; handoff: string }[];
    const question = questions.find((one) => one.handoff === handoff);
    if (question === undefined) continue;
    await caller.call("POST", `/v1/questions/${encodeURIComponent(question.id)}/answer`, { body: { answer } });
    return;
  }
}

/** Without an SDK the relay's word is all there is: it says who signed, and that it checked. */
async function verify(tag: string): Promise<void> {
  const { body } = await caller.call("GET", `/v1/handoffs/${idOf(tag)}?proofs=true`);
  const receipts = body["receipts"] as unknown as readonly { kind: string; signed: { proof: object | null } }[];
  const evidence = (kind: string) =>
    receipts.find((receipt) => receipt.kind === kind)?.signed.proof == null ? "attested" : "signed";
  tell({ tag, proven: { handoff: evidence("handoff"), ack: evidence("ack"), outcome: evidence("outcome") } });
}

/** What the relay still keeps for this sender is what the life before did not take; the rest is open. */
async function resume(): Promise<void> {
  const open = ["queued", "delivered", "working", "waiting"].map((state) => `/v1/handoffs?state=${state}&limit=500`);
  const pages = await Promise.all(["/v1/outcomes?limit=500", ...open].map((path) => caller.call("GET", path)));
  const views = pages.flatMap(({ body }) => body["handoffs"] as unknown as readonly View[]);
  await Promise.all(views.map(({ id, labels }) => (labels.tag === undefined ? null : awaitEnd(labels.tag, id))));
}

function idOf(tag: string): string {
  const id = ids.get(tag);
  if (id === undefined) throw new Error(`nothing was sent as ${tag}`);
  return id;
}
