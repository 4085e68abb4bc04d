/** Number of newsletters that a transport gets at once: enough to keep it busy. */
import { BatchAdmission } from "../../../services/smtp-sender/claim/batch-admission.ts";
import type { ClaimableCampaign } from "../../../services/smtp-sender/delivery/rows.ts";
import type { Server } from "../../../services/smtp-sender/server/server.ts";
import type { Servers } from "../../../services/smtp-sender/server/servers.ts";

interface At {
  /** Recipients that are left of each batch it has. */
  lefts: readonly number[];
  connections: number;
  /** Recorded within 50 ms. */
  recent: number;
}

function transportAt({ lefts, connections, recent }: At) {
  const campaign = { company_id: "a", is_transactional: false };
  const batches = lefts.map((left) => ({ campaign, kind: "chunk", left }));
  const transport = {
    config: { id: "s" },
    batches,
    connections: { size: connections },
    preparation: { throughput: { recent } },
  };
  const transports = { all: [transport], batches: () => batches };
  return {
    transport: transport as unknown as Server,
    admission: new BatchAdmission(transports as unknown as Servers, "chunk", 200),
  };
}

const campaign = (nextRecipients: number, more: Partial<ClaimableCampaign> = {}): ClaimableCampaign =>
  ({ company_id: "a", is_transactional: false, next_recipients: nextRecipients, ...more }) as ClaimableCampaign;

/** A thousand waiting campaigns. */
function admitted(at: At, nextRecipients: number): number {
  const { admission, transport } = transportAt(at);
  let n = 0;
  while (
    n < 1_000 &&
    admission.mayServe(campaign(nextRecipients)) &&
    admission.admit(campaign(nextRecipients), transport)
  )
    n++;
  return n;
}

/** Case in which ten campaigns' chunks end at the same time, at 3,400 emails per second. */
const BUSY: At = { lefts: Array(10).fill(10), connections: 10, recent: 170 };

test.each([
  ["large chunks: one that keeps it busy for a fifth of a second is enough, and not hundreds", 500, 2],
  ["small ones: more", 50, 12],
  ["single mails: as many as a company may have", 1, 40],
])("a busy transport gets its share of %s", (_name, nextRecipients, expected) => {
  expect(admitted(BUSY, nextRecipients)).toBe(expected);
});

test.each([
  ["has nothing yet", { lefts: [], connections: 0, recent: 0 }, 10],
  ["has few, however large they are", { lefts: [500, 500, 500], connections: 10, recent: 20 }, 7],
  ["has ten, and enough", { lefts: Array(10).fill(500), connections: 10, recent: 20 }, 0],
])("campaigns run concurrently: a transport that %s gets up to ten", (_name, at, expected) => {
  expect(admitted(at, 500)).toBe(expected);
});

test("a transport that has enough still gets transactional mail, and counts as supplied", () => {
  const { admission, transport } = transportAt({ lefts: Array(10).fill(500), connections: 10, recent: 20 });
  expect(admission.saturatedIds).toEqual(["s"]);
  expect(admission.admit(campaign(500), transport)).toBe(false);
  expect(admission.admit(campaign(1, { is_transactional: true }), transport)).toBe(true);
});

test("a company at its limit leaves batches for others, and still gets transactional mail", () => {
  const { admission, transport } = transportAt({ lefts: Array(49).fill(1), connections: 10, recent: 170 });
  const of = (company_id: string, is_transactional = false) => campaign(1, { company_id, is_transactional });
  expect(admission.mayServe(of("a")) && admission.admit(of("a"), transport)).toBe(true);
  expect(admission.mayServe(of("a"))).toBe(false);
  expect(admission.mayServe(of("a", true))).toBe(true);
  expect(admission.mayServe(of("b"))).toBe(true);
});
