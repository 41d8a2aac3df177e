/** Looked at before anything else: with another major version the rest would fail in ways that nobody understands. */

import { checkFramework } from "@handfast/adapter-kit";

checkFramework(import.meta.url, { adapter: "@handfast/ai-sdk", framework: "ai", least: "7.0.0", below: "8.0.0" });
