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
    expect(await cli.run(["token", "revoke", id, "--of", "carol"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("--yes"),
    });
    expect((await cli.run(["token", "revoke", id, "--of", "carol", "--yes"])).code).toBe(0);
    expect((await cli.run(["doctor"], { env })).code).toBe(77);
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
