/** Whether an input fits those that could take it: one agent, or everybody who offers a capability in a version asked for. */

import type { HandoffError, TargetFit } from "@handfast/core";
import { type Capability, isInRange } from "@handfast/protocol";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { Meter } from "../schemas/meter.ts";
import type { Content, ParsedContent, Schemas, Unfit } from "../schemas/schemas.ts";
import type { Offerings } from "./offerings.ts";
import { type ByVersion, splitByVersion } from "./split-by-version.ts";

export interface TargetFitsOptions {
  readonly schemas: Schemas;
  readonly limits: RelayLimits;
  readonly offerings: Offerings;
  readonly capabilityOf: (agent: string, capability: string) => Capability | undefined;
}

/** `beyond_offer`: it is what the agent offers, though not what the sender expects. */
export interface OutputFault {
  readonly error: HandoffError;
  readonly beyond_offer: boolean;
}

export class TargetFits {
  private readonly options: TargetFitsOptions;

  constructor(options: TargetFitsOptions) {
    this.options = options;
  }

  /** `offers` is all that the agent offers. */
  agent(
    offers: readonly Capability[],
    capability: string | null,
    version_range: string | null,
    payload: Content,
  ): TargetFit {
    if (capability === null) return { kind: "fits", except: [] };
    const offered = offers.find(({ name }) => name === capability);
    if (offered === undefined) return { kind: "absent" };
    if (version_range !== null && !isInRange(offered.version, version_range)) {
      return { kind: "other_versions", versions: offered.version === undefined ? [] : [offered.version] };
    }
    const error = this.fault(offered.input_schema, payload, "input_unfit");
    return error === null ? { kind: "fits", except: [] } : { kind: "unfit", error };
  }

  capability(capability: string, version_range: string | null, payload: Content): TargetFit {
    const { schemas_checked_per_submit, agents_excluded_per_submit, schema_check_steps } = this.options.limits;
    let first: HandoffError | null = null;
    let fits = false;
    const except: string[] = [];
    let parsed: ParsedContent | undefined;
    // All together cost at most as much as two checks. Each may take half of what is left: whoever registers costly
    // schemas under a capability of others takes little from those whose schemas are cheap.
    let steps = 2 * schema_check_steps;
    const check = (schema: unknown) => {
      if (schema === undefined) return null;
      parsed ??= this.options.schemas.parse(payload);
      const meter = new Meter(steps / 2);
      const fault = this.faultParsed(schema, parsed, "input_unfit", meter);
      steps -= Math.min(meter.spent, steps / 2);
      return fault;
    };
    const leaveOut = (agents: readonly string[]) => {
      for (const agent of agents) if (except.length < agents_excluded_per_submit) except.push(agent);
    };
    const groups = this.options.offerings.of(capability);
    for (const [index, { input_schema, agents }] of groups.entries()) {
      const { within, outside } = this.byVersion(agents, capability, version_range);
      leaveOut(outside);
      if (within.length === 0) continue;
      const fault = index >= schemas_checked_per_submit ? unchecked : check(input_schema);
      if (fault === null) fits = true;
      else {
        first ??= fault;
        leaveOut(within);
      }
    }
    if (fits) return { kind: "fits", except };
    if (first !== null) return { kind: "unfit", error: first };
    return groups.length === 0 ? { kind: "absent" } : { kind: "other_versions", versions: this.versions(capability) };
  }

  byVersion(agents: Iterable<string>, capability: string, range: string | null): ByVersion {
    return splitByVersion(agents, range, (agent) => this.options.capabilityOf(agent, capability)?.version);
  }

  /** The versions that a capability is offered in. */
  private versions(capability: string): readonly string[] {
    const { offerings, capabilityOf, limits } = this.options;
    const versions = new Set<string>();
    for (const { agents } of offerings.of(capability)) {
      for (const agent of agents) {
        const version = capabilityOf(agent, capability)?.version;
        if (version !== undefined) versions.add(version);
        if (versions.size >= limits.versions_told) return [...versions].sort();
      }
    }
    return [...versions].sort();
  }

  fault(schema: unknown, content: Content, reason: Unfit): HandoffError | null {
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
}

const unchecked: HandoffError = {
  reason: "input_unfit",
  message: "the whole value: the capability has more different schemas than are checked at once",
};

/** Why an agent is not offered what asks for another version. */
export function otherVersion(name: string, { name: capability, version }: Capability, range: string): HandoffError {
  const now = version === undefined ? "without saying its version" : `in version ${version}`;
  const message = `The agent ${name} offers ${capability} ${now}; the handoff asks for ${range}.`;
  return { reason: "version_differs", message };
}
