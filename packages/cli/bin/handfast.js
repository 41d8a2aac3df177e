#!/usr/bin/env node
// The door to the command, in JavaScript that old Nodes understand, so that they can say what is needed.
const needed = 24;
const found = process.versions.node;

if (Number(found.split(".")[0]) < needed) {
  process.stderr.write(
    `handfast needs Node ${needed} or newer, and this is Node ${found}: install one from https://nodejs.org\n`,
  );
  process.exitCode = 78;
} else {
  import("../src/main.ts").catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 70;
  });
}
