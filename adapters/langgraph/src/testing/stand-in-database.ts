// node --import …: for a program that lets LangGraph's checkpointer open its database itself.
import { registerHooks } from "node:module";

registerHooks({
  resolve(name, context, next) {
    const stand_in = new URL("./node-database.ts", import.meta.url).href;
    return name === "better-sqlite3" ? { url: stand_in, shortCircuit: true } : next(name, context);
  },
});
