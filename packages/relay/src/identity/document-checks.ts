/** What every signed document must be before anybody looks at its signature: readable, and meant for this relay. */

import type { DocumentFault, DocumentTyp } from "@handfast/protocol";
import { Problem } from "../problem.ts";
import type { Audience } from "./audience.ts";
import { refused } from "./credential.ts";

export function documentProblem(typ: DocumentTyp, { reason, path, message }: DocumentFault): Problem {
  const where = path === "" ? "" : `${path} `;
  const text = `The ${typ} document is refused: ${where}${message}.`;
  if (reason === "too_large") return new Problem(413, "document_too_large", text);
  return new Problem(400, "document_malformed", text, { path });
}

export function checkAddress(
  typ: DocumentTyp,
  document: { readonly relay: string; readonly namespace: string },
  audience: Audience,
  namespace: string,
): void {
  if (!audience.includes(document.relay)) {
    const next = "Sign one for this URL, or let the operator add yours to public_urls.";
    const message = `The ${typ} document is for ${document.relay}, but this relay is ${audience}. ${next}`;
    throw refused("wrong_relay", message, { document_relay: document.relay, relay_audiences: audience.all() });
  }
  if (document.namespace !== namespace) {
    const message = `The ${typ} document is for the namespace ${document.namespace}, but this one is ${namespace}.`;
    throw refused("wrong_namespace", message);
  }
}
