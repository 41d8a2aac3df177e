// Makes spec/vectors/json.json. Texts are given as bytes, because some of them are not text.
import { fromHex, toBase64url, toUtf8 } from "../encoding.ts";
import type { JsonReason } from "../json-scanner.ts";

const vectorLimits = { max_depth: 4, max_bytes: 200, max_keys: 10 };

const keys = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(",")}}`;

const accepted: string[] = [
  "null",
  " true\n",
  "\t[ ]\r\n",
  "{}",
  "0",
  "-0",
  "-1.5e-7",
  "1E2",
  "9007199254740991",
  "-9007199254740991",
  "9007199254740991.0",
  "0.10000000000000000001",
  "1e-400",
  '""',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
  '"é😀"',
  '"\\ud83d\\ude00 \\u00e9 \\u0000"',
  '"\u007f\u2028"',
  "[[[[]]]]",
  '{"a":{"a":{"a":{}}}}',
  '[{"a":1},{"a":1}]',
  '{"a":1,"A":1,"":1}',
  '{"é":1,"e\u0301":2}',
  '{"constructor":1,"toString":2}',
  '["__proto__"]',
  keys(10),
  `"${"x".repeat(198)}"`,
];

const refused: [JsonReason, string, string][] = [
  ["syntax", "", ""],
  ["syntax", "", " "],
  ["syntax", "", "\ufeff{}"],
  ["syntax", "", "{} {}"],
  ["syntax", "", "\u00a0 1"],
  ["syntax", "", "nul"],
  ["syntax", "", "NaN"],
  ["syntax", "", "Infinity"],
  ["syntax", "", "01"],
  ["syntax", "", "-"],
  ["syntax", "", "+1"],
  ["syntax", "", "1."],
  ["syntax", "", ".5"],
  ["syntax", "", "1e"],
  ["syntax", "", "1e+"],
  ["syntax", "", "0x10"],
  ["syntax", "", "'a'"],
  ["syntax", "", '"a'],
  ["syntax", "", '"\\'],
  ["syntax", "", '"\\x41"'],
  ["syntax", "", '"\\u12g4"'],
  ["syntax", "", '"a\nb"'],
  ["syntax", "", '"\u0000"'],
  ["syntax", "/1", "[1,]"],
  ["syntax", "/0", "[1"],
  ["syntax", "/0", "[1}"],
  ["syntax", "", "{"],
  ["syntax", "", '{"a":1,}'],
  ["syntax", "/a", '{"a"}'],
  ["syntax", "/a", '{"a":1]'],
  ["syntax", "", "{a:1}"],
  ["syntax", "", "// x\n1"],
  ["duplicate_key", "/a", '{"a":1,"a":1}'],
  ["duplicate_key", "/a", '{"a":1,"b":2,"\\u0061":3}'],
  ["duplicate_key", "/x/1/", '{"x":[0,{"":1,"":2}]}'],
  ["duplicate_key", "/~1~0", '{"/~":1,"/~":2}'],
  ["duplicate_key", "/k8", `${keys(9).slice(0, -1)},"k8":0}`],
  ["forbidden_key", "/__proto__", '{"__proto__":{"admin":true}}'],
  ["forbidden_key", "/0/__proto__", '[{"\\u005f_proto__":1}]'],
  ["lone_surrogate", "", '"\\ud800"'],
  ["lone_surrogate", "", '"\\udc00\\ud800"'],
  ["lone_surrogate", "", '"\\ud83dx\\ude00"'],
  ["lone_surrogate", "/a", '{"a":"\\uD83D\\u0041"}'],
  ["lone_surrogate", "", '{"\\udfff":1}'],
  ["number_out_of_range", "", "9007199254740992"],
  ["number_out_of_range", "/n", '{"n":9007199254740993}'],
  ["number_out_of_range", "", "-9007199254740993"],
  ["number_out_of_range", "", "1e400"],
  ["number_out_of_range", "", "-1E+400"],
  ["number_out_of_range", "", "1e20"],
  ["number_out_of_range", "", "10000000000000000000000.5"],
  ["too_deep", "/0/0/0/0", "[[[[[]]]]]"],
  ["too_deep", "/a/0/b/0", '{"a":[{"b":[{}]}]}'],
  ["too_many_keys", "/k10", keys(11)],
  ["too_large", "", `"${"x".repeat(199)}"`],
  ["too_large", "", `"${"é".repeat(100)}"`],
  ["too_large", "", `"${"€".repeat(67)}"`],
];

const notUtf8 = ["22ff22", "22c32822", "22eda08022", "22c0af22", "22f490808022", "22e282"];

function textVector(text: string) {
  return { text, bytes: toBase64url(toUtf8(text)) };
}

export function jsonVectors() {
  return {
    about: "Texts that strict JSON accepts and refuses, under these limits. bytes (base64url) decide; text is help.",
    limits: vectorLimits,
    accepted: accepted.map(textVector),
    refused: [
      ...refused.map(([reason, path, text]) => ({ ...textVector(text), reason, path })),
      ...notUtf8.map((hex) => ({ bytes: toBase64url(fromHex(hex) ?? new Uint8Array()), reason: "not_utf8", path: "" })),
    ],
  };
}
