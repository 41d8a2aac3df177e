/** Names that lead where they must not. `localhost` is a real name for a private address, known on every machine. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { foreignFetcher } from "./fetch-foreign.ts";

let server: Server;
let port: number;
let requests = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.end("hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const strict = foreignFetcher({ allow_private: false, max_bytes: 100 });
const open = foreignFetcher({ allow_private: true, max_bytes: 100 });
const never = new AbortController().signal;

test("a private address is not even connected to, by whichever spelling", async () => {
  const before = requests;
  for (const host of ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]"]) {
    const asked = strict(new URL(`http://${host}:${port}/`), never);
    await expect(asked, host).rejects.toMatchObject({ code: 403, reason: "import_address" });
  }
  expect(requests).toBe(before);
});

test("what is allowed is fetched", async () => {
  expect(Buffer.from(await open(new URL(`http://localhost:${port}/`), never)).toString()).toBe("hello");
});

test("what is larger than allowed is not read on", async () => {
  const small = foreignFetcher({ allow_private: true, max_bytes: 4 });
  await expect(small(new URL(`http://127.0.0.1:${port}/`), never)).rejects.toMatchObject({ code: 413 });
});

test("a fetch that is given up ends at once", async () => {
  const controller = new AbortController();
  controller.abort(new Error("too late"));
  const asked = open(new URL(`http://127.0.0.1:${port}/`), controller.signal);
  await expect(asked).rejects.toMatchObject({ reason: "import_unreachable" });
});
