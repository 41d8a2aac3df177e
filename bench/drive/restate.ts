/**
 * Restate: a service in this process that the server calls over HTTP/2, and a sender that calls it through the ingress
 * with an idempotency key, so that the call is durable before it runs and its answer is kept.
 */

import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { createServer } from "node:http2";
import { loadPackage } from "../obtain/npm-packages.ts";
import type { Address } from "../servers/server.ts";
import { type Driver, slots } from "./driver.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";

interface Sdk {
  service(definition: { name: string; handlers: Record<string, () => Promise<unknown>> }): object;
  createEndpointHandler(options: { services: readonly object[] }): Parameters<typeof createServer>[1];
}

export async function openRestate({ admin = "", ingress = "" }: Address): Promise<Driver> {
  // Two lines on the console for each call would be measured too.
  process.env["RESTATE_LOGGING"] = "ERROR";
  const { service, createEndpointHandler } = await loadPackage<Sdk>("@restatedev/restate-sdk");
  const [input, output] = [JSON.stringify(makeKilobyte()), makeKilobyte()];
  const work = service({ name: "work", handlers: { run: async () => output } });
  const server = createServer({}, createEndpointHandler({ services: [work] }));
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  await register(admin, `http://127.0.0.1:${port}`);
  const sockets = new Agent({ keepAlive: true, maxSockets: slots });
  return {
    handoff: async () => checkAnswer(JSON.parse(await call(`${ingress}/work/run`, sockets, input)), output),
    close: async () => {
      sockets.destroy();
      server.close();
    },
  };
}

async function register(admin: string, uri: string): Promise<void> {
  const body = JSON.stringify({ uri, force: true });
  const response = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (!response.ok) throw new Error(`restate did not take the service: ${response.status} ${await response.text()}`);
}

function call(url: string, agent: Agent, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "idempotency-key": randomUUID(),
  };
  const asked = request(url, { method: "POST", agent, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.once("error", reject);
    response.once("end", () => {
      const answer = Buffer.concat(chunks).toString();
      if (response.statusCode === 200) resolve(answer);
      else reject(new Error(`restate answered ${response.statusCode}: ${answer.slice(0, 200)}`));
    });
  });
  asked.once("error", reject);
  asked.end(body);
  return promise;
}
