/** `--help`, out of the table of options. */

import { type Option, optionList } from "./options.ts";

export function helpText(): string {
  const lines = optionList.map(([, option]) => describe(option));
  return [
    "Handfast: a relay for handoffs between AI agents.",
    "",
    "Flags go before environment variables, these before handfast.toml.",
    "",
    ...lines,
  ].join("\n");
}

function describe({ flag, env, key, kind, default: standard, help }: Option): string {
  const value = kind.type === "flag" ? "" : ` <${kind.type === "choice" ? kind.choices.join("|") : kind.type}>`;
  const head = flag === null ? "(no flag)" : `--${flag}${value}`;
  const names = [env, key].filter((name) => name !== null).join(", ");
  const notes = [names, standard === null ? "" : `default ${standard}`].filter((note) => note !== "").join("; ");
  return `  ${head}\n      ${help}${notes === "" ? "" : ` [${notes}]`}`;
}
