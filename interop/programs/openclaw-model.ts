/**
 * The scripted model of a sender on OpenClaw. It obeys the suite's commands with the plugin's tools, and knows only what stands in
 * the session: so it goes on where it was after the gateway was killed, as any model would.
 */

import { type Answer, call, type ModelCall } from "../../adapters/openclaw/test/support/fake-model.ts";
import type { Ended, SendCommand, SenderCommand, SenderMessage, TaskOutput } from "../protocol.ts";

/** What is a turn of a session. */
export type Turn = Exclude<SenderCommand, { readonly verify: unknown } | { readonly resume: unknown }>;
type Scatter = Extract<Turn, { readonly scatter: unknown }>["scatter"];
type Tell = (message: SenderMessage) => void;

/** What the plugin tells of a handoff, as far as it is read here. */
interface Told {
  readonly handoff: string;
  readonly status: string;
  readonly code: number;
  /** It has ended. */
  readonly outcome_of?: string;
  readonly output?: TaskOutput;
  readonly progress?: NonNullable<SenderMessage["progress"]>;
  readonly question?: { readonly id: string };
}

/** What a tool answers: how a handoff stands, how several do, that something was refused. */
type ToolAnswer = Told | { readonly handoffs: readonly Told[] } | { readonly error: object; readonly code: number };

/** By this the model knows a command in what its user says. */
export const opening = "<command>";
const closing = "</command>";

/** A tool waits that long; then the model asks again. */
const wait_seconds = 60;
const look_seconds = 1;
const done: Answer = { text: "Done." };

export function commandText(command: Turn): string {
  return `${opening}${JSON.stringify(command)}${closing}`;
}

export function obey(said: ModelCall, tell: Tell): Answer {
  // Without tools it is asked for something else, such as a title.
  if (!said.tools.includes("handfast_send")) return done;
  const texts = said.all.split(opening).slice(1);
  const commands = texts.map((text): Turn => JSON.parse(text.slice(0, text.indexOf(closing))));
  const [first] = commands;
  const now = commands.at(-1);
  if (first === undefined || now === undefined) return done;
  if ("scatter" in first) return scatter(first.scatter, said, tell);
  return "send" in first ? play(first.send, now, said, tell) : done;
}

function scatter({ tag, capability, inputs }: Scatter, { results }: ModelCall, tell: Tell): Answer {
  const answers = results.map(parsed);
  const [answer] = answers;
  if (answer === undefined) {
    const calls = inputs.map((input) => ({ capability, input, correlation: tag, wait_seconds: 0 }));
    return { calls: calls.map((args) => ({ name: "handfast_send", args })) };
  }
  if (!("handoffs" in answer)) return awaited(answers.flatMap(toldBy).map(({ handoff }) => handoff));
  const { handoffs } = answer;
  if (handoffs.some((each) => !hasEnded(each))) return awaited(handoffs.map(({ handoff }) => handoff));
  const outputs = handoffs.map(({ output }) => output).filter((output) => output !== undefined);
  tell({ tag, scattered: outputs });
  return done;
}

/** One handoff and whatever its sender is told about it, in one session. */
function play(send: SendCommand, now: Turn, { all, news, results }: ModelCall, tell: Tell): Answer {
  const { tag } = send;
  const sent = /"handoff":"([^"]+)"/.exec(all)?.[1];
  const [answer] = results.map(parsed);
  if (answer === undefined && news.includes(opening)) return begin(send, now, sent);
  if (sent === undefined) {
    const why = answer !== undefined && "error" in answer ? { refused: answer.code } : { broken: news };
    tell({ tag, ...why });
    return done;
  }
  // It was handfast_send that answered.
  if ("send" in now && answer !== undefined && "handoff" in answer) tell({ tag, sent });
  const told = answer === undefined ? late(news, sent) : toldBy(answer).find(({ handoff }) => handoff === sent);
  if (told !== undefined) return hear(send, now, told, tell);
  // What is no answer about it is the answer to handfast_answer; what is not about it and comes late is not for us.
  return answer === undefined ? done : awaited([sent]);
}

function begin({ capability, input, timeout_ms }: SendCommand, now: Turn, sent: string | undefined): Answer {
  if (sent === undefined) {
    const timeout_seconds = timeout_ms / 1_000;
    return call("handfast_send", { capability, input, timeout_seconds, wait_seconds: 0 });
  }
  return "cancel" in now ? call("handfast_cancel", { handoff: sent }) : awaited([sent], look_seconds);
}

function hear({ tag, input, answer }: SendCommand, now: Turn, told: Told, tell: Tell): Answer {
  const { handoff, status, progress, question } = told;
  if (question !== undefined) return call("handfast_answer", { question: question.id, answer });
  if ("cancel" in now) tell({ tag, canceled: status });
  if (hasEnded(told)) {
    tell({ tag, outcome: endOf(told) });
    return done;
  }
  if ("watch" in now) {
    if (progress === undefined) return awaited([handoff], look_seconds);
    tell({ tag, progress });
    return done;
  }
  // Work that takes long is not waited for: its outcome comes into the session by itself.
  return input.mode === "hold" ? done : awaited([handoff]);
}

function awaited(handoffs: readonly string[], seconds = wait_seconds): Answer {
  return call("handfast_await", { handoffs, wait_seconds: seconds });
}

function parsed(result: string): ToolAnswer {
  return JSON.parse(result);
}

function toldBy(answer: ToolAnswer): readonly Told[] {
  if ("handoffs" in answer) return answer.handoffs;
  return "handoff" in answer ? [answer] : [];
}

/** What came into the session by itself. A dead letter that was redriven comes to its session too, under an id of its own. */
function late(news: string, sent: string): Told | undefined {
  const lines = news.split("\n").filter((line) => line.startsWith('{"handoff":'));
  return lines.map((line): Told => JSON.parse(line)).find(({ outcome_of }) => outcome_of === sent);
}

function hasEnded({ outcome_of }: Told): boolean {
  return outcome_of !== undefined;
}

function endOf({ status, code, output }: Told): Ended {
  return { status: status as Ended["status"], code, ...(output == null ? {} : { output }) };
}
