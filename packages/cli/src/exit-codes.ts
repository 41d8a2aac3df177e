/**
 * How the command ends, told in numbers: sysexits.h where it has one, so that scripts, `handfast serve` and supervisors
 * understand each other. `handfast --help` and docs/cli.md show this table.
 */

export const exitCodes = {
  ok: { code: 0, meaning: "Done; a handoff that was waited for is completed." },
  ended: {
    code: 1,
    meaning:
      "The handoff ended otherwise than completed, and a retry would not help; or `conformance` found a broken promise, or `manifest lint` a fault.",
  },
  usage: { code: 64, meaning: "The command line is wrong." },
  data: { code: 65, meaning: "The input was refused: not JSON, too large, or unfit for the capability's schema." },
  missing: { code: 66, meaning: "What was named does not exist: a file, a handoff, an agent." },
  unreachable: { code: 69, meaning: "The relay cannot be reached, or `start` cannot have its port or store." },
  internal: { code: 70, meaning: "A fault of handfast itself." },
  output: { code: 73, meaning: "A file cannot be written." },
  retryable: { code: 75, meaning: "Not now; the same command may succeed later." },
  denied: {
    code: 77,
    meaning: "Not allowed: identity not proven, no permission, or a key that is not the pinned one.",
  },
  configuration: { code: 78, meaning: "The configuration or the Node version is wrong." },
  interrupted: { code: 130, meaning: "Interrupted with Ctrl-C; what was handed off goes on." },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type ExitName = keyof typeof exitCodes;

export function exitCode(name: ExitName): number {
  return exitCodes[name].code;
}
