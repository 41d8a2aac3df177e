/** A sender on the TypeScript client alone. */

import { connect } from "@handfast/client";
import { Sender } from "./sender.ts";

await new Sender(await connect()).run();
