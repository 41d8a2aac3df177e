import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readClientSettings } from "./client-settings.ts";
import { Options } from "./options.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "handfast-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function read(flags: Record<string, string> = {}, env: Record<string, string> = {}, toml?: string) {
  if (toml !== undefined) writeFileSync(join(folder, "handfast.toml"), toml);
  return readClientSettings(new Options(new Map(Object.entries(flags))), env, folder);
}

describe("where the relay is and who calls", () => {
  it("needs no setting: a relay on this machine, nobody named", () => {
    expect(read()).toMatchObject({ url: "http://127.0.0.1:7420", isNamed: false, data: join(folder, ".handfast") });
  });

  it("is said by flags over environment over handfast.toml", () => {
    const toml = 'port = 1\n[client]\nurl = "http://toml:1"\nagent = "toml"\nnamespace = "toml"';
    const env = { HANDFAST_URL: "http://env:1", HANDFAST_AGENT: "env", HANDFAST_NAMESPACE: "" };
    expect(read({ url: "http://flag:1" }, env, toml)).toMatchObject({
      url: "http://flag:1",
      agent: "env",
      namespace: "toml",
      isNamed: true,
    });
  });

  it("finds files from where they were named: a flag from here, a line of handfast.toml from beside it", () => {
    expect(read({ key: "me.json" }).key).toBe(join(folder, "me.json"));
    expect(read({}, {}, '[client]\nkey = "keys/me.json"').key).toBe(join(folder, "keys/me.json"));
    const seed = "A".repeat(43);
    expect(read({ key: seed }).key).toBe(seed);
  });

  it("takes a token from a file, without its line end", () => {
    writeFileSync(join(folder, "token"), "hft_secret\n");
    expect(read({ "token-file": join(folder, "token") }).token).toBe("hft_secret");
    writeFileSync(join(folder, "token"), "");
    expect(() => read({ "token-file": join(folder, "token") })).toThrow("does not hold a token");
  });

  it.each<[string, string]>([
    ["[client]\nulr = 'x'", "sets client.ulr, which is no option"],
    ["[client]\nurl = 5", "sets client.url to no text"],
    ["client = 5", "client in"],
    ["[client", "line 1"],
  ])("refuses a handfast.toml with %j", (toml, message) => {
    expect(() => read({}, {}, toml)).toThrow(message);
  });

  it("refuses what is no URL of a relay, and a file that was named and is not there", () => {
    expect(() => read({ url: "ftp://x" })).toThrow("no URL of a relay");
    expect(() => read({}, { HANDFAST_CONFIG: "none.toml" })).toThrow("ENOENT");
  });
});
