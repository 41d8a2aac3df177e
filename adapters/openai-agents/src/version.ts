/** Looked at before anything else: with a version of another kind the rest would fail in ways that nobody understands. */

import { checkFramework } from "@handfast/adapter-kit";

checkFramework(import.meta.url, {
  adapter: "@handfast/openai-agents",
  framework: "@openai/agents",
  least: "0.20.0",
  below: "1.0.0",
});
