import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli } from "./testing/cli.ts";

let cli: Cli;
beforeAll(async () => {
  cli = await Cli.make();
});
afterAll(() => cli.stop());

describe("the first minute, typed out", () => {
  it("starts a relay, makes an agent of tr, and hands it a text", async () => {
    const relay = cli.spawn(["start", "--port", "0"]);
    const [, url = ""] = await relay.said(/^relay (\S+) · store \.\/\.handfast · DEVELOPMENT MODE$/m);
    const [, next = ""] = await relay.said(/^next: handfast (.+)$/m);
    expect(next).toBe(`serve upper --url ${url} --text -- tr a-z A-Z`);

    const worker = cli.spawn(next.split(" "));
    await worker.said(/^serving upper as upper-1 · /m);

    const sent = await cli.run(["send", "upper", "--text", "hello"], { env: { HANDFAST_URL: url } });
    expect(sent).toMatchObject({ code: 0, stdout: "HELLO\n" });
    const time = String.raw`\d+(\.\d)? m?s`;
    expect(sent.stderr).toMatch(
      new RegExp(`^accepted ${time} · acknowledged by upper-1 ${time} · completed ${time}\n$`),
    );

    // Beside the store, whoever may read the operator's token is the operator.
    const operator = await cli.run(["backup", "first.db"], { env: { HANDFAST_URL: url } });
    expect(operator).toMatchObject({ code: 0, stdout: `${cli.folder}/.handfast/backups/first.db\n` });

    expect((await worker.stop()).code).toBe(0);
    expect((await relay.stop()).code).toBe(0);
    expect(relay.stderr).toMatch(/^DEVELOPMENT MODE: whoever calls first/m);
    expect(relay.stderr).toMatch(/^\{"level":30,.*"stopping; leases are kept"\}$/m);
  });

  it("tells where it listens as one JSON document, and how it was configured wrongly", async () => {
    const relay = cli.spawn(["start", "--port", "0", "--data", "other", "--json"]);
    await relay.said(/\}\n/);
    expect(JSON.parse(relay.stdout)).toMatchObject({ mode: "development", store: `${cli.folder}/other` });
    await relay.stop();
    const wrong = await cli.run(["start", "--prot", "1"]);
    expect(wrong).toMatchObject({ code: 64, stderr: expect.stringMatching(/^error: .* Did you mean --port\?/) });
    const through = await cli.run(["start", "7421"], { env: { npm_lifecycle_event: "start" } });
    expect(through).toMatchObject({ code: 64, stderr: expect.stringContaining("npm start -- --port 7421") });
    const high = await cli.run(["start", "--port", "99999"]);
    expect(high).toMatchObject({ code: 64, stderr: expect.stringMatching(/^error: --port is "99999"\./) });
    const environment = await cli.run(["start"], { env: { HANDFAST_PORT: "99999" } });
    expect(environment).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/^error: The environment variable HANDFAST_PORT /),
    });
  });

  it("says within its patience that there is no relay, and what to do", async () => {
    const gone = createServer().listen(0, "127.0.0.1");
    await once(gone, "listening");
    const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    await new Promise((resolve) => gone.close(resolve));
    const { code, stdout, stderr } = await cli.run(["send", "upper", "1", "--url", url, "--patience", "100ms"]);
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
    expect(stderr).toContain(`No relay answered at ${url}`);
    expect(stderr).toContain("more: handfast explain relay_unreachable");
    expect(stderr).not.toContain("    at ");
  });
});
