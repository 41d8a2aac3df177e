/** The `handfast` command. bin/handfast.js has checked the Node version before this is loaded. */

import { commandsFor } from "./commands.ts";
import { exitCode } from "./exit-codes.ts";
import { runProgram } from "./program.ts";
import { version } from "./version.ts";

// Whoever reads may stop reading (`| head`); there is nobody left to tell.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? exitCode("ok") : exitCode("output"));
});

// Nobody reads the messages any more: no reason to give up the work.
process.stderr.on("error", () => undefined);

const { stdout: out, stderr: err, env } = process;
const [first, ...rest] = process.argv.slice(2);
// `handfast help send` is what many type first.
const argv = first === "help" ? [...rest, "--help"] : process.argv.slice(2);
const code = await runProgram(await commandsFor(argv), version, {
  ...{ argv, env, cwd: process.cwd(), out, err },
  script: process.argv[1] ?? "",
});
process.exitCode = code;
// A relay that failed half-way through its start has begun things that would go on for good: nothing of it is to.
if (argv[0] === "start") process.exit(code);
