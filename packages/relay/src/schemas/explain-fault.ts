/** One sentence out of ajv's errors: where, and why. It never quotes the value: payloads stay out of logs. */

import type { ErrorObject } from "ajv";
import { canonicalJson } from "./canonical-json.ts";

/** Where in the value, as a JSON Pointer, and why. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

export function explainFault(errors: readonly ErrorObject[], max_chars: number): string {
  const { path, message } = faultOf(errors, max_chars);
  return shortened(`${path === "" ? "the whole value" : path}: ${message}`, max_chars);
}

export function faultOf(errors: readonly ErrorObject[], max_chars: number): Fault {
  const last = errors.at(-1);
  // The choice itself, not one of its branches, is what did not fit.
  const fault = last?.keyword === "anyOf" || last?.keyword === "oneOf" ? last : errors[0];
  if (fault === undefined) return { path: "", message: "does not fit" };
  return {
    path: fault.instancePath,
    message: shortened(`${fault.message ?? "does not fit"}${detail(fault)}`, max_chars),
  };
}

function shortened(text: string, max_chars: number): string {
  return text.length > max_chars ? `${text.slice(0, max_chars - 1)}…` : text;
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
