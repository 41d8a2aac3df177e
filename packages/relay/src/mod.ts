/** The relay's public door. */

export type { RelayOptions } from "./assemble.ts";
export { type Configuration, ConfigurationError } from "./configuration/configuration.ts";
export { readConfiguration } from "./configuration/read-configuration.ts";
export { type RunningRelay, startRelay } from "./relay.ts";
export { development_warning, type RelayProcessOptions, relayLine, runRelay } from "./run-relay.ts";
