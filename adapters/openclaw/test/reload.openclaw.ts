/**
 * A gateway takes another configuration while it runs: OpenClaw stops the plugin, deletes what it was loaded from, and loads
 * it anew. What is served goes on, what was under way is not lost, and one wrong setting does not take the rest with it.
 */

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/fake-model.ts";
import { Stage, until } from "./support/stage.ts";

const chat = { agent: "worker" };

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open({ capabilities: { chat } });
});
afterAll(() => stage?.close());

const withCapabilities = (capabilities: object) => ({ ...stage.handfast, capabilities });

// The first one: nothing was worked on before, so nothing that work needs was loaded from the old place.
test("after a reload everything is served, with heartbeats on their own thread", async () => {
  const { gateway, model } = stage;
  await gateway.reconfigure(withCapabilities({ chat, more: chat }));
  model.works("ping", () => ({ text: "pong" }));
  const ann = await stage.connect("ann");
  const handles = await Promise.all(["chat", "more"].map((name) => ann.send(name, "ping", { timeout: "3m" })));
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(["pong", "pong"]);
  expect(gateway.said).not.toMatch(/heartbeat_thread_lost|was not started|Cannot find/);
});

test("what is worked on when the configuration changes goes on in its session", async () => {
  const { gateway, model } = stage;
  const ann = await stage.connect("ann");
  model.works("marathon", ({ number }) => (number === 0 ? { hangs: true } : { text: "arrived" }));
  const handle = await ann.send("chat", "marathon", { timeout: "9m" });
  await until(() => model.calls("works", "marathon").length === 1);
  await gateway.reconfigure(withCapabilities({ chat, less: chat }));
  expect(await handle.outcome()).toMatchObject({ state: "completed", outcome: { output: "arrived" } });
  const again = model.calls("works", "marathon")[1];
  expect(again?.all).toContain(`Handoff ${handle.id} from agent ann`);
  expect(again?.news).toContain("Go on from where it stopped");
});

test("one bad capability is named, the others are served, and late outcomes come", async () => {
  const { gateway, model } = stage;
  const cyd = await stage.connect("cyd");
  const { promise: may_answer, resolve: go } = Promise.withResolvers<void>();
  const server = await cyd.serve({ research: () => may_answer.then(() => "rust never sleeps") });
  model.sends("patience", ({ number }) =>
    number === 0 ? call("handfast_send", { capability: "research", input: {}, wait_seconds: 0 }) : { text: "ok" },
  );
  await gateway.turn("agent:main:patience", "Do patience.");
  await gateway.reconfigure(
    withCapabilities({ soon: { ...chat, timeout: "soon" }, chat, odd: { ...chat, input: { type: "nonsense" } } }),
  );
  expect(gateway.said).toContain('the capability soon is not served: The timeout of soon is "soon"');
  expect(gateway.said).toMatch(/the capability odd is not served: .*input_schema/);
  expect(gateway.said).toMatch(/serving chat$/m);
  expect(gateway.said).not.toContain("not connected");
  go();
  await until(() => model.calls("sends", "patience").some(({ news }) => news.includes("rust never sleeps")));
  model.works("echo", () => ({ text: "hello" }));
  const ann = await stage.connect("ann");
  expect(await (await ann.send("chat", "echo", { timeout: "3m" })).result()).toBe("hello");
  await server.stop();
});

test("a relay that does not answer keeps no other configuration away", async () => {
  const { gateway } = stage;
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const asked = once(silent, "connection");
  const { port } = silent.address() as AddressInfo;
  const log_before = gateway.log.length;
  gateway.rewrite({ ...stage.handfast, url: `http://127.0.0.1:${port}` });
  const [socket] = await asked;
  await gateway.reconfigure(stage.handfast);
  // OpenClaw would have called the reload off, and gone back to the old configuration.
  expect(gateway.log.slice(log_before)).not.toMatch(/service stop failed|config reload failed/);
  socket.destroy();
  silent.close();
});
