/** The relay's public door. */

export { type Configuration, ConfigurationError } from "./configuration/configuration.ts";
export { readConfiguration } from "./configuration/read-configuration.ts";
export { type RelayOptions, type RunningRelay, startRelay } from "./relay.ts";
