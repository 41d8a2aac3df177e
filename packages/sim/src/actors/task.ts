/** What a worker does with one lease, and every way in which that goes wrong. */

import type { Duration, Handoff, Lease } from "@handfast/core";
import type { Enclosure, PublicCommand } from "@handfast/engine";
import type { Random } from "../random.ts";
import { desk } from "../world/directory.ts";
import { outcomeBody, outcomeOf } from "./outcomes.ts";
import type { Worker } from "./worker.ts";
import type { World } from "./world.ts";

type Plan = "complete" | "unfit" | "fail" | "reject" | "release";

const chunk_chars = 20;
/** How often one that hangs looks at what it has, when its time is up. */
const looks_at_end = 4;

export class Task {
  readonly #world: World;
  readonly #worker: Worker;
  readonly #handoff: Handoff;
  readonly #id: string;
  readonly #lease: Lease;
  readonly #random: Random;
  readonly #holder: { readonly agent: string; readonly fence: number };
  /** The relay said so, or the work is done. */
  #over = false;
  #waiting = false;

  constructor(world: World, worker: Worker, handoff: Handoff, lease: Lease, random: Random) {
    this.#world = world;
    this.#worker = worker;
    this.#handoff = handoff;
    this.#id = handoff.accepted.id;
    this.#lease = lease;
    this.#random = random;
    this.#holder = { agent: worker.agent.name, fence: lease.fence };
  }

  async work(): Promise<void> {
    const { faults, timeline, tally, workTime } = this.#world;
    const { kind } = this.#handoff.accepted;
    const random = this.#random;
    const rates = faults();
    const work_ms = workTime();
    if (random.chance(rates.worker_crash)) {
      timeline.schedule(random.skewed(0, 2 * work_ms + 500), () => this.#worker.crash());
    }
    if (random.chance(rates.never_ack)) {
      tally.add("faults", "worker never acks");
      return this.#worker.sleep(random.between(1_000, 15_000));
    }
    await this.#worker.sleep(random.skewed(0, Math.min(work_ms, 1_000)));
    if (kind === "notice" || random.chance(0.8)) {
      const acked = await this.#acknowledge();
      if (acked !== "ok" || kind === "notice") return;
    }
    if (random.chance(rates.hang)) return this.#hang(rates.late_outcome);
    void this.#beat();
    if (random.chance(rates.beat_but_hang)) {
      tally.add("faults", "worker beats but hangs");
      for (let look = looks_at_end; look > 0; look -= 1) void this.#lookAsTimeIsUp();
      await this.#pause(2 * this.#lease.attempt_left_ms);
    }
    await this.#middle(work_ms);
    if (this.#over && !random.chance(rates.late_outcome)) return;
    this.#over = true;
    await this.#finish(this.#plan());
  }

  /** One that cannot sign tries it without, and is refused where a signature is demanded. */
  async #acknowledge(): Promise<string> {
    const { demands } = this.#handoff.accepted;
    const enclosure = {
      body: { kind: "ack", document: '{"typ":"ack"}', proof: null, payload: null },
      artifacts: [],
    } as const;
    const ack = { type: "ack", ...this.#holder } as const;
    if (demands === "any") return this.#say({ ...ack, evidence: "attested" }, enclosure);
    if (this.#random.chance(0.1)) await this.#say({ ...ack, evidence: "attested" }, enclosure);
    return this.#say({ ...ack, evidence: "signed" }, enclosure);
  }

  async #hang(late_outcome: number): Promise<void> {
    const { tally } = this.#world;
    const { lease_ms } = this.#handoff.accepted.terms;
    tally.add("faults", "worker hangs");
    await this.#worker.sleep(lease_ms * this.#random.between(1, 3));
    if (!this.#random.chance(late_outcome + 0.2)) return;
    tally.add("faults", "late outcome");
    await this.#finish("complete");
  }

  /** Beats until the task is over, or the relay says that it is. */
  async #beat(): Promise<void> {
    const every_ms = this.#handoff.accepted.terms.lease_ms / 3;
    for (;;) {
      await this.#worker.sleep(every_ms);
      if (this.#over) return;
      await this.#beatOnce();
    }
  }

  /** At what it has streamed, about when its attempt's time is up: that may meet the relay while it settles just this. */
  async #lookAsTimeIsUp(): Promise<void> {
    const { api, faults } = this.#world;
    const about_ms = 2 * faults().delay_most_ms;
    await this.#worker.sleep(Math.max(0, this.#lease.attempt_left_ms - this.#random.between(0, about_ms)));
    await this.#worker.hear("read", () => api.read(this.#worker.name, this.#id, 0));
  }

  /** The answer tells whether the lease is still held, and whether a question is still open. */
  async #beatOnce(): Promise<void> {
    const { api } = this.#world;
    const progress = this.#random.chance(0.5) ? { fraction: this.#random.next(), note: null } : null;
    const command = { type: "beat", progress, ...this.#holder } as const;
    const reply = await this.#worker.hear("beat", () => api.perform(this.#worker.name, this.#id, command));
    if (reply.kind !== "answer") return;
    if (reply.value.refusal !== null) this.#over = true;
    this.#waiting = reply.value.handoff?.status.state === "waiting";
  }

  /** What happens between ack and outcome: work, streamed output, checkpoints, children, questions. */
  async #middle(work_ms: Duration): Promise<void> {
    const random = this.#random;
    const { healed, scenario } = this.#world;
    await this.#pause(work_ms / 2);
    if (this.#over) return;
    if (random.chance(0.1)) await this.#stream();
    if (random.chance(0.1)) await this.#checkpoint();
    if (!healed() && random.chance(scenario.hand_on)) await this.#handOn();
    if (!healed() && random.chance(scenario.ask)) await this.#ask();
    await this.#pause(work_ms / 2);
  }

  /** Written in pieces; what an earlier relay had is gone, and is written again from where this one says. */
  async #stream(): Promise<void> {
    const { api, streams } = this.#world;
    const { fence } = this.#holder;
    const text = streams.textOf(this.#id, fence, this.#worker.name);
    let offset = 0;
    for (let piece = this.#random.between(1, 4); piece > 0 && !this.#over; piece -= 1) {
      const next = text.slice(offset, offset + chunk_chars);
      streams.writes(this.#id, fence, text.slice(0, offset + chunk_chars));
      const written = await this.#worker.persist("write", 3, () =>
        api.write(this.#worker.name, this.#id, this.#holder, offset, next),
      );
      if (written === null) return;
      offset = "reason" in written ? 0 : written.offset;
    }
  }

  async #checkpoint(): Promise<void> {
    const payload = Uint8Array.of(this.#holder.fence % 256, this.#random.between(0, 255));
    const state = { media_type: "text/plain", size: 2, salt: "", sha256: payload.join() };
    const body = { kind: "checkpoint", document: null, proof: null, payload } as const;
    await this.#say({ type: "checkpoint", state, ...this.#holder }, { body, artifacts: [] });
  }

  /** Children of this handoff, under the fence it is held by, or, by mistake, under one that is over. */
  async #handOn(): Promise<void> {
    const { api, drafts, faults, watch, tally } = this.#world;
    const from = this.#holder.agent;
    const stale = this.#random.chance(faults().stale_child);
    if (stale) tally.add("faults", "child under a stale fence");
    const parent = { id: this.#id, fence: stale ? this.#holder.fence - 1 : this.#holder.fence };
    const submissions = Array.from({ length: this.#random.between(1, 3) }, () => drafts.child(from, parent));
    let first = true;
    const answer = await this.#worker.persist("submit", 4, () => {
      const again = first ? submissions : submissions.map((submission) => drafts.retry(submission));
      first = false;
      return api.submit(this.#worker.name, again, !stale);
    });
    if (answer?.ok === true) for (const { id } of answer.submitted) watch(from, id);
  }

  async #ask(): Promise<void> {
    const { scenario } = this.#world;
    const random = this.#random;
    const park = random.chance(0.5);
    const command = {
      type: "ask",
      question: `question-${this.#id}-${this.#holder.fence}`,
      to: random.chance(0.3) ? desk : null,
      answer_ms: random.chance(0.3) || scenario.weather === "clear" ? null : random.between(1_000, 30_000),
      park,
      ...this.#holder,
    } as const;
    const body = { kind: "question", document: '{"typ":"question"}', proof: null, payload: null } as const;
    const asked = await this.#say(command, { body, artifacts: [] });
    if (asked !== "ok" || park) {
      this.#over = true;
      return;
    }
    this.#waiting = true;
    if (random.chance(scenario.hand_on)) await this.#handOn();
    const { hang, release } = this.#world.faults();
    if (random.chance(hang)) return this.#hangWaiting();
    if (random.chance(release)) {
      this.#over = true;
      return void (await this.#say({ type: "release", ...this.#holder }));
    }
    // One that does not wait to the end says what came of it without the answer.
    for (let left = random.chance(0.1) ? 2 : 1_000; left > 0 && this.#waiting && !this.#over; left -= 1) {
      await this.#worker.sleep(1_000);
      await this.#beatOnce();
    }
  }

  /** It asked and was never heard of again. */
  async #hangWaiting(): Promise<void> {
    this.#world.tally.add("faults", "worker hangs");
    this.#over = true;
    await this.#worker.sleep(this.#handoff.accepted.terms.lease_ms);
  }

  #plan(): Plan {
    const random = this.#random;
    const { unfit_output, fail, reject, release } = this.#world.faults();
    if (random.chance(unfit_output)) return "unfit";
    if (random.chance(fail)) return "fail";
    if (random.chance(reject)) return "reject";
    return random.chance(release) ? "release" : "complete";
  }

  async #finish(plan: Plan): Promise<void> {
    const { tally, faults } = this.#world;
    tally.add("endings", plan);
    if (plan === "release") return void (await this.#say({ type: "release", ...this.#holder }));
    if (plan === "unfit" && !(await this.#unfit())) return;
    const author = { ...this.#holder, worker: this.#worker.name, life: this.#worker.life };
    const command = outcomeOf(this.#handoff, this.#holder.fence, plan === "unfit" ? "complete" : plan, author);
    const body = outcomeBody(this.#holder.fence);
    await this.#say(command, body);
    if (!this.#random.chance(faults().contradicts)) return;
    tally.add("faults", "worker contradicts itself");
    await this.#say(outcomeOf(this.#handoff, this.#holder.fence, "complete", author, " otherwise"), body);
  }

  /** Output that does not fit, again and again; true: the lease is still held. */
  async #unfit(): Promise<boolean> {
    const author = { ...this.#holder, worker: this.#worker.name, life: this.#worker.life };
    const fault = { reason: "output_unfit", message: "/summary is missing" };
    for (let time = this.#random.between(1, 5); time > 0; time -= 1) {
      const command = outcomeOf(this.#handoff, this.#holder.fence, "complete", author, ` unfit ${time}`);
      if (command.type !== "complete") return false;
      const said = await this.#say({ ...command, fault }, outcomeBody(this.#holder.fence));
      if (said !== "output_unfit") return false;
    }
    return true;
  }

  /** Says it until it is answered; "ok", the reason of the refusal, or "lost". */
  async #say(command: PublicCommand, enclosure: Enclosure = { body: null, artifacts: [] }): Promise<string> {
    const { api } = this.#world;
    const answer = await this.#worker.persist(command.type, 8, () =>
      api.perform(this.#worker.name, this.#id, command, enclosure),
    );
    return answer === null ? "lost" : (answer.refusal?.reason ?? "ok");
  }

  async #pause(duration_ms: Duration): Promise<void> {
    for (let left = duration_ms; left > 0 && !this.#over; left -= 2_000) {
      await this.#worker.sleep(Math.min(left, 2_000));
    }
  }
}
