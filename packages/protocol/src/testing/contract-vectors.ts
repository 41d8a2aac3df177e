// Makes spec/vectors/contract.json. The canonical texts are written by hand: the code that makes them is what is tested.
import type { ContractTerms } from "../contract/terms.ts";
import { toHex, toUtf8 } from "../encoding.ts";
import { testCrypto } from "./test-crypto.ts";

const sha256 = (text: string) => toHex(testCrypto.sha256(toUtf8(text)));

/** web_research of research-1, as the other vectors have it. */
const offered = sha256(
  '{"description":"Reads the web and sums up what it found.","idempotent":true,' +
    '"input_schema":{"properties":{"query":{"type":"string"}},"required":["query"],"type":"object"},' +
    '"name":"web_research","tags":["web"],"timeout_seconds":300,"version":"1.2.0"}',
);

/** What the documents of the other vectors agree on. */
export const vectorTerms: ContractTerms = {
  v: 1,
  relay: "https://relay.example",
  namespace: "default",
  offer: "01932f6b-7a00-7c3a-9b1e-00000000000f",
  asker: "planner",
  provider: "research-1",
  capability: "web_research",
  offered,
  limits: {
    deadline_ms: 600_000,
    queue_ms: 600_000,
    ack_ms: 10_000,
    lease_ms: 30_000,
    attempt_ms: 300_000,
    max_attempts: 2,
    retry: "attempts",
  },
  input_schema: sha256('{"properties":{"query":{"maxLength":200,"type":"string"}},"type":"object"}'),
  output_schema: null,
  min_reliability: 0.95,
  evidence: "signed",
  data_policy: { regions: ["eu"], trains: false },
  cost: { amount: 2_500, per: "handoff" },
  valid_until: 1_800_000_000_000,
};

const canonicalTerms =
  '{"asker":"planner","capability":"web_research","cost":{"amount":2500,"per":"handoff"},' +
  '"data_policy":{"regions":["eu"],"trains":false},"evidence":"signed",' +
  `"input_schema":"${vectorTerms.input_schema}",` +
  '"limits":{"ack_ms":10000,"attempt_ms":300000,"deadline_ms":600000,"lease_ms":30000,"max_attempts":2,"queue_ms":600000,"retry":"attempts"},' +
  '"min_reliability":0.95,"namespace":"default","offer":"01932f6b-7a00-7c3a-9b1e-00000000000f",' +
  `"offered":"${offered}","output_schema":null,"provider":"research-1",` +
  '"relay":"https://relay.example","v":1,"valid_until":1800000000000}';

const cases: readonly { readonly name: string; readonly text: string; readonly canonical: string }[] = [
  { name: "the contract of the other vectors", text: JSON.stringify(vectorTerms), canonical: canonicalTerms },
  {
    name: "members in another order, white space, and numbers spelt longer",
    text: JSON.stringify(Object.fromEntries(Object.entries(vectorTerms).reverse()), null, 2)
      .replace("0.95", "9.50e-1")
      .replace("2500", "2.5e3"),
    canonical: canonicalTerms,
  },
  {
    name: "nothing agreed on that may be left open",
    text: JSON.stringify({ ...vectorTerms, input_schema: null, min_reliability: null, data_policy: null, cost: null }),
    canonical: canonicalTerms
      .replace('{"amount":2500,"per":"handoff"}', "null")
      .replace('{"regions":["eu"],"trains":false}', "null")
      .replace(`"${vectorTerms.input_schema}"`, "null")
      .replace("0.95", "null"),
  },
  {
    name: "a reliability that no float shows in full, and one of none",
    text: JSON.stringify({ ...vectorTerms, min_reliability: 0.000_000_1, cost: { per: "thousand_tokens", amount: 0 } }),
    canonical: canonicalTerms
      .replace("0.95", "1e-7")
      .replace('{"amount":2500,"per":"handoff"}', '{"amount":0,"per":"thousand_tokens"}'),
  },
];

const capabilities: readonly { readonly name: string; readonly text: string; readonly canonical: string }[] = [
  {
    name: "a capability is named without the seal of its price",
    text: `{"name":"upper","cost":{"sha256":"${"0".repeat(64)}"},"version":"1.0.0"}`,
    canonical: '{"name":"upper","version":"1.0.0"}',
  },
  {
    name: "whatever else it says is part of it",
    text: '{"version":"1.0.0","name":"upper","description":"Zürich 🏔"}',
    canonical: '{"description":"Zürich 🏔","name":"upper","version":"1.0.0"}',
  },
];

export function contractVectors() {
  return {
    about:
      "Ids of contracts: text is the terms as an author may write them, canonical the same by RFC 8785, contract_id the SHA-256 of the UTF-8 bytes of canonical, in hexadecimal. Of capabilities the same for `offered` in the terms: canonical leaves out the member cost.",
    cases: cases.map((each) => ({ ...each, contract_id: sha256(each.canonical) })),
    capabilities: capabilities.map((each) => ({ ...each, offered: sha256(each.canonical) })),
  };
}
