/** Signatures and Merkle proofs that are nearly right. */

import { type Proof, toBase64url } from "@handfast/protocol";
import type { Mutation } from "./mutation.ts";

const turned = (text: string, at: number) => `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

export const proofMutations: readonly Mutation<Proof>[] = [
  {
    name: "the signature is another",
    apply: (proof, { random }) => ({ ...proof, sig: turned(proof.sig, random.between(0, 84)) }),
  },
  { name: "a signature of zeros", apply: (proof) => ({ ...proof, sig: toBase64url(new Uint8Array(64)) }) },
  { name: "a signature of ones", apply: (proof) => ({ ...proof, sig: toBase64url(new Uint8Array(64).fill(255)) }) },
  { name: "the next place", apply: (proof) => ({ ...proof, index: proof.index + 1 }) },
  {
    name: "another place",
    apply: (proof, { random }) => ({ ...proof, index: random.pick([-1, 0, 1, 4_095, 4_096, 2 ** 31]) }),
  },
  {
    name: "another size",
    apply: (proof, { random }) => ({ ...proof, size: random.pick([0, 1, 2, 4_096, 4_097, 2 ** 53]) }),
  },
  { name: "a step less", apply: (proof) => ({ ...proof, path: proof.path.slice(1) }) },
  {
    name: "a step more",
    apply: (proof, { random }) => ({ ...proof, path: [...proof.path, toBase64url(random.bytes(32))] }),
  },
  {
    name: "too many steps",
    apply: (proof) => ({ ...proof, path: Array.from({ length: 13 }, () => toBase64url(new Uint8Array(32))) }),
  },
  { name: "the steps the other way round", apply: (proof) => ({ ...proof, path: proof.path.toReversed() }) },
  {
    name: "a step that is another",
    apply: (proof, { random }) => ({ ...proof, path: proof.path.map((step) => turned(step, random.between(0, 41))) }),
  },
  {
    name: "a step with bits past its end",
    apply: (proof) => ({ ...proof, path: proof.path.map((step) => `${step.slice(0, -1)}B`) }),
  },
  {
    name: "the key of another",
    apply: (proof, { scene }) => ({ ...proof, key: scene.troupe.worker.key?.signer.key ?? "" }),
  },
  { name: "a key of nobody", apply: (proof, { random }) => ({ ...proof, key: toBase64url(random.bytes(32)) }) },
  {
    name: "a signature that is right, for another document",
    apply: (proof, { scene }) => scene.last_signed?.proof ?? proof,
  },
];
