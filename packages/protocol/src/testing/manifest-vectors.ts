// Makes spec/vectors/manifest.json. The canonical texts are written by hand: the code that makes them is what is tested.
import { concat, fromHex, toBase64url, toHex, toUtf8 } from "../encoding.ts";
import { testCrypto, testKey } from "./test-crypto.ts";

/** What research-1 offers in the other vectors and in spec/example.md. */
export const researchManifest =
  '{"agent_id":"research-1","capabilities":[{"description":"Reads the web and sums up what it found.",' +
  '"idempotent":true,"input_schema":{"properties":{"query":{"type":"string"}},"required":["query"],"type":"object"},' +
  '"name":"web_research","tags":["web"],"timeout_seconds":300,"version":"1.2.0"}]}';

interface Written {
  readonly name: string;
  /** As an author may write it. */
  readonly text: string;
  readonly canonical: string;
}

const written: readonly Written[] = [
  {
    name: "nothing is offered",
    text: '{"capabilities": [], "agent_id": "planner"}',
    canonical: '{"agent_id":"planner","capabilities":[]}',
  },
  {
    name: "members in another order, and white space",
    text: '{ "agent_id": "bob", "capabilities": [ { "version": "1", "name": "upper", "idempotent": false } ] }',
    canonical: '{"agent_id":"bob","capabilities":[{"idempotent":false,"name":"upper","version":"1"}]}',
  },
  {
    name: "the order of a list is kept",
    text: '{"agent_id":"bob","capabilities":[{"name":"upper"},{"name":"lower","tags":["b","a"]}]}',
    canonical: '{"agent_id":"bob","capabilities":[{"name":"upper"},{"name":"lower","tags":["b","a"]}]}',
  },
  {
    name: "numbers and escapes in their shortest form",
    text: '{"agent_id":"bob","capabilities":[{"name":"n","input_schema":{"minimum":1.0,"maximum":1e3,"multipleOf":0.0000001,"title":"\\u00fc\\/\\u000A\\u007f"}}]}',
    canonical:
      '{"agent_id":"bob","capabilities":[{"input_schema":{"maximum":1000,"minimum":1,"multipleOf":1e-7,"title":"ü/\\n\u007f"},"name":"n"}]}',
  },
  {
    name: "names are ordered by UTF-16 code units, not by code points",
    text: '{"agent_id":"bob","capabilities":[{"name":"n","input_schema":{"properties":{"\ufb33":true,"😀":true,"a":true,"é":true}}}]}',
    canonical:
      '{"agent_id":"bob","capabilities":[{"input_schema":{"properties":{"a":true,"é":true,"😀":true,"\ufb33":true}},"name":"n"}]}',
  },
  { name: "the manifest of the example", text: researchManifest, canonical: researchManifest },
  {
    name: "schemas stay in shorthand, and a share is no whole number",
    text:
      '{ "agent_id": "research-agent-001", "capabilities": [ { "name": "web_research", ' +
      '"input_schema": {"query": "string", "depth": "int"}, "output_schema": {"sources": "array", "summary": "string"}, ' +
      '"timeout_seconds": 300, "reliability_sla": 0.95 } ], ' +
      '"discovery_endpoint": "https://agent-registry.example.com/research-agent-001" }',
    canonical:
      '{"agent_id":"research-agent-001","capabilities":[{"input_schema":{"depth":"int","query":"string"},"name":"web_research",' +
      '"output_schema":{"sources":"array","summary":"string"},"reliability_sla":0.95,"timeout_seconds":300}],' +
      '"discovery_endpoint":"https://agent-registry.example.com/research-agent-001"}',
  },
  {
    name: "version and lease are part of it where they are given",
    text: '{"version":7,"lease_seconds":3600,"agent_id":"bob","capabilities":[{"name":"upper","reliability_sla":1.0}]}',
    canonical:
      '{"agent_id":"bob","capabilities":[{"name":"upper","reliability_sla":1}],"lease_seconds":3600,"version":7}',
  },
];

/** A price, its canonical JSON, and what seals it. */
const prices = [
  { canonical: '{"amount":1200,"per":"handoff"}', salt: Uint8Array.from({ length: 16 }, (_, index) => index) },
  { canonical: '{"amount":0,"per":"thousand_tokens"}', salt: new Uint8Array(16).fill(255) },
] as const;

const seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const token = "hft_this-is-the-token-of-the-vectors";
const salted = '{"agent_id":"research-1","capability":"web_research","cost":{"amount":1200,"per":"handoff"}}';

export function manifestDigest(canonical: string): string {
  return toHex(testCrypto.sha256(toUtf8(canonical)));
}

function firstSixteen(bytes: Uint8Array): string {
  return toBase64url(testCrypto.sha256(bytes).slice(0, 16));
}

export async function manifestVectors() {
  const message = toUtf8(`handfast/v1/cost\0${salted}`);
  const signature = await testKey(fromHex(seed) ?? new Uint8Array()).signer.sign(message);
  return {
    about:
      "Digests of manifests: text is {agent_id, capabilities, …} as an author may write it, canonical the same by RFC 8785, sha256 the digest of the UTF-8 bytes of canonical, in hexadecimal: what acks and outcomes bind. Costs: sha256 is over the 16 bytes of salt and the UTF-8 bytes of canonical. Salts: what a client should take as the salt, by its key (an Ed25519 seed in hexadecimal) or by its token; place is canonical JSON.",
    cases: written.map((each) => ({ ...each, sha256: manifestDigest(each.canonical) })),
    costs: prices.map(({ canonical, salt }) => ({
      canonical,
      salt: toBase64url(salt),
      sha256: toHex(testCrypto.sha256(concat(salt, toUtf8(canonical)))),
    })),
    salts: [
      { place: salted, seed, salt: firstSixteen(signature) },
      { place: salted, token, salt: firstSixteen(concat(message, toUtf8(`\0${token}`))) },
    ],
  };
}
