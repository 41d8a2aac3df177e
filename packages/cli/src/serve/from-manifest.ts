/** What a manifest file says, as `serve` offers it: all of the file, so that each of its capabilities can have a process. */

import type { CapabilityDefinition, ConnectOptions } from "@handfast/client";
import type { Capability, Cost, ManifestContent } from "@handfast/protocol";
import { CliError } from "../errors.ts";
import { readManifest, readText } from "../manifest/read-manifest.ts";

export interface FromManifest {
  readonly agent: string;
  readonly definition: Definition;
  /** What it says of the agent itself. */
  readonly terms: Pick<ConnectOptions, "discoveryEndpoint" | "lease" | "manifestVersion">;
  /** What the file offers besides, by name. */
  readonly others: Readonly<Record<string, Definition>>;
  /** Those of which it says that they want to be asked: nobody here could answer, so that is left out. */
  readonly proposing: readonly string[];
}

type Definition = Omit<CapabilityDefinition, "handler">;

/** In a file a cost is plain. */
type Written = Omit<Capability, "cost"> & { readonly cost?: Cost };

export async function fromManifest(file: string, name: string, cwd: string): Promise<FromManifest> {
  const { value, findings } = readManifest(await readText(file, cwd));
  const fault = findings.find(({ kind }) => kind === "fault");
  if (fault !== undefined) {
    const { path, line, message } = fault;
    throw new CliError("data", `${file}:${line}: ${path} ${message}`, `See all: handfast manifest lint ${file}`);
  }
  const manifest = value as Omit<ManifestContent, "capabilities"> & { readonly capabilities: readonly Written[] };
  const { agent_id, version, discovery_endpoint, lease_seconds } = manifest;
  const capability = manifest.capabilities.find((each) => each.name === name);
  const others = manifest.capabilities.filter((each) => each.name !== name);
  if (capability === undefined) {
    const offered = others.map((each) => each.name).join(", ");
    const [first] = others;
    const way = first === undefined ? "" : `: handfast serve ${first.name} --manifest ${file} -- COMMAND`;
    throw new CliError("missing", `${file} does not offer ${name}.`, `It offers ${offered || "nothing"}${way}.`);
  }
  return {
    agent: agent_id,
    definition: definitionOf(capability),
    terms: {
      ...(discovery_endpoint === undefined ? {} : { discoveryEndpoint: discovery_endpoint }),
      ...(lease_seconds === undefined ? {} : { lease: lease_seconds * 1_000 }),
      ...(version === undefined ? {} : { manifestVersion: version }),
    },
    others: Object.fromEntries(others.map((each) => [each.name, definitionOf(each)])),
    proposing: manifest.capabilities.filter(({ proposes }) => proposes === true).map((each) => each.name),
  };
}

function definitionOf(capability: Written): Definition {
  const {
    name: _,
    input_schema,
    output_schema,
    timeout_seconds,
    reliability_sla,
    sla,
    latency,
    data_policy,
  } = capability;
  const { description, version, tags, idempotent, examples, cost, questions, ext } = capability;
  const { side_effects, max_concurrent } = capability;
  return {
    ...(input_schema === undefined ? {} : { input: input_schema }),
    ...(output_schema === undefined ? {} : { output: output_schema }),
    ...(timeout_seconds === undefined ? {} : { timeout: timeout_seconds * 1_000 }),
    ...(description === undefined ? {} : { description }),
    ...(version === undefined ? {} : { version }),
    ...(tags === undefined ? {} : { tags }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(reliability_sla === undefined ? {} : { reliability: reliability_sla }),
    ...(sla === undefined ? {} : { sla: slaOf(sla) }),
    ...(side_effects === undefined ? {} : { sideEffects: side_effects }),
    ...(examples === undefined ? {} : { examples }),
    ...(max_concurrent === undefined ? {} : { maxConcurrent: max_concurrent }),
    ...(latency === undefined ? {} : { latency: latencyOf(latency) }),
    ...(cost === undefined ? {} : { cost }),
    ...(data_policy === undefined ? {} : { dataPolicy: policyOf(data_policy) }),
    ...(questions === undefined ? {} : { questions }),
    ...(ext === undefined ? {} : { ext }),
  };
}

function slaOf({ window_seconds, ...rest }: NonNullable<Capability["sla"]>) {
  return { window: window_seconds * 1_000, ...rest };
}

function latencyOf({ p50_ms, p95_ms }: NonNullable<Capability["latency"]>) {
  return { ...(p50_ms === undefined ? {} : { p50: p50_ms }), ...(p95_ms === undefined ? {} : { p95: p95_ms }) };
}

function policyOf({ retention_seconds, ...rest }: NonNullable<Capability["data_policy"]>) {
  return { ...(retention_seconds === undefined ? {} : { retention: retention_seconds * 1_000 }), ...rest };
}
