/** One sentence out of ajv's errors: where, and why. It never quotes the value: payloads stay out of logs. */

import type { ErrorObject } from "ajv";
import { canonicalJson } from "./canonical-json.ts";

export function explainFault(errors: readonly ErrorObject[], max_chars: number): string {
  const last = errors.at(-1);
  // The choice itself, not one of its branches, is what did not fit.
  const fault = last?.keyword === "anyOf" || last?.keyword === "oneOf" ? last : errors[0];
  if (fault === undefined) return "the value: does not fit";
  const where = fault.instancePath === "" ? "the whole value" : fault.instancePath;
  const sentence = `${where}: ${fault.message ?? "does not fit"}${detail(fault)}`;
  return sentence.length > max_chars ? `${sentence.slice(0, max_chars - 1)}…` : sentence;
}

function detail({ keyword, params }: ErrorObject): string {
  switch (keyword) {
    case "additionalProperties":
      return `: ${JSON.stringify(params["additionalProperty"])} is not known`;
    case "enum":
      return `: ${canonicalJson(params["allowedValues"])}`;
    case "const":
      return `: ${canonicalJson(params["allowedValue"])}`;
    case "propertyNames":
      return `: ${JSON.stringify(params["propertyName"])}`;
    default:
      return "";
  }
}
