import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";

let relay: TestRelay;
let cli: Cli;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url, HANDFAST_TOKEN: operator_token });
});
afterAll(async () => {
  await cli.stop();
  await relay.stop();
});

describe("handfast token", () => {
  it("makes a token that works, lists it without its secret, and revokes it", async () => {
    const { stdout } = await cli.run(["token", "make", "carol", "--label", "ci", "--life", "1d"]);
    const env = { HANDFAST_TOKEN: stdout.trim() };
    expect((await cli.run(["doctor"], { env })).stdout).toContain("the relay knows carol by a token");
    const listed = await cli.run(["token", "list", "--of", "carol"]);
    expect(listed.stdout).toMatch(/^id +ends in +made +expires +label\n\S+ .* ci$/m);
    expect(listed.stdout).not.toContain(stdout.trim());
    const { tokens } = (await cli.json(["token", "list", "--of", "carol"])) as { tokens: { id: string }[] };
    const id = tokens[0]?.id ?? "";
    // A word that begins as a flag does could not be typed.
    expect(id).toMatch(/^[0-9a-f]{18}$/);
    expect(await cli.run(["token", "revoke", id, "--of", "carol"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("--yes"),
    });
    expect((await cli.run(["token", "revoke", id, "--of", "carol", "--yes"])).code).toBe(0);
    expect((await cli.run(["doctor"], { env })).code).toBe(77);
  });

  it("says how an id is typed that begins as a flag does, as those of before could", async () => {
    const flags = ["--of", "carol", "--yes"];
    const { code, stderr } = await cli.run(["token", "revoke", "-cEWn7Qtx4YL", ...flags]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("-- -cEWn7Qtx4YL")]);
    expect((await cli.run(["token", "revoke", ...flags, "--", "-cEWn7Qtx4YL"])).stderr).toContain("unknown_token");
  });

  it("needs to know whose tokens an operator means", async () => {
    expect((await cli.run(["token", "list"])).code).toBe(64);
  });
});

describe("handfast agents", () => {
  it("lists who offers what, shows one, and forgets it", async () => {
    await relay.agent("dora", "web_research");
    expect((await cli.run(["agents"])).stdout).toMatch(/^dora +never +none +token +web_research$/m);
    expect((await cli.run(["agents", "--capability", "nothing"])).stderr).toContain("no agent that offers nothing");
    expect(await cli.json(["agents", "show", "dora"])).toMatchObject({ name: "dora" });
    expect((await cli.run(["agents", "forget", "dora", "--yes"])).code).toBe(0);
    expect(await cli.run(["agents", "show", "dora"])).toMatchObject({
      code: 66,
      stderr: expect.stringContaining("handfast explain unknown_agent"),
    });
  });
});

describe("handfast backup", () => {
  it("copies the store while the relay runs; only operators may", async () => {
    const { stdout } = await cli.run(["backup", "copy.db"]);
    expect(existsSync(stdout.trim())).toBe(true);
    expect((await cli.run(["backup", "copy.db"])).code).toBe(65);
    const { token } = await relay.agent("erik");
    expect((await cli.run(["backup"], { env: { HANDFAST_TOKEN: token } })).code).toBe(77);
  });
});

describe("handfast routes", () => {
  it("divides work among versions, lists how, and drops it", async () => {
    expect((await cli.run(["routes"])).stderr).toContain("No routes");
    const set = await cli.run(["routes", "set", "web_research", "1.x=90", ">=2 <4=10"]);
    expect(set.stdout).toBe("web_research: 1.x 90 %, >=2 <4 10 %\n");
    expect((await cli.run(["routes"])).stdout).toMatch(/^web_research +1\.x 90 %, >=2 <4 10 % .* operator$/m);
    expect(await cli.json(["routes"])).toMatchObject({ routes: [{ weights: [{ weight: 90 }, { weight: 10 }] }] });
    expect((await cli.run(["routes", "drop", "web_research"])).code).toBe(0);
    expect(await cli.run(["routes", "drop", "web_research"])).toMatchObject({
      code: 66,
      stderr: expect.stringContaining("handfast explain unknown_route"),
    });
  });

  it("says how a weight is written", async () => {
    expect(await cli.run(["routes", "set", "web_research", "1.x"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("as 1.x=90"),
    });
  });
});
