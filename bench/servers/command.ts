/** A program with its arguments and surroundings: what a disk may wrap and a server process runs. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number | undefined;
}
