/** The publisher: plain TypeScript, no framework. Publishing is writing a file. */

import { writeFile } from "node:fs/promises";
import { argv, stdout } from "node:process";
import { connect } from "@handfast/client";

const article = {
  type: "object",
  properties: { title: { type: "string" }, text: { type: "string" } },
  required: ["title", "text"],
} as const;
const place = { type: "object", properties: { file: { type: "string" } }, required: ["file"] } as const;

const hf = await connect({ agent: "publisher" });
await hf.serve(
  {
    publish: {
      description: "Publishes an article.",
      input: article,
      output: place,
      tags: ["typescript"],
      async handler({ title, text }) {
        // Named after what is in it: published twice, after a crash, it is still one article.
        const file = `${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.md`;
        await writeFile(file, `# ${title}\n\n${text}\n`);
        return { file };
      },
    },
  },
  { worker: argv[2] ?? "publisher-1" },
);
stdout.write("ready\n");
