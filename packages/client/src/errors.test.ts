import { statusCodes } from "@handfast/protocol";
import type { HandoffView } from "@handfast/protocol/wire";
import { describe, expect, test } from "vitest";
import { Fail, HandfastError, HandoffError, Reject, RelayUnreachable, Retry, UsageError } from "./errors.ts";

describe("an error", () => {
  test.each(statusCodes.map(({ code, name }) => [code, name] as const))(
    "of code %d is called %s, says what to do and where more is written",
    (code, name) => {
      const error = HandoffError.from({ code, reason: "made_up", detail: "It happened." });
      expect(error).toMatchObject({ code, name, reason: "made_up", message: "It happened.", handoff: null });
      expect(error.remedy).not.toBe("");
      expect(error.docs).toMatch(/^docs\/errors\.md#[\w-]+$/);
    },
  );

  test("takes from a problem whether a retry helps, and keeps the problem", () => {
    const problem = { code: 429, reason: "too_fast", detail: "Too many calls.", retryable: true, extra: 1 };
    expect(HandoffError.from(problem, "an-id")).toMatchObject({ retryable: true, problem, handoff: "an-id" });
  });

  test("of a code that nobody knows still has a name and a remedy", () => {
    const error = HandoffError.from({ code: 599, reason: "new", detail: "New." });
    expect(error.name).toBe("code_599");
    expect(error.retryable).toBe(false);
    expect(error.remedy).not.toBe("");
  });

  test("of a handoff that failed tells who, why, and keeps the outcome", () => {
    const outcome = { agent: "research-1", error: { reason: "no_network", message: "It is offline." } };
    const view = { id: "x", state: "failed", code: 500, name: "agent_failed", retryable: true, outcome };
    const error = HandoffError.ended(view as unknown as HandoffView);
    expect(error.message).toBe("The handoff x failed (research-1): It is offline.");
    expect(error).toMatchObject({ code: 500, reason: "no_network", retryable: true, handoff: "x", outcome });
  });

  test("of a handoff that nobody ended says what the code says", () => {
    const view = { id: "x", state: "expired", code: 408, name: "deadline_passed", retryable: false, outcome: null };
    const error = HandoffError.ended(view as unknown as HandoffView);
    expect(error).toMatchObject({ code: 408, name: "deadline_passed", reason: "deadline_passed" });
  });

  test("of a relay that is away tells the deepest cause", () => {
    const cause = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    const error = new RelayUnreachable("http://127.0.0.1:1", 2_000, cause);
    expect(error.message).toBe("No relay answered at http://127.0.0.1:1 for 2 s (connect ECONNREFUSED).");
    expect(error.remedy).toContain("handfast start");
  });

  test("of a relay that speaks plain HTTP names the scheme to write", () => {
    const tls = Object.assign(new Error("wrong version number:ssl.c:77:\n"), { code: "ERR_SSL_WRONG_VERSION_NUMBER" });
    const cause = new TypeError("fetch failed", { cause: tls });
    const error = new RelayUnreachable("https://127.0.0.1:1", 2_000, cause);
    expect(error.message).toBe("No relay answered at https://127.0.0.1:1 for 2 s (it does not speak TLS).");
    expect(error.remedy).toMatch(/^Write http:\/\/ in place of https:/);
  });

  test("is a HandfastError, which is an Error", () => {
    for (const error of [new UsageError("a", "b"), HandoffError.from({ code: 404, reason: "x", detail: "y" })]) {
      expect(error).toBeInstanceOf(HandfastError);
      expect(error).toBeInstanceOf(Error);
    }
  });
});

describe("what a handler throws", () => {
  test("says when to try again, by what name it failed, and keeps its cause", () => {
    const cause = new Error("below");
    expect(new Retry("later", { after: "5s", cause })).toMatchObject({ message: "later", after_ms: 5_000, cause });
    expect(new Retry("later").after_ms).toBeNull();
    expect(new Fail("no", { reason: "bad_input", detail: { at: 1 } })).toMatchObject({
      reason: "bad_input",
      detail: { at: 1 },
    });
    expect(new Reject("not mine").reason).toBe("rejected");
  });
});
