/** The bytes of artifacts in the database, in pieces: no statement carries more than one of them. */

import type { Time } from "@handfast/core";
import type { SharedBytes } from "@handfast/engine";
import type { Reads } from "./connection.ts";
import { artifact_piece_bytes } from "./limits.ts";
import { number, text } from "./rows.ts";
import * as sql from "./sql/artifact-bytes.ts";

type Read = <Value>(read: (reads: Reads) => Promise<Value>) => Promise<Value>;

export class PostgresBytes implements SharedBytes {
  readonly piece_bytes = artifact_piece_bytes;
  readonly #read: Read;
  readonly #namespace: string;

  constructor(read: Read, namespace: string) {
    this.#read = read;
    this.#namespace = namespace;
  }

  async write(upload: string, nth: number, piece: Uint8Array, now: Time): Promise<void> {
    const base64 = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("base64");
    await this.#read((reads) => reads.ask(sql.putPiece, upload, nth, now, base64));
  }

  async keep(upload: string, sha256: string, size: number, now: Time): Promise<void> {
    const [kept] = await this.#read((reads) => reads.ask(sql.keepBytes, this.#namespace, sha256, upload, size, now));
    if (text(kept, "upload") !== upload) await this.drop(upload);
  }

  async drop(upload: string): Promise<void> {
    await this.#read((reads) => reads.ask(sql.dropUpload, upload));
  }

  async size(sha256: string): Promise<number | null> {
    const [row] = await this.#read((reads) => reads.ask(sql.findSize, this.#namespace, sha256));
    return row === undefined ? null : number(row, "size");
  }

  async piece(sha256: string, nth: number): Promise<Uint8Array | null> {
    const [row] = await this.#read((reads) => reads.ask(sql.findPiece, this.#namespace, sha256, nth));
    const bytes = row?.["bytes"];
    return bytes instanceof Uint8Array ? bytes : null;
  }

  async remove(sha256: string, kept_before: Time): Promise<void> {
    await this.#read((reads) => reads.ask(sql.removeBytes, this.#namespace, sha256, kept_before));
  }

  async list(after: string, limit: number) {
    const rows = await this.#read((reads) => reads.ask(sql.listBytes, this.#namespace, after, limit));
    return rows.map((row) => ({ sha256: text(row, "sha256"), kept_at: number(row, "kept_at") }));
  }

  async sweep(written_before: Time): Promise<void> {
    await this.#read((reads) => reads.ask(sql.sweepPieces, written_before));
  }
}
