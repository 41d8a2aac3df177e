// Makes spec/vectors/keys.json. The mixed-order points are the first accepted key plus a point of small order,
// computed apart from this code.
import { fromHex, toBase64url } from "../encoding.ts";
import type { KeyFault } from "../keys.ts";
import { keyOf, seeds } from "./signature-vectors.ts";

const ff = "ff".repeat(30);
const zero = "00".repeat(30);

const weakPoints: [string, string][] = [
  ["small order: 1, the identity", `01${zero}00`],
  ["small order: 2", `ec${ff}7f`],
  ["small order: 4", `00${zero}00`],
  ["small order: 4, other sign", `00${zero}80`],
  ["small order: 8, first", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ["small order: 8, first, other sign", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"],
  ["small order: 8, second", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"],
  ["small order: 8, second, other sign", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"],
  ["mixed order: 8, first", "3b5b475c4b82dd1572799fc546f4c6c03e478c6654aa4c7f945b347ea32af60d"],
  ["mixed order: 8, second", "9158312a9a8d6e3b34c891d6d61444f8b8211c5117ebad15bdb0bd68b07e0245"],
  ["mixed order: 4", "40c7570f4dd54835b9131184410ed4a0cc93e7d9ad053cbc6d07a62426999582"],
  ["mixed order: 2", "16a567fe7d4ef5482ab4012c369bf8c5f11e8d0c2559dcda50fde59708f8aee5"],
  ["not canonical: y = p", `ed${ff}7f`],
  ["not canonical: y = p + 1, the identity", `ee${ff}7f`],
  ["not canonical: y = p + 3", `f0${ff}7f`],
  ["not canonical: y = 2^255 - 1", `ff${ff}7f`],
  ["not canonical: x = 0 with the sign set", `01${zero}80`],
  ["not canonical: y = -1 with the sign set", `ec${ff}ff`],
  ["not on the curve: y = 2", `02${zero}00`],
  ["not on the curve: y = 7", `07${zero}00`],
];

function jwkOf(hex: string) {
  return { kty: "OKP", crv: "Ed25519", x: toBase64url(fromHex(hex) ?? new Uint8Array()) };
}

function badJwks(): [string, unknown, KeyFault][] {
  const { jwk } = keyOf(seeds[0]).publicKey;
  return [
    ["null", null, "not_a_jwk"],
    ["a string", jwk.x, "not_a_jwk"],
    ["a list", [jwk], "not_a_jwk"],
    ["a private key", { ...jwk, d: "AAAA" }, "private_key"],
    ["a member that does not belong", { ...jwk, alg: "EdDSA" }, "unknown_member"],
    ["another type", { ...jwk, kty: "EC" }, "not_ed25519"],
    ["another curve", { ...jwk, crv: "X25519" }, "not_ed25519"],
    ["no curve", { kty: jwk.kty, x: jwk.x }, "not_ed25519"],
    ["no x", { kty: jwk.kty, crv: jwk.crv }, "not_32_bytes_base64url"],
    ["x a number", { ...jwk, x: 1 }, "not_32_bytes_base64url"],
    ["x padded", { ...jwk, x: `${jwk.x}=` }, "not_32_bytes_base64url"],
    ["x too short", { ...jwk, x: jwk.x.slice(1) }, "not_32_bytes_base64url"],
    ["x too long", { ...jwk, x: `${jwk.x}A` }, "not_32_bytes_base64url"],
    ["x with stray bits", { ...jwk, x: `${jwk.x.slice(0, -1)}p` }, "not_32_bytes_base64url"],
    ["x in base64", { ...jwk, x: jwk.x.replace("_", "/") }, "not_32_bytes_base64url"],
  ];
}

export function keyVectors() {
  return {
    about: "Ed25519 public keys as JWK: accepted with their RFC 7638 thumbprints, and refused. seed is hexadecimal.",
    accepted: seeds.map((seed) => {
      const { jwk, thumbprint } = keyOf(seed).publicKey;
      return { seed, jwk, thumbprint };
    }),
    refused: [
      ...badJwks().map(([name, jwk, fault]) => ({ name, jwk, fault })),
      ...weakPoints.map(([name, hex]) => ({ name, jwk: jwkOf(hex), fault: "weak_or_invalid_point" })),
    ],
  };
}
