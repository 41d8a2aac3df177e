/** Handoffs over HTTP: a real relay in its own process, a sender and a worker here, tokens, 1 KB in and 1 KB out. */

import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { makeId } from "@handfast/protocol";
import { Caller } from "../tests/support/caller.ts";
import { RelayProcess } from "../tests/support/relay-process.ts";

const text = "A".repeat(1_000);
const worker = "worker-1";
const slots = 256;

export async function openHttp() {
  const relay = await RelayProcess.start([
    "--requests-per-second",
    "1000000",
    "--request-burst",
    "1000000",
    "--log-level",
    "warn",
  ]);
  const sender = await Caller.named(relay.url, "sender");
  const agent = await Caller.named(relay.url, "agent", [{ name: "work" }]);
  const sockets = new Agent({ keepAlive: true, maxSockets: 1_024 });
  const post = poster(relay.url, sockets);
  let over = false;
  let busy = 0;

  const serve = async ({ id, fence }: { readonly id: string; readonly fence: number }) => {
    await post(`/v1/handoffs/${id}/ack`, agent.token, { fence, worker });
    await post(`/v1/handoffs/${id}/complete`, agent.token, { fence, worker, output: { text } });
    busy -= 1;
  };
  const claiming = (async () => {
    while (!over) {
      const request_id = makeId(Date.now(), randomBytes(10));
      const free = Math.max(1, slots - busy);
      const { leases } = await post("/v1/claims", agent.token, { worker, request_id, slots: free }, 1);
      if (!Array.isArray(leases)) throw new Error("no leases");
      busy += leases.length;
      for (const lease of leases) void serve(lease);
    }
  })();

  return {
    handoff: async () => {
      const id = makeId(Date.now(), randomBytes(10));
      const { state } = await post("/v1/handoffs", sender.token, { id, capability: "work", input: { text } }, 30);
      if (state !== "completed") throw new Error(`handoff ${id} is ${String(state)}`);
    },
    close: async () => {
      over = true;
      await claiming;
      sockets.destroy();
      await relay.dispose();
    },
  };
}

function poster(url: string, agent: Agent) {
  return (path: string, token: string, body: unknown, wait_seconds = 0): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": bytes.byteLength,
        ...(wait_seconds > 0 ? { prefer: `wait=${wait_seconds}` } : {}),
      };
      const call = request(url + path, { method: "POST", agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const answer = Buffer.concat(chunks).toString();
          if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(answer));
          else reject(new Error(`${path}: ${response.statusCode} ${answer}`));
        });
      });
      call.on("error", reject);
      call.end(bytes);
    });
}
