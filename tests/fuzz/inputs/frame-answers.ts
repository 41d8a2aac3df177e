/** What must come back after a frame: an answer to each of its calls and to a ping behind it, or a close that says why. */

import type { Persona } from "../cast/persona.ts";
import { isObject } from "../json/schema-values.ts";
import { closeFault, faultOf, frameFault } from "../judge/answers.ts";
import { count } from "../judge/tally.ts";
import { encodeFrame, opcode } from "../wire/ws-frames.ts";
import type { RelayFrame, WsWire } from "../wire/ws-wire.ts";
import type { FrameDraft } from "./frame-draft.ts";
import { trespass } from "./http-input.ts";
import type { Step } from "./step.ts";

/** Says it, and what is wrong with what came back; null: nothing. */
export async function sayAndHear(
  step: Step,
  wire: WsWire,
  draft: FrameDraft,
  bytes: Buffer,
  persona: Persona,
): Promise<string | null> {
  const { lines, stage } = step;
  if (draft.expected === "nothing") {
    wire.write(bytes);
    await new Promise(setImmediate);
    lines.dropWs(persona);
    return null;
  }
  const ping = lines.next();
  wire.write(Buffer.concat([bytes, encodeFrame(Buffer.from(JSON.stringify({ ping })), { opcode: opcode.text })]));
  const hearing = new Hearing(step, draft, persona);
  const was_heard = await wire.until(() => hearing.hear(wire, ping), stage.answer_within_ms);
  const fault = hearing.fault ?? wire.garbled ?? endFault(wire, draft, was_heard ? null : hearing.missing, stage);
  if (wire.isOver || fault !== null || draft.expected === "close") lines.dropWs(persona);
  else if (hearing.left.length > 0) wire.say(JSON.stringify({ abandon: hearing.left.slice(0, 4_096) }));
  return fault;
}

function endFault(wire: WsWire, draft: FrameDraft, missing: string | null, stage: Step["stage"]): string | null {
  const { closing } = wire;
  if (closing !== null) {
    count(stage.tally.closes, `${closing.code ?? "cut"}`);
    return closing.code === null ? cutFault(draft) : closeFault(closing.code);
  }
  if (draft.expected === "close") return "a frame that cannot be understood was passed over";
  return missing === null ? null : `no answer, and no close, within ${stage.answer_within_ms} ms: ${missing}`;
}

/** A server that finds a frame to be no frame may cut the connection; whoever sent a frame is told why. */
function cutFault(draft: FrameDraft): string | null {
  return draft.expected === "close" ? null : "the connection was cut without a word";
}

const most_read_bytes = 4_000_000;

class Hearing {
  fault: string | null = null;
  readonly #step: Step;
  readonly #persona: Persona;
  /** The calls that must be answered now, as a reader of the frame would find them. */
  readonly #asked = new Set<number>();
  readonly #waiting: number[] = [];
  #was_ponged = false;

  constructor(step: Step, draft: FrameDraft, persona: Persona) {
    this.#step = step;
    this.#persona = persona;
    if (draft.expected === "answer") this.#read(draft.payload);
  }

  /** Calls that wait or stream, and are open still. */
  get left(): readonly number[] {
    return this.#waiting;
  }

  /** What was not answered. */
  get missing(): string {
    const calls = [...this.#asked].map((n) => `${n} (${this.#step.lines.operations.get(n)})`);
    return [...(this.#was_ponged ? [] : ["the ping"]), ...calls].join(", ");
  }

  #read(payload: Buffer): void {
    // Of one that is so large it is enough to know that the ping behind it was answered, or why not.
    if (payload.length > most_read_bytes) return;
    const frame = parse(payload);
    if (!isObject(frame) || !Array.isArray(frame["calls"])) return;
    const abandoned = new Set(Array.isArray(frame["abandon"]) ? frame["abandon"] : []);
    for (const call of frame["calls"]) {
      if (!isObject(call) || typeof call["n"] !== "number") continue;
      const { n, op, params, wait_ms, stream } = call;
      this.#step.lines.operations.set(n, typeof op === "string" ? op : "");
      const { id } = Object(params);
      this.#step.lines.places.set(n, typeof id === "string" ? id : "");
      if (wait_ms !== undefined || stream !== undefined) this.#waiting.push(n);
      else if (!abandoned.has(n)) this.#asked.add(n);
    }
  }

  /** Takes what came; true once everything was answered. */
  hear(wire: WsWire, ping: number): boolean {
    for (const frame of wire.frames.splice(0)) {
      this.fault ??= frameFault(frame);
      if (frame["pong"] === ping) this.#was_ponged = true;
      if (Array.isArray(frame["replies"])) for (const reply of frame["replies"]) this.#hearReply(reply);
    }
    return this.fault !== null || (this.#was_ponged && this.#asked.size === 0);
  }

  #hearReply(reply: RelayFrame): void {
    const { n, status, body, problem } = reply;
    const { lines, stage, scene } = this.#step;
    const call = lines.calls.get(Number(n));
    const operation = lines.operations.get(Number(n)) ?? call?.operation.name ?? null;
    this.#asked.delete(Number(n));
    lines.calls.delete(Number(n));
    const is_problem = problem !== undefined;
    const said = is_problem ? problem : (body ?? null);
    stage.tally.answered(operation, Number(status), is_problem ? Object(problem).reason : undefined);
    this.fault ??= faultOf(operation, { status: Number(status), body: said, is_problem });
    if (is_problem) scene.world.learnRefusal(call?.params["id"], problem);
    if (is_problem || call === undefined || operation !== call.operation.name) return;
    stage.ledger.confirm(operation, said);
    scene.world.learn(said, this.#persona.name, call.worker);
    call.done?.();
    // Where it really went: what was meant for a handoff of others may have been turned to one's own on the way.
    const place = lines.places.get(Number(n)) ?? "";
    const trespassed = trespass(stage, this.#persona, { operation, place, said });
    if (trespassed !== null) this.fault ??= `${trespassed}, and heard ${JSON.stringify(said).slice(0, 1_000)}`;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
