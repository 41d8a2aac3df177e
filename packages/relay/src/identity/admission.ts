/** Which keys may become agents: in development mode the first to come, else those that an operator named. */

import { Problem } from "../problem.ts";

export interface AdmittedKey {
  readonly thumbprint: string;
  /** The only name it may take; null: any that is free. */
  readonly name: string | null;
}

export type Admission =
  /** Development mode: whoever comes first gets the name. */
  | { readonly kind: "first_use" }
  /** These keys, and whom an operator brings. */
  | { readonly kind: "listed"; readonly keys: readonly AdmittedKey[] };

export function checkAdmission(admission: Admission, name: string, thumbprint: string): void {
  if (admission.kind === "first_use") return;
  const mine = admission.keys.filter((key) => key.thumbprint === thumbprint);
  if (mine.some((key) => key.name === null || key.name === name)) return;
  const [other] = mine;
  const what =
    other === undefined
      ? `The key ${thumbprint} is not admitted to this relay.`
      : `The key ${thumbprint} is admitted as ${other.name}, not as ${name}.`;
  const next =
    `An operator admits it by adding "${name}=${thumbprint}" to admit in handfast.toml (or --admit) and restarting, ` +
    "or by sending this registration with the operator's token.";
  throw new Problem(403, "not_admitted", `${what} ${next}`, { key: thumbprint });
}
