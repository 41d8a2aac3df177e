// Makes spec/vectors/signature.json and batch.json.
import { concat, fromHex, toBase64url, toHex, toUtf8 } from "../encoding.ts";
import { merkleNode, merkleTree } from "../merkle.ts";
import { leafDigest, type Message, openProof, type Proof, signBatch } from "../signing.ts";
import { testCrypto, testKey } from "./test-crypto.ts";
import { vectorDocuments, vectorPayload } from "./vector-documents.ts";

export const seeds = [
  "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
  "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
] as const;

const batchSizes = [1, 2, 3, 5, 8, 33] as const;

export function keyOf(seed: string) {
  return testKey(fromHex(seed) ?? new Uint8Array());
}

function messageOf(typ: string, text: string): Message {
  return { typ, bytes: toUtf8(text) };
}

function messageVector({ typ, bytes }: Message) {
  return {
    typ,
    bytes: toBase64url(bytes),
    leaf_sha256: toHex(leafDigest(testCrypto, typ, bytes)),
  };
}

export async function signatureVectors() {
  const { publicKey, signer } = keyOf(seeds[0]);
  const texts: [string, string, string][] = Object.entries(vectorDocuments).map(([typ, document]) => [
    typ,
    typ,
    JSON.stringify(document),
  ]);
  texts.push(["the same handoff in other bytes", "handoff", JSON.stringify(vectorDocuments.handoff, null, 1)]);
  texts.push(["no bytes at all", "handoff", ""]);
  const cases = [];
  for (const [name, typ, text] of texts) {
    const message = messageOf(typ, text);
    const [proof] = await signBatch(testCrypto, signer, [message]);
    const root = openProof(testCrypto, typ, message.bytes, proof);
    const signed = toBase64url(root?.signed ?? new Uint8Array());
    cases.push({ name, ...messageVector(message), text, signed, proof });
  }
  return {
    about: "Documents signed alone: batches of one. bytes, signed and salt are base64url; text is bytes as UTF-8.",
    seed: seeds[0],
    jwk: publicKey.jwk,
    payloads: ['{"query":"fsync"}', '{"summary":"It flushes."}', '"yes"', ""].map(vectorPayload),
    cases,
  };
}

async function batchOf(size: number) {
  const { signer } = keyOf(seeds[0]);
  const messages = Array.from({ length: size }, (_, index) =>
    messageOf(index % 2 ? "ack" : "outcome", `{"n":${index}}`),
  );
  const proofs = await signBatch(testCrypto, signer, messages);
  const leaves = messages.map(({ typ, bytes }) => leafDigest(testCrypto, typ, bytes));
  return { messages, proofs, root: merkleTree(testCrypto, leaves).root };
}

export async function batchVectors() {
  const { publicKey } = keyOf(seeds[0]);
  const batches = [];
  for (const size of batchSizes) {
    const { messages, proofs, root } = await batchOf(size);
    const members = messages.map((message, index) => ({ ...messageVector(message), proof: proofs[index] }));
    batches.push({ size, root: toHex(root), messages: members });
  }
  return {
    about: "One signature over many messages, and proofs that must be refused. bytes are base64url.",
    seed: seeds[0],
    jwk: publicKey.jwk,
    batches,
    refused: await refusedProofs(),
  };
}

/** Signed by the right key and consistent, yet larger than a batch may be: the last of 4097 has a path of one. */
async function proofBeyondLimit({ typ, bytes }: Message): Promise<Proof> {
  const { signer } = keyOf(seeds[0]);
  const first4096 = testCrypto.sha256(toUtf8("the root of the first 4096"));
  const root = merkleNode(testCrypto, first4096, leafDigest(testCrypto, typ, bytes));
  const size = Uint8Array.of(0, 0, 0, 0, 0, 0, 0x10, 0x01);
  const sig = await signer.sign(concat(toUtf8("handfast/v1/batch\0"), size, root));
  return { key: signer.key, sig: toBase64url(sig), index: 4096, size: 4097, path: [toBase64url(first4096)] };
}

function otherBytes(text: string): string {
  return `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
}

/** The last letter's low bits lie past the last byte and must be zero; the letter after it sets one. */
function withStrayBits(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return text.slice(0, -1) + alphabet.charAt(alphabet.indexOf(text.slice(-1)) + 1);
}

type Hostile = { [name in keyof Proof]: unknown };

/** Each a change to the true proof of message 2 of 5, which has a path of three, unless said otherwise. */
async function refusedProofs() {
  const { messages, proofs } = await batchOf(5);
  const [message, proof, edge] = [messages[2], proofs[2], proofs[4]];
  if (message === undefined || proof === undefined || edge === undefined)
    throw new Error("The batch has five messages.");
  const [below = "", middle = "", top = ""] = proof.path;
  const other = await signBatch(testCrypto, keyOf(seeds[1]).signer, messages);
  const alone = await signBatch(testCrypto, keyOf(seeds[0]).signer, [message]);
  const rooted = (await batchOf(8)).proofs[2];
  const changed = (name: string, change: Partial<Hostile>) => ({
    name,
    typ: message.typ,
    bytes: toBase64url(message.bytes),
    proof: { ...proof, ...change },
  });
  return [
    { ...changed("another message", {}), bytes: toBase64url(concat(message.bytes, toUtf8(" "))) },
    { ...changed("another typ", {}), typ: "ack" },
    { ...changed("a typ that is none", {}), typ: "outcome\0" },
    changed("another key's signature", { sig: other[2]?.sig }),
    changed("another key's name", { key: other[2]?.key }),
    changed("another batch's signature", { sig: alone[0]?.sig }),
    changed("another batch's proof", { ...rooted, sig: proof.sig }),
    changed("a changed signature", { sig: otherBytes(proof.sig) }),
    changed("a signature with stray bits", { sig: withStrayBits(proof.sig) }),
    changed("a padded signature", { sig: `${proof.sig}==` }),
    changed("a short signature", { sig: proof.sig.slice(0, -2) }),
    changed("no signature", { sig: "" }),
    changed("a path without its end", { path: [below, middle] }),
    changed("a path without its start", { path: [middle, top] }),
    changed("a path too long", { path: [...proof.path, top] }),
    changed("a path out of order", { path: [middle, below, top] }),
    changed("an empty path", { path: [] }),
    changed("a path with a short digest", { path: [below.slice(0, -2), middle, top] }),
    changed("a path with stray bits", { path: [below, middle, withStrayBits(top)] }),
    changed("a path with a number", { path: [1, middle, top] }),
    changed("a path that is no list", { path: proof.path.join(",") }),
    changed("the neighbour's index", { index: 3 }),
    changed("an index beyond the size", { index: 5 }),
    changed("a negative index", { index: -1 }),
    changed("an index that is no integer", { index: 2.5 }),
    changed("an index in quotes", { index: "2" }),
    changed("a smaller size", { size: 4 }),
    changed("a larger size", { size: 6 }),
    changed("a size with a path of the same length", { size: 8 }),
    changed("a size of nothing", { size: 0 }),
    changed("a true proof of a batch beyond the limit", await proofBeyondLimit(message)),
    changed("a batch of one that is not", { index: 0, size: 1, path: [] }),
    changed("the ragged edge's proof", { ...edge }),
    changed("a changed path", { path: [otherBytes(below), middle, top] }),
  ];
}
