/**
 * Signs documents together: those of one tick under one signature, and those that come while it is being made under the
 * next.
 */

import { type Crypto, type Proof, type Signer, signBatch, toUtf8 } from "@handfast/protocol/client";
import { linkLimits } from "./limits.ts";
import type { Unsigned } from "./link.ts";

interface Waiting {
  readonly unsigned: Unsigned;
  readonly resolve: (proof: Proof) => void;
  readonly reject: (error: unknown) => void;
}

export class SigningQueue {
  readonly #crypto: Crypto;
  readonly #signer: Signer;
  #waiting: Waiting[] = [];
  #is_signing = false;

  constructor(crypto: Crypto, signer: Signer) {
    this.#crypto = crypto;
    this.#signer = signer;
  }

  sign(unsigned: Unsigned): Promise<Proof> {
    const { promise, resolve, reject } = Promise.withResolvers<Proof>();
    this.#waiting.push({ unsigned, resolve, reject });
    if (!this.#is_signing) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#is_signing = true;
    // The rest of this tick may bring more.
    await null;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, linkLimits.signed_together);
      await this.#signAll(batch);
    }
    this.#is_signing = false;
  }

  async #signAll(batch: readonly Waiting[]): Promise<void> {
    try {
      const messages = batch.map(({ unsigned: { typ, document } }) => ({ typ, bytes: toUtf8(document) }));
      const proofs = await signBatch(this.#crypto, this.#signer, messages);
      for (const [index, proof] of proofs.entries()) batch[index]?.resolve(proof);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
