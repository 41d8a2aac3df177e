/**
 * Every manifest in force, and the older ones that leases were given under: an output is checked by what the agent
 * promised when it took the work. Bounded per agent, by age, and in memory over all.
 */

import type { Time } from "@handfast/core";
import {
  type Capability,
  compileCapability,
  type ManifestContent,
  manifestContent,
  manifestDigest,
} from "@handfast/protocol";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { canonicalJson } from "../schemas/canonical-json.ts";
import type { Manifest, ManifestRef } from "./agent.ts";
import { checkOrder } from "./manifest-order.ts";
import { type Change, RecordTable } from "./record-table.ts";
import type { Records } from "./records.ts";

/** What an agent says it offers. */
export interface Offers extends Omit<ManifestContent, "agent_id"> {
  readonly signed: boolean;
}

export class Manifests {
  private readonly limits: RelayLimits;
  /** By digest. */
  private readonly rows: RecordTable<Manifest>;
  /** The capabilities of each, with their schemas in full: compiled once, and known to the checks by these objects. */
  private readonly compiled = new Map<string, readonly Capability[]>();
  private readonly sizes = new Map<string, number>();
  private readonly byAgent = new Map<string, Set<string>>();
  private total_bytes = 0;

  constructor(namespace: string, limits: RelayLimits) {
    this.limits = limits;
    this.rows = new RecordTable(namespace, "manifest", {
      remove: (digest, { agent_id }) => this.remove(agent_id, digest),
      add: (digest, manifest) => this.add(digest, manifest, manifest.capabilities.map(inFull)),
    });
  }

  async load(records: Records): Promise<void> {
    await this.rows.load(records);
    this.sizes.clear();
    this.byAgent.clear();
    this.compiled.clear();
    this.total_bytes = 0;
    for (const [digest, manifest] of this.rows.entries()) {
      this.add(digest, manifest, manifest.capabilities.map(inFull));
    }
  }

  /** With schemas in full. */
  capabilities(digest: string): readonly Capability[] {
    return this.compiled.get(digest) ?? [];
  }

  get(digest: string): Manifest | undefined {
    return this.rows.get(digest);
  }

  /**
   * What an agent offers from now on, and the changes that make it so. The same as before changes nothing. `compiled`: its
   * capabilities with their schemas in full.
   */
  next(
    agent_id: string,
    offers: Offers,
    compiled: readonly Capability[],
    before: ManifestRef | null,
    now: Time,
  ): { readonly ref: ManifestRef; readonly changes: readonly Change[] } {
    const { signed, version } = offers;
    const content = manifestContent({ ...offers, agent_id });
    const digest = manifestDigest(nodeCrypto, content);
    if (before?.digest === digest) return { ref: { ...before, signed: before.signed || signed }, changes: [] };
    checkOrder(agent_id, digest, version, before);
    const made: Manifest = { ...content, superseded_at: null };
    this.checkSpace(bytesOf(made));
    const changes = [this.set(digest, made, compiled)];
    const old = before === null ? undefined : this.rows.get(before.digest);
    if (before !== null && old !== undefined) {
      changes.push(this.set(before.digest, { ...old, superseded_at: now }, this.capabilities(before.digest)));
    }
    for (const gone of this.outlived(agent_id, digest, now)) changes.push(this.delete(agent_id, gone));
    return { ref: { digest, since: now, signed, ...(version === undefined ? {} : { version }) }, changes };
  }

  /** The changes that end all manifests of an agent. */
  ending(agent_id: string): readonly Change[] {
    return Array.from(this.byAgent.get(agent_id) ?? [], (digest) => this.delete(agent_id, digest));
  }

  /** Older manifests that no lease can refer to, or that are one too many. */
  private outlived(agent_id: string, next: string, now: Time): readonly string[] {
    const old: { digest: string; superseded_at: Time }[] = [];
    for (const digest of this.byAgent.get(agent_id) ?? []) {
      const superseded_at = this.rows.get(digest)?.superseded_at ?? null;
      if (digest !== next && superseded_at !== null) old.push({ digest, superseded_at });
    }
    old.sort((a, b) => b.superseded_at - a.superseded_at);
    // One less, for the one that is superseded now.
    const keep = this.limits.manifests_kept_per_agent - 1;
    const oldest = now - this.limits.duration_most_ms;
    return old
      .filter(({ superseded_at }, index) => index >= keep || superseded_at < oldest)
      .map(({ digest }) => digest);
  }

  private set(digest: string, manifest: Manifest, compiled: readonly Capability[]): Change {
    const { write, apply } = this.rows.set(digest, manifest);
    return {
      write,
      apply: () => {
        apply();
        this.remove(manifest.agent_id, digest);
        this.add(digest, manifest, compiled);
      },
    };
  }

  private delete(agent_id: string, digest: string): Change {
    const { write, apply } = this.rows.delete(digest);
    return {
      write,
      apply: () => {
        apply();
        this.remove(agent_id, digest);
      },
    };
  }

  private add(digest: string, manifest: Manifest, compiled: readonly Capability[]): void {
    this.compiled.set(digest, compiled);
    const bytes = bytesOf(manifest);
    this.sizes.set(digest, bytes);
    this.total_bytes += bytes;
    const digests = this.byAgent.get(manifest.agent_id) ?? new Set();
    this.byAgent.set(manifest.agent_id, digests.add(digest));
  }

  private remove(agent_id: string, digest: string): void {
    this.compiled.delete(digest);
    this.total_bytes -= this.sizes.get(digest) ?? 0;
    this.sizes.delete(digest);
    const digests = this.byAgent.get(agent_id);
    digests?.delete(digest);
    if (digests?.size === 0) this.byAgent.delete(agent_id);
  }

  private checkSpace(bytes: number): void {
    const most = this.limits.manifest_bytes_total;
    if (this.total_bytes + bytes <= most) return;
    const message = `The manifests of all agents fill ${most} bytes. An operator must forget some agents.`;
    throw new Problem(507, "directory_full", message);
  }
}

/** What was admitted under wider limits than today's stays as it was written; the checks say what is wrong with it. */
function inFull(capability: Capability): Capability {
  const read = compileCapability(capability);
  return read.ok ? read.capability : capability;
}

function bytesOf(manifest: Manifest): number {
  return canonicalJson(manifest.capabilities).length;
}
