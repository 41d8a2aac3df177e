import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { NotRestarted } from "../untriable.ts";
import { Presence } from "./presence.ts";

async function listens(port: number) {
  const server = createServer((_, response) => response.writeHead(503).end());
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

describe("a relay", () => {
  it("that answers, with whatever, is there", async () => {
    const port = await freePort();
    const server = await listens(port);
    const presence = new Presence({ url: `http://127.0.0.1:${port}`, restart: null, away_ms: 0 });
    expect(await presence.isGoneNow()).toBe(false);
    expect(presence.isGone).toBe(false);
    server.close();
  });

  it("that does not answer for a while is gone, for all who ask", async () => {
    const presence = new Presence({ url: `http://127.0.0.1:${await freePort()}`, restart: null, away_ms: 200 });
    expect(await Promise.all([presence.isGoneNow(), presence.isGoneNow()])).toEqual([true, true]);
    expect(presence.isGone).toBe(true);
  });

  it("that comes back in time is not gone", async () => {
    const port = await freePort();
    const presence = new Presence({ url: `http://127.0.0.1:${port}`, restart: null, away_ms: 60_000 });
    const isGone = presence.isGoneNow();
    const server = await listens(port);
    expect(await isGone).toBe(false);
    server.close();
  });

  it("that is being restarted is not gone, however long it takes", async () => {
    const port = await freePort();
    const started = Promise.withResolvers<void>();
    const restart = () => started.promise;
    const presence = new Presence({ url: `http://127.0.0.1:${port}`, restart, away_ms: 0 });
    const restarting = presence.restart();
    const isGone = presence.isGoneNow();
    const server = await listens(port);
    started.resolve();
    await restarting;
    expect(await isGone).toBe(false);
    server.close();
  });

  it("that cannot be restarted makes checks untriable, with the reason", async () => {
    const restart = () => Promise.reject(new Error("it does not start"));
    const presence = new Presence({ url: "http://127.0.0.1:9", restart });
    await expect(presence.restart()).rejects.toThrow(new NotRestarted("it does not start"));
  });
});
