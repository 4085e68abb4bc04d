/** Company with everything a send needs, and the campaigns service with stand-ins for the other services. */
import type { ServiceSchema } from "moleculer";
import { query, queryOne } from "../../../models/database/db.ts";
import type { ActionOf, ParamsOf, ReturnsOf } from "../../../services/contracts.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";

export interface Neighbours {
  hour: { limit: number | null; used: number; room: number | null; retry_after_seconds: number };
  /** Events emitted by campaigns, newest last. */
  emitted: { event: string; payload: Record<string, string> }[];
  admitEmails: (emails: number) => void;
  requireFeature: (feature: string) => void;
  /** Storage limit of the plan. */
  mediaBytes: number | null;
}

const quiet = (): Neighbours => ({
  hour: { limit: null, used: 0, room: null, retry_after_seconds: 0 },
  emitted: [],
  admitEmails: () => {},
  requireFeature: () => {},
  mediaBytes: null,
});

function standIns(neighbours: Neighbours): ServiceSchema[] {
  return [
    {
      name: "accounts",
      actions: {
        admitEmails: (ctx) => neighbours.admitEmails((ctx.params as { emails: number }).emails) ?? null,
        planOf: () => ({ plan: "any", features: [], limits: { media_bytes: neighbours.mediaBytes } }),
        requireFeature: (ctx) => neighbours.requireFeature((ctx.params as { feature: string }).feature) ?? null,
      },
    },
    { name: "smtp-sender", actions: { hourRoom: () => neighbours.hour } },
    {
      name: "listener",
      events: {
        "campaign.*"(ctx: { eventName: string; params: Record<string, string> }) {
          neighbours.emitted.push({ event: ctx.eventName, payload: ctx.params });
        },
      },
    } as ServiceSchema,
  ];
}

export interface World extends Neighbours {
  app: App;
  company: Company;
}

export interface Company {
  id: string;
  template: string;
  smtp: string;
  list: string;
}

/** Call once per test file: the service and its stand-ins, which read their behaviour from the world. */
export function useWorld(): World {
  const world = quiet() as World;
  beforeAll(async () => {
    world.app = await startApp({ services: ["campaigns"], env: { LOGLEVEL: "error" } });
    for (const schema of standIns(world)) world.app.broker.createService(schema);
    await world.app.broker.waitForServices(["accounts", "smtp-sender", "listener"]);
    world.company = await newCompany();
  });
  afterAll(() => world.app?.stop());
  return world;
}

/** Call once per test file: a new company before each test. */
export function useCompany(): Company {
  const company = {} as Company;
  beforeEach(async () => {
    Object.assign(company, await newCompany());
  });
  return company;
}

export async function newCompany(name = "Acme"): Promise<Company> {
  const [id, template, smtp] = [newId(), newId(), newId()];
  await query("insert into companies (id, name, plan, footer_text) values ($1, $2, 'unlimited', 'Acme, 1 Road')", [
    id,
    name,
  ]);
  await query(
    "insert into templates (id, company_id, name, subject, body) values ($1, $2, 'T', 'Hi [[first_name]]', '<p>Hi</p>')",
    [template, id],
  );
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, sender_name, sender_email)
     values ($1, $2, 'S', '127.0.0.1', 2525, 'Acme', 'news@acme.example')`,
    [smtp, id],
  );
  return { id, template, smtp, list: await newList(id) };
}

export async function newList(companyId: string, name = "Readers"): Promise<string> {
  const id = newId();
  await query("insert into lists (id, company_id, name) values ($1, $2, $3)", [id, companyId, name]);
  return id;
}

/** Adds `count` active subscribers to the list: u1@example.com and so on. */
export async function addMembers(company: Company, count: number, list = company.list): Promise<void> {
  await query(
    `with added as (
       insert into subscribers (company_id, email) select $1, 'u' || n || '@example.com' from generate_series(1, $3) n
       on conflict (company_id, email_key) do update set updated_at = now() returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
    [company.id, list, count],
  );
}

export const as = (world: World, company = world.company) =>
  async function ask<A extends ActionOf>(action: A, params: ParamsOf<A>): Promise<ReturnsOf<A>> {
    return (await world.app.broker.call(action, params, { meta: { companyId: company.id } })) as ReturnsOf<A>;
  };

export const toList = (company: Company, extra: object = {}) => ({
  name: "News",
  template_id: company.template,
  smtp_config_id: company.smtp,
  list_id: company.list,
  ...extra,
});

export const toReceivers = (company: Company, receivers: Record<string, unknown>[], extra: object = {}) => ({
  name: "Receipts",
  template_id: company.template,
  smtp_config_id: company.smtp,
  receivers,
  ...extra,
});

export interface Recipient {
  seq: number;
  email: string;
  status: number;
  subscriber_id: string | null;
  error: string | null;
}

export const recipients = (campaignId: string) =>
  query<Recipient>(
    `select e.*, coalesce(e.email, s.email) as email
     from campaigns c join sent_emails e on e.campaign_no = c.no
     left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
     where c.id = $1 order by e.seq`,
    [campaignId],
  );

export const campaignRow = async (campaignId: string) =>
  (await queryOne<Record<string, unknown> & { status: string; expanded_at: Date | null; error: string | null }>(
    "select * from campaigns where id = $1",
    [campaignId],
  ))!;

/** Polls until the condition on the rows holds. */
export async function until<T>(ask: () => Promise<T>, so: (answer: T) => boolean, timeoutMs = 50_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (so(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`Still not so: ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

export const expanded = (campaignId: string) =>
  until(
    () => campaignRow(campaignId),
    (row) => row.expanded_at !== null,
  );

/** Acts as the senders: every queued recipient gets this outcome, and each chunk is done. */
export async function deliverAll(campaignId: string, outcome: 2 | 3 | 4 | 6 = 2): Promise<void> {
  await query("update send_chunks set state = 2 where campaign_id = $1", [campaignId]);
  await query(
    `with done as (update sent_emails set status = $2::int, error = case when $2::int > 2 then 'no' end
       where campaign_no = (select no from campaigns where id = $1) and status = 0 returning 1)
     update campaigns set status = 'sending',
       sent_count = sent_count + case when $2::int = 2 then (select count(*) from done) else 0 end,
       failed_count = failed_count + case when $2::int > 2 then (select count(*) from done) else 0 end
     where id = $1`,
    [campaignId, outcome],
  );
}
