/** From nothing to a connected agent: find the relay, prove who this is, register where it is not known yet. */

import type { Cost } from "@handfast/protocol";
import { saltByToken } from "@handfast/protocol/client";
import type { AboutRelay } from "@handfast/protocol/wire";
import type { Base, Warning } from "./base.ts";
import { Client } from "./client.ts";
import { type Duration, toMilliseconds } from "./duration.ts";
import { HandoffError, UsageError } from "./errors.ts";
import type { PrivateJwk } from "./identity/agent-key.ts";
import type { Identity } from "./identity/identity.ts";
import { type ManifestTerms, readTerms, stateManifest } from "./identity/manifest.ts";
import { KeyMember, TokenBearer } from "./identity/membership.ts";
import { publicUrl } from "./identity/public-url.ts";
import { type ChosenLink, chooseLink } from "./link/choose-link.ts";
import { HttpExchange, Refused } from "./link/http-exchange.ts";
import type { CallOptions, Link } from "./link/link.ts";
import { answerWithin, persist } from "./link/persist.ts";
import { refusalOf } from "./link/refusal.ts";
import type { WebSocketConstructor } from "./link/web-socket.ts";
import { currentPlatform, isNode, type Platform } from "./platform.ts";
import type { BeatAccess } from "./serve/beat-access.ts";
import { readSettings, type Settings } from "./settings.ts";
import { realSurroundings, type Surroundings } from "./surroundings.ts";
import { type Pins, Trust } from "./trust.ts";

/** Everything is optional: without options the environment decides, and then a relay on this machine. */
export interface ConnectOptions {
  /** Where the relay is. Else `HANDFAST_URL`, else `http://127.0.0.1:7420`. */
  readonly url?: string;
  /** The agent's name. Else `HANDFAST_AGENT`, else the user's name. */
  readonly agent?: string;
  /** A private key: the path of a file, a JWK, or 32 bytes in base64url. Else `HANDFAST_KEY`, else a development key. */
  readonly key?: string | PrivateJwk;
  /** Stands for an agent that cannot sign; beside a key it only admits that key. Else `HANDFAST_TOKEN`. */
  readonly token?: string;
  /** Must be the relay's. Else `HANDFAST_NAMESPACE`, else whatever the relay's is. */
  readonly namespace?: string;
  /** Where development keys are kept. Else `HANDFAST_HOME`, else `~/.handfast`. */
  readonly home?: string;
  /** `auto`: a WebSocket where there is one and no `fetch` was given, else HTTP. */
  readonly transport?: "auto" | "websocket" | "http";
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
  /** In place of the global one: a constructor with the standard interface. */
  readonly WebSocket?: WebSocketConstructor;
  /**
   * An operator's token. It stands for nobody: it admits this agent's own key to a relay that does not take every new one,
   * and goes before `token`.
   */
  readonly admission?: string;
  /** Where else this agent can be looked up; it stands in its manifest. Default: its page on the relay. */
  readonly discoveryEndpoint?: string;
  /** How long the agent stays registered without a sign of life, from 10 seconds on. Default: the relay's, 24 hours. */
  readonly lease?: Duration;
  /**
   * Counts the agent's manifests: the relay refuses one that is older than what it has, or says something else under the
   * same number. So everything is served in one call then. Default: they are not counted.
   */
  readonly manifestVersion?: number;
  /** How long calls go on trying while the relay is away. Default 30 seconds. */
  readonly patience?: Duration;
  /** How long `connect()` itself goes on trying. Default: `patience` where that is given, else 10 seconds. */
  readonly connectPatience?: Duration;
  /** Thumbprints of the keys that agents may sign with, by name: anything else from them is refused. */
  readonly pins?: Pins;
  /**
   * Take no handoff and no answer but those that their author signed. Default: false. Then what was never signed is the
   * relay's word and is taken as such; a signature that is there must be right, everything it covers must be as it was
   * signed, and an author that has signed once must go on signing for as long as this client lives. So a relay cannot
   * change or strip what it passes on; it can still make up authors that this client has not met yet. Pin their keys
   * (`pins`), or require signatures, where that matters.
   */
  readonly requireSigned?: boolean;
  /** Told of what a person should know. Default: console.warn. */
  readonly onWarning?: (warning: Warning) => void;
  /** Told when the relay goes away while somebody waits for it, and when it is back. Default: a warning that it is away. */
  readonly onConnection?: (state: "away" | "back") => void;
  /** Gives up connecting. */
  readonly signal?: AbortSignal;
  /** Time and chance, for tests. */
  readonly surroundings?: Surroundings;
  /** Where leases are kept alive from while handlers run. Default `thread` on Node. */
  readonly heartbeats?: "thread" | "here";
}

/** A relay on this machine is there at once or not at all; one that is just starting is waited for. */
const connect_patience_ms = 10_000;
const version = "v1";

/**
 * Connects to a relay as an agent. The agent's key is made on first use, and registered where the relay takes new agents
 * by themselves; otherwise the error says what an operator must do.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const platform = await currentPlatform();
  const surroundings = options.surroundings ?? realSurroundings;
  const warn = options.onWarning ?? warnOnConsole;
  const terms = readTerms(options);
  const settings = await readSettings(options, platform, surroundings, warn);
  const exchange = new HttpExchange(settings.url, options.fetch ?? globalThis.fetch, surroundings);
  const patience_ms = connectPatience(options);
  const about = await readAbout(exchange, { url: exchange.url, surroundings, patience_ms, signal: options.signal });
  checkAbout(about, settings);
  const relay = publicUrl(settings.url, about.public_urls);
  const opening = { options, settings, terms, platform, surroundings, exchange, about, relay, warn, patience_ms };
  const { link, offer, agent, identity, transport } = await (settings.key === null
    ? openWithToken(opening)
    : openWithKey(opening));
  const closed = new AbortController();
  const { crypto } = platform;
  const { namespace } = about;
  const { pins = {}, requireSigned = false } = options;
  const trust = new Trust({ link, crypto, surroundings, relays: about.public_urls, namespace, pins, requireSigned });
  const signs = settings.key !== null;
  const beats = beatsOf(options, { url: settings.url, transport, seed: settings.key?.seed ?? null }, identity);
  const base = { link, agent, namespace, relay, crypto, signs, surroundings, trust, beats, offer, warn };
  return new Client({ ...base, closed: closed.signal }, settings.url, settings.key?.signer.key ?? null, closed);
}

function connectPatience({ connectPatience: own, patience }: ConnectOptions): number {
  return toMilliseconds(own ?? patience ?? connect_patience_ms, own === undefined ? "patience" : "connectPatience");
}

interface Opening {
  readonly options: ConnectOptions;
  readonly settings: Settings;
  readonly terms: ManifestTerms;
  readonly platform: Platform;
  readonly surroundings: Surroundings;
  readonly exchange: HttpExchange;
  readonly about: AboutRelay;
  readonly relay: string;
  readonly warn: Base["warn"];
  readonly patience_ms: number;
}

interface Opened extends ChosenLink {
  readonly agent: string;
  readonly offer: Base["offer"];
  readonly identity: Identity;
}

async function openWithKey(opening: Opening): Promise<Opened> {
  const { options, settings, platform, surroundings, exchange, about, relay, patience_ms } = opening;
  const { key, agent, token } = settings;
  if (key === null || agent === null) throw new Error("A key has an agent's name.");
  const facts = { exchange, crypto: platform.crypto, agent, namespace: about.namespace, relay, key, token };
  const identity = new KeyMember(facts, surroundings, settings.patience_ms, opening.terms);
  // The first call tells whether the relay knows the key; if not, the link registers it.
  const chosen = await openLink(opening, identity, (link) =>
    link.call("agent", { params: { name: agent } }, { signal: options.signal, patience_ms }),
  );
  identity.known();
  return { ...chosen, agent, identity, offer: (capabilities, costs) => identity.offer(capabilities, costs) };
}

async function openWithToken(opening: Opening): Promise<Opened> {
  const { options, settings, terms, platform, patience_ms } = opening;
  const { token } = settings;
  if (token === null) throw new Error("There is neither a key nor a token.");
  const identity = new TokenBearer(token);
  let agent = "";
  const chosen = await openLink(opening, identity, async (link) => {
    agent = await bearerOf(link, { signal: options.signal, patience_ms });
  });
  const { link } = chosen;
  if (settings.agent !== null && settings.agent !== agent) {
    await link.close(0);
    const message = `The token is ${agent}'s, not ${settings.agent}'s.`;
    throw new UsageError(message, `Connect as ${agent}, or with a token of ${settings.agent}.`, "wrong_token");
  }
  const offer: Base["offer"] = async (capabilities, plain = new Map()) => {
    const { crypto } = platform;
    const saltOf = (capability: string, cost: Cost) =>
      saltByToken(crypto, token, { agent_id: agent, capability }, cost);
    const { manifest, costs } = await stateManifest(crypto, agent, terms, capabilities, plain, saltOf);
    const { agent_id: name, ...said } = manifest;
    const body = { ...said, capabilities: [...said.capabilities], ...(plain.size === 0 ? {} : { costs }) };
    await link.call("set_capabilities", { params: { name }, body });
  };
  return { ...chosen, agent, identity, offer };
}

function openLink(opening: Opening, identity: Identity, prove: (link: Link) => Promise<unknown>): Promise<ChosenLink> {
  const { options, settings, platform, surroundings, exchange, warn } = opening;
  const { crypto } = platform;
  return chooseLink(
    { exchange, identity, crypto, surroundings, patience_ms: settings.patience_ms },
    options,
    warn,
    prove,
  );
}

/** On Node a thread keeps leases alive; it cannot share a fetch, a WebSocket or a clock that was given. */
function beatsOf(
  options: ConnectOptions,
  access: Omit<BeatAccess, "authorization">,
  identity: Identity,
): BeatAccess | null {
  const { fetch, WebSocket, surroundings, heartbeats } = options;
  const is_given = fetch !== undefined || WebSocket !== undefined || surroundings !== undefined;
  if (!isNode() || (heartbeats ?? (is_given ? "here" : "thread")) === "here") return null;
  return { ...access, authorization: () => identity.authorization() };
}

/** A token is listed with the agent it stands for; the operator's stands for none. */
async function bearerOf(link: Link, options: CallOptions): Promise<string> {
  try {
    const { tokens } = await link.call("tokens", {}, options);
    return tokens[0]?.agent ?? "operator";
  } catch (error) {
    if (error instanceof HandoffError && error.reason === "not_an_agent") return "operator";
    throw error;
  }
}

async function readAbout(exchange: HttpExchange, persistence: Parameters<typeof persist>[0]): Promise<AboutRelay> {
  return persist(persistence, async () => {
    try {
      const answer_ms = answerWithin(persistence.patience_ms);
      return await exchange.once("well_known", {}, { signal: persistence.signal, answer_ms });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.problem.reason === "unknown_operation") throw beyondRelay(exchange.url);
      throw refusalOf(error.problem, null, error.retry_after_ms).error;
    }
  });
}

/** Every relay says what it is; behind a proxy its addresses may begin with a path, so the path alone is not refused. */
function beyondRelay(url: string): UsageError {
  const message = `A Handfast relay answers at ${url}, but its addresses do not begin there.`;
  const remedy = `Set the URL (option url, HANDFAST_URL) to the relay's own, without a path: ${new URL(url).origin}.`;
  return new UsageError(message, remedy, "not_a_relay");
}

function checkAbout({ protocol, versions, namespace }: AboutRelay, settings: Settings): void {
  if (protocol !== "handfast" || !Array.isArray(versions)) {
    const message = `${settings.url} does not say that it is a Handfast relay.`;
    throw new UsageError(message, "Check the URL (option url, HANDFAST_URL).", "not_a_relay");
  }
  if (!versions.includes(version)) {
    const message = `The relay at ${settings.url} speaks ${versions.join(", ")}; this client speaks ${version}.`;
    throw new UsageError(message, "Use a version of @handfast/client that fits the relay.", "version");
  }
  if (settings.namespace !== null && settings.namespace !== namespace) {
    const message = `The relay at ${settings.url} serves the namespace ${namespace}, not ${settings.namespace}.`;
    throw new UsageError(
      message,
      "Set namespace (HANDFAST_NAMESPACE) to the relay's, or leave it out.",
      "wrong_namespace",
    );
  }
}

function warnOnConsole({ reason, message }: Warning): void {
  // biome-ignore lint/suspicious/noConsole: a person should see it, and nobody else was named.
  console.warn(`handfast: ${message} [${reason}]`);
}
