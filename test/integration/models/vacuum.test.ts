import { query } from "../../../models/database/db.ts";
import { useRows } from "../campaigns/rows.ts";

useRows();

const LARGE = ["email_events", "list_members", "subscribers", "webhook_deliveries"];

test("tables that grow to millions of rows, and each partition of recipients, are vacuumed after a twentieth of their rows changed", async () => {
  await query("select add_recipient_part(max(no) + 1) from recipient_parts");
  const rows = await query<{ name: string; scales: string[] }>(
    `select c.relname as name, array(
       select option_value from pg_options_to_table(c.reloptions) where option_name like '%scale_factor' order by option_name) scales
     from pg_class c where c.relkind = 'r' and (c.relname = any ($1) or c.relname ~ '^sent_emails_[0-9]+$') order by 1`,
    [LARGE],
  );
  expect(rows.length).toBeGreaterThan(LARGE.length + 2);
  const [newest] = await query<{ indexes: number }>(
    `select count(*)::int as indexes from pg_index
     where indrelid = ('sent_emails_' || (select max(no) from recipient_parts))::regclass`,
  );
  const [first] = await query<{ indexes: number }>(
    "select count(*)::int as indexes from pg_index where indrelid = 'sent_emails_0'::regclass",
  );
  expect(newest).toEqual(first);
  // Analysed after each thousand rows: companies must be known soon after they have grown.
  const analyzed = ["list_members", "subscribers"];
  for (const { name, scales } of rows) {
    expect([name, scales]).toEqual([name, [analyzed.includes(name) ? "0" : "0.05", "0.05", "0.05"]]);
  }
});
