/**
 * Who is there and what they offer: agents with their keys and manifests, wholly in memory, written through to the
 * store. Answers where a handoff can go, what a worker serves, and whether input and output fit.
 */

import { type Handoff, type HandoffError, liveLease, queueOf, type TargetFit, type Time } from "@handfast/core";
import type { Offer } from "@handfast/engine";
import type { Capability } from "@handfast/protocol";
import { type RelayLimits, limits as relayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { Meter } from "../schemas/meter.ts";
import type { Content, ParsedContent, Schemas, Unfit } from "../schemas/schemas.ts";
import type { AgentRecord, AgentView, ManifestRef } from "./agent.ts";
import { checkCapabilities } from "./check-capabilities.ts";
import { Liveness } from "./liveness.ts";
import { Manifests } from "./manifests.ts";
import { Offerings } from "./offerings.ts";
import { type Change, commitChanges, RecordTable } from "./record-table.ts";
import type { Records } from "./records.ts";
import { Turns } from "./turns.ts";

export interface DirectoryOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly schemas: Schemas;
  readonly now: () => Time;
  readonly limits?: RelayLimits;
}

/** What becomes of an agent in one commit. */
export interface AgentChange {
  readonly agent: Omit<AgentRecord, "manifest">;
  /** Null: it offers what it offered before. */
  readonly offers: { readonly capabilities: readonly Capability[]; readonly signed: boolean } | null;
  /** Other records to be written with it. */
  readonly also: readonly Change[];
}

export class Directory {
  private readonly options: DirectoryOptions;
  private readonly limits: RelayLimits;
  private readonly records: RecordTable<AgentRecord>;
  private readonly manifests: Manifests;
  private readonly offerings = new Offerings();
  private readonly keys = new Map<string, string>();
  private readonly liveness: Liveness;
  private readonly turns = new Turns();

  private constructor(options: DirectoryOptions) {
    this.options = options;
    this.limits = options.limits ?? relayLimits;
    this.records = new RecordTable(options.namespace, "agent");
    this.manifests = new Manifests(options.namespace, this.limits);
    this.liveness = new Liveness(this.limits.workers_per_agent);
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
    this.offerings.clear();
    this.keys.clear();
    for (const agent of this.records.values()) this.index(agent);
  }

  // Agents

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
    return this.keys.get(thumbprint);
  }

  seen(name: string, worker: string | null): void {
    if (this.records.get(name) !== undefined) this.liveness.seen(name, worker, this.options.now());
  }

  /** Reads, decides and writes in one turn; nothing is changed where `decide` throws. */
  change(name: string, decide: (current: AgentRecord | undefined) => AgentChange): Promise<AgentRecord> {
    return this.turns.take(async () => {
      const current = this.records.get(name);
      const { agent, offers, also } = decide(current);
      if (current === undefined) this.checkRoom();
      if (offers !== null) await checkCapabilities(offers.capabilities, this.options.schemas, this.limits);
      const known = current?.manifest ?? null;
      const manifest = offers === null ? null : this.manifests.next(name, offers, known, this.options.now());
      const ref = manifest === null ? known : manifest.ref;
      // A registration that says something else than the manifest in force would be a proof of nothing.
      const registration = ref?.signed === true ? agent.registration : null;
      const next: AgentRecord = { ...agent, registration, manifest: ref };
      const before = current === undefined ? [] : this.capabilitiesOf(current);
      const changes = [this.records.set(name, next), ...(manifest?.changes ?? []), ...also];
      await commitChanges(this.options.records, changes);
      this.offerings.remove(name, before);
      for (const { thumbprint } of current?.keys ?? []) this.keys.delete(thumbprint);
      this.index(next);
      return next;
    });
  }

  /** `check` throws where the agent as it is then may not be changed. */
  setCapabilities(
    name: string,
    capabilities: readonly Capability[],
    signed: boolean,
    check: (current: AgentRecord) => void = () => {},
  ): Promise<ManifestRef> {
    const changed = this.change(name, (current) => {
      if (current === undefined) throw unknownAgent(name);
      check(current);
      return { agent: current, offers: { capabilities, signed }, also: [] };
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
      const capabilities = this.capabilitiesOf(agent);
      const changes = [this.records.delete(name), ...this.manifests.ending(name), ...also()];
      await commitChanges(this.options.records, changes);
      this.offerings.remove(name, capabilities);
      for (const { thumbprint } of agent.keys) this.keys.delete(thumbprint);
      this.liveness.forget(name);
    });
  }

  // Routing

  fit(
    target: { readonly namespace: string; readonly to: string | null; readonly capability: string | null },
    payload: Content,
  ): TargetFit {
    const { namespace, to, capability } = target;
    if (to !== null) return this.fitAgent(namespace === this.options.namespace ? to : null, capability, payload);
    if (capability === null || namespace !== this.options.namespace) return { kind: "absent" };
    return this.fitCapability(capability, payload);
  }

  /**
   * Null: all that the agent offers, and what is sent to its name. A list: only those capabilities; then work for the
   * agent's name, whatever its capability, is left to a worker that takes everything.
   */
  queues(name: string, capabilities: readonly string[] | null): Set<string> {
    const offered = this.offers(name);
    const strange = capabilities?.find((capability) => !offered.includes(capability));
    if (strange !== undefined) {
      const known = offered.length === 0 ? "It offers nothing" : `It offers ${offered.slice(0, 20).join(", ")}`;
      const next = `Register ${strange} first, or claim without naming it.`;
      throw new Problem(406, "not_offered", `The agent ${name} does not offer ${strange}. ${known}. ${next}`);
    }
    const queues = (capabilities ?? offered).map((capability) => queueOf({ to: null, capability }));
    return new Set(capabilities === null ? [queueOf({ to: name, capability: null }), ...queues] : queues);
  }

  offers(name: string): readonly string[] {
    const agent = this.records.get(name);
    return agent === undefined ? [] : this.capabilitiesOf(agent).map((capability) => capability.name);
  }

  offer(name: string): (handoff: Handoff) => Offer {
    return (handoff) => {
      const { capability: wanted, input } = handoff.accepted;
      const agent = this.records.get(name);
      const manifest = agent?.manifest ?? null;
      const anything = { manifest: manifest?.digest ?? null, attempt_ms: null, idempotent: true, since: 0 };
      if (wanted === null) return { ...anything, check: () => null };
      const capability = agent && this.capabilitiesOf(agent).find((offered) => offered.name === wanted);
      if (capability === undefined || manifest === null) {
        const error = { reason: "not_offered", message: `The agent ${name} does not offer ${wanted} any more.` };
        return { ...anything, since: Number.MAX_SAFE_INTEGER, check: () => error };
      }
      const { input_schema, timeout_seconds, idempotent = true } = capability;
      return {
        manifest: manifest.digest,
        attempt_ms: timeout_seconds === undefined ? null : timeout_seconds * 1_000,
        idempotent,
        since: input_schema === undefined ? 0 : this.checkedSince(handoff, manifest),
        check: ({ payload }) =>
          this.fault(input_schema, { media_type: input.media_type, bytes: payload ?? new Uint8Array() }, "input_unfit"),
      };
    };
  }

  /** Agents besides `leaving` (else the one that holds the lease) that could still take it. */
  others(handoff: Handoff, leaving: string | null = liveLease(handoff)?.agent ?? null): number {
    const { to, capability } = handoff.accepted;
    const out = new Set(leaving === null ? handoff.excluded : [...handoff.excluded, leaving]);
    if (to !== null) return this.records.get(to) === undefined || out.has(to) ? 0 : 1;
    return capability === null ? 0 : this.offerings.count(capability, out);
  }

  /** By the manifest in force when the lease was given, and by the schema that the sender expects. */
  checkOutput(
    handoff: Handoff,
    name: string,
    expected: Capability["output_schema"],
    payload: Content,
  ): HandoffError | null {
    const { capability: wanted } = handoff.accepted;
    const agent = this.records.get(name);
    const leased = liveLease(handoff)?.manifest ?? null;
    const old = leased === null ? undefined : this.manifests.get(leased);
    const capabilities = old?.agent_id === name ? old.capabilities : agent && this.capabilitiesOf(agent);
    const offered = capabilities?.find((capability) => capability.name === wanted);
    const fault = this.fault(offered?.output_schema, payload, "output_unfit");
    return fault ?? this.fault(expected, payload, "output_unfit");
  }

  private fitAgent(name: string | null, capability: string | null, payload: Content): TargetFit {
    const agent = name === null ? undefined : this.records.get(name);
    if (agent === undefined) return { kind: "unknown_agent" };
    if (capability === null) return { kind: "fits", except: [] };
    const offered = this.capabilitiesOf(agent).find(({ name }) => name === capability);
    if (offered === undefined) return { kind: "absent" };
    const error = this.fault(offered.input_schema, payload, "input_unfit");
    return error === null ? { kind: "fits", except: [] } : { kind: "unfit", error };
  }

  private fitCapability(capability: string, payload: Content): TargetFit {
    const { schemas_checked_per_submit, agents_excluded_per_submit } = this.limits;
    let first: HandoffError | null = null;
    let fits = false;
    const except: string[] = [];
    let parsed: ParsedContent | undefined;
    // All together cost at most as much as two checks. Each may take half of what is left: whoever registers costly
    // schemas under a capability of others takes little from those whose schemas are cheap.
    let steps = 2 * this.limits.schema_check_steps;
    const check = (schema: unknown) => {
      if (schema === undefined) return null;
      parsed ??= this.options.schemas.parse(payload);
      const meter = new Meter(steps / 2);
      const fault = this.faultParsed(schema, parsed, "input_unfit", meter);
      steps -= Math.min(meter.spent, steps / 2);
      return fault;
    };
    for (const [index, { input_schema, agents }] of this.offerings.of(capability).entries()) {
      const fault = index >= schemas_checked_per_submit ? unchecked : check(input_schema);
      if (fault === null) fits = true;
      else {
        first ??= fault;
        for (const agent of agents) if (except.length < agents_excluded_per_submit) except.push(agent);
      }
    }
    if (fits) return { kind: "fits", except };
    return first === null ? { kind: "absent" } : { kind: "unfit", error: first };
  }

  private fault(schema: unknown, content: Content, reason: Unfit): HandoffError | null {
    return schema === undefined ? null : this.faultParsed(schema, this.options.schemas.parse(content), reason);
  }

  private faultParsed(schema: unknown, parsed: ParsedContent, reason: Unfit, meter?: Meter): HandoffError | null {
    try {
      return this.options.schemas.compile(schema).checkParsed(parsed, reason, meter);
    } catch (error) {
      // Admitted under wider limits than today's: nothing can be said to fit it.
      if (error instanceof Problem) return { reason, message: `the schema: ${error.message}` };
      throw error;
    }
  }

  /** Until when an accepted handoff may not have been judged by this manifest. */
  private checkedSince(handoff: Handoff, manifest: ManifestRef): Time {
    const crowded = handoff.excluded.length >= this.limits.agents_excluded_per_submit;
    return crowded ? Number.MAX_SAFE_INTEGER : manifest.since + this.limits.manifest_settle_ms;
  }

  private capabilitiesOf(agent: AgentRecord): readonly Capability[] {
    return (agent.manifest === null ? undefined : this.manifests.get(agent.manifest.digest))?.capabilities ?? [];
  }

  private index(agent: AgentRecord): void {
    this.offerings.add(agent.name, this.capabilitiesOf(agent));
    for (const { thumbprint } of agent.keys) this.keys.set(thumbprint, agent.name);
  }

  private view(agent: AgentRecord): AgentView {
    return { ...agent, capabilities: this.capabilitiesOf(agent), ...this.liveness.of(agent.name) };
  }

  private checkRoom(): void {
    if (this.records.size < this.limits.agents) return;
    const message = `The relay knows ${this.records.size} agents, which is all it takes. An operator must forget some.`;
    throw new Problem(507, "directory_full", message);
  }
}

const unchecked: HandoffError = {
  reason: "input_unfit",
  message: "the whole value: the capability has more different schemas than are checked at once",
};

export function unknownAgent(name: string): Problem {
  return new Problem(404, "unknown_agent", `There is no agent ${name}. List the agents to see who is there.`);
}
