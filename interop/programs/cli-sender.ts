/**
 * A sender that has nothing but the `handfast` command. It sends without waiting, and then the same again, waiting: with
 * the same key that is one handoff, and a life that was killed in between does no harm.
 */

import type { Ended, SendCommand, SenderCommand, TaskInput } from "../protocol.ts";
import { handfast } from "./cli.ts";
import { commands, tell } from "./lines.ts";

interface View {
  readonly id: string;
  readonly state: Ended["status"];
  readonly code: number;
  readonly evidence: string;
  readonly taken_at: number | null;
  readonly labels: { readonly tag?: string };
  readonly progress: { readonly fraction: number | null; readonly note: string | null } | null;
  readonly outcome: { readonly output?: unknown } | null;
}

interface Shown {
  readonly handoff: View;
  readonly events: readonly { readonly type: string; readonly evidence?: string }[];
  readonly checked?: { readonly fault: string | null };
}

const ids = new Map<string, string>();

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
  if ("cancel" in command) {
    const { tag } = command.cancel;
    await handfast(["cancel", idOf(tag), "--json"]);
    return tell({ tag, canceled: (await show(idOf(tag))).state });
  }
  if ("verify" in command) return verify(command.verify.tag);
  return resume();
}

async function send({ tag, capability, input, timeout_ms, lease_ms, answer }: SendCommand): Promise<void> {
  const lease = lease_ms === undefined ? [] : ["--lease", `${lease_ms}ms`];
  const limits = ["--timeout", `${timeout_ms}ms`, ...lease, "--idempotency-key", tag, "--label", `tag=${tag}`];
  const line = ["send", capability, JSON.stringify(input), ...limits, "--json"];
  const { code, stdout, stderr } = await handfast([...line, "--no-wait"]);
  if (code !== 0) return tell({ tag, refused: refusalIn(stderr) });
  const { id } = JSON.parse(stdout);
  ids.set(tag, id);
  tell({ tag, sent: id });
  if (answer !== undefined) void answerTo(id, answer);
  tellEnd(tag, JSON.parse((await handfast(line)).stdout));
}

function tellEnd(tag: string, { state, code, outcome }: View): void {
  const output = outcome?.output;
  tell({ tag, outcome: { status: state, code, ...(output == null ? {} : { output }) } });
}

/** The status code of the error that the command printed. */
function refusalIn(text: string): number | null {
  return JSON.parse(text).error.code;
}

async function scatter({ tag, capability, inputs }: { tag: string; capability: string; inputs: readonly TaskInput[] }) {
  const sends = inputs.map((input) =>
    handfast(["send", capability, JSON.stringify(input), "--correlation", tag, "--json"]),
  );
  const views: View[] = (await Promise.all(sends)).map(({ stdout }) => JSON.parse(stdout));
  tell({ tag, scattered: views.map(({ outcome }) => outcome?.output) });
}

async function watch(tag: string): Promise<void> {
  for (;;) {
    const { progress } = await show(idOf(tag));
    if (progress !== null) return tell({ tag, progress: { fraction: progress.fraction, note: progress.note } });
  }
}

async function answerTo(handoff: string, answer: string): Promise<void> {
  for (;;) {
    const { stdout } = await handfast(["questions", "--json"]);
    const { questions }: { questions: { id: string; handoff: string }[] } = JSON.parse(stdout);
    const question = questions.find((one) => one.handoff === handoff);
    if (question === undefined) continue;
    await handfast(["answer", question.id, JSON.stringify(answer)]);
    return;
  }
}

/** The command checks every signature itself, and says which acts have one. */
async function verify(tag: string): Promise<void> {
  const { stdout } = await handfast(["show", idOf(tag), "--verify", "--json"]);
  const { handoff, events, checked }: Shown = JSON.parse(stdout);
  if (checked?.fault !== null) throw new Error(`not proven: ${checked?.fault}`);
  const evidenceOf = (type: string) => events.find((event) => event.type === type)?.evidence;
  tell({
    tag,
    proven: { handoff: handoff.evidence, ack: evidenceOf("acknowledged"), outcome: evidenceOf("completed") },
  });
}

async function show(id: string): Promise<View> {
  const { handoff }: Shown = JSON.parse((await handfast(["show", id, "--json"])).stdout);
  return handoff;
}

/** Nothing is kept here: the relay knows what this agent sent, and has an outcome until it is taken. */
async function resume(): Promise<void> {
  const { stdout } = await handfast(["list", "--json", "--limit", "200"]);
  const { handoffs }: { handoffs: readonly View[] } = JSON.parse(stdout);
  await Promise.all(handoffs.map((view) => follow(view)));
}

async function follow({ id, labels, taken_at }: View): Promise<void> {
  const { tag } = labels;
  if (tag === undefined || taken_at !== null) return;
  await handfast(["watch", id]);
  tellEnd(tag, await show(id));
  await handfast(["outcomes", id, "--take", "--json"]);
}

function idOf(tag: string): string {
  const id = ids.get(tag);
  if (id === undefined) throw new Error(`nothing was sent as ${tag}`);
  return id;
}
