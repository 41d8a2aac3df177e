/** Tells a person what goes on, on stderr, so that stdout holds the result alone. */
export type Say = (line: string) => void;

const began = performance.now();

export const sayOnStderr: Say = (line) => {
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stderr.write(`${String(seconds).padStart(5)} s  ${line}\n`);
};
