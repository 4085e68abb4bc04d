/** Creates a company with some of everything, one without data and one with very much of it, for the console's screenshots. */
import sharp from "sharp";
import { query } from "../../../models/database/db.ts";
import type { App } from "../../support/app.ts";
import { fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";
import { BODY, type FullIds, fillFull, LONG, maker } from "./fill-full.ts";

const API = "/api/emails";
const NAMES: [string, string][] = [
  ["Grace", "Hopper"],
  ["Ada", "Lovelace"],
  ["محمد", "العربي"],
  ["Wolfeschlegelsteinhausenbergerdorff", "Montgomery-Featherstonehaugh"],
  ["עדה", "לביא"],
  ["Zoë", "Ångström"],
  ["一郎", "鈴木"],
  ["Priya", "O'Connor"],
];

export interface Filled {
  company: TestCompany;
  empty: TestCompany;
  /** Company with sample data only. */
  sample: TestCompany;
  /** Company with 100,000 people and with long and right-to-left names everywhere. */
  full: TestCompany;
  ids: FullIds &
    Record<
      | "sample"
      | "sent"
      | "tested"
      | "scheduled"
      | "draft"
      | "versions"
      | "template"
      | "changed"
      | "list"
      | "person"
      | "server"
      | "webhook"
      | "delivery"
      | "segment"
      | "bounced"
      | "tried"
      | "media",
      string
    >;
}

/** Images in folders, a resized copy, and a file without a picture. Returns the id of an image. */
async function files({ api }: TestCompany): Promise<string> {
  const upload = async (content: Uint8Array<ArrayBuffer> | string, name: string, fields: Record<string, string> = {}) =>
    (await api.post(`${API}/media/`, fileForm(content, name, fields))).body.id as string;
  const picture = async (background: string) =>
    new Uint8Array(
      await sharp({ create: { width: 900, height: 600, channels: 3, background } })
        .png()
        .toBuffer(),
    );
  await upload("Opening hours", "opening-hours-of-the-shop-in-winter.txt");
  await upload(await picture("#c9573f"), "logo.png", { folder: "Logos", alt: "Lantern Books" });
  await upload(await picture("#e2b04a"), "lanterns.png");
  const id = await upload(await picture("#0b6b72"), "sea.png", { folder: "Autumn", alt: "The sea in October" });
  await api.post(`${API}/media/${id}/copies/`, { width: 400 });
  return id;
}

/** Sixty days of mail and growth, and two days of readers. */
async function history(company: TestCompany, campaigns: readonly string[]): Promise<void> {
  await query(
    `insert into company_days (company_id, day, slot, sent, returned, bounced, complained, opens, clicks, people_subscribed, people_unsubscribed)
     select $1, current_date - d, 9, 400 * k, 4 * k, 4 * k, 0, 160 * k, 31 * k, 9 * k, k
     from generate_series(1, 59) d, lateral (select 1 + (d * 7919 % 5)) n (k)`,
    [company.id],
  );
  await query(
    `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
     select $1, campaign, metric, bucket, 0, n from unnest($2::uuid[]) campaign, (
       select 'opened_by_hour' as metric, $3::int + h as bucket, greatest(1, round(18 * power(0.82, h)))::int as n from generate_series(0, 30) h
       union all select 'clicked_by_hour', $3::int + h, round(4 * power(0.8, h))::int from generate_series(0, 20) h
       union all values ('opened', 0, 113), ('opened_unique', 0, 76), ('clicked', 0, 20), ('clicked_unique', 0, 14),
         ('opened_machine', 0, 4), ('link', 1, 13), ('link_unique', 1, 9), ('link', 2, 7), ('link_unique', 2, 5),
         ('opened_unique_of_variant', 0, 34), ('opened_unique_of_variant', 1, 42), ('clicked_unique_of_variant', 0, 5), ('clicked_unique_of_variant', 1, 9)) k
     on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = excluded.n`,
    [company.id, campaigns, Math.floor(Date.now() / 3_600_000) - 32],
  );
}

export async function fill(app: App, smtp: SmtpServer): Promise<Filled> {
  const empty = await newCompany(app, { name: "Empty Shelf" });
  const sample = await newCompany(app, { name: "Sample Shelf" });
  const { campaign_id } = (await sample.api.post(`/api/companies/${sample.id}/sample-data/`, {})).body;
  const full = await newCompany(app, { name: LONG });
  const fullIds = await fillFull(full, smtp.port);
  const company = await newCompany(app, { name: "Lantern Books" });
  const make = maker(company);
  const sender = { sender_name: "Lantern Books", sender_email: "news@lanternbooks.example" };
  const config = { host: "127.0.0.1", username: "", password: "", use_tls: false, ...sender };
  const server = await make("/smtp-configs/", { ...config, name: "Newsletter", port: smtp.port });
  await make("/smtp-configs/", { ...config, name: "Orders and receipts", port: 9 });
  const list = await make("/lists/", {
    name: "Newsletter readers",
    description: "Everybody who signed up in the shop or online",
  });
  await make("/lists/", { name: "Lisbon", description: "Invitations to readings" });
  const long = await make("/lists/", { name: "Everybody who came to a reading in one of our shops in 2025 or 2026" });
  await make("/lists/", { name: "قراء النشرة البريدية", description: "دعوات إلى القراءات" });
  const rows = Array.from({ length: 180 }, (_, n) => {
    const [first, last] = NAMES[n % NAMES.length]!;
    return `reader${n}@${["mail.example", "post.example", "inbox.example"][n % 3]},${first},${last},Lisbon`;
  });
  await company.api.post(
    `${API}/subscribers/bulk/`,
    fileForm(`email,first_name,last_name,city\n${rows.join("\n")}`, "readers.csv", { list_id: list }),
  );
  const person = await make("/subscribers/", {
    email: "grace@example.com",
    first_name: "Grace",
    last_name: "Hopper",
    attributes: { city: "New York", favourite_colour: "teal" },
    lists: [list, long],
  });
  const bounced = await make("/subscribers/", {
    email: "wolfeschlegelsteinhausenbergerdorff.montgomery@mail.example",
    first_name: "Wolfeschlegelsteinhausenbergerdorff",
    last_name: "Montgomery-Featherstonehaugh",
    attributes: { city: "Hamburg", books: ["Dune", "Emma"], member: true, joined: "2026-01-31", orders: 12 },
    lists: [list],
  });
  await query(
    `insert into email_events (company_id, type, recipient, metadata, created_at)
     select $1, 'bounced', email, '{"bounce_type":"soft","diagnostic":"452 4.2.2 The mailbox is full"}', now() - interval '1 day' * n
     from subscribers, generate_series(1, 4) n where id = $2`,
    [company.id, bounced],
  );
  await query("update subscribers set soft_bounces = 4, soft_bounced_at = now() where id = $1", [bounced]);
  const uploaded = await company.api.post(
    `${API}/imports/`,
    fileForm(`Mail,Vorname,Ort\nana@mail.example,Ana,Porto\nnonsense,,\n${rows.slice(0, 30).join("\n")}`, "fair.csv"),
  );
  const tried = uploaded.body.id;
  const template = await make("/templates/", {
    name: "The autumn letter",
    subject: "Six books for long evenings",
    body: BODY,
  });
  for (const name of ["Welcome", "Reading invitation", "Gift guide 2026"])
    await make("/templates/", { name, subject: name, body: BODY });
  const segment = await make("/segments/", {
    name: "Readers in Lisbon",
    rules: {
      match: "all",
      conditions: [
        { field: "attributes.city", operator: "equals", value: "Lisbon" },
        { field: "soft_bounces", operator: "lt", value: 3 },
      ],
    },
  });
  const toList = { list_id: list, template_id: template, smtp_config_id: server };
  const send = (name: string, more: object = {}) => make("/send/to-list/", { ...toList, name, ...more });
  const sent = await send("The autumn letter");
  const receivers = [
    ...Array.from({ length: 30 }, (_, n) => ({ email: `buyer${n}@two.example` })),
    { email: "nobody@two.example" },
  ];
  await make("/send/custom/", {
    name: "Late opening on Friday, for everybody who has bought a book this year",
    smtp_config_id: server,
    subject: "Open until midnight",
    body: BODY,
    receivers,
  });
  const tested = await send("A note from the owner", {
    variants: [
      { subject: "A note from me", percent: 50 },
      { subject: "What we read in October", percent: 50 },
    ],
  });
  const scheduled = await send("Gift guide 2026", { scheduled_for: new Date(Date.now() + 86_400_000).toISOString() });
  const suppressed = { email: "wolfeschlegelsteinhausenbergerdorff.montgomery@mail.example", kind: "bounced" };
  await make("/suppressions/", { ...suppressed, reason: "452 4.2.2 The mailbox is full" });
  await make("/suppressions/", { email: "gone@example.com", reason: "Asked us to stop" });
  await make("/suppressions/", { domain: "spam.example" });
  const webhook = await make("/webhook-endpoints/", {
    url: "https://shop.example/hooks/flockmail",
    events: ["bounced", "complained"],
  });
  const [made] = await query<{ id: string }>(
    `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload, status, attempts, last_error, response_status, next_attempt_at)
     select $1, $2, gen_random_uuid(), 'bounced', '{"email": "reader1@mail.example"}', status, attempts, error, answer, null
     from (values ('dead', 8, 'Answered 500.', 500), ('succeeded', 1, null, 204)) k (status, attempts, error, answer)
     returning id`,
    [company.id, webhook],
  );
  const changed = await make("/templates/", { name: "Changed once", subject: "Hello", body: BODY });
  const better = { subject: "Hello again", body: BODY.replace("Hello", "Good evening") };
  await company.api.patch(`${API}/templates/${changed}/`, better);
  const draft = await make("/drafts/", { name: "January programme", kind: "to-list", body: { list_id: list } });
  const designed = (text: string) => ({
    subject: text,
    design: {
      version: 1,
      blocks: [{ type: "section", columns: [{ blocks: [{ type: "heading", text }, { type: "footer" }] }] }],
    },
  });
  const content = designed("Six books for long evenings");
  const variants = [{ percent: 50 }, { percent: 50, content: designed("What to read by the fire this winter") }];
  const versions = await make("/drafts/", {
    name: "Two ways to say it",
    kind: "to-list",
    body: { list_id: list, smtp_config_id: server, content, variants },
  });
  await history(company, [sent, tested]);
  const ids = {
    sent,
    tested,
    scheduled,
    draft,
    versions,
    template,
    changed,
    list,
    person,
    server,
    webhook,
    segment,
    bounced,
    tried,
    media: await files(company),
  };
  return { company, empty, full, sample, ids: { ...ids, ...fullIds, sample: campaign_id, delivery: made!.id } };
}
