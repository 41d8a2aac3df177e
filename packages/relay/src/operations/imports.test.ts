import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { signedAgent, testAgent } from "../testing/signed-agent.ts";
import { operator_token, TestRelay } from "../testing/test-relay.ts";

let here: TestRelay;
let there: TestRelay;
const key = testAgent("far-agent");
const capabilities = [{ name: "far_research", description: "Research from afar.", input_schema: { query: "string" } }];

beforeAll(async () => {
  here = await TestRelay.start();
  there = await TestRelay.start();
  await here.agent("asker");
  await signedAgent(there, { version: 2, capabilities }, key);
});
afterAll(async () => {
  await here.stop();
  await there.stop();
});

const operate = (method: string, path: string, body?: unknown) =>
  here.call(method, path, { token: operator_token, ...(body === undefined ? {} : { body }) });
const importFrom = (url: string) => operate("POST", "/v1/imports", { url });
const discover = (need: object) => here.post("/v1/discover", need, operator_token);
const farName = () => `far-agent@${new URL(there.url).host}`;

/** Whatever else somebody may answer with: a plain web server. */
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const serveJson = (value: () => unknown) => serve((_request, response) => response.end(JSON.stringify(value())));
const viewThere = async () => (await there.get("/v1/discovery/far-agent")).body;

describe("an agent of another relay", () => {
  it("is imported by its signature, and found as what it is", async () => {
    const url = `${there.url}/v1/discovery/far-agent`;
    const { status, body } = await importFrom(url);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: farName(),
      url,
      kind: "manifest",
      verified: true,
      key: key.key,
      version: 2,
      capabilities: ["far_research"],
      lapsed: false,
      failures: 0,
      lease_until: body.fetched_at + 86_400_000,
    });
    const found = await discover({ capability: "far_research" });
    expect(found.body.hits).toMatchObject([
      {
        agent_id: farName(),
        signed: true,
        discovery_endpoint: url,
        liveness: { state: "idle" },
        reliability: { status: "unclaimed", attempts: 0 },
        foreign: { url, verified: true },
      },
    ]);
    expect(found.body.hits[0].why.at(-1)).toContain("Nothing can be handed to it here.");
    expect((await operate("GET", "/v1/imports")).body.imports).toMatchObject([{ name: farName() }]);
  });

  it("is shown here with the same signature as there", async () => {
    const { body } = await here.get(`/v1/discovery/${farName()}`);
    const original = await viewThere();
    expect(body.manifest).toMatchObject({ digest: original.manifest.digest, document: original.manifest.document });
    expect(body.foreign).toMatchObject({ verified: true });
  });

  it("gets no handoff here, whether it would wait or not", async () => {
    const asker = await here.agent("sender");
    for (const queue_if_absent of [false, true]) {
      const { status, body } = await asker.post("/v1/handoffs", { to: farName(), input: 1, queue_if_absent });
      expect([status, body.reason]).toEqual([406, "foreign_agent"]);
    }
  });

  it("is known after a restart", async () => {
    await here.pause();
    await here.resume();
    expect((await discover({ capability: "far_research" })).body.hits).toMatchObject([{ agent_id: farName() }]);
  });

  it("is refreshed when it says something new, and not by what is older", async () => {
    const old = await viewThere();
    await signedAgent(there, { version: 3, capabilities: [{ name: "far_design" }] }, key);
    const { body } = await operate("POST", `/v1/imports/${farName()}/refresh`, {});
    expect(body).toMatchObject({ version: 3, capabilities: ["far_design"] });
    expect((await discover({ capability: "far_research" })).status).toBe(406);
    // The other relay's own host, answering with what it said before.
    const port = Number(new URL(there.url).port);
    const name = farName();
    await there.pause();
    const replayed = createServer((_request, response) => response.end(JSON.stringify(old)));
    await new Promise<void>((resolve) => replayed.listen(port, "127.0.0.1", resolve));
    const refused = await operate("POST", `/v1/imports/${name}/refresh`, {});
    expect([refused.status, refused.body.reason]).toEqual([409, "import_older"]);
    replayed.closeAllConnections();
    await new Promise<void>((resolve) => replayed.close(() => resolve()));
    await there.resume();
    expect((await operate("GET", "/v1/imports")).body.imports[0]).toMatchObject({ version: 3, failures: 1 });
  });

  it("with another key is refused until the operator drops the import", async () => {
    await there.call("DELETE", "/v1/agents/far-agent", { token: operator_token });
    const other = testAgent("far-agent");
    await signedAgent(there, { version: 9, capabilities }, other);
    const url = `${there.url}/v1/discovery/far-agent`;
    const refused = await importFrom(url);
    expect([refused.status, refused.body.reason]).toEqual([409, "import_key_changed"]);
    expect(refused.body).toMatchObject({ was: key.key, is: other.key });
    expect((await operate("DELETE", `/v1/imports/${farName()}`)).body).toEqual({ done: true });
    expect((await discover({ capability: "far_design" })).status).toBe(406);
    expect((await importFrom(url)).body).toMatchObject({ key: other.key, version: 9 });
  });

  it("is nobody's to import but an operator's", async () => {
    const agent = await here.agent("curious");
    expect((await agent.post("/v1/imports", { url: `${there.url}/v1/discovery/far-agent` })).status).toBe(403);
    expect((await agent.get("/v1/imports")).status).toBe(403);
  });

  it("that was never imported is unknown", async () => {
    for (const [method, path] of [
      ["POST", "/v1/imports/who@example.com/refresh"],
      ["DELETE", "/v1/imports/who@example.com"],
    ] as const) {
      const { status, body } = await operate(method, path, method === "POST" ? {} : undefined);
      expect([status, body.reason]).toEqual([404, "unknown_import"]);
    }
  });
});

describe("an A2A agent card", () => {
  it("is imported without anybody to vouch for it, and marked so", async () => {
    const origin = await serveJson(() => ({
      name: "Recipe Agent",
      description: "Helps with cooking.",
      supportedInterfaces: [{ url: "https://x.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      version: "1.2.0",
      skills: [{ id: "find recipe", name: "Find recipe", description: "Finds one.", tags: ["food", "home cooking"] }],
    }));
    const { status, body } = await importFrom(`${origin}/.well-known/agent-card.json`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: `Recipe-Agent@${new URL(origin).host}`,
      kind: "agent_card",
      verified: false,
      key: null,
      capabilities: ["find-recipe"],
    });
    const found = await discover({ words: "recipe", tags: ["home-cooking"] });
    expect(found.body.hits).toMatchObject([
      { agent_id: body.name, signed: false, foreign: { verified: false }, capability: { version: "1.2.0" } },
    ]);
    expect(found.body.hits[0].why.at(-1)).toContain("no signature of its own vouches for it");
  });
});

describe("an import that is refreshed", () => {
  it("takes nothing of another agent that is told of at the same place by now", async () => {
    let name = "Weather Bot";
    const card = () => ({ name, url: "https://bot.example", skills: [{ id: name.split(" ")[0] }] });
    const url = await serveJson(card);
    const { body } = await importFrom(url);
    expect(body).toMatchObject({ name: `Weather-Bot@${new URL(url).host}`, capabilities: ["Weather"] });
    name = "Bank Bot";
    const refused = await operate("POST", `/v1/imports/${body.name}/refresh`, {});
    expect([refused.status, refused.body.reason]).toEqual([400, "import_unproven"]);
    expect(refused.body.detail).toContain(`it tells of Bank-Bot now, and ${body.name} was imported from there`);
    const { imports } = (await operate("GET", "/v1/imports")).body;
    expect(imports.find((each: { name: string }) => each.name === body.name)).toMatchObject({
      capabilities: ["Weather"],
      failures: 1,
    });
  });
});

describe("bad imports", () => {
  const refusedWith = async (url: string) => {
    const { status, body } = await importFrom(url);
    return [status, body.reason];
  };

  it("are refused by their URL", async () => {
    expect(await refusedWith("http://user:secret@127.0.0.1/x")).toEqual([400, "import_url"]);
    expect((await importFrom("file:///etc/passwd")).status).toBe(400);
    expect((await importFrom("ftp://example.com/x")).status).toBe(400);
  });

  it("are refused when the signature is not of what they say", async () => {
    const view = await viewThere();
    const changed = { ...JSON.parse(view.manifest.document), capabilities: [{ name: "anything" }] };
    const forged = { ...view, manifest: { ...view.manifest, document: JSON.stringify(changed) } };
    expect(await refusedWith(await serveJson(() => forged))).toEqual([400, "import_unproven"]);
  });

  it("are refused when another shows the agents of a relay as its own", async () => {
    const view = await viewThere();
    const { status, body } = await importFrom(await serveJson(() => view));
    expect([status, body.reason]).toEqual([400, "import_unproven"]);
    expect(body.detail).toContain(`far-agent is registered with ${there.url}`);
  });

  it("are refused when they name another agent than the one that signed", async () => {
    const view = await viewThere();
    expect(await refusedWith(await serveJson(() => ({ ...view, agent_id: "famous" })))).toEqual([
      400,
      "import_unproven",
    ]);
  });

  it("are refused when nobody signed", async () => {
    await there.agent("unsigned", "chat");
    expect(await refusedWith(`${there.url}/v1/discovery/unsigned`)).toEqual([400, "import_unproven"]);
  });

  it("are refused when they are neither manifest nor card, or not JSON", async () => {
    expect(await refusedWith(await serveJson(() => ({ hello: "world" })))).toEqual([400, "import_unreadable"]);
    expect(await refusedWith(await serve((_, response) => response.end("<html>")))).toEqual([400, "import_unreadable"]);
  });

  it("do not follow redirects, and say what was answered", async () => {
    const away = await serve((_, response) => response.writeHead(302, { location: there.url }).end());
    expect(await refusedWith(away)).toEqual([400, "import_unreachable"]);
    const gone = await serve((_, response) => response.writeHead(500).end());
    expect((await importFrom(gone)).body.detail).toContain("it answered 500");
    expect(await refusedWith("http://127.0.0.1:1/")).toEqual([400, "import_unreachable"]);
  });

  it("read no more than they may, however it is sent", async () => {
    const endless = await serve((_, response) => {
      const piece = Buffer.alloc(65_536, 32);
      const send = () => {
        while (response.write(piece));
        response.once("drain", send);
      };
      send();
    });
    expect(await refusedWith(endless)).toEqual([413, "import_too_large"]);
  });

  it("wait no longer than they may", async () => {
    const hasty = await TestRelay.start({ limits: { import_fetch_ms: 100 } });
    const silent = await serve(() => {});
    const { status, body } = await hasty.post("/v1/imports", { url: silent }, operator_token);
    expect([status, body.reason]).toEqual([400, "import_unreachable"]);
    expect(body.detail).toContain("100 ms");
    await hasty.stop();
  });

  it("reach no address of this machine or its network, unless the operator says so", async () => {
    const guarded = await TestRelay.start();
    await guarded.pause();
    await guarded.resume("--production");
    const url = `${there.url}/v1/discovery/far-agent`;
    for (const bad of [url, url.replace("127.0.0.1", "localhost"), "http://[::1]:7420/", "http://169.254.169.254/"]) {
      const { status, body } = await guarded.post("/v1/imports", { url: bad }, operator_token);
      expect([bad, status, body.reason]).toEqual([bad, 403, "import_address"]);
    }
    await guarded.pause();
    await guarded.resume("--production", "--import-private");
    expect((await guarded.post("/v1/imports", { url }, operator_token)).status).toBe(200);
    await guarded.stop();
  });
});
