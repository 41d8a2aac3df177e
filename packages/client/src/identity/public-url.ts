/**
 * The relay's URL as documents and credentials name it: one of its own public ones, so that nothing signed for it works
 * anywhere else. On one machine localhost and 127.0.0.1 are the same relay.
 */

import { UsageError } from "../errors.ts";

export function publicUrl(configured: string, public_urls: readonly string[]): string {
  const exact = public_urls.find((url) => normalUrl(url) === normalUrl(configured));
  if (exact !== undefined) return exact;
  const local = public_urls.find((url) => areLoopback(configured, url));
  if (local !== undefined) return local;
  const theirs = public_urls.join(" or ");
  throw new UsageError(
    `The relay at ${configured} calls itself ${theirs}: what is signed for the one is not taken by the other.`,
    `Set url (HANDFAST_URL) to ${theirs}, or let the relay's operator add ${normalUrl(configured)} to public_urls.`,
    "wrong_audience",
  );
}

/** One spelling per URL: host in lower case, no default port, no slash at the end. What is no URL stays as it is. */
export function normalUrl(text: string): string {
  return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, "") : text;
}

function areLoopback(one: string, other: string): boolean {
  const [left, right] = [new URL(one), new URL(other)];
  return isLoopback(left.hostname) && isLoopback(right.hostname) && left.port === right.port;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host) || host.endsWith(".localhost");
}
