/** Spellings of an address are one subscriber and one suppression. */

import { Readable } from "node:stream";
import { domainToASCII } from "node:url";
import { pool, query, queryOne, transaction } from "../../../models/database/db.ts";
import { segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { markResubscribed, markUnsubscribed } from "../../../models/statements/unsubscribe.ts";
import { READ } from "../../../services/smtp-sender/delivery/recipient-statements.ts";
import { createSubscriber } from "../../../services/subscribers/create-subscriber.ts";
import { importSubscribers } from "../../../services/subscribers/import/import-subscribers.ts";
import { liftSuppression, suppress } from "../../../services/subscribers/suppressions.ts";
import { expandAll, newCampaign, useRows } from "../campaigns/rows.ts";
import { recipients, useCompany } from "../campaigns/world.ts";

const LETTERS = "ann@b\u00fccher.example";
const ON_THE_WIRE = "ann@xn--bcher-kva.example";
const DECOMPOSED = "ann@bu\u0308cher.example";
const UPPER = "ANN@B\u00dcCHER.Example";
const SUPPRESSED = SENT_EMAIL_STATUS.suppressed;
const SPELLINGS = [LETTERS, ON_THE_WIRE, DECOMPOSED, UPPER, "Ann@XN--BCHER-KVA.example"];

describe("an address in any spelling", () => {
  const rows = useRows();
  const company = useCompany();
  const keyOf = async (address: string) =>
    (await queryOne<{ key: string }>("select address_key($1) as key", [address]))!.key;
  const people = () =>
    query<{ id: string; email: string; status: string }>(
      "select id, email, status from subscribers where company_id = $1",
      [company.id],
    );
  const kindOf = async (address: string) =>
    (await queryOne<{ kind: string | null }>("select blocked_by($1, $2) as kind", [company.id, address]))!.kind;
  const receiver = (campaign: string, email: string, no = 1) =>
    query(
      "insert into campaign_receivers (company_id, campaign_id, no, email, variables) values ($1, $2, $4, $3, '{}')",
      [company.id, campaign, email, no],
    );

  test.each([
    "b\u00fccher.example",
    "stra\u00dfe.example",
    "\u4f8b\u3048.\u30c6\u30b9\u30c8",
    "m\u00fcnchen-\u00f6st.b\u00fccher.example",
    "\u0645\u062b\u0627\u0644.example",
    "\u{20bb7}\u91ce\u5bb6.example",
    "xn--bcher-kva.b\u00fccher.example",
    "na\u00efve\u0301.example",
    `${"\u00fc".repeat(40)}.example`,
  ])("has the ASCII form of its domain in its key: %s", async (domain) => {
    expect(domainToASCII(domain)).toMatch(/xn--/);
    expect(await keyOf(`Ann@${domain}`)).toBe(`ann@${domainToASCII(domain)}`);
  });

  test("has its local part in lower case and NFC, whatever the database's locale", async () => {
    expect(await keyOf("\u00dcNAL@example.com")).toBe("\u00fcnal@example.com");
    expect(await keyOf("u\u0308nal@example.com")).toBe("\u00fcnal@example.com");
    expect(new Set(await Promise.all(SPELLINGS.map(keyOf)))).toEqual(new Set([ON_THE_WIRE]));
  });

  test("is one subscriber: created, imported, saved from a send", async () => {
    const first = await createSubscriber(company.id, null, { email: LETTERS });
    for (const email of SPELLINGS) {
      expect((await createSubscriber(company.id, 10, { email })).id).toBe(first.id);
    }
    const csv = Readable.from([`email,first_name\n${SPELLINGS.map((email) => `${email},Ann`).join("\n")}\n`]);
    const imported = await importSubscribers(csv, { companyId: company.id, limit: null });
    expect(imported).toMatchObject({ created: 0 });
    const sent = await newCampaign(company, { campaign_type: "to_receivers", list_id: null });
    for (const [n, email] of SPELLINGS.entries()) await receiver(sent, email, n + 1);
    await expandAll(rows, sent);
    const ids = (await recipients(sent)).map(({ subscriber_id }) => subscriber_id);
    expect(ids).toEqual(SPELLINGS.map(() => first.id));
    expect(await people()).toEqual([{ id: first.id, email: LETTERS, status: "active" }]);
  });

  test.each(SPELLINGS)("gets no newsletter in any spelling if it unsubscribed as %s", async (unsubscribed) => {
    await createSubscriber(company.id, null, { email: LETTERS });
    await query(
      "insert into list_members (company_id, list_id, subscriber_id) select company_id, $2, id from subscribers where company_id = $1",
      [company.id, company.list],
    );
    await transaction((client) => markUnsubscribed(client, { companyId: company.id, email: unsubscribed }));
    expect((await people())[0]).toMatchObject({ status: "unsubscribed" });
    const toList = await newCampaign(company);
    await expandAll(rows, toList);
    expect(await recipients(toList)).toEqual([]);
    for (const email of SPELLINGS) {
      expect(await kindOf(email)).toBe("unsubscribed");
      const id = await newCampaign(company, { campaign_type: "to_receivers", list_id: null });
      await receiver(id, email);
      await expandAll(rows, id);
      expect(await recipients(id)).toMatchObject([{ status: SUPPRESSED, error: "The recipient has unsubscribed." }]);
    }
    await transaction((client) => markResubscribed(client, { companyId: company.id, email: ON_THE_WIRE }));
    expect(await kindOf(unsubscribed)).toBeNull();
  });

  test("has one suppression, which stops queued messages and copies and is lifted for all spellings", async () => {
    const id = await newCampaign(company, { campaign_type: "to_receivers", list_id: null });
    await receiver(id, UPPER);
    await query("update campaign_receivers set cc = $2 where campaign_id = $1", [id, [DECOMPOSED, "b@example.com"]]);
    await expandAll(rows, id);
    const suppressions = await Promise.all(SPELLINGS.map((email) => suppress(company.id, { email })));
    expect(new Set(suppressions.map((one) => one.id)).size).toBe(1);
    const values = [id, company.id, 0, false, 10, 10];
    const read = await query<{ blocked: string; blocked_copies: object }>(READ, values);
    expect(read).toMatchObject([{ blocked: "manual", blocked_copies: { [DECOMPOSED]: "manual" } }]);
    await liftSuppression(company.id, suppressions[0]!.id);
    expect(await query(READ, values)).toMatchObject([{ blocked: null, blocked_copies: null }]);
  });

  test("is covered by its domain's suppression, however either is spelled", async () => {
    await suppress(company.id, { domain: "xn--bcher-kva.example" });
    for (const email of [...SPELLINGS, "bob@mail.b\u00fccher.example"]) expect(await kindOf(email)).toBe("manual");
    const id = await newCampaign(company, { campaign_type: "to_receivers", list_id: null });
    await receiver(id, DECOMPOSED);
    await expandAll(rows, id);
    expect(await recipients(id)).toMatchObject([{ status: SUPPRESSED }]);
  });

  test("is found by a segment: as a whole in any spelling, in part as entered", async () => {
    await createSubscriber(company.id, null, { email: LETTERS });
    await createSubscriber(company.id, null, { email: "bob@example.com" });
    const found = async (field: string, operator: string, value: unknown) => {
      const { where, values } = segmentSql({ conditions: [{ field, operator, value }] }, company.id, 1);
      const sql = `select email from subscribers s where ${where} order by email`;
      return (await pool().query<{ email: string }>(sql, values)).rows.map(({ email }) => email);
    };
    expect(await found("email", "equals", ON_THE_WIRE)).toEqual([LETTERS]);
    expect(await found("email", "in", [DECOMPOSED, "x@example.com"])).toEqual([LETTERS]);
    expect(await found("email", "contains", "B\u00dcCH")).toEqual([LETTERS]);
    expect(await found("domain", "equals", "B\u00fccher.example")).toEqual([LETTERS]);
    expect(await found("domain", "not_equals", "xn--bcher-kva.example")).toEqual(["bob@example.com"]);
    expect(await found("domain", "starts_with", "b\u00fc")).toEqual([LETTERS]);
  });
});
