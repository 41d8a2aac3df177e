/** LangGraph's own SQLite checkpointer, on the SQLite that comes with Node. */

import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "./node-database.ts";

export function sqliteSaver(file: string): SqliteSaver {
  return new SqliteSaver(new Database(file) as never);
}
