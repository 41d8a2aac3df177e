import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, connect } from "@handfast/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli } from "../testing/cli.ts";

let relay: TestRelay;
let cli: Cli;
let client: Client;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url });
  client = await connect({ url: relay.url, agent: "looker", home: join(cli.folder, "home") });
});
afterAll(async () => {
  await client.close();
  await cli.stop();
  await relay.stop();
});

describe("handfast serve --manifest", () => {
  it("offers what a manifest file says, under its agent's name, and only what a relay would take", async () => {
    const capability = {
      name: "filed",
      input_schema: { n: "int" },
      output_schema: { done: "bool" },
      timeout_seconds: 7,
      reliability_sla: 0.9,
      sla: { window_seconds: 3_600 },
      latency: { p95_ms: 500 },
      cost: { amount: 5, per: "handoff" },
      data_policy: { retention_seconds: 60, trains: false },
    };
    const manifest = { agent_id: "filed-agent", capabilities: [capability], version: 4, lease_seconds: 600 };
    await writeFile(join(cli.folder, "filed.json"), JSON.stringify(manifest));
    const filed = cli.spawn(["serve", "filed", "--manifest", "filed.json", "--json", "--", "cat"]);
    await filed.said(/"event":"serving"/);
    const view = await client.call("agent", { params: { name: "filed-agent" } });
    const kept = await client.call("manifest", { params: { digest: view.manifest?.digest ?? "" } });
    expect(kept.manifest).toEqual({
      ...manifest,
      capabilities: [{ ...capability, cost: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } }],
    });
    await filed.stop();
    const other = await cli.run(["serve", "other", "--manifest", "filed.json", "--", "cat"]);
    expect(other).toMatchObject({
      code: 66,
      stderr: expect.stringMatching(
        /does not offer other. *\n?.*It offers filed: .*serve filed --manifest filed\.json/s,
      ),
    });
    await writeFile(join(cli.folder, "bad.json"), JSON.stringify({ ...manifest, version: 0 }));
    const bad = await cli.run(["serve", "filed", "--manifest", "bad.json", "--", "cat"]);
    expect(bad).toMatchObject({ code: 65, stderr: expect.stringMatching(/bad\.json:1: \/version is 0/) });
  });

  it("offers the whole file, so that each of its capabilities can have a process of its own", async () => {
    const capabilities = [{ name: "two" }, { name: "one", cost: { amount: 5, per: "handoff" } }];
    await writeFile(join(cli.folder, "both.json"), JSON.stringify({ agent_id: "both", capabilities, version: 1 }));
    const serving = async (name: string) => {
      const words = ["serve", name, "--manifest", "both.json", "--text", "--json"];
      const process = cli.spawn([...words, "--", "sh", "-c", `cat >/dev/null; printf ${name}`]);
      await process.said(/"event":"serving"/);
      return process;
    };
    const processes = [await serving("one"), await serving("two")];
    for (const name of ["one", "two", "one", "two"]) {
      const handle = await client.send(name, "go", { text: true, timeout: "10s", attempts: 1, ack: "2s" });
      expect(await handle.result()).toBe(name);
    }
    expect(processes[0]?.stderr).toContain("both.json offers two too: this process works for one alone.");
    for (const process of processes) {
      expect(process.stderr).not.toContain("no longer does");
      await process.stop();
    }
  });

  it("leaves out that a capability wants to be asked, and says so: offers are made from the file", async () => {
    const capabilities = [{ name: "haggle", proposes: true, cost: { amount: 5, per: "handoff" } }];
    await writeFile(join(cli.folder, "haggle.json"), JSON.stringify({ agent_id: "haggler", capabilities }));
    const process = cli.spawn([
      "serve",
      "haggle",
      "--manifest",
      "haggle.json",
      "--agent",
      "other",
      "--json",
      "--",
      "cat",
    ]);
    await process.said(/"event":"serving"/);
    expect(process.stderr).toContain("haggle.json says that haggle wants to be asked, and serve cannot answer");
    expect(process.stderr).toContain("The file's agent_id is haggler; it is offered by other.");
    const { offers } = await client.negotiate({ capability: "haggle" });
    expect(offers).toMatchObject([{ agent_id: "other", made_by: "manifest", cost: { amount: 5 } }]);
    await process.stop();
  });
});

it("says what a second serve under the same name takes back", async () => {
  const first = cli.spawn(["serve", "before", "--agent", "same", "--json", "--", "cat"]);
  await first.said(/"event":"serving"/);
  const second = cli.spawn(["serve", "after", "--agent", "same", "--json", "--", "cat"]);
  await second.said(/"event":"serving"/);
  expect(second.stderr).toContain("same offered before until now, and no longer does");
  await Promise.all([first.stop(), second.stop()]);
});
