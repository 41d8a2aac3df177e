/**
 * The engine: gathers what is asked while a commit is in flight, decides it in one bounded batch, commits it in one
 * transaction, and only then answers, wakes and remembers.
 *
 * A failed commit is unknown: everyone in it gets a fault, memory is thrown away, and the store is read anew.
 */

import { type CoreLimits, coreLimits, type Handoff, hasEnded, liveLease, type Time, wakeAt } from "@handfast/core";
import { makeId } from "@handfast/protocol";
import { AskerWork } from "./asker-work.ts";
import { Batch } from "./batch.ts";
import { bodyBytes } from "./body-cache.ts";
import { ChunkBuffers, type ChunkStreams } from "./chunks.ts";
import { Claims } from "./claims.ts";
import { Clock } from "./clock.ts";
import { ClockMark } from "./clock-mark.ts";
import { Commits } from "./commits.ts";
import { DiskRoom } from "./disk-room.ts";
import { Dispatch } from "./dispatch.ts";
import { commitUnknown, EngineFault, isAway, stopped, storeAway, unlessConflict } from "./fault.ts";
import { FollowRecords } from "./follow-records.ts";
import { decideBy, goOn, type Holder, type Job, type JobClass, JobQueue, lookAtStore, type Planned } from "./jobs.ts";
import { type EngineLimits, engineLimits } from "./limits.ts";
import { LiveLeases } from "./live-leases.ts";
import { Memory } from "./memory.ts";
import { News } from "./news.ts";
import type { EngineOptions } from "./options.ts";
import { OtherNodes } from "./other-nodes.ts";
import { type Plan, planCommand, planDue, planEntries, planRecords, planRedrive, planSubmit } from "./plan.ts";
import { Poison } from "./poison.ts";
import { readHeld } from "./read-held.ts";
import { planned } from "./reading.ts";
import type {
  Answer,
  Claim,
  Enclosure,
  HandoffEngine,
  PublicCommand,
  RedriveAnswer,
  Submission,
  SubmitAnswer,
} from "./requests.ts";
import { Router } from "./router.ts";
import { Served } from "./served.ts";
import { SharedChunks } from "./shared-chunks.ts";
import type { Body, LogEntry, RecordWrite, Sharing, Store } from "./store.ts";
import { tellEvents, tellFollowed } from "./tell-events.ts";
import { Pulse, Timers } from "./timers.ts";
import { turnAway } from "./turn-away.ts";
import { Upkeep } from "./upkeep.ts";
import { Wakeups, wakeKey } from "./wakeups.ts";
import { Workers } from "./workers.ts";

type EngineState = "starting" | "running" | "recovering" | "stopping" | "stopped" | "failed";

export class Engine implements HandoffEngine {
  readonly wakeups: Wakeups;
  readonly chunks: ChunkStreams;
  /** Null: nobody else writes records, or nobody here keeps them. */
  readonly otherRecords: FollowRecords | null;
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #limits: EngineLimits;
  readonly #coreLimits: CoreLimits;
  readonly #memory: Memory;
  readonly #mark: ClockMark;
  readonly #clock: Clock;
  readonly #commits: Commits;
  readonly #jobs: JobQueue;
  readonly #room: DiskRoom;
  readonly #upkeep: Upkeep;
  readonly #workers: Workers;
  readonly #claims: Claims;
  readonly #dispatch: Dispatch;
  readonly #leases = new LiveLeases();
  readonly #askerWork = new AskerWork(() => this.#others?.seen_until ?? this.now());
  readonly #served: Served;
  readonly #timers: Timers;
  readonly #pulse: Pulse;
  readonly #news: News;
  /** Null: nobody else writes to the store. */
  readonly #others: OtherNodes | null;
  readonly #whenIdle: (() => void)[] = [];
  #state: EngineState = "starting";
  #running = false;
  #isStopping = false;
  /** What the store last failed with; null: it was recovered since. */
  #trouble: string | null = null;

  constructor(options: EngineOptions) {
    const { store, surroundings } = options;
    this.#options = options;
    this.#store = store;
    this.#mark = new ClockMark(store);
    this.#clock = new Clock(surroundings, store.sharing);
    this.#limits = { ...engineLimits, ...options.limits };
    this.#coreLimits = { ...coreLimits, ...options.coreLimits };
    this.wakeups = new Wakeups(surroundings);
    const { sharing } = store;
    this.chunks = sharing ? new SharedChunks(sharing, this.#limits) : new ChunkBuffers(this.#limits);
    this.#jobs = new JobQueue(this.#limits);
    this.#room = new DiskRoom(this.#limits);
    this.#upkeep = new Upkeep({ store, room: this.#room, jobs: this.#jobs, limits: this.#limits, clock: this.#clock });
    const isLeased = (namespace: string, id: string) => this.#memory.cache.isLeased(namespace, id);
    this.#workers = new Workers(this.#limits, isLeased, options.onWorkerLeft);
    const held = sharing === undefined ? null : (holder: Holder) => readHeld(store, holder, true);
    this.#claims = new Claims(this.#workers, surroundings, () => this.now(), held, options.onClaim);
    const poison = new Poison();
    this.#served = new Served(store, this.#limits.remembered_ties);
    const { standing, onBug } = options;
    const routed = { leases: this.#leases, served: this.#served, limits: this.#coreLimits };
    const router = standing === undefined ? null : new Router({ ...routed, standing, random: surroundings.random });
    this.#dispatch = new Dispatch({ store, workers: this.#workers, limits: this.#limits, poison, router, onBug });
    this.#memory = new Memory(this.#limits, this.wakeups, {
      onChange: (handoff, isDelivery) => {
        this.#leases.note(handoff);
        if (isDelivery) this.#served.delivered(handoff);
      },
      onReady: (namespace, queue) => this.#workers.groups.arrived(namespace, queue),
      onWake: (at) => this.#timers.notice(at),
      onTold: (events, next) => this.#news.told(events, next),
    });
    this.#pulse = new Pulse(surroundings, () => this.now(), this.#limits);
    const newId = () => makeId(this.now(), surroundings.randomBytes(10));
    this.#timers = new Timers({
      surroundings,
      now: () => this.now(),
      nextDue: () => store.nextDue(),
      planDue: (batch, settled) => planDue(batch, this.#limits, newId, poison, settled, (bug) => onBug?.(bug)),
      enqueue: (job) => this.#enqueue(job),
    });
    this.otherRecords = FollowRecords.of(sharing, options.records, this.#limits.follow_records);
    const here = { clock: this.#clock, workers: this.#workers, leases: this.#leases, served: this.#served };
    const followed = { timers: this.#timers, records: this.otherRecords, goOn: () => this.#enqueue(goOn) };
    this.#news = new News({ store, surroundings, stays_ms: this.#coreLimits.stays_ms, ...here, ...followed });
    this.#others = sharing === undefined ? null : this.#follow(sharing);
    const isAskedFor = (namespace: string, queue: string, now: Time) =>
      this.#workers.groups.isAskedFor(namespace, queue, now, this.#coreLimits);
    const told = { others: this.#others, onCommit: options.onCommit };
    this.#commits = new Commits({ store, mark: this.#mark, isAskedFor, ...told });
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Reads what must be known before the first command: the time of the log, open handoffs, the next timer. */
  async start(): Promise<void> {
    this.#clock.goOnAfter(Math.max(await this.#store.latest(), await this.#mark.read()));
    await this.#clock.set();
    await this.#others?.begin();
    await this.#readFigures();
    if (this.#others !== null) await this.#options.reread?.(this.#pulse.resumed_at);
    this.#others?.follow();
    this.#state = "running";
    this.#pulse.start(() => {
      this.#timers.setAnew();
      this.#keepUp();
    });
    await this.#timers.start();
  }

  #follow(sharing: Sharing): OtherNodes {
    const { store, surroundings } = this.#options;
    return new OtherNodes({
      ...{ sharing, store, surroundings, memory: this.#memory, limits: this.#limits },
      now: () => this.now(),
      concerns: (events) => this.#news.concerns(events),
      tell: (met) => tellFollowed(met, this.#options, this.#askerWork),
      onText: (namespace, id) => this.wakeups.publish([wakeKey.handoff(namespace, id)]),
      onLook: (look) => this.#news.looked(look),
      // The next batch finds out, and has the store recovered, whether or not anybody asks for anything.
      onFault: () => this.#enqueue(lookAtStore),
    });
  }

  now(): Time {
    return this.#clock.now();
  }

  /** Whether this worker waits for work at this moment. */
  isAsking = (namespace: string, agent: string, worker: string) => this.#workers.isAsking({ namespace, agent, worker });

  stats() {
    return {
      state: this.#state,
      pending_jobs: this.#jobs.size,
      pending_bytes: this.#jobs.bytes,
      waiting_claims: this.#workers.waiting.size,
      waiters: this.wakeups.size,
      open_handoffs: this.#memory.open,
      free_bytes: this.#room.free_bytes,
      trouble: this.#trouble,
    };
  }

  submit(submissions: readonly Submission[]): Promise<SubmitAnswer> {
    const bytes = submissions.reduce((sum, { body }) => sum + bodyBytes(body), 0);
    return this.#ask("submit", bytes, submissions, (batch) => planSubmit(batch, submissions));
  }

  perform(namespace: string, id: string, command: PublicCommand, enclosure?: Enclosure): Promise<Answer> {
    const bytes = enclosure?.body ? bodyBytes(enclosure.body) : 0;
    return this.#ask("urgent", bytes, [{ namespace, id }], (batch) => {
      const plan = planCommand(batch, namespace, id, command, enclosure);
      const lease = plan.answer.handoff === null ? null : liveLease(plan.answer.handoff);
      if (lease !== null) this.#workers.seen({ namespace, agent: lease.agent, worker: lease.worker }, null, batch.now);
      return plan;
    });
  }

  redrive(
    namespace: string,
    id: string,
    actor: Parameters<HandoffEngine["redrive"]>[2],
    submission: Submission,
  ): Promise<RedriveAnswer> {
    const bytes = bodyBytes(submission.body);
    return this.#ask("submit", bytes, [{ namespace, id }, submission], (batch) =>
      planRedrive(batch, namespace, id, actor, submission),
    );
  }

  putRecords(records: readonly RecordWrite[]): Promise<boolean> {
    return unlessConflict(this.#ask("urgent", 0, [], (batch) => planRecords(batch, records)));
  }

  note(entries: readonly Omit<LogEntry, "at">[], records: readonly RecordWrite[] = []): Promise<boolean> {
    const { length } = JSON.stringify(entries);
    return unlessConflict(this.#ask("submit", length, [], (batch) => planEntries(batch, entries, records)));
  }

  claim(claim: Claim): Promise<readonly Handoff[]> {
    return this.#claims.wait(claim, (job) => this.#enqueue(job));
  }

  requeue(namespace: string, agent: string | null): void {
    if (this.#workers.requeue(namespace, agent, this.now())) this.#enqueue(goOn);
  }

  async undelivered(
    namespace: string,
    leases: readonly { readonly id: string; readonly fence: number; readonly agent: string }[],
  ): Promise<void> {
    const lost = leases.filter(({ id, fence }) => !this.#workers.wasToldAgain(namespace, id, fence));
    await Promise.all(lost.map(({ id, ...held }) => this.perform(namespace, id, { type: "release", ...held })));
  }

  peek(namespace: string, id: string, asked_at: Time): Handoff | undefined {
    const known = this.remembered(namespace, id);
    if (known === undefined || this.#others === null) return known;
    return hasEnded(known.status) && known.status.ended_at > asked_at ? known : undefined;
  }

  remembered(namespace: string, id: string): Handoff | undefined {
    const handoff = this.#memory.cache.get(namespace, id);
    return handoff !== undefined && this.#isSettled(handoff) ? handoff : undefined;
  }

  /** No clock of it has run out; or nobody is there to settle it. */
  #isSettled(handoff: Handoff): boolean {
    if (hasEnded(handoff.status) || this.#state !== "running") return true;
    const now = this.now();
    const wake_at = wakeAt(handoff, { limits: this.#coreLimits, resumed_at: this.#pulse.resumed_at }, now);
    return wake_at === null || wake_at > now;
  }

  async get(namespace: string, id: string): Promise<Handoff | null> {
    const cached = this.#others === null ? this.#memory.cache.get(namespace, id) : undefined;
    const handoff = cached ?? (await this.#store.load(namespace, [id]))[0] ?? null;
    if (handoff === null || this.#isSettled(handoff)) return handoff;
    const settled = await this.#ask("urgent", 0, [{ namespace, id }], (batch) =>
      planCommand(batch, namespace, id, { type: "tick" }),
    );
    return settled.handoff;
  }

  async body(namespace: string, id: string, kind: Body["kind"], number: number): Promise<Body | null> {
    return (
      this.#memory.bodies.get(namespace, id, kind, number) ?? (await this.#store.body(namespace, id, kind, number))
    );
  }

  /** Finishes what was asked, gives waiting claims an empty answer, and leaves every lease as it is. */
  async stop(): Promise<void> {
    if (this.#state === "stopped" || this.#state === "failed") return;
    this.#isStopping = true;
    this.#state = "stopping";
    this.#pulse.stop();
    this.#timers.stop();
    this.#others?.stop();
    this.#claims.endWaits();
    if (this.#running) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    this.#claims.endWaits();
    this.#timers.stop();
    if (this.state !== "failed") this.#state = "stopped";
  }

  #ask<T>(jobClass: JobClass, bytes: number, wants: Job["wants"], plan: (batch: Batch) => Plan<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ class: jobClass, bytes, wants, decide: decideBy(plan, resolve), fail: reject });
    });
  }

  #enqueue(job: Job): void {
    const isOpen = !this.#isStopping && (this.#state === "running" || this.#state === "recovering");
    const no = isOpen ? turnAway(job, this.#jobs, this.#room, this.#memory.open) : stopped();
    if (no !== null) return job.fail(no);
    this.#room.asked(job.bytes);
    this.#jobs.add(job);
    if (this.#running) return;
    this.#running = true;
    this.#options.surroundings.defer(() => void this.#loop());
  }

  /** One batch at a time; what comes meanwhile gathers for the next. */
  async #loop(): Promise<void> {
    while (this.#jobs.size > 0 && this.#state !== "failed") {
      await this.#turn();
      // Sockets and timers get their turn between two batches; what they bring joins the next one.
      await new Promise<void>((resolve) => this.#options.surroundings.defer(resolve));
    }
    this.#running = false;
    for (const idle of this.#whenIdle.splice(0)) idle();
  }

  async #turn(): Promise<void> {
    this.#pulse.notice();
    const jobs = this.#jobs.take();
    const { cache, bodies } = this.#memory;
    const { others, surroundings } = this.#options;
    const { resumed_at } = this.#pulse;
    const openOf = (namespace: string, from: string) => this.#memory.openOf(namespace, from);
    const askerWork = (handoff: Handoff, now: Time) => this.#askerWork.during(handoff, now);
    const known = { cache, bodies, limits: this.#coreLimits, resumed_at, others, openOf, askerWork };
    const batch = new Batch({ store: this.#store, random: surroundings.random, ...known }, this.now());
    try {
      // What was decided before and met a conflict is decided on what is there.
      const { first, again } = this.#jobs.wants(jobs);
      await Promise.all([batch.prefetch(first, true), batch.prefetch(again)]);
      const plans = new Map<Job, Planned>();
      for (const job of jobs) await this.#planOne(batch, job, plans);
      const { served, more, held } = await this.#dispatch.run(batch);
      const began = this.now();
      await this.#commits.commit(batch, batch.now + this.#limits.dedupe_window_ms);
      // Nobody was heard while it took: that silence was not theirs.
      if (this.now() - began >= this.#limits.stall_ms) this.#pulse.resume();
      this.#memory.remember(batch.units);
      this.#others?.settled();
      if (this.#others === null) tellEvents(batch.units, resumed_at, this.#options, this.#askerWork);
      this.#claims.handOver(served);
      this.#answer(plans);
      if (more) this.#jobs.add(goOn);
      if (held) this.#timers.notice(batch.now + this.#limits.held_again_ms);
    } catch (error) {
      await this.#recover(error, jobs);
    }
  }

  /** One bad command never fails its batch. */
  async #planOne(batch: Batch, job: Job, plans: Map<Job, Planned>): Promise<void> {
    try {
      batch.takeRelied();
      const plan = await planned(() => job.decide(batch));
      const relied = batch.takeRelied();
      plans.set(job, relied.length === 0 ? plan : { ...plan, units: [...plan.units, ...relied] });
    } catch (error) {
      // A store that failed on its own rejects everything until it is recovered: then this was no mistake of the job.
      await this.#store.load("", []);
      this.#options.onBug?.(error);
      job.fail(new EngineFault(500, "internal", "the relay made a mistake; it was logged"));
    }
  }

  #answer(plans: ReadonlyMap<Job, Planned>): void {
    const again: Job[] = [];
    for (const [job, { units, answer }] of plans) {
      if (units.every(({ result }) => result !== "conflict")) answer();
      else if (this.#jobs.mayRetry(job)) again.push(job);
      else job.fail(new EngineFault(500, "conflict", "what this call was about kept changing; try again"));
    }
    this.#jobs.again(again);
  }

  /** A commit failed: nobody knows what is on disk. Tell them so, forget everything, and read the truth. */
  async #recover(error: unknown, jobs: readonly Job[]): Promise<void> {
    this.#state = "recovering";
    this.#trouble = error instanceof Error ? error.message : String(error);
    this.#timers.stop();
    this.#others?.stop();
    const fault = commitUnknown();
    this.#claims.failGiven(fault);
    for (const job of jobs) job.fail(fault);
    try {
      while (!(await this.#readAnew()));
      if (!this.#isStopping) this.#others?.follow();
      this.#state = this.#isStopping ? "stopping" : "running";
      if (!this.#isStopping) await this.#timers.start();
      this.#jobs.add(goOn); // Whoever waits may have been left for the next batch by the one that failed.
      this.#trouble = null;
      this.#options.onRecovery?.(error, true);
    } catch (cause) {
      this.#state = "failed";
      for (const job of this.#jobs.drain()) job.fail(fault);
      this.#claims.failAll(fault);
      this.#options.onRecovery?.(cause, false);
    }
  }

  /** False: the store is away for now. Whoever asked meanwhile is told so, rather than kept waiting for as long as that lasts. */
  async #readAnew(): Promise<boolean> {
    try {
      await this.#store.recover();
      await this.#mark.read();
      await this.#clock.set();
      await this.#others?.begin();
      for (const remembered of [this.#memory, this.#workers, this.#served]) remembered.forget();
      this.#pulse.resume();
      await this.#readFigures();
      await this.#options.reread?.(this.#pulse.resumed_at);
      return true;
    } catch (error) {
      if (this.#isStopping || !isAway(error)) throw error;
      this.#trouble = error.message;
      for (const job of this.#jobs.drain()) job.fail(storeAway());
      return false;
    }
  }

  #keepUp(): void {
    if (this.#state !== "running") return;
    this.#upkeep.run().catch((error: unknown) => {
      this.#options.onBug?.(error);
      // Was it the store, then the next batch finds out, and has it recovered, whether or not anybody asks for anything.
      this.#enqueue(lookAtStore);
    });
  }

  async #readFigures(): Promise<void> {
    await this.#upkeep.lookAtDisk();
    this.#memory.countOpen(await this.#store.openBySender());
    const leases = await this.#store.leases();
    this.#askerWork.load(leases);
    if (this.#options.standing !== undefined) this.#leases.load(leases);
  }
}
