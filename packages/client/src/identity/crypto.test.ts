/** The two implementations of the protocol's cryptography say the same. */

import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { nodeCrypto, nodeKey } from "./node-crypto.ts";
import { sha256 } from "./sha256.ts";
import { webCrypto, webKey } from "./web-crypto.ts";

describe("SHA-256 in plain JavaScript", () => {
  const lengths = [0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 1_000, 100_003];

  test.each(lengths)("hashes %d bytes as node:crypto does", (length) => {
    const bytes = randomBytes(length);
    expect(Buffer.from(sha256(bytes)).toString("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  test("hashes a part of a larger buffer, and leaves what it is given as it is", () => {
    const whole = randomBytes(300);
    const before = Buffer.from(whole);
    const part = whole.subarray(100, 200);
    expect(Buffer.from(sha256(part))).toEqual(createHash("sha256").update(part).digest());
    expect(whole).toEqual(before);
  });
});

describe("keys", () => {
  const platforms = [
    { name: "Node", crypto: nodeCrypto, keyOf: nodeKey },
    { name: "the web", crypto: webCrypto, keyOf: webKey },
  ];

  test("are the same from the same seed", async () => {
    const seed = randomBytes(32);
    const [node, web] = [await nodeKey(seed), await webKey(seed)];
    expect(web.jwk).toEqual(node.jwk);
    expect(web.signer.key).toBe(node.signer.key);
  });

  for (const signing of platforms) {
    for (const checking of platforms) {
      test(`what ${signing.name} signs, ${checking.name} verifies, and nothing else`, async () => {
        const key = await signing.keyOf(randomBytes(32));
        const [bytes, x] = [randomBytes(58), Buffer.from(key.jwk.x, "base64url")];
        const signature = await key.signer.sign(bytes);
        expect(await checking.crypto.verify(x, bytes, signature)).toBe(true);
        expect(await checking.crypto.verify(x, randomBytes(58), signature)).toBe(false);
        expect(await checking.crypto.verify(randomBytes(32), bytes, signature)).toBe(false);
        expect(await checking.crypto.verify(x, bytes, signature.subarray(1))).toBe(false);
      });
    }
  }

  test("many signatures at once are each judged for themselves", async () => {
    const key = await nodeKey(randomBytes(32));
    const [bytes, x] = [randomBytes(58), Buffer.from(key.jwk.x, "base64url")];
    const signature = await key.signer.sign(bytes);
    const judged = Array.from({ length: 20 }, (_, index) =>
      nodeCrypto.verify(x, index % 3 === 0 ? bytes : randomBytes(58), signature),
    );
    expect(await Promise.all(judged)).toEqual(judged.map((_, index) => index % 3 === 0));
  });
});
