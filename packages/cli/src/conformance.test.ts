import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, type CliProcess } from "./testing/cli.ts";
import { typed } from "./testing/typed.ts";

describe("handfast conformance", () => {
  let cli: Cli;
  let relay: CliProcess;
  let url: string;
  beforeAll(async () => {
    cli = await Cli.make();
    relay = cli.spawn(["start", "--port", "0"]);
    [, url = ""] = await relay.said(/^relay (\S+)/m);
  });
  afterAll(() => cli?.stop());

  it("tries a relay, says what it kept and what it could not try, and ends with 0", async () => {
    const { code, stdout } = await cli.run(["conformance", url, "--only", "FENCE-1", "--only", "DURABLE-4"]);
    expect(stdout).toContain("✓ FENCE-1    Each delivery raises the handoff's fence by one. http, websocket");
    expect(stdout).toContain("not tried: no way to kill and start the relay was given (--restart)");
    expect(stdout).toMatch(/1 kept, 0 broken, 1 not tried of 2 promises/);
    expect(code).toBe(0);
  });

  it("tells the same as one JSON document", async () => {
    const report = await cli.json(["conformance", url, "--only", "FENCE-1"]);
    expect(report).toMatchObject({ summary: { kept: 1, broken: 0 }, promises: [{ id: "FENCE-1", outcome: "kept" }] });
  });

  it("uses the relay that other commands would", async () => {
    const { code, stdout } = await cli.run(["conformance", "--only", "ABOUT-1"], { env: { HANDFAST_URL: url } });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(url) });
  });

  it("says that there is no relay, and ends with 69", async () => {
    const { code, stderr } = await cli.run(["conformance", "http://127.0.0.1:9"]);
    expect(code).toBe(69);
    expect(stderr).toContain("Start the relay, or check the URL.");
  });

  it("lists the promises without a relay", async () => {
    const { code, stdout } = await typed(["conformance", "--list", "--only", "FENCE"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^spec\/ids-and-idempotency\.md#fences\n {2}FENCE-1 /);
  });

  it("says what may be named where a word means no promise", async () => {
    const { code, stderr } = await typed(["conformance", "--list", "--only", "FLIGHT"]);
    expect(code).toBe(64);
    expect(stderr).toContain('"FLIGHT" means no promise');
  });
});
