/** The link over HTTP. */

import { describeLink } from "./link.conformance.ts";

describeLink("http");
