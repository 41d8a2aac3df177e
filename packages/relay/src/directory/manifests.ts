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
import { Few } from "./few.ts";
import { checkOrder } from "./manifest-order.ts";
import { type Change, RecordTable } from "./record-table.ts";
import type { Records } from "./records.ts";
import { SharedSchemas } from "./shared-schemas.ts";

/** What an agent says it offers. */
export interface Offers extends Omit<ManifestContent, "agent_id"> {
  readonly signed: boolean;
}

export class Manifests {
  private readonly limits: RelayLimits;
  /** By digest. */
  private readonly rows: RecordTable<Manifest>;
  /** The capabilities of each, with their schemas in full: compiled once. */
  private readonly compiled = new Map<string, readonly Capability[]>();
  private readonly shared = new SharedSchemas();
  private readonly sizes = new Map<string, number>();
  private readonly byAgent = new Map<string, Few<string>>();
  private total_bytes = 0;

  constructor(namespace: string, limits: RelayLimits) {
    this.limits = limits;
    this.rows = new RecordTable(namespace, "manifest", {
      hold: (manifest) => ({ ...manifest, capabilities: manifest.capabilities.map((each) => this.shared.take(each)) }),
      remove: (digest, manifest) => this.remove(digest, manifest),
      add: (digest, manifest) => this.add(digest, manifest),
    });
  }

  async load(records: Records): Promise<void> {
    this.sizes.clear();
    this.byAgent.clear();
    this.compiled.clear();
    this.shared.clear();
    this.total_bytes = 0;
    await this.rows.load(records);
    for (const [digest, manifest] of this.rows.entries()) this.add(digest, manifest);
  }

  /** With schemas in full. */
  capabilities(digest: string): readonly Capability[] {
    return this.compiled.get(digest) ?? [];
  }

  get(digest: string): Manifest | undefined {
    return this.rows.get(digest);
  }

  /** What an agent offers from now on, and the changes that make it so. The same as before changes nothing. */
  next(
    agent_id: string,
    offers: Offers,
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
    const changes = [this.set(digest, made)];
    const old = before === null ? undefined : this.rows.get(before.digest);
    if (before !== null && old !== undefined) {
      changes.push(this.set(before.digest, { ...old, superseded_at: now }));
    }
    for (const gone of this.outlived(agent_id, digest, now)) changes.push(this.delete(gone));
    return { ref: { digest, since: now, signed, ...(version === undefined ? {} : { version }) }, changes };
  }

  /** The changes that end all manifests of an agent. */
  ending(agent_id: string): readonly Change[] {
    return Array.from(this.byAgent.get(agent_id) ?? [], (digest) => this.delete(digest));
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

  private set(digest: string, manifest: Manifest): Change {
    return this.replacing(digest, this.rows.set(digest, manifest));
  }

  private delete(digest: string): Change {
    return this.replacing(digest, this.rows.delete(digest));
  }

  private replacing(digest: string, { write, apply }: Change): Change {
    return {
      write,
      apply: () => {
        const before = this.rows.get(digest);
        if (before !== undefined) this.remove(digest, before);
        apply();
        const now = this.rows.get(digest);
        if (now !== undefined) this.add(digest, now);
      },
    };
  }

  private add(digest: string, manifest: Manifest): void {
    const { agent_id, capabilities } = manifest;
    this.compiled.set(
      digest,
      capabilities.map((written) => {
        const full = inFull(written);
        return full === written ? written : this.shared.take(full);
      }),
    );
    const bytes = bytesOf(manifest);
    this.sizes.set(digest, bytes);
    this.total_bytes += bytes;
    const digests = this.byAgent.get(agent_id) ?? new Few();
    this.byAgent.set(agent_id, digests.add(digest));
  }

  private remove(digest: string, { agent_id, capabilities }: Manifest): void {
    for (const written of capabilities) this.shared.release(written);
    for (const [index, full] of this.capabilities(digest).entries()) {
      if (full !== capabilities[index]) this.shared.release(full);
    }
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
