/** The parts of a running relay that operations work with. */

import type { Engine, Store } from "@handfast/engine";
import type { Artifacts } from "../artifacts/artifacts.ts";
import type { Configuration } from "../configuration/configuration.ts";
import type { Contracts } from "../contracts/contracts.ts";
import type { Negotiating } from "../contracts/negotiating.ts";
import type { Directory } from "../directory/directory.ts";
import type { Discovery } from "../directory/discovery/discovery.ts";
import type { Facts } from "../directory/discovery/facts.ts";
import type { Imports } from "../directory/imports/imports.ts";
import type { Reliability } from "../directory/reliability/reliability.ts";
import type { Audience } from "../identity/audience.ts";
import type { Identity } from "../identity/identity.ts";
import type { Registration } from "../identity/registration.ts";
import type { RelayKey } from "../identity/relay-key.ts";
import type { RelayLimits } from "../limits.ts";
import type { Metrics } from "../metrics.ts";
import type { Nodes } from "../nodes/nodes.ts";
import type { Routes } from "../routing/routes.ts";
import type { Schemas } from "../schemas/schemas.ts";

export interface Relay {
  readonly configuration: Configuration;
  readonly engine: Engine;
  readonly store: Store;
  readonly audience: Audience;
  readonly identity: Identity;
  readonly registration: Registration;
  readonly directory: Directory;
  readonly discovery: Discovery;
  readonly imports: Imports;
  /** What is known of agents at this moment, registered here or imported. */
  readonly facts: Facts;
  readonly reliability: Reliability;
  readonly routes: Routes;
  readonly schemas: Schemas;
  readonly negotiating: Negotiating;
  readonly contracts: Contracts;
  readonly key: RelayKey;
  readonly artifacts: Artifacts;
  readonly metrics: Metrics;
  readonly nodes: Nodes;
  /** Whatever other nodes wrote until now is known here when it resolves: asked before something is refused for being unknown. */
  readonly catchUp: () => Promise<void>;
  /** For salts and ids. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly limits: RelayLimits;
  /** Why it is not ready; empty: it is. */
  readonly unready: () => readonly string[];
}
