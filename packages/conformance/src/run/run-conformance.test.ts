import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { checks } from "../promises/all.ts";
import { selectChecks } from "../select.ts";
import { RelayProcess } from "../testing/relay-process.ts";
import { NoRelay, NotAdmitted } from "../untriable.ts";
import { runConformance } from "./run-conformance.ts";

const nothing = { operator_token: null, restart: null, short_lived: null };

describe("a relay that goes away in the middle", () => {
  it("is told of, with what was tried until then, and nothing counts as broken for it", async () => {
    const relay = await RelayProcess.start();
    // Claims that wait in the background, streams, WebSockets, clocks, and one that would need a restart.
    const some = selectChecks(checks, ["FENCE", "QUEUE", "WHO", "OPEN", "STREAM", "QUESTION", "DURABLE-4"]);
    let death: Promise<void> | null = null;
    const report = await runConformance(
      { ...relay.target, short_lived: null },
      {
        checks: some,
        onTried: (_, done) => {
          if (done >= 8) death ??= relay.dispose();
        },
      },
    );
    await death;
    const outcomes = Map.groupBy(report.tried, ({ verdict }) => verdict.outcome);
    expect(report.cut_short).toBe(`${relay.url} went away`);
    expect(outcomes.get("broken") ?? []).toEqual([]);
    expect(outcomes.get("kept")?.length).toBeGreaterThanOrEqual(8);
    const reasons = (outcomes.get("not_tried") ?? []).map(({ verdict }) => "reason" in verdict && verdict.reason);
    expect(new Set(reasons)).toEqual(new Set(["the relay went away while it was tried", "the relay had gone away"]));
    expect(report.tried.filter(({ check }) => check.id === "DURABLE-4").map(({ verdict }) => verdict)).toEqual(
      Array.from({ length: 2 }, () => ({ outcome: "not_tried", reason: "the relay had gone away" })),
    );
  });
});

describe("a relay whose restart does not end it", () => {
  it("is not tried under a load that would go on for ever", async () => {
    const relay = await RelayProcess.start();
    try {
      const target = { ...nothing, url: relay.url, restart: () => Promise.resolve() };
      const report = await runConformance(target, { checks: selectChecks(checks, ["DURABLE-7"]) });
      const reason = "the restart did not end the relay: it answered all the time";
      expect(report.tried.map(({ verdict }) => verdict)).toEqual(
        Array.from({ length: 2 }, () => ({ outcome: "not_tried", reason })),
      );
      expect(report.cut_short).toBe(reason);
    } finally {
      await relay.dispose();
    }
  });
});

describe("what is no relay", () => {
  let server: Server;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function answering(listener: RequestListener): Promise<string> {
    server = createServer(listener);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  }

  it.each([
    ["a page", "text/html", 404, "<html>\n<b>Not found</b>", /was answered with 404 <html> <b>Not found<\/b>$/],
    ["other JSON", "application/json", 200, "{}", /was answered with 200 {} \(the whole must have required propert/],
    ["JSON that is none", "application/json", 200, "{", /was to bring .* that is JSON, and brought {$/],
    ["bytes", "image/png", 200, "1234", /was answered with 200 4 bytes$/],
  ])("but answers with %s is named, with what it answered", async (_, type, status, body, message) => {
    const url = await answering((__, response) => {
      response.writeHead(status, { "content-type": type }).end(body);
    });
    const attempt = runConformance({ ...nothing, url }, { checks });
    await expect(attempt).rejects.toBeInstanceOf(NoRelay);
    await expect(attempt).rejects.toThrow(`${url} is no Handfast relay: GET /.well-known/handfast was `);
    await expect(attempt).rejects.toThrow(message);
  });
});

describe("a relay that refuses the token", () => {
  it("is told apart from one that needs a token", async () => {
    const relay = await RelayProcess.start({ mode: "production" });
    const whyNot = async (operator_token: string | null) => {
      const target = { ...nothing, url: relay.url, operator_token };
      const error: unknown = await runConformance(target, { checks }).catch((reason: unknown) => reason);
      return error instanceof NotAdmitted ? error.why : error;
    };
    try {
      expect(await whyNot("another")).toBe("token_refused");
      expect(await whyNot(null)).toBe("token_needed");
    } finally {
      await relay.dispose();
    }
  });
});
