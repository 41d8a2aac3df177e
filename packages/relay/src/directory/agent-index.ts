/** What is derived from the agents' records: whose each key is, who offers what, and until when each registration holds. */

import type { RelayLimits } from "../limits.ts";
import type { AgentRecord, Manifest } from "./agent.ts";
import type { Manifests } from "./manifests.ts";
import { Offerings } from "./offerings.ts";
import type { RegistrationLeases } from "./registration-leases.ts";
import type { TakenRecord } from "./take-over.ts";

interface AgentIndexOptions {
  readonly manifests: Manifests;
  readonly leases: RegistrationLeases;
  readonly limits: RelayLimits;
}

export class AgentIndex {
  readonly offerings = new Offerings();
  private readonly keys = new Map<string, string>();
  private readonly options: AgentIndexOptions;

  constructor(options: AgentIndexOptions) {
    this.options = options;
  }

  /** The agent that this key belongs or once belonged to. */
  keyHolder(thumbprint: string): string | undefined {
    return this.keys.get(thumbprint);
  }

  clear(): void {
    this.offerings.clear();
    this.keys.clear();
  }

  add(agent: AgentRecord): void {
    const { manifests, leases, limits } = this.options;
    const { name, keys, manifest, renewed_at = agent.registered_at } = agent;
    const { lease_seconds } = (manifest === null ? undefined : manifests.get(manifest.digest)) ?? {};
    const lease_ms = lease_seconds === undefined ? limits.default_registration_lease_ms : lease_seconds * 1_000;
    leases.hold(name, lease_ms, renewed_at);
    if (!leases.isOut(name) && manifest !== null) this.offerings.add(name, manifests.capabilities(manifest.digest));
    for (const { thumbprint } of keys) this.keys.set(thumbprint, name);
  }

  remove(agent: AgentRecord): void {
    this.removing(agent)();
  }

  /** To be called when its manifest may be gone already. */
  removing({ name, keys, manifest }: AgentRecord): () => void {
    const capabilities = manifest === null ? [] : this.options.manifests.capabilities(manifest.digest);
    return () => {
      this.offerings.remove(name, capabilities);
      for (const { thumbprint } of keys) if (this.keys.get(thumbprint) === name) this.keys.delete(thumbprint);
    };
  }

  /** The agents whose place here these changes concern. */
  concerned(changes: readonly TakenRecord[]): readonly string[] {
    const names = new Set<string>();
    for (const { kind, key, record } of changes) {
      if (kind === "agent") names.add(key);
      if (kind !== "manifest") continue;
      const manifest = (record?.value as Manifest | undefined) ?? this.options.manifests.get(key);
      if (manifest !== undefined) names.add(manifest.agent_id);
    }
    return [...names];
  }
}
