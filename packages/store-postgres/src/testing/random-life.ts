/**
 * For tests: the random steps that core is tested by, carried out by a whole engine. What a step wants is found out on a
 * world that only listens; the engine's own state is then what the next steps choose from.
 */

import { type Command, type Decision, type Draft, type Handoff, queueOf } from "@handfast/core";
import { type Body, type Claim, type Enclosure, Engine, type PublicCommand, type Store } from "@handfast/engine";
import { start } from "../../../core/src/testing/sample.ts";
import { type Step, take } from "../../../core/src/testing/steps.ts";
import { agents, World } from "../../../core/src/testing/world.ts";
import { PatientSurroundings } from "./patient-surroundings.ts";

type Wish = { readonly draft: Draft } | { readonly id: string; readonly command: Exclude<Command, { type: "submit" }> };

const nothing: Decision = {
  next: null,
  events: [],
  follow: [],
  refusal: null,
  keep: null,
  durable: false,
  purge: false,
};

class Listening extends World {
  readonly wishes: Wish[] = [];

  constructor() {
    super(() => {});
  }

  override submit(draft: Draft): Decision {
    this.drafts.push(draft);
    this.wishes.push({ draft });
    return nothing;
  }

  override run(id: string, command: Exclude<Command, { type: "submit" }>): Decision {
    this.wishes.push({ id, command });
    if (command.type === "complete" || command.type === "fail") this.said.push({ id, command });
    return nothing;
  }

  /** The engine has its own timer. */
  override tickDue(): void {}
}

/** Steps that are asked for in the same moment, and so decided in one batch. */
const most_at_once = 5;
const namespace = "default";

export class RandomLife {
  readonly surroundings = new PatientSurroundings(start);
  readonly store: Store;
  readonly #world = new Listening();
  readonly answers: unknown[] = [];
  #engine: Engine;
  #claims = 0;

  constructor(store: Store) {
    this.store = this.surroundings.watched(store);
    this.#engine = this.#newEngine();
  }

  async live(steps: readonly Step[]): Promise<void> {
    await this.#engine.start();
    let moment: Step[] = [];
    for (const step of steps) {
      if (step.op !== "wait" && step.op !== "restart") moment.push(step);
      if (moment.length >= most_at_once || step.op === "wait" || step.op === "restart") {
        await this.#together(moment);
        moment = [];
      }
      if (step.op === "wait") await this.surroundings.advance(step.ms);
      if (step.op === "restart") await this.#restart(step.ms);
    }
    await this.#together(moment);
  }

  async stop(): Promise<void> {
    await this.surroundings.rest();
    await this.#engine.stop();
  }

  #newEngine(): Engine {
    const { store, surroundings } = this;
    // A pulse a minute is enough for what these steps are about, and days pass sooner.
    const limits = { pulse_ms: 60_000, stall_ms: 600_000, keep_events_ms: 20 * 86_400_000, prune_rows: 50 };
    return new Engine({
      store,
      surroundings,
      limits,
      others: ({ excluded }, besides) => agents.filter((name) => name !== besides && !excluded.includes(name)).length,
      onBug: (error) => {
        throw error;
      },
    });
  }

  async #restart(ms: number): Promise<void> {
    await this.stop();
    await this.surroundings.stall(ms);
    this.#engine = this.#newEngine();
    await this.#engine.start();
  }

  async #together(steps: readonly Step[]): Promise<void> {
    await this.#see();
    for (const step of steps) take(this.#world, step);
    const asked = this.#world.wishes.splice(0).map((wish) => this.#grant(wish));
    const answered = Promise.all(asked);
    await this.surroundings.rest();
    this.answers.push(...(await answered));
  }

  /** The world as the store has it. */
  async #see(): Promise<void> {
    const { handoffs } = await this.store.list({ namespace, order: "oldest", limit: 1_000 });
    this.#world.now = this.surroundings.now();
    this.#world.handoffs.clear();
    for (const handoff of handoffs) this.#world.handoffs.set(handoff.accepted.id, handoff);
  }

  async #grant(wish: Wish): Promise<unknown> {
    if ("draft" in wish) {
      const submission = { draft: varied(wish.draft), queue_if_absent: true, target: fits, body: bodyOf("handoff") };
      return this.#engine.submit([{ ...submission, body: { ...submission.body, number: 0 } }]);
    }
    const { id, command } = wish;
    if (command.type === "deliver") return (await this.#engine.claim(this.#claim(command))).map(versionOf);
    if (command.type === "tick") return this.#engine.get(namespace, id);
    if (command.type === "redrive") return this.#redrive(id, command.actor);
    return isPublic(command) ? this.#engine.perform(namespace, id, command, enclosed(command)) : null;
  }

  #claim({ agent, worker }: { readonly agent: string; readonly worker: string }): Claim {
    this.#claims += 1;
    const capabilities = ["summarize", "human_desk"].map((capability) => queueOf({ to: null, capability }));
    return {
      namespace,
      agent,
      worker,
      queues: () => new Set([...capabilities, queueOf({ to: agent, capability: null })]),
      slots: 1 + (this.#claims % 2),
      request_id: `request ${this.#claims}`,
      wait_ms: 0,
      offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
    };
  }

  async #redrive(id: string, actor: Extract<Command, { type: "redrive" }>["actor"]): Promise<unknown> {
    const first = this.#world.drafts.find((draft) => draft.id === id);
    if (first === undefined) return null;
    const again = {
      ...first,
      id: `${id.slice(0, 24)}${id.slice(25)}f`,
      idempotency_key: `again ${id}`,
      redrive_of: id,
    };
    const body = { ...bodyOf("handoff"), number: 0 };
    const submission = { draft: again, queue_if_absent: true, target: fits, body };
    return this.#engine.redrive(namespace, id, actor, submission);
  }
}

const fits = { kind: "fits", except: [] } as const;

/** What core's own steps leave out and a store must keep: labels, conversations, priorities, any character. */
function varied(draft: Draft): Draft {
  const nth = Number.parseInt(draft.id.slice(-6), 16);
  return {
    ...draft,
    labels: nth % 2 === 0 ? { team: `blue ${nth % 3}`, "odd\u0000key": 'quo"te\\ {}, NULL' } : {},
    conversation_id: nth % 3 === 0 ? `talk, "${nth % 2}" {ä😀}` : null,
    priority: nth % 4,
    artifacts: nth % 5 === 0 ? [`${nth % 7}`.repeat(64)] : [],
  };
}

function versionOf({ accepted, version }: Handoff): readonly [string, number] {
  return [accepted.id, version];
}

const kinds: Readonly<Record<string, Body["kind"]>> = {
  ack: "ack",
  complete: "outcome",
  fail: "outcome",
  reject: "outcome",
  checkpoint: "checkpoint",
  ask: "question",
  answer: "answer",
  cancel: "cancel",
};

function enclosed({ type }: PublicCommand): Enclosure | undefined {
  const kind = kinds[type];
  return kind === undefined
    ? undefined
    : { body: bodyOf(kind), artifacts: type === "complete" ? ["e".repeat(64)] : [] };
}

function bodyOf(kind: Body["kind"]): Omit<Body, "number"> {
  const payload = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  return { kind, document: `{"typ":"${kind}","text":"ä\\u0000, \\"{}\\""}`, proof: null, payload };
}

const engines_own: ReadonlySet<string> = new Set(["exclude", "unblock", "adopt", "charge", "swept", "routed"]);
function isPublic(command: Command): command is PublicCommand {
  return !engines_own.has(command.type);
}
