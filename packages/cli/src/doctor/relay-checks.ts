/** What the relay says without being told who asks: whether it answers, is ready, and what time it has. */

import type { AboutRelay } from "@handfast/protocol/wire";
import { version } from "../version.ts";
import { type Check, ok, problem } from "./check.ts";

const answer_ms = 5_000;
/** A credential lives for minutes; clocks that differ by more than this make trouble before long. */
const clock_difference_ms = 30_000;
/** The Date header counts whole seconds. */
const date_header_ms = 1_000;

export interface RelayLook {
  readonly checks: readonly Check[];
  /** Null: it did not answer. */
  readonly about: AboutRelay | null;
}

export async function lookAtRelay(url: string): Promise<RelayLook> {
  const base = url.replace(/^ws/, "http").replace(/\/+$/, "");
  const began = Date.now();
  const response = await fetch(`${base}/.well-known/handfast`, { signal: AbortSignal.timeout(answer_ms) }).catch(
    (error: unknown) => causeOf(error),
  );
  const took_ms = Date.now() - began;
  if (typeof response === "string") {
    const remedy = "Start one with handfast start, or say where it is: --url, HANDFAST_URL, [client] url.";
    return { checks: [problem("relay", `${url} does not answer: ${response}`, remedy, "unreachable")], about: null };
  }
  const about = (await response.json().catch(() => null)) as AboutRelay | null;
  if (!response.ok || about?.protocol !== "handfast") {
    const found = `${url} answers, but is no Handfast relay (HTTP ${response.status})`;
    return {
      checks: [problem("relay", found, "Check the URL: the relay's own, without a path.", "configuration")],
      about: null,
    };
  }
  const checks = [
    ok("relay", `${url} answers in ${took_ms} ms, ${about.mode} mode`),
    await checkReady(base),
    checkClock(response.headers.get("date"), began, took_ms),
    checkVersion(about),
    checkAddress(url, about),
  ];
  return { checks, about };
}

async function checkReady(base: string): Promise<Check> {
  const response = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(answer_ms) }).catch(() => null);
  if (response?.ok === true) return ok("ready", "takes work");
  const said = (await response?.json().catch(() => null)) as { reasons?: unknown; detail?: unknown } | null | undefined;
  const why = Array.isArray(said?.reasons) ? said.reasons.join(", ") : String(said?.detail ?? "no reason given");
  return problem("ready", `takes no work: ${why}`, "See the relay's own log.", "retryable");
}

function checkClock(date: string | null, began: number, took_ms: number): Check {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs)) return ok("clock", "the relay does not say its time");
  const difference_ms = Math.abs(theirs + date_header_ms / 2 - (began + took_ms / 2));
  if (difference_ms <= clock_difference_ms) return ok("clock", "the relay's and this machine's agree");
  const found = `this machine's differs from the relay's by ${Math.round(difference_ms / 1_000)} s`;
  return problem("clock", found, "Set both by NTP: credentials are valid for minutes only.", "configuration");
}

function checkVersion({ versions, software }: AboutRelay): Check {
  const found = `relay ${software.version}, this command ${version}`;
  if (!versions.includes("v1")) {
    const remedy = "Use a command that speaks the relay's protocol.";
    return problem("version", `the relay speaks ${versions.join(", ")}, this command v1`, remedy, "configuration");
  }
  if (software.version.split(".")[0] === version.split(".")[0]) return ok("version", found);
  return problem("version", found, "Bring both to the same major version.", "configuration");
}

/** Documents name the relay by its public URL; one reached by another address may be another relay. */
function checkAddress(url: string, { public_urls }: AboutRelay): Check {
  const origin = (text: string) => URL.parse(text.replace(/^ws/, "http"))?.origin;
  if (public_urls.some((known) => origin(known) === origin(url))) return ok("address", "known to the relay as its own");
  const found = `the relay calls itself ${public_urls.join(", ")}, not ${url}`;
  return problem("address", found, `Use its own URL, or start it with --public-url ${url}.`, "configuration");
}

/** Node's fetch hides what went wrong one or two causes down. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `nothing within ${answer_ms / 1_000} s`;
  if (error.cause !== undefined) return causeOf(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
