/** A worker as a process of its own, for tests of signals. It says "working" when a handler runs; "go" lets it end. */

import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline";
import { connect } from "../../mod.ts";

const lines = createInterface({ input: stdin });
stdin.unref();

const hf = await connect();
await hf.serve(
  {
    obliging: async () => {
      stdout.write("working\n");
      await new Promise((resolve) => lines.once("line", resolve));
      return "done";
    },
    deaf: () => {
      stdout.write("working\n");
      return new Promise(() => {});
    },
  },
  { grace: process.argv[2] === "short" ? "100ms" : "1h" },
);
stdout.write("ready\n");
