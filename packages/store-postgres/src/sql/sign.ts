/** Statements on signs of life: they only go forward, and rows are locked in the order of their names. */

import { given } from "../arrays.ts";
import { clock } from "./clock.ts";

/** In the place of a worker's name, where none was named. */
export const of_no_worker = "";

export const signShape = { namespace: "text", agent: "text", worker: "text", at: "bigint", asking: "boolean" } as const;

export const putSigns = `
  INSERT INTO handfast.sign AS known (namespace, agent, worker, at, asking, told_at)
  SELECT namespace, agent, worker, at, asking, ${clock} FROM ${given(signShape)} ORDER BY namespace, agent, worker
  ON CONFLICT (namespace, agent, worker) DO UPDATE
  SET at = excluded.at, asking = excluded.asking, told_at = excluded.told_at WHERE excluded.at >= known.at`;

export const findSigns = "SELECT namespace, agent, worker, at, asking FROM handfast.sign WHERE told_at >= $1";

export const pruneSigns = "DELETE FROM handfast.sign WHERE at < $1";
