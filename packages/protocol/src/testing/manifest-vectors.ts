// Makes spec/vectors/manifest.json. The canonical texts are written by hand: the code that makes them is what is tested.
import { toHex, toUtf8 } from "../encoding.ts";
import { testCrypto } from "./test-crypto.ts";

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
];

export function manifestDigest(canonical: string): string {
  return toHex(testCrypto.sha256(toUtf8(canonical)));
}

export function manifestVectors() {
  return {
    about:
      "Digests of manifests: text is {agent_id, capabilities} as an author may write it, canonical the same by RFC 8785, sha256 the digest of the UTF-8 bytes of canonical, in hexadecimal: what acks and outcomes bind.",
    cases: written.map((each) => ({ ...each, sha256: manifestDigest(each.canonical) })),
  };
}
