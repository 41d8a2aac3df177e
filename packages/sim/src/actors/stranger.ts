/** One that sent nothing and holds nothing, but knows ids and fences: whatever it asks for must be refused. */

import type { Handoff } from "@handfast/core";
import type { PublicCommand } from "@handfast/engine";
import type { Random } from "../random.ts";
import { outcomeOf } from "./outcomes.ts";
import { Process } from "./process.ts";
import type { World } from "./world.ts";

export const stranger = "mallory";
const name = stranger;

/** Handoffs it looks at before it takes one. */
const few = 40;

const acts = [
  "ack",
  "beat",
  "checkpoint",
  "ask",
  "answer",
  "complete",
  "fail",
  "reject",
  "release",
  "cancel",
  "take",
  "discard",
] as const satisfies readonly PublicCommand["type"][];

export class Stranger extends Process {
  readonly #world: World;
  readonly #random: Random;

  constructor(world: World) {
    const random = world.random.fork();
    super(world.timeline, random, world.coverage);
    this.#world = world;
    this.#random = random;
  }

  async run(): Promise<void> {
    const { scenario, healed, api, drafts } = this.#world;
    for (;;) {
      await this.sleep(this.#random.skewed(0, 4 * scenario.stranger_every_ms));
      if (healed()) return;
      const handoff = this.#anyHandoff();
      if (handoff === null) continue;
      const { id, from } = handoff.accepted;
      if (this.#random.chance(0.1)) {
        const submission = drafts.redrive(from, id, name);
        await this.hear("redrive", () => api.redrive(name, id, { kind: "agent", agent: name }, submission));
        continue;
      }
      const command = this.#command(this.#random.pick(acts), handoff);
      await this.hear(command.type, () => api.meddle(name, id, command));
    }
  }

  /** Rather one that waits for its next attempt, if one of a few does: it is seldom seen so, and as worth attacking. */
  #anyHandoff(): Handoff | null {
    const { anyHandoff, timeline } = this.#world;
    const seen = Array.from({ length: few }, () => anyHandoff(this.#random));
    const delayed = seen.find((each) => each?.status.state === "queued" && each.status.ready_at > timeline.now);
    return delayed ?? seen[0] ?? null;
  }

  #command(type: (typeof acts)[number], handoff: Handoff): PublicCommand {
    const random = this.#random;
    const fence = Math.max(1, handoff.fence + random.between(-1, 1));
    const holder = { agent: name, fence };
    const actor = { kind: "agent", agent: name } as const;
    const payload = { media_type: "text/plain", size: 1, salt: "", sha256: "stolen" };
    const question = handoff.questions.at(-1)?.id ?? "none";
    switch (type) {
      case "ack":
        return { type, evidence: "signed", ...holder };
      case "beat":
        return { type, progress: null, ...holder };
      case "checkpoint":
        return { type, state: payload, ...holder };
      case "ask":
        return { type, question: `question-of-${name}`, to: null, answer_ms: null, park: false, ...holder };
      case "answer":
        return { type, actor, question, content: "stolen", answer: payload, evidence: "attested", offers: ["draft"] };
      case "complete":
      case "fail":
      case "reject": {
        const lease = { ...holder, worker: name, life: name };
        return outcomeOf(handoff, fence, type, lease);
      }
      case "release":
        return { type, ...holder };
      case "cancel":
        return { type, actor, reason: null, evidence: "signed" };
      case "take":
      case "discard":
        return { type, actor };
      default:
        throw new Error(`unreachable act ${JSON.stringify(type satisfies never)}`);
    }
  }
}
