/** websocket.md, "One signature for a frame", "Credits", "Being told" and "Staying, leaving, coming back". */

import { toUtf8, verifyProof } from "@handfast/protocol";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Item } from "../caller/peer.ts";
import type { Check } from "../check.ts";
import { newId, seal } from "../stage/agent.ts";
import { refusal } from "../stage/caller.ts";
import { delivered, sent, working } from "../stage/scenes.ts";
import { publicKey } from "./public-key.ts";

const signature_section = "websocket.md#one-signature-for-a-frame";
const credits = "websocket.md#credits";
const told = "websocket.md#being-told";
const staying = "websocket.md#staying-leaving-coming-back";
const over = ["websocket"] as const;

function refused(what: string, { status = 0, problem }: Item, code: number, reason?: string): void {
  refusal(what, status, problem, code, reason);
}

export const websocketLife: readonly Check[] = [
  {
    id: "SEAL-1",
    promise: "One signature covers a frame: each of its documents is kept with the proof it would have carried itself.",
    section: signature_section,
    over,
    features: ["signed"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const peer = await t.peer(sender);
      const written = [1, 2, 3, 4, 5].map((n) => {
        const sealed = seal(`{"n":${n}}`);
        const id = newId();
        return { id, sealed, document: sender.writeHandoff({ id, capability }, sealed) };
      });
      const proofs = await sender.key.proofs(written.map(({ document }) => document));
      const [{ key = "", sig = "" } = {}] = proofs;
      const replies = await peer.calls(
        written.map(({ document, sealed }) => ({
          op: "submit",
          body: { signed: { document: document.text, payload: sealed.payload } },
        })),
        { signature: { key, sig } },
      );
      t.equal(
        replies.map(({ status }) => status),
        [202, 202, 202, 202, 202],
        "the replies",
      );
      for (const [index, { id, document }] of written.entries()) {
        const { receipts = [], evidence } = await sender.get(id, { proofs: true });
        const kept = receipts.find(({ kind }) => kind === "handoff")?.signed;
        t.equal(evidence, "signed", "the evidence");
        t.equal(kept?.proof, proofs[index], "the proof that is kept");
        const bytes = toUtf8(document.text);
        t.that(
          await verifyProof(nodeCrypto, publicKey(sender.key), "handoff", bytes, kept?.proof),
          "a proof that verifies",
          kept,
        );
      }
    },
  },
  {
    id: "SEAL-2",
    promise:
      "A frame whose signature does not verify gets 401 for each of the documents that rely on it; its other calls run.",
    section: signature_section,
    over,
    features: ["signed"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const peer = await t.peer(sender);
      const sealed = seal("1");
      const ids = [newId(), newId(), newId()];
      const documents = ids.map((id) => sender.writeHandoff({ id, capability }, sealed));
      const other = await sender.key.proof(sender.writeHandoff({ capability }, sealed));
      const own = documents[2] ?? sender.writeHandoff({}, sealed);
      const unproven = (index: number) => ({
        op: "submit",
        body: { signed: { document: documents[index]?.text, payload: "1" } },
      });
      const proven = {
        op: "submit",
        body: { signed: { document: own.text, payload: "1", proof: await sender.key.proof(own) } },
      };
      const plain = { op: "submit", body: { capability, input: "plain" } };
      const replies = await peer.calls([unproven(0), plain, unproven(1), proven], {
        signature: { key: other.key, sig: other.sig },
      });
      const [first, second, third, fourth] = replies;
      if (!(first && second && third && fourth)) return t.that(false, "four replies", replies.length);
      refused("a document under a wrong signature", first, 401, "bad_signature");
      refused("another document under it", third, 401, "bad_signature");
      t.equal([second.status, fourth.status], [202, 202], "the calls that do not rely on it");
      for (const id of ids.slice(0, 2)) await sender.refused("get", { params: { id } }, 404, "unknown_handoff");
    },
  },
  {
    id: "SEAL-3",
    promise: "A document without a proof in a frame without a signature is 400, missing_field.",
    section: signature_section,
    over,
    features: ["signed"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const peer = await t.peer(sender);
      const document = sender.writeHandoff({ capability }, seal("1"));
      const [reply] = await peer.calls([{ op: "submit", body: { signed: { document: document.text, payload: "1" } } }]);
      if (reply === undefined) return t.that(false, "a reply", reply);
      refused("a document without a proof", reply, 400, "missing_field");
    },
  },
  {
    id: "SEAL-4",
    promise: "Documents of a batch submit are part of the frame's signature, in their order.",
    section: signature_section,
    over,
    features: ["signed", "batch"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, capability } = pair;
      const canceled = await sent(pair);
      const peer = await t.peer(sender);
      const sealed = seal("1");
      const handoffs = [1, 2, 3].map(() => sender.writeHandoff({ capability }, sealed));
      const cancel = sender.write("cancel", { id: canceled.id, handoff: canceled.digest });
      const [{ key = "", sig = "" } = {}] = await sender.key.proofs([cancel, ...handoffs]);
      const replies = await peer.calls(
        [
          { op: "cancel", params: { id: canceled.id }, body: { signed: { document: cancel.text } } },
          {
            op: "submit_batch",
            body: { handoffs: handoffs.map(({ text }) => ({ signed: { document: text, payload: "1" } })) },
          },
        ],
        { signature: { key, sig } },
      );
      t.equal(
        replies.map(({ status }) => status),
        [200, 202],
        "the replies",
      );
      t.equal((await sender.event(canceled.id, "canceled"))["evidence"], "signed", "the evidence of the cancel");
    },
  },
  {
    id: "CREDIT-1",
    promise: "The relay never gives a worker more leases than the slots of its open claims.",
    section: credits,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const peer = await t.peer(pair.worker);
      const [n, m] = [peer.next(), peer.next()];
      peer.send({
        calls: [
          { n, op: "claim", body: { worker: "w1", slots: 2, request_id: "a" }, wait_ms: 20_000 },
          { n: m, op: "claim", body: { worker: "w1", slots: 1, request_id: "b" }, wait_ms: 20_000 },
        ],
      });
      await pair.worker.asking();
      for (let input = 0; input < 8; input += 1) await sent(pair, { input });
      await Promise.all([peer.reply(n), peer.reply(m)]);
      await t.pause(500);
      const leases = peer
        .items("replies")
        .flatMap(({ body }) => (body as { leases?: unknown[] } | undefined)?.leases ?? []);
      t.that(leases.length >= 2 && leases.length <= 3, "at most three leases for three slots", leases.length);
      const { handoffs } = await pair.sender.ok("list", { query: { state: "delivered" } });
      t.equal(handoffs.length, leases.length, "how many are delivered");
    },
  },
  {
    id: "CREDIT-2",
    promise: "A claim that waits is answered as soon as there is work for it.",
    section: credits,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const peer = await t.peer(pair.worker);
      const n = peer.next();
      peer.send({ calls: [{ n, op: "claim", body: { worker: "w1", slots: 5 }, wait_ms: 30_000 }] });
      await pair.worker.asking();
      const { id } = await sent(pair);
      const reply = await peer.reply(n, 10_000);
      const { leases }: { leases?: { id: string }[] } = Object(reply.body);
      t.equal(
        leases?.map((lease) => lease.id),
        [id],
        "what the claim brought",
      );
    },
  },
  {
    id: "TOLD-1",
    promise: "A worker is told at once when its lease is canceled, over the connection it was claimed on.",
    section: told,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const [acked, unacked] = [await working(pair), await delivered(pair)];
      const { link } = pair.worker;
      for (const lease of [acked, unacked]) {
        await pair.sender.ok("cancel", { params: { id: lease.id }, body: {} });
        const peer = await t.peerOf(link);
        const { fence, code, reason } = await peer.over(lease.id, 10_000);
        t.equal({ fence, code, reason }, { fence: 1, code: 410, reason: "canceled" }, "the notice");
      }
    },
  },
  {
    id: "TOLD-2",
    promise: "A worker is told when its lease is over by time: expired, or lost.",
    section: told,
    over,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const expiring = await working(pair, { limits: { deadline_ms: 4_000 } });
      const losing = await working(pair, { limits: { lease_ms: 4_000 } });
      const peer = await t.peerOf(pair.worker.link);
      const expired = await peer.over(expiring.id);
      t.equal(
        { code: expired["code"], reason: expired["reason"] },
        { code: 408, reason: "deadline_passed" },
        "the notice of what expired",
      );
      const lost = await peer.over(losing.id);
      t.equal(
        { code: lost["code"], reason: lost["reason"] },
        { code: 412, reason: "lease_lost" },
        "the notice of what was lost",
      );
    },
  },
  {
    id: "TOLD-3",
    promise: "Of a lease that ended by the worker's own act nothing is told.",
    section: told,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.act("complete", lease, { output: 1 });
      const other = await working(pair);
      await pair.worker.act("release", other);
      await t.pause(500);
      t.equal((await t.peerOf(pair.worker.link)).items("over"), [], "notices");
    },
  },
  {
    id: "STAY-1",
    promise:
      "A new credential for the same agent is taken; one of another agent is 403, one that proves nothing 401, and neither changes anything.",
    section: staying,
    over,
    run: async (t) => {
      const [agent, other] = await Promise.all([t.agent(), t.agent()]);
      const peer = await t.peer(agent);
      const renew = (credential: string) => ({ op: "authenticate", body: { credential } });
      const [good] = await peer.calls([renew(agent.key.credential(agent.name, t.audience))]);
      t.equal(good?.status, 200, "the status of a new credential");
      t.that(Number(Object(good?.body).expires_in_ms) > 0, "expires_in_ms", good?.body);
      const [foreign, broken] = await peer.calls([
        renew(other.key.credential(other.name, t.audience)),
        renew("nonsense"),
      ]);
      if (!(foreign && broken)) return t.that(false, "two replies", { foreign, broken });
      refused("a credential of another agent", foreign, 403, "another_agent");
      refused("a credential that proves nothing", broken, 401);
      const [list] = await peer.calls([{ op: "tokens" }]);
      t.equal(list?.status, 200, "the status of a call after it");
    },
  },
  {
    id: "STAY-2",
    promise: "A connection whose key was revoked is closed with 4401.",
    section: staying,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const peer = await t.peer(agent);
      const other = t.agentOf(agent.name, agent.key, "http");
      await other.ok("revoke_key", { params: { name: agent.name, thumbprint: agent.key.thumbprint } });
      t.equal((await peer.closedByRelay()).code, 4401, "the close code");
    },
  },
  {
    id: "STAY-3",
    promise: "A connection whose credential has expired is closed with 4401.",
    section: staying,
    over,
    waits: true,
    run: async (t) => {
      const agent = await t.agent();
      const iat = Math.floor(Date.now() / 1_000) - 290;
      const credential = agent.key.credential(agent.name, t.audience, { iat, exp: iat + 292 });
      const peer = await t.greeted(credential);
      t.equal((await peer.closedByRelay(30_000)).code, 4401, "the close code");
    },
  },
  {
    id: "STAY-4",
    promise:
      "After a break, a claim repeated over another connection brings the same leases, and they are acknowledged under the same fence.",
    section: staying,
    over,
    run: async (t) => {
      const pair = await t.pair();
      await sent(pair);
      const first = await pair.worker.lease({ request_id: "r1" });
      pair.worker.link.close();
      const again = t.again(pair.worker);
      const lease = await again.lease({ request_id: "r1" });
      t.equal({ id: lease.id, fence: lease.fence }, { id: first.id, fence: first.fence }, "the lease again");
      await again.act("ack", lease);
      t.equal((await pair.sender.get(lease.id)).deliveries, 0, "deliveries that were not acknowledged");
    },
  },
  {
    id: "STAY-5",
    promise: "A lease that was sent to a broken connection stays the worker's until its ack clock runs out.",
    section: staying,
    over,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { limits: { ack_ms: 5_000 } });
      pair.worker.link.close();
      const again = t.again(pair.worker);
      t.equal(await again.claim({ worker: "w2", slots: 3 }, 1_000), [], "what another worker is given meanwhile");
      t.equal((await pair.sender.get(lease.id)).state, "delivered", "the state");
      await again.act("ack", lease);
    },
  },
  {
    id: "STAY-6",
    promise: "A ping is answered with its pong.",
    section: staying,
    over,
    run: async (t) => {
      const peer = await t.peer(await t.agent());
      peer.send({ ping: 7_781 });
      await peer.frame((frame) => frame["pong"] === 7_781, "a pong");
    },
  },
];
