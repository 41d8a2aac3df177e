// From the exact bytes of a document to its checked value: strict JSON, the schema of its typ, then what one field
// demands of another. Signatures are another matter (signing.ts): this says what the bytes mean, not who wrote them.
import Compile, { type Validator } from "typebox/compile";
import {
  type ContractDocument,
  type DocumentOf,
  type DocumentTyp,
  documentSchemas,
  type OutcomeDocument,
  type ProposalDocument,
} from "./documents.ts";
import { namePattern, noName } from "./ids.ts";
import type { JsonReason } from "./json-scanner.ts";
import { protocolLimits } from "./limits.ts";
import { parseStrict, parseStrictBytes } from "./strict-json.ts";

export interface DocumentFault {
  reason: JsonReason | "unfit";
  /** JSON pointer to the field at fault. */
  path: string;
  message: string;
}

export type ReadDocument<Typ extends DocumentTyp> =
  | { ok: true; document: DocumentOf<Typ> }
  | { ok: false; fault: DocumentFault };

const validators = new Map<DocumentTyp, Validator>();

/** Compiled at first use: a client needs few of them. */
function validator(typ: DocumentTyp): Validator {
  const known = validators.get(typ);
  if (known !== undefined) return known;
  const compiled: Validator = Compile(documentSchemas[typ]);
  validators.set(typ, compiled);
  return compiled;
}

/** The caller says which typ it expects; a document of another typ is refused like any other misfit. */
export function readDocument<Typ extends DocumentTyp>(typ: Typ, document: Uint8Array | string): ReadDocument<Typ> {
  const max_bytes = typ === "registration" ? protocolLimits.registration_bytes : protocolLimits.document_bytes;
  const limits = { max_bytes, max_depth: protocolLimits.document_depth };
  const json = typeof document === "string" ? parseStrict(document, limits) : parseStrictBytes(document, limits);
  if (!json.ok) {
    const { reason, path, offset } = json.fault;
    const message =
      reason === "too_deep"
        ? `is nested more than ${limits.max_depth} levels deep`
        : `${reason.replaceAll("_", " ")} at character ${offset}`;
    return { ok: false, fault: { reason, path, message } };
  }
  const fault = misfit(typ, json.value);
  return fault === null ? { ok: true, document: json.value as DocumentOf<Typ> } : { ok: false, fault };
}

function misfit(typ: DocumentTyp, value: unknown): DocumentFault | null {
  if (!validator(typ).Check(value)) return schemaFault(typ, value);
  switch (typ) {
    case "outcome":
      return outcomeFault(value as OutcomeDocument);
    case "registration":
      return registrationFault(value as DocumentOf<"registration">);
    case "contract":
      return contractFault(value as ContractDocument);
    case "proposal":
      return proposalFault(value as ProposalDocument);
    default:
      return null;
  }
}

function unfit(path: string, message: string): DocumentFault {
  return { reason: "unfit", path, message };
}

function schemaFault(typ: DocumentTyp, value: unknown): DocumentFault {
  const [first] = validator(typ).Errors(value);
  if (first === undefined) return unfit("", "does not fit the schema");
  if (first.schemaPath.startsWith("#/anyOf")) return unfit("", "must name an agent (to) or a capability");
  if (first.keyword === "boolean") return unfit(first.instancePath, "is not a field of this document");
  if (first.keyword === "pattern" && String(first.params.pattern) === namePattern) {
    return unfit(first.instancePath, noName(String(valueAt(value, first.instancePath))));
  }
  return unfit(first.instancePath, first.message);
}

/** By a JSON pointer that leads somewhere. */
function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split("/").slice(1);
  return names.reduce<unknown>((part, name) => {
    return Reflect.get(Object(part), name.replaceAll("~1", "/").replaceAll("~0", "~"));
  }, value);
}

/** Status, code, output and error tell one story, or a reader could pick the one it likes. */
function outcomeFault({ status, code, output, error }: OutcomeDocument): DocumentFault | null {
  if (status === "completed") {
    if (code !== 200) return unfit("/code", "must be 200 when completed");
    if (output === undefined) return unfit("/output", "must be given when completed");
    return error === undefined ? null : unfit("/error", "must not be given when completed");
  }
  if (status === "rejected" && code !== 501) return unfit("/code", "must be 501 when rejected");
  if (status === "failed" && code !== 500) return unfit("/code", "must be 500 when failed");
  if (error === undefined) return unfit("/error", `must be given when ${status}`);
  return output === undefined ? null : unfit("/output", `must not be given when ${status}`);
}

function registrationFault({ capabilities }: DocumentOf<"registration">): DocumentFault | null {
  const names = capabilities.map(({ name }) => name);
  const again = names.findIndex((name, index) => names.indexOf(name) !== index);
  return again < 0 ? null : unfit(`/capabilities/${again}/name`, "is listed twice");
}

/** Only the asker of the terms takes them, on the relay that they name. */
function contractFault({ from, relay, namespace, terms }: ContractDocument): DocumentFault | null {
  if (terms.asker !== from) return unfit("/terms/asker", "must be who signs");
  return placeFault({ relay, namespace }, terms);
}

/** Terms or a refusal, never both: a reader could pick the one it likes. */
function proposalFault({ from, relay, namespace, offer, terms, decline }: ProposalDocument): DocumentFault | null {
  if (terms === undefined) return decline === undefined ? unfit("", "must have terms or decline") : null;
  if (decline !== undefined) return unfit("/decline", "must not be given beside terms");
  if (terms.provider !== from) return unfit("/terms/provider", "must be who signs");
  if (terms.offer !== offer) return unfit("/terms/offer", "must be the offer that is answered");
  return placeFault({ relay, namespace }, terms);
}

function placeFault(
  { relay, namespace }: { readonly relay: string; readonly namespace: string },
  terms: ContractDocument["terms"],
): DocumentFault | null {
  if (terms.relay !== relay) return unfit("/terms/relay", "must be the document's own");
  return terms.namespace === namespace ? null : unfit("/terms/namespace", "must be the document's own");
}
