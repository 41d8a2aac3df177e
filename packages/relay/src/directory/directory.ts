/**
 * Who is there and what they offer: agents with their keys and manifests, wholly in memory, written through to the
 * store. Answers where a handoff can go, what a worker serves, and whether input and output fit.
 */

import { type Handoff, liveLease, queueOf, type TargetFit, type Time } from "@handfast/core";
import type { Offer } from "@handfast/engine";
import {
  type Capability,
  type CostOpening,
  type Costs as CostOpenings,
  isInRange,
  type ManifestContent,
} from "@handfast/protocol";
import type { LivenessView } from "@handfast/protocol/wire";
import { type RelayLimits, limits as relayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { Content } from "../schemas/schemas.ts";
import type { AgentRecord, AgentView, ManifestRef } from "./agent.ts";
import type { AgentChange } from "./agent-change.ts";
import { AgentIndex } from "./agent-index.ts";
import type { Asker } from "./asker.ts";
import { checkCapabilities } from "./check-capabilities.ts";
import { Costs } from "./costs.ts";
import type { DirectoryOptions } from "./directory-options.ts";
import type { Sign } from "./liveness.ts";
import { ManifestHistory, type PastManifest } from "./manifest-history.ts";
import { Manifests, type Offers } from "./manifests.ts";
import { OfferedBefore } from "./offered-before.ts";
import { Presence } from "./presence.ts";
import { type Change, changedMeanwhile, commitChanges, RecordTable, withoutMemory } from "./record-table.ts";
import type { TakenRecord } from "./take-over.ts";
import { type OutputFault, otherVersion, TargetFits } from "./target-fits.ts";
import { Turns } from "./turns.ts";
import { unknownAgent } from "./unknown-agent.ts";

export type { AgentChange } from "./agent-change.ts";
export type { Asker, IsRival } from "./asker.ts";

export class Directory {
  private readonly options: DirectoryOptions;
  private readonly limits: RelayLimits;
  private readonly records: RecordTable<AgentRecord>;
  private readonly manifests: Manifests;
  private readonly index: AgentIndex;
  private readonly presence: Presence;
  private readonly costs: Costs;
  private readonly offeredBefore: OfferedBefore;
  private readonly history: ManifestHistory;
  readonly turns: Turns;
  private readonly fits: TargetFits;
  private readonly watchers: ((name: string | null) => void)[] = [];

  private constructor(options: DirectoryOptions) {
    this.options = options;
    this.limits = options.limits ?? relayLimits;
    const { namespace, records, now } = options;
    this.records = new RecordTable(namespace, "agent");
    this.manifests = new Manifests(namespace, this.limits);
    this.costs = new Costs(namespace);
    this.offeredBefore = new OfferedBefore(namespace, this.limits);
    this.turns = new Turns(records.others);
    const { limits, turns, manifests } = this;
    const { isAsking = () => false, warn = () => {}, shared } = options;
    const onReturn = (name: string) => this.index.offerings.add(name, this.capabilities(name));
    const onUnsaved = (error: unknown) => warn({ err: error }, "signs of life could not be written");
    this.presence = new Presence({ namespace, records, now, limits, turns, isAsking, onReturn, onUnsaved, shared });
    const onDropped = (agent: string, digest: string) =>
      warn({ agent, digest }, "an agent has more manifests than are kept; its oldest was dropped");
    this.history = new ManifestHistory({ namespace, records, limits, onDropped });
    this.index = new AgentIndex({ manifests, leases: this.presence.leases, limits });
    const { schemas } = options;
    const capabilityOf = (agent: string, capability: string) => this.capability(agent, capability);
    this.fits = new TargetFits({ schemas, limits, offerings: this.index.offerings, capabilityOf });
  }

  static async open(options: DirectoryOptions): Promise<Directory> {
    const directory = new Directory(options);
    await directory.load();
    return directory;
  }

  /** Reads everything from the store; again, after a commit of which nobody knows what is on disk. */
  async load(): Promise<void> {
    await this.records.load(this.options.records);
    await this.manifests.load(this.options.records);
    await this.costs.load(this.options.records);
    await this.offeredBefore.load(this.options.records);
    await this.presence.leases.load(this.options.records);
    this.history.load(Array.from(this.records.values(), ({ history }) => history));
    this.index.clear();
    for (const agent of this.records.values()) this.index.add(agent);
    this.tell(null);
  }

  /**
   * Takes over what another node made of agents and of what belongs to them, which `take` puts into the tables. Only in a turn:
   * nobody is half-way between reading and writing them.
   */
  takeOver(changes: readonly TakenRecord[], take: () => void): void {
    const before = new Map(this.index.concerned(changes).map((name) => [name, this.records.get(name)]));
    for (const agent of before.values()) if (agent !== undefined) this.index.remove(agent);
    take();
    for (const [name, old] of before) {
      const agent = this.records.get(name);
      this.history.committed(old?.history, agent?.history);
      if (old !== undefined && old.registered_at !== agent?.registered_at) this.presence.forget(name);
      if (agent !== undefined) this.index.add(agent);
      this.tell(name);
    }
  }

  /** Told of every agent whose record changed, once that is safe; null: everything was read anew. */
  watch(tell: (name: string | null) => void): void {
    this.watchers.push(tell);
  }

  private tell(name: string | null): void {
    for (const tell of this.watchers) tell(name);
  }

  // Agents

  names(): Iterable<string> {
    return Array.from(this.records.values(), ({ name }) => name);
  }

  agents(): readonly AgentView[] {
    return Array.from(this.records.values(), (agent) => this.view(agent));
  }

  agent(name: string): AgentView | undefined {
    const agent = this.records.get(name);
    return agent === undefined ? undefined : this.view(agent);
  }

  /** Keys and name only, without a copy of everything else: for every call's identity. */
  record(name: string): AgentRecord | undefined {
    return this.records.get(name);
  }

  /** The agent that this key belongs or once belonged to. */
  keyHolder(thumbprint: string): string | undefined {
    return this.index.keyHolder(thumbprint);
  }

  seen(name: string, worker: string | null, sign?: Sign): void {
    if (this.records.get(name) === undefined) return;
    this.presence.seen(name, worker, sign);
    // Whoever calls makes the others' lapses noticed, so that they are known after a restart.
    this.leaveOutLapsed();
  }

  /** The worker took its claim back, gave a lease back, or its connection is over. */
  left(name: string, worker: string): void {
    this.presence.left(name, worker);
  }

  /** Whether this worker waits for work at this moment, at any node. */
  isAsking(name: string, worker: string): boolean {
    return this.presence.isAsking(name, worker);
  }

  stop(): Promise<void> {
    return this.presence.stop();
  }

  /** Until when its registration holds without a further sign of life; 0: there is no such agent. */
  leaseUntil(name: string): Time {
    return this.presence.leases.until(name);
  }

  /** Its registration ran out: it is not found and not routed to before its next sign of life. */
  isLapsed(name: string): boolean {
    return this.presence.leases.isLapsed(name);
  }

  liveness(name: string): LivenessView {
    return this.presence.liveness(name);
  }

  // Manifests

  /** The manifest in force, as it was written. */
  manifest(name: string): ManifestContent | undefined {
    const digest = this.records.get(name)?.manifest?.digest;
    return digest === undefined ? undefined : this.manifests.get(digest);
  }

  /** What it offers, with every schema in full. */
  capabilities(name: string): readonly Capability[] {
    const agent = this.records.get(name);
    return agent === undefined ? [] : this.capabilitiesOf(agent);
  }

  /** Every manifest that was in force and is kept, newest first. */
  pastManifests(name: string, before: number, limit: number): Promise<readonly PastManifest[]> {
    const agent = this.records.get(name);
    if (agent === undefined) throw unknownAgent(name);
    return this.history.list(name, agent.history, before, limit);
  }

  manifestByDigest(digest: string): Promise<PastManifest | null> {
    return this.history.find(digest);
  }

  /**
   * What it costs, with the salt by which that can be checked against the signed manifest; null: it says nothing of it, or
   * whoever asks is a rival and must not know.
   */
  costOpening(name: string, capability: string, asker: Asker): CostOpening | null {
    return asker.name !== name && this.isRival(asker, capability) ? null : this.costs.get(name, capability);
  }

  /** Whether the asker could watch the prices of others in its own trade: it offers the same, or did of late. Null: anything. */
  isRival({ name, role }: Asker, capability: string | null): boolean {
    if (role === "operator") return false;
    const offers = this.offers(name).some((each) => capability === null || each === capability);
    return offers || this.offeredBefore.has(name, capability, this.options.now());
  }

  /** Reads, decides and writes in one turn; nothing is changed where `decide` throws. */
  change(name: string, decide: (current: AgentRecord | undefined) => AgentChange): Promise<AgentRecord> {
    return this.turns.take(async () => {
      const current = this.records.get(name);
      const { agent, offers, also } = decide(current);
      if (current === undefined) this.checkRoom();
      const now = this.options.now();
      const known = current?.manifest ?? null;
      const offered = offers === null ? null : await this.offered(name, offers, known, now);
      const ref = offered === null ? known : offered.ref;
      // A registration that says something else than the manifest in force would be a proof of nothing.
      const registration = ref?.signed === true ? agent.registration : null;
      const renewed_at = offers === null ? (current?.renewed_at ?? now) : now;
      const old = known === null ? undefined : this.manifests.get(known.digest);
      const changed = { ...agent, registration, manifest: ref, renewed_at };
      const kept = await this.history.follow(current, changed, offers, old);
      const next: AgentRecord = { ...changed, ...kept.history };
      const unindex = current === undefined ? () => {} : this.index.removing(current);
      const returning = offers === null ? [] : this.presence.leases.returning(name);
      // Read anew meanwhile, after a failed commit: what was decided on is not what would be replaced.
      if (this.options.records.others !== undefined && this.records.get(name) !== current) throw changedMeanwhile();
      const before = current === undefined ? [] : this.capabilitiesOf(current);
      const dropping = offers === null ? [] : this.offeredBefore.dropping(name, before, offers.capabilities, now);
      const changes = [this.records.set(name, next), ...(offered?.changes ?? []), ...returning, ...dropping, ...also];
      await commitChanges(this.options.records, [...changes, ...kept.writes.map(withoutMemory)]);
      this.history.committed(current?.history, next.history);
      unindex();
      this.index.add(next);
      this.tell(name);
      return next;
    });
  }

  /** `check` throws where the agent as it is then may not be changed. */
  setCapabilities(
    name: string,
    capabilities: readonly Capability[],
    signed: boolean,
    check: (current: AgentRecord) => void = () => {},
    besides: Omit<Partial<Offers>, "capabilities" | "signed"> & { readonly costs?: CostOpenings } = {},
  ): Promise<ManifestRef> {
    const changed = this.change(name, (current) => {
      if (current === undefined) throw unknownAgent(name);
      check(current);
      return { agent: current, offers: { ...besides, capabilities, signed }, also: [] };
    });
    return changed.then(({ manifest }) => {
      if (manifest === null) throw new Error(`The agent ${name} has no manifest after it was set.`);
      return manifest;
    });
  }

  /** The agent with all its manifests; its name and keys are free again. */
  forget(name: string, also: () => readonly Change[]): Promise<void> {
    return this.turns.take(async () => {
      const agent = this.records.get(name);
      if (agent === undefined) throw unknownAgent(name);
      const unindex = this.index.removing(agent);
      const past = await this.history.ending(name, agent.history);
      const parts = [...this.manifests.ending(name), ...this.costs.ending(name), ...this.presence.ending(name)];
      const dropping = this.offeredBefore.dropping(name, this.capabilitiesOf(agent), [], this.options.now());
      const changes = [this.records.delete(name), ...parts, ...dropping, ...also(), ...past.map(withoutMemory)];
      await commitChanges(this.options.records, changes);
      this.history.committed(agent.history);
      unindex();
      this.presence.forget(name);
      this.tell(name);
    });
  }

  // Routing

  fit(
    target: {
      readonly namespace: string;
      readonly to: string | null;
      readonly capability: string | null;
      readonly version_range?: string;
    },
    payload: Content,
  ): TargetFit {
    const { namespace, to, capability, version_range = null } = target;
    const here = namespace === this.options.namespace;
    if (to !== null) {
      const agent = here ? this.records.get(to) : undefined;
      const offered = agent && this.capabilitiesOf(agent);
      if (offered === undefined) return { kind: "unknown_agent" };
      return this.fits.agent(offered, capability, version_range, payload);
    }
    if (capability === null || !here) return { kind: "absent" };
    this.leaveOutLapsed();
    return this.fits.capability(capability, version_range, payload);
  }

  /** What an agent offers under this name; undefined: it does not. */
  capability(name: string, capability: string): Capability | undefined {
    const agent = this.records.get(name);
    return agent && this.capabilitiesOf(agent).find((offered) => offered.name === capability);
  }

  /** How many agents offer it. */
  offering(capability: string): number {
    return this.index.offerings.count(capability, nobody);
  }

  /**
   * Null: all that the agent offers, and what is sent to its name. A list: those capabilities; of what is sent to its name, a claim
   * takes only what is for one of them (`only`), and the rest is left to a worker that takes everything.
   */
  queues(name: string, capabilities: readonly string[] | null): Set<string> {
    const queues = (capabilities ?? this.offers(name)).map((capability) => queueOf({ to: null, capability }));
    return new Set([queueOf({ to: name, capability: null }), ...queues]);
  }

  offers(name: string): readonly string[] {
    const agent = this.records.get(name);
    return agent === undefined ? [] : this.capabilitiesOf(agent).map((capability) => capability.name);
  }

  offer(name: string): (handoff: Handoff) => Offer {
    return (handoff) => {
      const { capability: wanted, input, version_range } = handoff.accepted;
      const agent = this.records.get(name);
      const manifest = agent?.manifest ?? null;
      const anything = { manifest: manifest?.digest ?? null, attempt_ms: null, idempotent: true, since: 0 };
      if (wanted === null) return { ...anything, check: () => null };
      const capability = agent && this.capabilitiesOf(agent).find((offered) => offered.name === wanted);
      if (capability === undefined || manifest === null) {
        const error = { reason: "not_offered", message: `The agent ${name} does not offer ${wanted} any more.` };
        return { ...anything, since: Number.MAX_SAFE_INTEGER, check: () => error };
      }
      if (version_range !== undefined && !isInRange(capability.version, version_range)) {
        const error = otherVersion(name, capability, version_range);
        return { ...anything, since: Number.MAX_SAFE_INTEGER, check: () => error };
      }
      const { input_schema, timeout_seconds, idempotent = true } = capability;
      return {
        manifest: manifest.digest,
        attempt_ms: timeout_seconds === undefined ? null : timeout_seconds * 1_000,
        idempotent,
        since: input_schema === undefined ? 0 : this.checkedSince(handoff, name, manifest),
        check: ({ payload }) =>
          this.fits.fault(
            input_schema,
            { media_type: input.media_type, bytes: payload ?? new Uint8Array() },
            "input_unfit",
          ),
      };
    };
  }

  /** Agents besides `leaving` (else the one that holds the lease) that could still take it. */
  others(handoff: Handoff, leaving: string | null = liveLease(handoff)?.agent ?? null): number {
    const { to, capability, version_range } = handoff.accepted;
    const out = new Set(leaving === null ? handoff.excluded : [...handoff.excluded, leaving]);
    if (to !== null) return this.records.get(to) === undefined || out.has(to) ? 0 : 1;
    this.leaveOutLapsed();
    if (capability === null) return 0;
    if (version_range === undefined) return this.index.offerings.count(capability, out);
    return this.index.offerings
      .of(capability)
      .flatMap(({ agents }) => this.fits.byVersion(agents, capability, version_range).within)
      .filter((agent) => !out.has(agent)).length;
  }

  /** By the manifest in force when the lease was given, and by the schema that the sender expects. */
  checkOutput(
    handoff: Handoff,
    name: string,
    expected: Capability["output_schema"],
    payload: Content,
  ): OutputFault | null {
    const { capability: wanted } = handoff.accepted;
    const agent = this.records.get(name);
    const leased = liveLease(handoff)?.manifest ?? null;
    const is_kept = leased !== null && this.manifests.get(leased)?.agent_id === name;
    const capabilities = is_kept ? this.manifests.capabilities(leased) : agent && this.capabilitiesOf(agent);
    const offered = capabilities?.find((capability) => capability.name === wanted);
    const own = this.fits.fault(offered?.output_schema, payload, "output_unfit");
    const error = own ?? this.fits.fault(expected, payload, "output_unfit");
    return error === null ? null : { error, beyond_offer: own === null };
  }

  /** Until when an accepted handoff may not have been judged by this manifest. */
  private checkedSince(handoff: Handoff, name: string, manifest: ManifestRef): Time {
    const crowded = handoff.excluded.length >= this.limits.agents_excluded_per_submit;
    if (crowded) return Number.MAX_SAFE_INTEGER;
    return Math.max(manifest.since, this.presence.leases.returnedAt(name)) + this.limits.manifest_settle_ms;
  }

  /** What it says it offers, and what opens its costs, checked; and the changes that make it so. */
  private async offered(
    name: string,
    offers: NonNullable<AgentChange["offers"]>,
    known: ManifestRef | null,
    now: Time,
  ): Promise<{ readonly ref: ManifestRef; readonly changes: readonly Change[] }> {
    await checkCapabilities(offers.capabilities, this.options.schemas, this.limits);
    const { ref, changes } = this.manifests.next(name, offers, known, now);
    return { ref, changes: [...changes, ...this.costs.next(name, offers.capabilities, offers.costs ?? {})] };
  }

  private capabilitiesOf({ manifest }: AgentRecord): readonly Capability[] {
    return manifest === null ? [] : this.manifests.capabilities(manifest.digest);
  }

  /** Time decides, not a timer: whoever asks what is offered first has those left out whose lease ran out. */
  private leaveOutLapsed(): void {
    for (const name of this.presence.lapse()) this.index.offerings.remove(name, this.capabilities(name));
  }

  private view(agent: AgentRecord): AgentView {
    const { capabilities = [], discovery_endpoint = null } = this.manifest(agent.name) ?? {};
    return { ...agent, capabilities, discovery_endpoint, ...this.presence.of(agent.name) };
  }

  private checkRoom(): void {
    if (this.records.size < this.limits.agents) return;
    const message = `The relay knows ${this.records.size} agents, which is all it takes. An operator must forget some.`;
    throw new Problem(507, "directory_full", message);
  }
}

const nobody: ReadonlySet<string> = new Set();
