import { describe, expect, it } from "vitest";
import type { DocumentTyp, OutcomeDocument } from "./documents.ts";
import { toUtf8 } from "./encoding.ts";
import { readDocument } from "./read-document.ts";
import { vectorDocuments } from "./testing/vector-documents.ts";

const { handoff, outcome, registration, contract, proposal } = vectorDocuments;

function read(typ: DocumentTyp, value: unknown) {
  return readDocument(typ, toUtf8(JSON.stringify(value)));
}

function faultOf(typ: DocumentTyp, value: unknown) {
  const result = read(typ, value);
  return result.ok ? null : result.fault;
}

const typs = Object.keys(vectorDocuments) as DocumentTyp[];

describe("documents", () => {
  it.each(typs)("read back as they were written: %s", (typ) => {
    expect(read(typ, vectorDocuments[typ])).toEqual({ ok: true, document: vectorDocuments[typ] });
  });

  it.each(typs)("are refused with an unknown field: %s", (typ) => {
    expect(faultOf(typ, { ...vectorDocuments[typ], surprise: 1 })).toMatchObject({
      reason: "unfit",
      path: "/surprise",
      message: "is not a field of this document",
    });
  });

  it.each(typs)("are refused under another typ: %s", (typ) => {
    const other = typ === "ack" ? "handoff" : "ack";
    expect(read(other, vectorDocuments[typ]).ok).toBe(false);
  });

  it.each(typs)("are refused without a relay, a namespace or a version: %s", (typ) => {
    for (const field of ["relay", "namespace", "v", "typ"]) {
      expect(read(typ, { ...vectorDocuments[typ], [field]: undefined }).ok).toBe(false);
    }
  });

  it("are refused when their JSON is ambiguous", () => {
    expect(readDocument("ack", toUtf8('{"v":1,"v":1}'))).toMatchObject({
      fault: { reason: "duplicate_key", path: "/v" },
    });
  });

  it("are refused beyond their size", () => {
    const padded = toUtf8(JSON.stringify(handoff) + " ".repeat(65_536));
    expect(readDocument("handoff", padded)).toMatchObject({ fault: { reason: "too_large" } });
  });
});

describe("a handoff", () => {
  it("names an agent, a capability or both", () => {
    const { capability: _, ...untargeted } = handoff;
    expect(faultOf("handoff", untargeted)?.message).toBe("must name an agent (to) or a capability");
    expect(faultOf("handoff", { ...untargeted, to: "research-1" })).toBeNull();
    expect(faultOf("handoff", { ...handoff, to: "research-1" })).toBeNull();
  });

  it.each([
    [{ limits: { deadline_ms: 0 } }, "/limits/deadline_ms"],
    [{ limits: { deadline_ms: 30 * 86_400_000 + 1 } }, "/limits/deadline_ms"],
    [{ limits: { lease_ms: 1.5 } }, "/limits/lease_ms"],
    [{ limits: { max_attempts: 0 } }, "/limits/max_attempts"],
    [{ limits: { retry: "always" } }, "/limits/retry"],
    [{ priority: 10 }, "/priority"],
    [{ budget: { cost: 0.5 } }, "/budget/cost"],
    [{ id: "1" }, "/id"],
    [{ to: "a@" }, "/to"],
    [{ to: "a@b@c" }, "/to"],
    [{ idempotency_key: "" }, "/idempotency_key"],
    [{ causation: { id: handoff.id } }, "/causation"],
    [{ labels: { team: "x".repeat(257) } }, "/labels/team"],
    [{ labels: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, ""])) }, "/labels"],
    [{ input: { ...handoff.input, salt: "short" } }, "/input/salt"],
    [{ input: { ...handoff.input, sha256: handoff.input.sha256.toUpperCase() } }, "/input/sha256"],
    [{ input: { ...handoff.input, media_type: "json" } }, "/input/media_type"],
    [{ ext: { not_a_uri: 1 } }, "/ext/not_a_uri"],
    [{ traceparent: "x" }, "/traceparent"],
  ])("is refused with %j", (change, path) => {
    expect(faultOf("handoff", { ...handoff, ...change })).toMatchObject({ reason: "unfit", path });
  });

  it("passes anything under ext", () => {
    expect(faultOf("handoff", { ...handoff, ext: { "urn:x:y": [{ z: null }] } })).toBeNull();
  });
});

describe("an outcome", () => {
  const error = { reason: "no_network", message: "The site did not answer." };
  const { output: _, ...bare } = outcome;

  it.each<[Partial<OutcomeDocument>]>([
    [{ status: "failed", code: 500, error, retryable: true, retry_after_ms: 1000 }],
    [{ status: "rejected", code: 501, error }],
  ])("may be %j", (change) => {
    expect(faultOf("outcome", { ...bare, ...change })).toBeNull();
  });

  it.each<[Partial<OutcomeDocument>, string]>([
    [{ status: "completed", code: 200 }, "/output"],
    [{ status: "completed", code: 202 }, "/code"],
    [{ status: "failed", code: 402, error }, "/code"],
    [{ status: "failed", code: 501, error }, "/code"],
    [{ status: "failed", code: 200, error }, "/code"],
    [{ status: "failed", code: 499, error }, "/code"],
    [{ status: "failed", code: 500 }, "/error"],
    [{ status: "rejected", code: 500, error }, "/code"],
    [{ status: "rejected", code: 501 }, "/error"],
  ])("does not contradict itself: %j", (change, path) => {
    expect(faultOf("outcome", { ...bare, ...change })).toMatchObject({ reason: "unfit", path });
  });

  it("has an output or an error, not both", () => {
    expect(faultOf("outcome", { ...outcome, error })?.path).toBe("/error");
    expect(faultOf("outcome", { ...outcome, status: "failed", code: 500, error })?.path).toBe("/output");
  });
});

describe("a registration", () => {
  it("lists each capability once", () => {
    const capabilities = [{ name: "a" }, { name: "b" }, { name: "a" }];
    expect(faultOf("registration", { ...registration, capabilities })?.path).toBe("/capabilities/2/name");
  });

  it("carries no private key", () => {
    expect(faultOf("registration", { ...registration, key: { ...registration.key, d: "x" } })?.path).toBe("/key/d");
  });
});

describe("a contract", () => {
  it.each([
    ["asker", "mallory"],
    ["relay", "https://other.example"],
    ["namespace", "other"],
  ])("is signed by its asker for this place: %s", (field, value) => {
    const terms = { ...contract.terms, [field]: value };
    expect(faultOf("contract", { ...contract, terms })).toMatchObject({ path: `/terms/${field}` });
  });

  it.each([
    ["a term left out", { cost: undefined }, "/terms"],
    ["a reliability above 1", { min_reliability: 1.5 }, "/terms/min_reliability"],
    ["a price below nothing", { cost: { amount: -1, per: "handoff" } }, "/terms/cost"],
    ["a clock left to a default", { limits: { deadline_ms: 1 } }, "/terms/limits"],
  ])("is refused with %s", (_, patch, path) => {
    const fault = faultOf("contract", { ...contract, terms: { ...contract.terms, ...patch } });
    expect(fault?.path.startsWith(path)).toBe(true);
  });
});

describe("a proposal", () => {
  const { terms, ...bare } = proposal;
  const decline = { reason: "too_busy", message: "Not today." };

  it("has terms or declines, never both and never neither", () => {
    expect(faultOf("proposal", { ...bare, decline })).toBeNull();
    expect(faultOf("proposal", bare)).toMatchObject({ path: "" });
    expect(faultOf("proposal", { ...proposal, decline })).toMatchObject({ path: "/decline" });
  });

  it("is signed by the provider of its terms, for the offer that it answers", () => {
    expect(faultOf("proposal", { ...bare, terms: { ...terms, provider: "mallory" } })).toMatchObject({
      path: "/terms/provider",
    });
    expect(faultOf("proposal", { ...proposal, offer: handoff.id })).toMatchObject({ path: "/terms/offer" });
  });
});
