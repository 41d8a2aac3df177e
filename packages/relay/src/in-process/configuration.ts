/** How a relay in somebody's own process is configured: in development mode, for clients that all are in that process. */

import type { Configuration } from "../configuration/configuration.ts";
import { readConfiguration } from "../configuration/read-configuration.ts";

/** No rate is a fault here: a day of virtual time passes in a second. */
const unlimited = Number.MAX_SAFE_INTEGER;

export function inProcessConfiguration(url: string, operator_token: string): Configuration {
  const nowhere = "/no-such-directory";
  const flags = ["--dev", "--data", nowhere, "--log-level", "silent"];
  const asked = readConfiguration(flags, { HANDFAST_OPERATOR_TOKEN: operator_token }, nowhere);
  if (asked.kind !== "start") throw new Error("unreachable: no help was asked for");
  const { configuration } = asked;
  const limits = { ...configuration.limits, requests_per_second: unlimited, request_burst: unlimited };
  return { ...configuration, public_urls: [url], limits };
}
