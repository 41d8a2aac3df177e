import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Configuration, ConfigurationError } from "./configuration.ts";
import { optionList } from "./options.ts";
import { publicUrls } from "./public-urls.ts";
import { readConfiguration } from "./read-configuration.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "handfast-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
const jwk = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
const token = "a-token-of-the-operator";

function read(argv: readonly string[] = [], env: Record<string, string> = {}, toml?: string): Configuration {
  if (toml !== undefined) writeFileSync(join(folder, "handfast.toml"), toml);
  const asked = readConfiguration(argv, env, folder);
  if (asked.kind !== "start") throw new Error("It should start.");
  return asked.configuration;
}

function refusal(argv: readonly string[], env: Record<string, string> = {}, toml?: string): string {
  try {
    read(argv, env, toml);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("configuration", () => {
  it("needs none: loopback, development mode, a directory beside", () => {
    const configuration = read();
    expect(configuration).toMatchObject({
      host: "127.0.0.1",
      port: 7420,
      data_directory: join(folder, ".handfast"),
      development: true,
      admission: { kind: "first_use" },
      operator_tokens: [],
      log_level: "info",
      retention: { keep_taken_ms: 7 * 86_400_000, keep_untaken_ms: 30 * 86_400_000 },
      limits: { reserve_bytes: 64_000_000 },
      warnings: [],
    });
  });

  it("leaves the table of clients in handfast.toml to the command, whatever it holds", () => {
    expect(read([], {}, 'port = 1\n[client]\nurl = "http://127.0.0.1:1"\nother = 2').port).toBe(1);
  });

  it("takes flags over environment over file", () => {
    const toml =
      'port = 1\nhost = "127.0.0.2"\nlog_level = "warn"\n[retention]\nkeep_taken = "2h"\n[limits]\nreserve = "1GB"';
    const env = { HANDFAST_PORT: "2", HANDFAST_HOST: "127.0.0.3", HANDFAST_LOG_LEVEL: "" };
    const configuration = read(["--port", "3"], env, toml);
    expect(configuration).toMatchObject({ port: 3, host: "127.0.0.3", log_level: "warn" });
    expect(configuration.retention.keep_taken_ms).toBe(7_200_000);
    expect(configuration.limits.reserve_bytes).toBe(1_000_000_000);
  });

  it("says of an empty flag that a variable may not be set", () => {
    expect(refusal(["--store", ""])).toBe(
      '--store is "". It must be text, not empty; a variable that is not set gives nothing.',
    );
  });

  it("takes lists from repeated flags, from commas and from arrays", () => {
    const urls = ["https://a.example", "https://b.example"];
    expect(read(["--public-url", "https://a.example/", "--public-url=https://b.example"]).public_urls).toEqual(urls);
    expect(read([], { HANDFAST_PUBLIC_URLS: "https://a.example, https://b.example" }).public_urls).toEqual(urls);
    expect(read([], {}, 'public_urls = ["https://a.example", "https://B.example"]').public_urls).toEqual(urls);
  });

  it("derives the public URLs from where it really listens", () => {
    expect(publicUrls(read(["--port", "0"]), 5_000)).toEqual([
      "http://127.0.0.1:5000",
      "http://localhost:5000",
      "http://[::1]:5000",
    ]);
    expect(publicUrls(read(["--public-url", "https://a.example"]), 5_000)).toEqual(["https://a.example"]);
    expect(publicUrls(read(["--host", "10.0.0.1"]), 5_000)).toEqual(["http://10.0.0.1:5000"]);
  });

  it("shows help out of the table: every option once", () => {
    const asked = readConfiguration(["--help"], {}, folder);
    if (asked.kind !== "help") throw new Error("It should help.");
    for (const [, { flag, env, help }] of optionList) {
      if (flag !== null) expect(asked.text.split(`--${flag} `).length + asked.text.split(`--${flag}\n`).length).toBe(3);
      if (env !== null) expect(asked.text).toContain(env);
      expect(asked.text).toContain(help);
    }
  });

  it("has every option in at least two places, under names that agree", () => {
    for (const [name, { flag, env, key }] of optionList.filter(([name]) => name !== "help" && name !== "config")) {
      expect(env).toMatch(/^HANDFAST_[A-Z_]+$/);
      expect(key?.split(".").at(-1)).toBe(name);
      if (flag !== null) expect(flag).toMatch(/^[a-z-]+$/);
    }
  });
});

describe("configuration: development mode", () => {
  it.each<[string, string[], boolean]>([
    ["unconfigured on loopback", [], true],
    ["on localhost", ["--host", "localhost"], true],
    ["on the IPv6 loopback", ["--host", "::1"], true],
    ["on every address", ["--host", "0.0.0.0"], false],
    ["on a name that only looks like loopback", ["--host", "127.evil.example"], false],
    ["on every address with --dev", ["--host", "0.0.0.0", "--dev"], true],
    ["in production", ["--production"], false],
    ["with --no-dev", ["--no-dev"], false],
    ["with an admission list", ["--admit", thumbprint], false],
    ["with an operator's key", ["--operator-key", thumbprint], false],
  ])("%s", (_, argv, development) => {
    const configuration = read(argv);
    expect(configuration.development).toBe(development);
    expect(configuration.admission.kind).toBe(development ? "first_use" : "listed");
  });

  it("is off with an operator's token", () => {
    expect(read([], { HANDFAST_OPERATOR_TOKEN: token })).toMatchObject({
      development: false,
      operator_tokens: [token],
    });
    expect(read(["--dev"], { HANDFAST_OPERATOR_TOKEN: token }).development).toBe(true);
  });

  it("is refused where it would contradict", () => {
    expect(refusal(["--dev", "--production"])).toMatch(/mean the opposite/);
    expect(refusal(["--dev", "--admit", thumbprint])).toMatch(/Remove one of them/);
  });
});

describe("configuration: admission and operators", () => {
  it("reads thumbprints, names with thumbprints and a file of keys; operators' keys are admitted too", () => {
    const set = { keys: [{ ...jwk, kid: "x", agent_id: "alice" }, jwk] };
    writeFileSync(join(folder, "keys.json"), JSON.stringify(set));
    const { admission, operator_keys } = read([
      ...["--admit", `bob=${thumbprint},${thumbprint}`],
      ...["--admit-file", "keys.json", "--operator-key", thumbprint],
    ]);
    expect(operator_keys).toEqual([thumbprint]);
    expect(admission).toEqual({
      kind: "listed",
      keys: [
        { thumbprint, name: "bob" },
        { thumbprint, name: null },
        { thumbprint, name: "alice" },
        { thumbprint, name: null },
        { thumbprint, name: null },
      ],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["a private key", { keys: [{ ...jwk, d: "x" }] }, /private key/],
    ["a weak key", { keys: [{ ...jwk, x: "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }] }, /weak or invalid/],
    ["no list", {}, /no list "keys"/],
    ["null", null, /no list "keys"/],
    ["a bad name", { keys: [{ ...jwk, agent_id: "a b" }] }, /agent_id/],
  ])("refuses a file of keys with %s", (_, set, message) => {
    writeFileSync(join(folder, "keys.json"), JSON.stringify(set));
    expect(refusal(["--admit-file", "keys.json"])).toMatch(message);
  });

  it("reads the operator's token from a file that only its owner may read", () => {
    const path = join(folder, "token");
    writeFileSync(path, `${token}\n`, { mode: 0o600 });
    expect(read(["--operator-token-file", "token"]).operator_tokens).toEqual([token]);
    chmodSync(path, 0o644);
    expect(refusal(["--operator-token-file", "token"])).toMatch(/open to others/);
    expect(refusal(["--operator-token-file", "none"])).toMatch(/There is no operator's token/);
  });

  it("refuses a short operator's token without showing it", () => {
    const message = refusal([], { HANDFAST_OPERATOR_TOKEN: "hunter2" });
    expect(message).toMatch(/at least 20/);
    expect(message).not.toContain("hunter2");
    expect(refusal([], {}, "operator_token = 31337")).not.toContain("31337");
  });
});

describe("configuration: what is wrong is named", () => {
  it.each<[string[], RegExp]>([
    [["--prot", "1"], /no option --prot. Did you mean --port\?/],
    [["--xyzzy"], /no option --xyzzy. See --help/],
    [["start"], /"start" is not an option/],
    [["--port"], /--port needs a value/],
    [["--port", "70000"], /--port is "70000". It must be a whole number from 0 to 65535/],
    [["--port", "1", "--port", "2"], /given twice/],
    [["--log-level", "warning"], /one of fatal.*Did you mean warn\?/],
    [["--keep-taken", "30"], /a duration with its unit/],
    [["--reserve", "64"], /a size with its unit/],
    [["--dev=maybe"], /true or false/],
    [["--public-url", "ftp://x"], /http or https/],
    [["--public-url", "https://user:pw@x"], /http or https/],
    [["--admit", "short"], /no JWK thumbprint/],
    [["--operator-token", token], /no option --operator-token/],
    [["--config", "none.toml"], /there is no such file/],
  ])("%j", (argv, message) => {
    expect(refusal(argv)).toMatch(message);
  });

  it.each<[string, RegExp]>([
    ["prot = 1", /sets prot, which is no option. Did you mean port\?/],
    ["[retention]\nkeep_takn = '1d'", /sets retention.keep_takn.* Did you mean retention.keep_taken\?/],
    ["[other]\nx = 1", /sets other, which is no option/],
    ["port = '1' x", /line 1/],
    ["port = 1.5", /must be a whole number/],
    ["public_urls = [1]", /a list of texts/],
  ])("handfast.toml with %j", (toml, message) => {
    expect(refusal([], {}, toml)).toMatch(message);
  });

  it("only warns of variables that may be somebody else's, and of a relay that nobody can name", () => {
    const { warnings } = read([], { HANDFAST_OPERATER_TOKEN: "x", HANDFAST_URL: "x", OTHER: "x" });
    expect(warnings).toEqual([
      "The environment variable HANDFAST_OPERATER_TOKEN is not read by the relay. Did you mean HANDFAST_OPERATOR_TOKEN?",
    ]);
    expect(read(["--host", "0.0.0.0"]).warnings).toHaveLength(1);
  });
});
