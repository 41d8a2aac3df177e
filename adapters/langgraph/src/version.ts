/** Looked at before anything else: with another major version the rest would fail in ways that nobody understands. */

import { checkFramework } from "@handfast/adapter-kit";

checkFramework(import.meta.url, {
  adapter: "@handfast/langgraph",
  framework: "@langchain/langgraph",
  least: "1.4.0",
  below: "2.0.0",
});
