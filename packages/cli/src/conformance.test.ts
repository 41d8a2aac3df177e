import { once } from "node:events";
import { createServer } from "node:http";
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

  it("takes the relay as an option too, and only one of them", async () => {
    const { code, stdout } = await cli.run(["conformance", "--url", url, "--only", "ABOUT-1"]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("1 kept") });
    const both = await typed(["conformance", url, "--url", "http://127.0.0.1:9"]);
    expect(both).toMatchObject({ code: 64, stderr: expect.stringContaining("Two relays are named") });
  });

  it("ends with 69 where the restart fails: nothing is broken, and nobody goes on sending", async () => {
    const restart = "echo there is no relay >&2; exit 3";
    const { code, stdout, stderr } = await cli.run(["conformance", url, "--only", "DURABLE-1", "--restart", restart]);
    expect(stdout).toContain(`http not tried: the restart command ended with 3: ${restart}\n`);
    expect(stdout).toContain("there is no relay\n");
    expect(stdout).toContain("0 kept, 0 broken, 1 not tried of 1 promises, in 0 runs");
    expect(stdout).toContain(`cut short: the restart command ended with 3: ${restart}\n`);
    expect({ code, stderr }).toEqual({ code: 69, stderr: "" });
  });

  it("says that the operator's token was refused, and ends with 77", async () => {
    const env = { HANDFAST_OPERATOR_TOKEN: "not-the-token" };
    const { code, stderr } = await cli.run(["conformance", url, "--only", "FENCE"], { env });
    expect(code).toBe(77);
    expect(stderr).toContain("The relay refuses the operator's token that was given");
    expect(stderr).not.toContain("give the operator's token");
  });

  it("says what is no relay, and ends with 69", async () => {
    const server = createServer((_, response) => response.setHeader("content-type", "application/json").end("{}"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { code, stderr } = await cli.run(["conformance", `http://127.0.0.1:${port}`]);
    server.close();
    expect(code).toBe(69);
    expect(stderr).toContain("is no Handfast relay: GET /.well-known/handfast was answered with 200 {}");
    expect(stderr).not.toContain("token");
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
