/** Lists inbound messages and serves the original of each while it is kept. */
import { pool, queryOne } from "../../models/database/db.ts";
import { isOneOf, listPage, type Page } from "../../models/database/listing.ts";
import type { ParamsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import { firstIdAt } from "../lib/ids.ts";
import type { Document } from "../lib/shapes.ts";
import type { Inbound } from "./contract.ts";
import { sourceOf, type Via } from "./incoming-report.ts";

const KEEP_RAW_MS = 30 * 24 * 3_600_000;

interface Row extends Omit<Inbound, "received_at" | "raw_url"> {
  received_at: Date;
  has_raw: boolean;
}

const viewOf = ({ received_at, has_raw, ...row }: Row): Inbound => ({
  ...row,
  received_at: received_at.toISOString(),
  raw_url: has_raw ? `/api/emails/inbound/${row.id}/raw/` : null,
});

const HAS_RAW = "exists (select from inbound_raws r where r.id = m.raw_id and r.company_id = m.company_id)";
const COLUMNS = `m.id, m.received_at, m.via, m.sent_email_id, m.recipient, m.result, m.bounce_type, m.diagnostic,
  ${HAS_RAW} as has_raw`;

const lowerCase = (given: string | string[]) =>
  Array.isArray(given) ? given.map((one) => one.trim().toLowerCase()) : given.trim().toLowerCase();

export async function listInbound(ctx: Ctx<ParamsOf<"bounces.listInbound">>): Promise<Page<Inbound>> {
  const companyId = companyOf(ctx);
  const { result, via, recipient } = ctx.params;
  const where = ["m.company_id = $1"];
  const values: unknown[] = [companyId];
  if (result) where.push(isOneOf("m.result", result, values));
  if (via) where.push(isOneOf("m.via", via, values));
  if (recipient) where.push(isOneOf("lower(m.recipient)", lowerCase(recipient), values));
  const page = await listPage<Row>(
    {
      from: "inbound_messages m",
      columns: COLUMNS,
      where,
      values,
      id: "m.id",
      // Ids are in order of receipt.
      orderings: { received_at: "m.id" },
      searchIn: ["m.recipient"],
      counter: [companyId, "inbound_messages", companyId],
      filtered: where.length > 1,
      large: true,
    },
    ctx.params,
  );
  return { ...page, results: page.results.map(viewOf) };
}

export async function inboundView(companyId: string, id: string): Promise<Inbound> {
  const sql = `select ${COLUMNS} from inbound_messages m where m.company_id = $1 and m.id = $2`;
  return viewOf((await queryOne<Row>(sql, [companyId, id]))!);
}

const RAW = `
  select r.raw, m.via from inbound_messages m join inbound_raws r on r.id = m.raw_id and r.company_id = m.company_id
  where m.company_id = $1 and m.id = $2`;

/** Serves the message as a download only, because strangers wrote it. */
export async function inboundRaw(ctx: Ctx<{ id: string }>): Promise<Document> {
  const row = await queryOne<{ raw: Buffer; via: Via }>(RAW, [companyOf(ctx), ctx.params.id]);
  if (!row) throw notFound();
  const isEvent = sourceOf(row.via) === "provider";
  return {
    content_type: isEvent ? "text/plain; charset=utf-8" : "message/rfc822",
    body: row.raw,
    headers: {
      "Content-Disposition": `attachment; filename="${ctx.params.id}.${isEvent ? "json" : "eml"}"`,
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "default-src 'none'; sandbox",
      "Cache-Control": "private, no-store",
    },
  };
}

const SLICE = 500;
const DELETE_OLD = `
  delete from inbound_raws where id in (
    select id from inbound_raws where id < $2 order by id limit $1 for update skip locked)`;

/** Deletes old originals of all companies; the list entries remain. */
export async function purgeRaws(now = Date.now()): Promise<void> {
  for (;;) {
    const { rowCount } = await pool().query(DELETE_OLD, [SLICE, firstIdAt(now - KEEP_RAW_MS)]);
    if ((rowCount ?? 0) < SLICE) return;
  }
}
