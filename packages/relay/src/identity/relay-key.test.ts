import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePublicKey, signBatch, toUtf8, verifyProof } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../configuration/configuration.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { openOperatorTokens } from "./operator-token.ts";
import { createPrivateFile } from "./private-file.ts";
import { openRelayKey } from "./relay-key.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "handfast-")), "data");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("the relay's key", () => {
  it("is made on the first start, for its owner only, and is the same on the next", async () => {
    const first = openRelayKey(folder);
    expect(modeOf(join(folder, "relay-key.json"))).toBe(0o600);
    expect(modeOf(folder)).toBe(0o700);
    expect(readdirSync(folder)).toEqual(["relay-key.json"]);
    const again = openRelayKey(folder);
    expect(again.jwk).toEqual(first.jwk);
    const [proof] = await signBatch(nodeCrypto, again.signer, [{ typ: "ack", bytes: toUtf8("x") }]);
    const parsed = parsePublicKey(nodeCrypto, first.jwk);
    expect(parsed.ok && (await verifyProof(nodeCrypto, parsed.key, "ack", toUtf8("x"), proof))).toBe(true);
  });

  it.each([0o640, 0o604, 0o620, 0o644])("is not used when its file is open to others: mode %o", (mode) => {
    openRelayKey(folder);
    const path = join(folder, "relay-key.json");
    chmodSync(path, mode);
    expect(() => openRelayKey(folder)).toThrow(ConfigurationError);
    expect(() => openRelayKey(folder)).toThrow(`chmod 600 ${path}`);
  });

  it.each(["", "nonsense", "{}", '{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"AAAA"}', "[]", "null"])(
    "is not used when it is damaged: %j",
    (text) => {
      openRelayKey(folder);
      writeFileSync(join(folder, "relay-key.json"), text);
      expect(() => openRelayKey(folder)).toThrow(/cannot be used/);
    },
  );

  it("is not used when its halves do not belong together", () => {
    const path = join(folder, "relay-key.json");
    const other = openRelayKey(join(folder, "other")).jwk;
    openRelayKey(folder);
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), x: other.x }));
    expect(() => openRelayKey(folder)).toThrow(/cannot be used/);
  });

  it("made by two starts at once is one key", () => {
    expect(createPrivateFile(join(folder, "secret"), "first")).toBe(true);
    expect(createPrivateFile(join(folder, "secret"), "second")).toBe(false);
    expect(readFileSync(join(folder, "secret"), "utf8")).toBe("first");
    expect(readdirSync(folder)).toEqual(["secret"]);
  });
});

describe("the operator's token", () => {
  it("is made on the first start, for its owner only, and stays", () => {
    const { tokens, file } = openOperatorTokens([], folder);
    expect(tokens[0]).toMatch(/^hfo_[A-Za-z0-9_-]{43}$/);
    expect(modeOf(file ?? "")).toBe(0o600);
    expect(openOperatorTokens([], folder).tokens).toEqual(tokens);
    chmodSync(file ?? "", 0o644);
    expect(() => openOperatorTokens([], folder)).toThrow(/open to others \(mode 0644\)/);
  });

  it("is the one that an imported store has, unless there is a file already", () => {
    const former = `hfo_${"a".repeat(43)}`;
    expect(openOperatorTokens([], folder, former).tokens).toEqual([former]);
    expect(openOperatorTokens([], folder, `hfo_${"b".repeat(43)}`).tokens).toEqual([former]);
  });

  it("is not made where one is configured", () => {
    expect(openOperatorTokens(["configured"], folder)).toEqual({ tokens: ["configured"], file: null });
    expect(existsSync(folder)).toBe(false);
  });
});
