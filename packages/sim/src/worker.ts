/** A worker: one process of an agent, with some slots. It claims, works, and fails in every way that workers do. */

import { type Duration, type Handoff, type Lease, liveLease } from "@handfast/core";
import type { PublicCommand } from "@handfast/engine";
import { type Agent, desk } from "./directory.ts";
import { Process } from "./process.ts";
import { Random } from "./random.ts";
import type { World } from "./world.ts";

type Ending = "complete" | "unfit" | "fail" | "reject" | "release";

export class Worker extends Process {
  readonly #world: World;
  readonly #agent: Agent;
  readonly #random: Random;
  readonly #onCrash: () => void;
  readonly name: string;
  readonly #life: string;
  readonly #slots: number;
  readonly #busy = new Set<string>();
  #requests = 0;
  #freed: (() => void) | null = null;

  constructor(world: World, agent: Agent, name: string, life: string, onCrash: () => void) {
    const random = world.random.fork();
    super(world.timeline, random);
    this.#world = world;
    this.#agent = agent;
    this.#random = random;
    this.#onCrash = onCrash;
    this.name = name;
    this.#life = life;
    this.#slots = random.between(1, 4);
  }

  override crash(): void {
    if (!this.alive) return;
    super.crash();
    this.#world.tally.add("faults", "worker crash");
    this.#onCrash();
  }

  async run(): Promise<void> {
    for (;;) {
      const slots = this.#slots - this.#busy.size;
      if (slots <= 0) {
        await this.own(
          new Promise<void>((resolve) => {
            this.#freed = resolve;
          }),
        );
        continue;
      }
      for (const handoff of await this.#claim(slots)) void this.#hold(handoff);
    }
  }

  /** The same request until it is answered; now and then the worker forgets which one it was. */
  async #claim(slots: number): Promise<readonly Handoff[]> {
    const { directory, api } = this.#world;
    this.#requests += 1;
    const agent = this.#agent.name;
    const claim = {
      namespace: "default",
      agent,
      worker: this.name,
      queues: directory.queues(this.#agent),
      slots,
      request_id: `${this.#life}-${this.#requests}`,
      wait_ms: this.#random.chance(0.1) ? 0 : this.#random.between(1_000, 20_000),
      offer: () => directory.offer(agent),
    };
    const times = this.#random.chance(0.1) ? 1 : 20;
    const leases = await this.persist(times, () => api.claim(claim));
    if (claim.wait_ms === 0) await this.sleep(200);
    return leases ?? [];
  }

  async #hold(handoff: Handoff): Promise<void> {
    const lease = liveLease(handoff);
    if (lease === null) return;
    const name = `${handoff.accepted.id} ${lease.fence}`;
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    await this.#work(handoff, lease);
    this.#busy.delete(name);
    this.#freed?.();
  }

  async #work(handoff: Handoff, lease: Lease): Promise<void> {
    const { faults, timeline, tally } = this.#world;
    const { terms, kind } = handoff.accepted;
    const random = this.#random;
    const rates = faults();
    const work_ms = this.#world.workTime();
    if (random.chance(rates.worker_crash)) timeline.schedule(random.skewed(0, 2 * work_ms + 500), () => this.crash());
    if (random.chance(rates.never_ack)) {
      tally.add("faults", "worker never acks");
      return this.sleep(random.between(1_000, 15_000));
    }
    await this.sleep(random.skewed(0, Math.min(work_ms, 1_000)));
    if (kind === "notice" || random.chance(0.8)) {
      const acked = await this.#say(handoff, { type: "ack", evidence: "attested", ...this.#holder(lease) });
      if (acked !== "ok" || kind === "notice") return;
    }
    if (random.chance(rates.hang)) {
      tally.add("faults", "worker hangs");
      await this.sleep(terms.lease_ms * random.between(1, 3));
      if (!random.chance(rates.late_outcome + 0.2)) return;
      tally.add("faults", "late outcome");
      return this.#finish(handoff, lease, "complete");
    }
    const task = { over: false, waiting: false };
    void this.#beat(handoff, lease, task);
    if (random.chance(rates.beat_but_hang)) {
      tally.add("faults", "worker beats but hangs");
      const longest = terms.attempt_ms ?? this.#agent.attempt_ms ?? 60_000;
      await this.#pause(task, longest * 2);
    }
    await this.#middle(handoff, lease, task, work_ms);
    if (task.over && !random.chance(rates.late_outcome)) return;
    task.over = true;
    await this.#finish(handoff, lease, this.#ending());
  }

  /** Beats until the task is over, or the relay says that it is. */
  async #beat(handoff: Handoff, lease: Lease, task: { over: boolean; waiting: boolean }): Promise<void> {
    while (!task.over) {
      await this.sleep(handoff.accepted.terms.lease_ms / 3);
      if (task.over) return;
      const progress = { fraction: this.#random.next(), note: null };
      const reply = await this.own(
        this.#world.api.perform(handoff.accepted.id, { type: "beat", progress, ...this.#holder(lease) }),
      );
      if (reply.kind !== "answer") continue;
      if (reply.value.refusal !== null) task.over = true;
      task.waiting = reply.value.handoff?.status.state === "waiting";
    }
  }

  /** What happens between ack and outcome: work, checkpoints, children, questions. */
  async #middle(
    handoff: Handoff,
    lease: Lease,
    task: { over: boolean; waiting: boolean },
    work_ms: Duration,
  ): Promise<void> {
    const random = this.#random;
    const { healed, faults } = this.#world;
    await this.#pause(task, work_ms / 2);
    if (task.over) return;
    if (random.chance(0.1)) {
      const state = { media_type: "text/plain", size: 1, salt: "", sha256: `state-${lease.fence}` };
      const body = {
        kind: "checkpoint",
        document: null,
        proof: null,
        payload: Uint8Array.of(lease.fence % 256),
      } as const;
      await this.#say(handoff, { type: "checkpoint", state, ...this.#holder(lease) }, body);
    }
    if (!healed() && random.chance(0.15)) await this.#handOn(handoff, lease);
    if (random.chance(faults().ask)) await this.#ask(handoff, lease, task);
    await this.#pause(task, work_ms / 2);
  }

  /** Children of this handoff, under the fence it is held by, or, by mistake, under one that is over. */
  async #handOn(handoff: Handoff, lease: Lease): Promise<void> {
    const { api, drafts, faults, watch, tally } = this.#world;
    const from = this.#agent.name;
    const stale = this.#random.chance(faults().stale_child);
    if (stale) tally.add("faults", "child under a stale fence");
    const parent = { id: handoff.accepted.id, fence: stale ? lease.fence - 1 : lease.fence };
    const submissions = Array.from({ length: this.#random.between(1, 3) }, () =>
      drafts.make({ from, key: drafts.key(from), parent, redrive_of: null, plain: false }),
    );
    let first = true;
    const answer = await this.persist(4, () => {
      const again = first ? submissions : submissions.map((submission) => drafts.retry(submission));
      first = false;
      return api.submit(again, !stale);
    });
    if (answer?.ok === true) for (const { id } of answer.submitted) watch(from, id);
  }

  async #ask(handoff: Handoff, lease: Lease, task: { over: boolean; waiting: boolean }): Promise<void> {
    const random = this.#random;
    const park = random.chance(0.5);
    const command = {
      type: "ask",
      question: `question-${handoff.accepted.id}-${lease.fence}`,
      to: random.chance(0.3) ? desk : null,
      answer_ms: random.chance(0.3) ? null : random.between(1_000, 30_000),
      park,
      ...this.#holder(lease),
    } as const;
    const body = { kind: "question", document: '{"typ":"question"}', proof: null, payload: null } as const;
    const asked = await this.#say(handoff, command, body);
    if (asked !== "ok" || park) {
      task.over = true;
      return;
    }
    task.waiting = true;
    while (task.waiting && !task.over) await this.sleep(500);
  }

  #ending(): Ending {
    const random = this.#random;
    const { unfit_output, fail, reject, release } = this.#world.faults();
    if (random.chance(unfit_output)) return "unfit";
    if (random.chance(fail)) return "fail";
    if (random.chance(reject)) return "reject";
    return random.chance(release) ? "release" : "complete";
  }

  async #finish(handoff: Handoff, lease: Lease, ending: Ending): Promise<void> {
    const { tally, faults } = this.#world;
    const random = this.#random;
    tally.add("endings", ending);
    if (ending === "release") {
      await this.#say(handoff, { type: "release", ...this.#holder(lease) });
      return;
    }
    if (ending === "unfit") {
      const fault = { reason: "output_unfit", message: "/summary is missing" };
      for (let times = random.between(1, 4); times > 0; times -= 1) {
        const command = this.#outcome(handoff, lease, "complete", "unfit");
        if (command.type !== "complete") return;
        const said = await this.#say(handoff, { ...command, fault });
        if (said !== "output_unfit") return;
      }
    }
    const command = this.#outcome(handoff, lease, ending === "unfit" ? "complete" : ending, "");
    const [first, second] = random.chance(faults().contradicts)
      ? [command, this.#outcome(handoff, lease, "complete", "contradiction")]
      : [command, null];
    const body = { kind: "outcome", document: `{"typ":"outcome"}`, proof: null, payload: Uint8Array.of(7) } as const;
    await this.#say(handoff, first, body);
    if (second === null) return;
    tally.add("faults", "worker contradicts itself");
    await this.#say(handoff, second, body);
  }

  /** Equal in every repetition: a repeat of the same fence says the same. */
  #outcome(handoff: Handoff, lease: Lease, ending: "complete" | "fail" | "reject", variant: string) {
    const { id } = handoff.accepted;
    const random = new Random(lease.fence * 7_919 + id.length);
    const output = { media_type: "text/plain", size: 1, salt: "", sha256: `output-${id}-${lease.fence}` };
    const error = { reason: "did_not_work", message: "the model gave up" };
    const result = {
      ...this.#holder(lease),
      worker: this.name,
      content: `${ending}${variant} of ${id} under ${lease.fence} by ${this.#life}`,
      evidence: "attested",
      usage: random.chance(0.5) ? { cost: 1, tokens: 100 } : null,
      artifacts: [],
    } as const;
    if (ending === "complete") return { type: "complete", output, fault: null, ...result } as const;
    if (ending === "reject") return { type: "reject", error, ...result } as const;
    const retryable = this.#random.chance(0.8);
    const retry_after_ms = this.#random.chance(0.2) ? this.#random.between(100, 5_000) : null;
    return { type: "fail", error, output: null, retryable, retry_after_ms, ...result } as const;
  }

  /** Says it until it is answered; "ok", the reason of the refusal, or "lost". */
  async #say(
    handoff: Handoff,
    command: PublicCommand,
    body: {
      kind: "outcome" | "checkpoint" | "question";
      document: string | null;
      proof: null;
      payload: Uint8Array | null;
    } | null = null,
  ): Promise<string> {
    const answer = await this.persist(8, () =>
      this.#world.api.perform(handoff.accepted.id, command, { body, artifacts: [] }),
    );
    return answer === null ? "lost" : (answer.refusal?.reason ?? "ok");
  }

  #holder(lease: Lease) {
    return { agent: this.#agent.name, fence: lease.fence };
  }

  async #pause(task: { readonly over: boolean }, duration_ms: Duration): Promise<void> {
    for (let left = duration_ms; left > 0 && !task.over; left -= 2_000) await this.sleep(Math.min(left, 2_000));
  }
}
