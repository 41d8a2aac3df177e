/** Directory, tokens, identity and registration of one relay, for tests, on a clock that stands still. */

import { randomBytes } from "node:crypto";
import { Directory } from "../../directory/directory.ts";
import { StoreRecords } from "../../directory/testing/store-records.ts";
import { type RelayLimits, limits as relayLimits } from "../../limits.ts";
import { Schemas } from "../../schemas/schemas.ts";
import type { Admission } from "../admission.ts";
import { Audience } from "../audience.ts";
import { Identity } from "../identity.ts";
import { Registration } from "../registration.ts";
import { Tokens } from "../tokens.ts";
import type { TestAgent } from "./test-agent.ts";

export const relay_url = "https://relay.example";
export const operator_token = "operator-token-of-this-test";
const namespace = "default";

export interface House {
  readonly records: StoreRecords;
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly identity: Identity;
  readonly registration: Registration;
  readonly clock: { now: number };
  /** Registers as an honest client does; `changes` replace fields of its document. */
  register(agent: TestAgent, changes?: object, authorization?: string): ReturnType<Registration["register"]>;
}

interface HouseOptions {
  readonly admission?: Admission;
  readonly operator_keys?: readonly string[];
  readonly limits?: Partial<RelayLimits>;
  /** Another house's records: a restart. */
  readonly records?: StoreRecords;
  /** The same as another house's: two nodes of one relay. */
  readonly challenge_secret?: Uint8Array;
}

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const { admission = { kind: "first_use" }, operator_keys = [], records = await StoreRecords.open() } = options;
  const limits = { ...relayLimits, ...options.limits };
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const audience = new Audience([relay_url, "http://127.0.0.1:7420"]);
  const directory = await Directory.open({ namespace, records, schemas: new Schemas(), now, limits });
  const tokens = await Tokens.open({ namespace, records, now, randomBytes, limits });
  const operator_tokens = [operator_token];
  const shared = { namespace, directory, tokens, audience, now, limits };
  const identity = new Identity({ ...shared, operator_tokens, operator_keys });
  const registration = new Registration({
    ...shared,
    identity,
    admission,
    randomBytes,
    challenge_secret: options.challenge_secret,
  });

  async function register(agent: TestAgent, changes: object = {}, authorization?: string) {
    const { challenge } = registration.challenge();
    const header = { v: 1, typ: "registration", relay: relay_url, namespace, agent_id: agent.name };
    const document = { ...header, challenge, key: agent.jwk, capabilities: [], ...changes };
    const caller = authorization === undefined ? null : await identity.authenticate({ authorization });
    return registration.register(await agent.sign("registration", document), caller);
  }
  return { records, directory, tokens, identity, registration, clock, register };
}
