/** What is done with a store besides running a relay on it: moving it, and bringing its schema up to date. */

export type { SchemaStep, SchemaSteps } from "@handfast/engine";
export { inspectSchema, migrateSchema } from "./schema.ts";
export { exportStore, importStore } from "./transfer.ts";
