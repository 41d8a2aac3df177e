// The door to the wire: the schemas of every message, and every operation by name. Relays check with these schemas,
// clients take their types from them.
// The type that a TypeBox or JSON schema describes: clients type handlers by it without a dependency of their own.
export type { Static } from "typebox";
export { wireLimits } from "../limits.ts";
export * from "./about.ts";
export * from "./agents.ts";
export * from "./contracts.ts";
export * from "./dead-letters.ts";
export * from "./discovery.ts";
export * from "./events.ts";
export * from "./followed.ts";
export * from "./handoff.ts";
export * from "./imports.ts";
export * from "./list.ts";
export * from "./manifests.ts";
export * from "./named.ts";
export * from "./nodes.ts";
export * from "./operations.ts";
export * from "./payload.ts";
export * from "./problem.ts";
export * from "./questions.ts";
export * from "./reliability.ts";
export * from "./routes.ts";
export * from "./signed.ts";
export * from "./submit.ts";
export * from "./worker.ts";
