/** The handoffs of a conversation, for those who had a part in them. */

import { fields } from "@handfast/protocol";
import { conversation_query, handoff_page } from "@handfast/protocol/wire";
import Type from "typebox";
import { limits } from "../limits.ts";
import { boundedPage } from "./bounded-page.ts";
import { jsonList, operation } from "./operation.ts";
import { rivalry, shownOf } from "./parties.ts";
import { listCursor, listPlace, ownOnly } from "./read.ts";
import { handoffJson } from "./view.ts";

export const getConversation = operation(
  {
    name: "conversation",
    method: "GET",
    path: "/v1/conversations/{id}",
    tag: "handoffs",
    access: "caller",
    summary: "The handoffs of a conversation, oldest first. A party sees its own, an operator all.",
    params: Type.Object({ id: fields.text_id }),
    query: conversation_query,
    replies: { 200: handoff_page },
  },
  async ({ relay, caller, params, query }) => {
    const place = listPlace(query.cursor);
    const { namespace } = caller;
    const asked = { namespace, conversation_id: params.id, order: "oldest", ...ownOnly(caller), ...place } as const;
    const list = async (limit: number) => {
      const { handoffs, after } = await relay.store.list({ ...asked, limit });
      return { handoffs: shownOf(handoffs, caller), after };
    };
    const first = await list(query.limit ?? limits.page_size_default);
    const { page, texts } = await boundedPage(first, list, (handoff) => handoffJson(handoff, rivalry(relay, caller)));
    return jsonList("handoffs", texts, { cursor: listCursor(page.after) });
  },
);
