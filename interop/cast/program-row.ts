/** A row whose worker and sender are programs that speak the suite's lines. */

import { join } from "node:path";
import { SenderProcess, WorkerProcess } from "./line-process.ts";
import type { Prepared, Row, Stage } from "./row.ts";

const programs = join(import.meta.dirname, "../programs");

export interface Interpreter {
  readonly command: string;
  /** Before the program's own path. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
}

interface ProgramRow extends Omit<Row, "prepare"> {
  readonly worker_program: string;
  readonly sender_program: string;
  readonly patience_ms: number;
  prepare(say: (line: string) => void): Promise<Interpreter>;
}

export function programRow({ worker_program, sender_program, patience_ms, prepare, ...row }: ProgramRow): Row {
  const programOf = (interpreter: Interpreter, file: string, stage: Stage) => ({
    command: interpreter.command,
    arguments: [...interpreter.arguments, join(programs, file)],
    folder: stage.folder,
    patience_ms,
    environment: {
      ...interpreter.environment,
      HANDFAST_URL: stage.url,
      HANDFAST_AGENT: stage.agent,
      // Keys are kept where the next life of this participant finds them.
      HANDFAST_HOME: join(stage.folder, "home"),
      HOME: stage.folder,
      INTEROP_NAME: row.name,
    },
  });
  return {
    ...row,
    async prepare(say): Promise<Prepared> {
      const interpreter = await prepare(say);
      return {
        versions: interpreter.versions,
        openWorker: async (stage) => new WorkerProcess(programOf(interpreter, worker_program, stage)),
        openSender: async (stage) => new SenderProcess(programOf(interpreter, sender_program, stage)),
      };
    },
  };
}

/** This very Node, which runs TypeScript as it is. */
export function node(versions: Readonly<Record<string, string>>): Interpreter {
  return {
    command: process.execPath,
    arguments: [],
    environment: {},
    versions: { Node: process.versions.node, ...versions },
  };
}
