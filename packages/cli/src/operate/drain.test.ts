import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { Cli } from "../testing/cli.ts";

let server: TestServer;
let one: TestRelay;
let two: TestRelay;
let cli: Cli;
beforeAll(async () => {
  server = await startServer({ durable: true });
  const store = server.url(await server.createDatabase());
  // An upload may rest for longer than any command takes.
  const limits = { node_signs_every_ms: 50, body_timeout_ms: 300_000 };
  one = await TestRelay.start({ flags: ["--store", store, "--node", "n1"], limits });
  two = await TestRelay.start({ flags: ["--store", store, "--node", "n2"], limits });
  cli = await Cli.make({ HANDFAST_URL: one.url, HANDFAST_TOKEN: operator_token });
}, 60_000);
afterAll(async () => {
  await cli.stop();
  await Promise.all([one.stop(), two.stop()]);
  await server.stop();
});

/** An upload at the second node that is under way until it is told to end. */
async function uploading(name: string) {
  const { token } = await two.agent(name);
  const bytes = Buffer.from(`bytes of ${name}`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const headers = { authorization: `Bearer ${token}`, "content-type": "text/plain" };
  const put = request(`${two.url}/v1/artifacts/${sha256}`, { method: "PUT", headers });
  put.write(bytes.subarray(0, 4));
  await expect
    .poll(async () => (await one.get("/v1/nodes", operator_token)).body.nodes[1].calls, { timeout: 30_000 })
    .toBe(1);
  return async () => {
    put.end(bytes.subarray(4));
    const [answer] = await once(put, "response");
    answer.resume();
    return answer.statusCode;
  };
}

describe("handfast nodes", () => {
  it("lists them with what is under way", async () => {
    const { stdout } = await cli.run(["nodes"]);
    expect(stdout).toMatch(
      /^node +state +connections +calls +claims +version +started +heard of +life\nn1 +running +0 /,
    );
    expect(stdout).toMatch(/^n2 +running +0 +0 +0 +\S+ .* [0-9a-f-]{36}$/m);
    expect(await cli.json(["nodes"])).toMatchObject({ nodes: [{ name: "n1" }, { name: "n2" }] });
  });

  it("lists the one that is alone", async () => {
    const alone = await TestRelay.start();
    const env = { HANDFAST_URL: alone.url };
    expect((await cli.run(["nodes"], { env })).stdout).toMatch(/^\(alone\) +running/m);
    expect(await cli.run(["drain", "n1"], { env })).toMatchObject({
      code: 65,
      stderr: expect.stringContaining("send it SIGTERM"),
    });
    await alone.stop();
  });
});

describe("handfast drain", () => {
  it("waits for what is under way, says what that is, and gives up in time; undone, the node takes work", async () => {
    const finish = await uploading("slow");
    const late = await cli.run(["drain", "n2", "--timeout", "1s"]);
    expect(late).toMatchObject({ code: 75, stdout: "" });
    expect(late.stderr).toContain("progress: n2 drains: 1 call still there");
    expect(late.stderr).toContain("n2 is not drained after 1 s: 1 call still there. It goes on draining.");
    expect((await two.get("/readyz")).body.reasons).toEqual(["draining"]);

    const waiting = cli.spawn(["drain", "n2"]);
    await waiting.said(/1 call still there/);
    expect(await finish()).toBe(201);
    expect(await waiting.ended()).toMatchObject({ code: 0, stdout: expect.stringContaining("n2 is drained") });
    // Asked at the very node that drains.
    const undone = await cli.run(["drain", "n2", "--undo"], { env: { HANDFAST_URL: two.url } });
    expect(undone).toMatchObject({ code: 0, stdout: "n2 takes work again\n" });
    expect((await two.get("/readyz")).status).toBe(200);
  }, 60_000);

  it("says so where somebody took it back meanwhile", async () => {
    const finish = await uploading("slower");
    const waiting = cli.spawn(["drain", "n2"]);
    await waiting.said(/1 call still there/);
    expect((await one.call("DELETE", "/v1/nodes/n2/drain", { token: operator_token })).status).toBe(200);
    expect(await waiting.ended()).toMatchObject({ code: 75, stderr: expect.stringContaining("was taken back") });
    expect(await finish()).toBe(201);
  }, 60_000);

  it("answers a script in JSON", async () => {
    expect(await cli.json(["drain", "n2"])).toMatchObject({
      node: "n2",
      draining: true,
      nodes: [{ name: "n2", state: "drained" }],
    });
    expect(await cli.json(["drain", "n2", "--undo"])).toMatchObject({ draining: false, nodes: [{ state: "running" }] });
  });

  it("names the nodes there are where one is unknown, and needs an operator", async () => {
    expect(await cli.run(["drain", "n9"])).toMatchObject({
      code: 66,
      stderr: expect.stringContaining('there is "n1", "n2"'),
    });
    const { token } = await one.agent("erik");
    expect(await cli.run(["drain", "n2"], { env: { HANDFAST_TOKEN: token } })).toMatchObject({
      code: 77,
      stderr: expect.stringContaining("--token-file: it is the file operator-token"),
    });
  });

  it("tells of a node that has ended", async () => {
    await two.pause();
    expect(await cli.run(["drain", "n2"])).toMatchObject({
      code: 66,
      stderr: expect.stringMatching(/The node "n2" ended \d+ s ago/),
    });
    await two.resume();
  });
});
