/**
 * Bytes named by their SHA-256, too large to go inline. Whoever put them up and the parties of a handoff that refers to
 * them may read them; to everybody else they do not exist. Knowing a digest gives no right: it must be put up whole.
 */

import type { Time } from "@handfast/core";
import type { Engine, Store } from "@handfast/engine";
import type { Artifact } from "@handfast/protocol";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { seesArtifact, sightOf } from "../operations/sight.ts";
import { Problem } from "../problem.ts";
import { Tally } from "../tally.ts";
import type { ArtifactBytes } from "./files.ts";

const kind = "artifact";
const referrers_looked_at = 1_000;
/** How often the free space is looked at while a large artifact comes in. */
const look_every_bytes = 32_000_000;
/** A reference that was checked a moment ago may be in the commit that is on its way. */
const reference_grace_ms = 10 * 60_000;
/** Others may change the same record at the same time. */
const most_tries = 10;

interface StoredArtifact {
  readonly size: number;
  readonly media_type: string;
  readonly uploaders: readonly string[];
  readonly put_at: Time;
}

export interface ArtifactsOptions {
  readonly namespace: string;
  readonly bytes: ArtifactBytes;
  readonly engine: Pick<Engine, "putRecords" | "now">;
  readonly store: Pick<Store, "record" | "records" | "referrers" | "load" | "sharing">;
  readonly reserve_bytes: number;
}

export class Artifacts {
  readonly #options: ArtifactsOptions;
  readonly #files: ArtifactBytes;
  readonly #referred = new Map<string, Time>();
  readonly #uploads = new Tally();

  private constructor(options: ArtifactsOptions) {
    this.#options = options;
    this.#files = options.bytes;
  }

  static async open(options: ArtifactsOptions): Promise<Artifacts> {
    const artifacts = new Artifacts(options);
    await artifacts.#files.open();
    return artifacts;
  }

  async put(
    caller: Caller,
    sha256: string,
    media_type: string,
    length: number | null,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly size: number; readonly created: boolean }> {
    const finished = this.#begin(caller.name);
    try {
      return await this.#receive(caller, sha256, media_type, length, bytes);
    } catch (error) {
      // Others write to the same disk: it can be full although there seemed to be room.
      throw isDiskFull(error) ? outOfSpace() : error;
    } finally {
      finished();
    }
  }

  /** One caller never takes the places of all. */
  #begin(caller: string): () => void {
    const own = this.#uploads.of(caller);
    if (own < limits.uploads_per_caller && this.#uploads.total < limits.uploads_in_flight) {
      return this.#uploads.add(caller);
    }
    const whose = own >= limits.uploads_per_caller ? `You have ${own} uploads open` : "Many artifacts are coming in";
    throw new Problem(429, "too_many_uploads", `${whose}; try again in a moment.`, {}, 1);
  }

  async #receive(
    caller: Caller,
    sha256: string,
    media_type: string,
    length: number | null,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly size: number; readonly created: boolean }> {
    if (length !== null && length > limits.artifact_bytes) throw tooLarge();
    await this.#checkSpace(length ?? 0);
    let look_at = look_every_bytes;
    const written = await this.#files.write(bytes, async (size) => {
      if (size > limits.artifact_bytes) throw tooLarge();
      if (size < look_at) return;
      look_at += look_every_bytes;
      await this.#checkSpace(0);
    });
    if (written.sha256 !== sha256) {
      await written.drop();
      throw new Problem(422, "digest_differs", `The bytes have the SHA-256 ${written.sha256}, not ${sha256}.`);
    }
    await written.keep();
    const created = await this.#record(caller, sha256, { size: written.size, media_type });
    return { size: written.size, created };
  }

  async #checkSpace(coming_bytes: number): Promise<void> {
    const free_bytes = await this.#files.freeBytes();
    if (free_bytes - coming_bytes > this.#options.reserve_bytes) return;
    throw outOfSpace();
  }

  /**
   * Another may put up the same bytes at the same time: then both are its uploaders. The answer tells whether this
   * caller had put them up before, never whether somebody else had.
   */
  async #record(caller: Caller, sha256: string, facts: Pick<StoredArtifact, "size" | "media_type">): Promise<boolean> {
    const { namespace, engine } = this.#options;
    for (let tries = 0; tries < most_tries; tries++) {
      const { stored, version } = await this.#stored(sha256);
      const uploaders = [...new Set([...(stored?.uploaders ?? []), caller.name])];
      const value: StoredArtifact = { ...(stored ?? facts), uploaders, put_at: engine.now() };
      if (await engine.putRecords([{ namespace, kind, key: sha256, expected_version: version, value }])) {
        return !(stored?.uploaders.includes(caller.name) ?? false);
      }
    }
    throw changing(sha256);
  }

  async #stored(sha256: string): Promise<{ readonly stored: StoredArtifact | null; readonly version: number }> {
    const record = await this.#options.store.record(this.#options.namespace, kind, sha256);
    return record === null
      ? { stored: null, version: 0 }
      : { stored: record.value as StoredArtifact, version: record.version };
  }

  /** For those who may see it; the same answer for what is not there and what is not theirs. */
  async find(caller: Caller, sha256: string): Promise<{ readonly size: number; readonly media_type: string }> {
    const { stored } = await this.#stored(sha256);
    if (stored === null || !(await this.#maySee(caller, sha256, stored))) throw unknown(sha256);
    const size = await this.#files.size(sha256);
    if (size === null) throw unknown(sha256);
    return { size, media_type: stored.media_type };
  }

  read(sha256: string, start: number, end: number): AsyncIterable<Uint8Array> {
    return this.#files.read(sha256, start, end);
  }

  async #maySee(caller: Caller, sha256: string, stored: StoredArtifact): Promise<boolean> {
    if (caller.role === "operator" || stored.uploaders.includes(caller.name)) return true;
    const { namespace, store } = this.#options;
    const referrers = await store.load(namespace, await store.referrers(namespace, sha256, referrers_looked_at));
    return referrers.some((handoff) => {
      const sight = handoff === null ? null : sightOf(handoff, caller);
      return sight !== null && seesArtifact(sight, sha256);
    });
  }

  /** What a document refers to must be there, be what it says, and be visible to its author. */
  async checkReferences(caller: Caller, references: readonly Artifact[]): Promise<void> {
    for (const [index, { sha256, size }] of references.entries()) {
      const found = await this.find(caller, sha256);
      this.#referred.set(sha256, this.#options.engine.now());
      if (this.#options.store.sharing !== undefined) await this.#renew(sha256);
      if (found.size === size) continue;
      const detail = `Artifact ${sha256} has ${found.size} bytes, not ${size}.`;
      throw new Problem(400, "artifact_differs", detail, { fields: [`/artifacts/${index}/size`] });
    }
  }

  /**
   * Another node, which knows nothing of the reference that is on its way, may be about to drop it: by a younger record it sees
   * that it must not, or conflicts.
   */
  async #renew(sha256: string): Promise<void> {
    const { namespace, engine } = this.#options;
    for (let tries = 0; tries < most_tries; tries++) {
      const { stored, version } = await this.#stored(sha256);
      if (stored === null) throw unknown(sha256);
      const now = engine.now();
      if (stored.put_at > now - limits.unreferenced_artifact_life_ms / 2) return;
      const value: StoredArtifact = { ...stored, put_at: now };
      if (await engine.putRecords([{ namespace, kind, key: sha256, expected_version: version, value }])) return;
    }
    throw changing(sha256);
  }

  /** Drops what nobody refers to any more, a day after it was put up; and files that no record knows. */
  async collect(): Promise<number> {
    const { namespace, engine, store } = this.#options;
    const now = engine.now();
    for (const [sha256, at] of this.#referred) if (at < now - reference_grace_ms) this.#referred.delete(sha256);
    const known = new Set<string>();
    let dropped = 0;
    for (const { key, version, value } of await store.records(namespace, kind)) {
      known.add(key);
      const old = (value as StoredArtifact).put_at < now - limits.unreferenced_artifact_life_ms;
      if (!old || this.#referred.has(key) || (await store.referrers(namespace, key, 1)).length > 0) continue;
      const gone = { namespace, kind, key, expected_version: version, value: undefined };
      if (!(await engine.putRecords([gone]))) continue;
      await this.#files.remove(key);
      dropped += 1;
    }
    for await (const { sha256, modified_at } of this.#files.all()) {
      if (!known.has(sha256) && modified_at < now - limits.unreferenced_artifact_life_ms)
        await this.#files.remove(sha256);
    }
    return dropped;
  }
}

function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Said by a store, or by the system of a file.
  if ("fault" in error) return error.fault === "full";
  return "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

function changing(sha256: string): Problem {
  return new Problem(429, "busy", `Artifact ${sha256} keeps changing; try again.`, {}, 1);
}

function outOfSpace(): Problem {
  return new Problem(507, "out_of_space", "The relay's disk is nearly full; no artifacts are taken.", {}, 30);
}

function tooLarge(): Problem {
  return new Problem(413, "artifact_too_large", `An artifact has at most ${limits.artifact_bytes} bytes.`);
}

function unknown(sha256: string): Problem {
  return new Problem(404, "unknown_artifact", `There is no artifact ${sha256}, or it is not yours to see.`);
}
