/**
 * Honest calls at the beginning of an episode, which bring handoffs into states that are worth attacking. All of them
 * are sound, so all of them must be done: the relay serves honest callers as ever while it is fired at.
 */

import { routes } from "@handfast/protocol";
import type { Scene } from "../calls/scene.ts";
import type { Persona } from "../cast/persona.ts";
import type { Known, KnownLease } from "../cast/world.ts";
import type { Random } from "../chance.ts";
import type { Lines } from "../inputs/lines.ts";
import type { Stage } from "../inputs/stage.ts";
import { faultOf } from "../judge/answers.ts";
import { count } from "../judge/tally.ts";

const goals = [
  "queued",
  "delivered",
  "working",
  "waiting",
  "parked",
  "answered",
  "completed",
  "taken",
  "failed",
  "redriven",
  "rejected",
  "canceled",
  "expired",
] as const;
type Goal = (typeof goals)[number];

/** An honest caller was not served. */
export class HonestFault extends Error {
  override readonly name = "HonestFault";
}

/** An operator called it off, as operators may: one that is fired with in another lane. */
class CalledOff extends Error {
  override readonly name = "CalledOff";
}

export class Overture {
  readonly #stage: Stage;
  readonly #scene: Scene;
  readonly #lines: Lines;

  constructor(stage: Stage, scene: Scene, lines: Lines) {
    this.#stage = stage;
    this.#scene = scene;
    this.#lines = lines;
  }

  async play(random: Random): Promise<void> {
    for (let left = random.between(1, 3); left > 0; left -= 1) {
      try {
        await this.#bring(random.pick(goals), random);
      } catch (error) {
        if (!(error instanceof CalledOff)) throw error;
      }
    }
  }

  async #bring(goal: Goal, random: Random): Promise<void> {
    const { sender } = this.#scene.troupe;
    const known = await this.#submit(goal, random);
    count(this.#stage.tally.states, goal);
    if (goal === "queued" || goal === "expired") return;
    if (goal === "canceled") return void (await this.#call(sender, "cancel", known.id, {}));
    const lease = await this.#claim(known, random);
    // Something that an earlier episode left behind may have come first; then this one stays queued.
    if (lease === null || goal === "delivered") return;
    const { fence, worker, agent } = lease;
    const holder = this.#scene.persona(agent);
    const act = (operation: string, body: object = {}) =>
      this.#call(holder, operation, known.id, { fence, worker, ...body });
    const error = { reason: "no_luck", message: "It was not to be." };
    if (goal === "rejected") return void (await act("reject", { error }));
    await act("ack");
    switch (goal) {
      case "waiting":
      case "parked":
      case "answered":
        await act("ask", { question: "which one?", question_id: "q0", ...(goal === "parked" ? { park: true } : {}) });
        if (goal === "answered") await this.#call(sender, "answer", `${known.id}:q0`, { answer: "this one" });
        return;
      case "completed":
      case "taken":
        await act("complete", { output: { done: true } });
        if (goal === "taken") await this.#call(sender, "take", known.id, {});
        return;
      case "failed":
      case "redriven":
        await act("fail", { error, retryable: false });
        if (goal === "redriven") await this.#call(sender, "redrive", known.id, {});
        return;
      default:
        return;
    }
  }

  async #submit(goal: Goal, random: Random): Promise<Known> {
    const { troupe, correlations } = this.#scene;
    const id = this.#scene.newId(random);
    await this.#call(troupe.sender, "submit", null, {
      id,
      capability: troupe.open_capability,
      correlation_id: random.pick(correlations),
      input: { n: random.between(0, 9) },
      // Long enough for anything that is tried on it, and short enough that nothing is left for long.
      limits: { deadline_ms: goal === "expired" ? 1 : 120_000 },
    });
    return this.#scene.world.note(id, goal === "expired" ? "expired" : "queued");
  }

  async #claim(known: Known, random: Random): Promise<KnownLease | null> {
    const { worker, rival } = this.#scene.troupe;
    const agent = random.pick([worker, rival]);
    const asked = { worker: random.pick(["w1", "w2"]), slots: 8, request_id: `overture-${this.#scene.newId(random)}` };
    await this.#call(agent, "claim", null, asked, asked.worker);
    return known.leases.at(-1) ?? null;
  }

  async #call(
    persona: Persona,
    operation: string,
    id: string | null,
    body: object,
    worker: string | null = null,
  ): Promise<void> {
    const { stage, scene } = { stage: this.#stage, scene: this.#scene };
    stage.tally.honest_calls += 1;
    const { status, said } = await this.#exchange(persona, operation, id, body);
    const fault = faultOf(operation, { status, body: said, is_problem: status >= 400 });
    if (fault !== null) throw new HonestFault(fault);
    if (status === 410 && id !== null && (await this.#wasCalledOff(id))) throw new CalledOff();
    if (status >= 400)
      throw new HonestFault(`an honest ${operation} of ${persona.name} was refused: ${JSON.stringify(said)}`);
    stage.ledger.confirm(operation, said);
    scene.world.learn(said, persona.name, worker);
  }

  /** By an operator, and by nobody else. */
  async #wasCalledOff(id: string): Promise<boolean> {
    const { said } = await this.#exchange(this.#scene.troupe.operator, "get", id, null);
    return JSON.stringify(said).includes("canceled by operator:");
  }

  async #exchange(
    persona: Persona,
    operation: string,
    id: string | null,
    body: object | null,
  ): Promise<{ readonly status: number; readonly said: unknown }> {
    const route = Object.entries(routes).find(([name]) => name === operation)?.[1];
    if (route === undefined) throw new Error(`there is no operation ${operation}`);
    const { method, path } = route;
    const text = body === null ? "" : JSON.stringify(body);
    const head = [
      `${method} ${path.replace("{id}", encodeURIComponent(id ?? ""))} HTTP/1.1`,
      `host: 127.0.0.1:${this.#stage.port}`,
      `authorization: Bearer ${await persona.credential()}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(text)}`,
    ];
    for (;;) {
      const { wire, is_new } = await this.#lines.http();
      wire.write(Buffer.from(`${head.join("\r\n")}\r\n\r\n${text}`));
      const answer = await wire.answer(method, this.#stage.answer_within_ms);
      if (answer.kind === "reply")
        return { status: answer.reply.status, said: JSON.parse(answer.reply.body.toString("utf8")) };
      this.#lines.done(wire);
      if (answer.kind === "closed" && !is_new) continue;
      throw new HonestFault(`an honest ${operation} of ${persona.name} got no answer: ${answer.kind}`);
    }
  }

  /** Leaves the lane as it was found: what is open is called off. */
  async leave(): Promise<void> {
    const { world, troupe } = this.#scene;
    const { operator } = troupe;
    const open = world.handoffs.filter(({ state }) => ["queued", "delivered", "working", "waiting"].includes(state));
    for (const { id } of open) await this.#exchange(operator, "cancel", id, {});
  }
}
