import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Cli } from "../testing/cli.ts";
import { checkNode } from "./machine-checks.ts";
import { lookAtRelay } from "./relay-checks.ts";

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

/** Something that answers as a relay might. */
async function answering(about: object, date = new Date(), ready = true): Promise<string> {
  server = createServer((request, response) => {
    const isReady = request.url === "/readyz";
    response.writeHead(isReady && !ready ? 503 : 200, { date: date.toUTCString(), connection: "close" });
    response.end(JSON.stringify(isReady ? { reasons: ["out of space"] } : about));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server?.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const about = {
  protocol: "handfast",
  versions: ["v1"],
  software: { name: "handfast", version: "0.1.0" },
  mode: "production",
  public_urls: ["https://relay.example"],
};

async function problems(url: string): Promise<Record<string, string>> {
  const { checks } = await lookAtRelay(url);
  return Object.fromEntries(checks.filter(({ ok }) => !ok).map((check) => [check.about, check.found]));
}

describe("handfast doctor", () => {
  it("says that Node is too old", () => {
    expect(checkNode("22.4.0")).toMatchObject({ ok: false, found: "Node 22.4.0 is too old" });
    expect(checkNode("24.0.0").ok).toBe(true);
  });

  it("says that nothing answers, or something that is no relay", async () => {
    const gone = await answering(about);
    await new Promise((resolve) => server?.close(resolve));
    expect((await problems(gone))["relay"]).toContain("ECONNREFUSED");
    expect((await problems(await answering({ hello: "world" })))["relay"]).toContain("no Handfast relay");
  });

  it("says what to type as it was typed itself", async () => {
    const gone = await answering(about);
    await new Promise((resolve) => server?.close(resolve));
    const cli = await Cli.make({ npm_command: "exec" });
    const { code, stdout } = await cli.run(["doctor", "--url", gone]);
    expect([code, stdout]).toEqual([69, expect.stringContaining("Start one with npx handfast start")]);
    await cli.stop();
  });

  it("says of what is no relay that a relay's own URL has no path", async () => {
    const { checks } = await lookAtRelay(`${await answering({ hello: "world" })}/v1`);
    expect(checks).toMatchObject([{ ok: false, remedy: expect.stringContaining("without a path") }]);
  });

  it("says that clocks differ, that the relay is not ready, and that it goes by another name", async () => {
    const found = await problems(await answering(about, new Date(Date.now() - 600_000), false));
    expect(found["clock"]).toMatch(/differs from the relay's by (599|600|601) s/);
    expect(found["ready"]).toContain("out of space");
    expect(found["address"]).toContain("https://relay.example");
    expect(found["version"]).toBeUndefined();
  });

  it("says that relay and command do not speak the same", async () => {
    const url = await answering({ ...about, versions: ["v9"] });
    expect((await problems(url))["version"]).toContain("v9");
  });
});
