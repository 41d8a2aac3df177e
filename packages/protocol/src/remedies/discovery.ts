/** Reasons of discovery: a need that nobody meets, a closed directory, an import that came to nothing. */

import type { Reason } from "./reason.ts";

export const discoveryReasons: readonly Reason[] = [
  {
    codes: [406],
    reason: "nobody_meets",
    cause: "No agent meets all that was asked for.",
    remedy: "Look at near, the nearest misses with what each lacks; ask for less, or wait until somebody offers it.",
  },
  {
    codes: [400],
    reason: "version_range",
    cause: "The version that was asked for is no range of versions.",
    remedy: "Write a range as npm does: ^1.2, ~1.2.3, 1.x, >=2 <4.",
  },
  {
    codes: [406],
    reason: "foreign_agent",
    cause: "The handoff names an agent that is registered with another relay: it can be found here, not reached.",
    remedy: "Hand it to the relay where the agent is registered, or name a capability that an agent here offers.",
  },
  {
    codes: [401],
    reason: "directory_closed",
    cause: "Manifests, agent cards and the catalog are shown to those whom the relay knows.",
    remedy: "Call with a credential or a token; an operator opens the directory to anybody with --public-directory.",
  },
  {
    codes: [400],
    reason: "import_url",
    cause: "The URL is none that an agent can be imported from.",
    remedy: "Give an http or https URL without a name or password in it.",
  },
  {
    codes: [403],
    reason: "import_address",
    cause: "The URL leads to an address of this machine or of a private network.",
    remedy: "Give a public URL; an operator allows private addresses with --import-private.",
  },
  {
    codes: [400],
    reason: "import_unreachable",
    cause: "The URL could not be fetched, took too long, redirects, or answered with something other than 200.",
    remedy: "Open the URL yourself, correct it, or try again later.",
  },
  {
    codes: [413],
    reason: "import_too_large",
    cause: "What the URL answered is larger than an import may be.",
    remedy: "Import an agent with a smaller manifest.",
  },
  {
    codes: [400],
    reason: "import_unreadable",
    cause: "What the URL answered is neither a Handfast manifest nor an A2A agent card.",
    remedy: "Give the URL of a discovery endpoint or of an agent card.",
  },
  {
    codes: [400],
    reason: "import_unproven",
    cause:
      "The manifest is not signed by the agent it tells of, belongs to another relay than the one it came from, or is of another agent than the one that was imported from there.",
    remedy: "Import it from the relay where the agent is registered, and have the agent register with its key.",
  },
  {
    codes: [409],
    reason: "import_key_changed",
    cause: "The agent is signed for by another key than when it was imported.",
    remedy: "Ask its operator whether that is right; then drop the import and import it anew.",
  },
  {
    codes: [409],
    reason: "import_older",
    cause: "The manifest is of an older version than the one that is known, or another of the same version.",
    remedy: "Wait until the other relay shows the current one, or drop the import and import it anew.",
  },
  {
    codes: [404],
    reason: "unknown_import",
    cause: "No agent was imported by this name.",
    remedy: "List the imports; a name has the form name@origin.",
  },
  {
    codes: [507],
    reason: "imports_full",
    cause: "The relay has imported as many agents as it takes.",
    remedy: "Drop imports that nobody needs.",
  },
];
