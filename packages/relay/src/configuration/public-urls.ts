/** The URLs by which credentials and documents may name this relay. */

import { isIPv6 } from "node:net";
import type { Configuration } from "./configuration.ts";

/** `port` as the relay really listens. Unconfigured on loopback, its usual spellings are all meant. */
export function publicUrls(
  configuration: Pick<Configuration, "public_urls" | "host" | "loopback">,
  port: number,
): readonly string[] {
  const { public_urls, host, loopback } = configuration;
  if (public_urls.length > 0) return public_urls;
  const hosts = loopback ? new Set([host, "127.0.0.1", "localhost", "::1"]) : new Set([host]);
  return Array.from(hosts, (name) => `http://${isIPv6(name) ? `[${name}]` : name}:${port}`);
}
