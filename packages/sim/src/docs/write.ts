/** `npm run docs -w @handfast/sim`: puts every mistake back, and writes the tables of docs/simulation.md anew. */

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { mistakes } from "../mistakes/mistakes.ts";
import { huntOptions } from "../run/command-line.ts";
import { huntMistakes } from "../run/run-threads.ts";
import { page_path, writePart } from "./page.ts";
import { faultsTable, invariantsTable, mistakesTable, unreachableTable } from "./tables.ts";

const hunts = await huntMistakes(Object.keys(mistakes), huntOptions, availableParallelism());
let page = readFileSync(page_path, "utf8");
page = writePart(page, "faults", faultsTable());
page = writePart(page, "promises", invariantsTable());
page = writePart(page, "unreachable", unreachableTable());
page = writePart(page, "mistakes", mistakesTable(hunts));
writeFileSync(page_path, page);
