import { pool, query, transaction } from "../../../models/database/db.ts";
import { requireQuotaWithin } from "../../../models/statements/monthly-quota.ts";
import { addEmails } from "../../../models/statements/plan-usage.ts";
import { forgetPlan } from "../../../services/accounts/plans.ts";
import { call } from "../../../services/call.ts";
import type { Caller } from "../../../services/lib/caller.ts";
import { newId } from "../../../services/lib/ids.ts";
import { apiLimiter } from "../../../services/lib/limits/api-limiter.ts";
import { apiCallsToday } from "../../../services/lib/limits/limiter.ts";
import { type App, startApp } from "../../support/app.ts";
import { refusal } from "../../support/refusal.ts";
import { type Server, startRedis } from "../../support/servers.ts";
import { NOT_FOUND, register, type Tenant } from "./tenant.ts";

const MIB = 1024 ** 2;

describe("plans", () => {
  let app: App;
  let redis: Server;
  let tenant: Tenant;
  beforeAll(async () => {
    redis = await startRedis();
    app = await startApp({ services: ["accounts"], env: { REDIS_URL: redis.url } });
  });
  afterAll(async () => {
    await app.stop();
    await redis.stop();
  });
  beforeEach(async () => {
    tenant = await register(app.broker);
  });

  const setPlan = (plan: string) => call(app.broker, "accounts.setPlan", { company_id: tenant.id, plan });
  const getPlan = (meta: Caller = tenant.meta) => call(app.broker, "accounts.getPlan", { id: tenant.id }, { meta });
  const admit = (emails: number) => call(app.broker, "accounts.admitEmails", { emails }, { meta: tenant.meta });
  const requireFeature = (feature: string) =>
    call(app.broker, "accounts.requireFeature", { feature }, { meta: tenant.meta });

  test.each([
    ["free", 1_000, 500, 3_000, 100, 50 * MIB, []],
    ["starter", 10_000, 10_000, 100_000, 2_000, 1_024 * MIB, ["scheduled_campaigns"]],
    ["pro", 100_000, 250_000, 2_500_000, 50_000, 20_480 * MIB, ["scheduled_campaigns", "segments", "webhooks"]],
    ["unlimited", null, null, null, null, null, ["scheduled_campaigns", "segments", "webhooks"]],
  ])("%s has its limits and features", async (name, calls, subscribers, emails, smtp, media, features) => {
    expect(await setPlan(name)).toEqual({
      plan: name,
      features,
      limits: {
        api_calls_per_day: calls,
        subscribers,
        emails_per_month: emails,
        smtp_per_hour: smtp,
        media_bytes: media,
      },
    });
    expect((await call(app.broker, "accounts.planOf", {}, tenant)).plan).toBe(name);
  });

  test("show the actual usage", async () => {
    await setPlan("free");
    await query(
      "insert into subscribers (company_id, email) select $1, 'u' || n || '@example.com' from generate_series(1, 7) n",
      [tenant.id],
    );
    await addEmails(pool(), tenant.id, 42);
    // Each mail has one CC recipient, which counts as a mail of its own.
    await query(
      `with campaign as (
         insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, worker_task_id, no, expansion_began_at)
         values ($2, $1, 'c', 'custom', 'completed', $1, $1, next_campaign_no(), now()) returning no)
       insert into sent_emails (campaign_no, seq, email, cc, status, sent_at)
       select no, n, 'u@example.com', '{c@example.com}', 2, now() - n * interval '25 minutes'
       from campaign, generate_series(1, 5) n`,
      [tenant.id, newId()],
    );
    await query(
      "insert into media (company_id, id, filename, content_type, size, sha256) values ($1, $2, 'a', '', 12, '')",
      [tenant.id, newId()],
    );
    await apiLimiter().take(apiCallsToday(tenant.meta), 3);
    const { plan, usage, period } = await getPlan();
    expect(plan).toBe("free");
    expect(usage).toEqual({
      api_calls_per_day: 3,
      subscribers: 7,
      emails_per_month: 42,
      smtp_per_hour: 4,
      media_bytes: 12,
    });
    expect(Date.parse(period.start)).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(period.end)).toBeGreaterThan(Date.now());
  });

  test("count a key's API calls separately from those of people", async () => {
    const key = { companyId: tenant.id, apiKeyId: newId() };
    await apiLimiter().take(apiCallsToday(key), 5);
    expect((await getPlan(key)).usage.api_calls_per_day).toBe(5);
    expect((await getPlan()).usage.api_calls_per_day).toBe(0);
  });

  test("show the hourly usage of the senders, if there are any", async () => {
    const senders = app.broker.createService({
      name: "smtp-sender",
      actions: { hourRoom: () => ({ limit: 100, used: 77, room: 23, retry_after_seconds: 0 }) },
    });
    await app.broker.waitForServices("smtp-sender");
    expect((await getPlan()).usage.smtp_per_hour).toBe(77);
    await app.broker.destroyService(senders);
  });

  test("are 404 for another company", async () => {
    const other = await register(app.broker);
    expect(await refusal(getPlan(other.meta))).toEqual(NOT_FOUND);
  });

  test("refuse a request for a feature that they do not include, with details for the client", async () => {
    expect(await requireFeature("scheduled_campaigns")).toBeNull();
    await setPlan("free");
    expect(await refusal(requireFeature("scheduled_campaigns"))).toEqual([
      403,
      {
        detail: {
          code: "feature_not_available",
          message: "The feature scheduled_campaigns is not available on the plan free.",
          feature: "scheduled_campaigns",
          package: "free",
        },
      },
    ]);
  });

  test("are rows: operators change limits and add plans without a release", async () => {
    const gold = { plan: "gold", features: ["segments"], limits: { emails_per_month: 10, smtp_per_hour: null } };
    const saved = await call(app.broker, "accounts.savePlan", gold);
    expect(saved).toEqual({
      ...gold,
      limits: {
        api_calls_per_day: null,
        subscribers: null,
        emails_per_month: 10,
        smtp_per_hour: null,
        media_bytes: null,
      },
    });
    await setPlan("gold");
    expect(await refusal(admit(11))).toMatchObject([403, {}]);
    await call(app.broker, "accounts.savePlan", { ...gold, limits: { emails_per_month: 11 } });
    forgetPlan(tenant.id);
    expect(await admit(11)).toBeNull();
    expect((await call(app.broker, "accounts.listPlans", {})).map(({ plan }) => plan)).toContain("gold");
    expect(await refusal(setPlan("silver"))).toEqual([
      400,
      { plan: ['There is no plan "silver". Choose one of: free, gold, pro, starter, unlimited.'] },
    ]);
  });

  describe("enforce a monthly quota:", () => {
    beforeEach(() => setPlan("free"));

    test("exactly the limit is admitted", async () => {
      await addEmails(pool(), tenant.id, 2_900);
      expect(await admit(100)).toBeNull();
      expect(await refusal(admit(101))).toEqual([
        403,
        { detail: "Email quota exceeded. Your plan allows 3000 emails per month." },
      ]);
      await addEmails(pool(), tenant.id, -50);
      expect(await admit(150)).toBeNull();
    });

    test("the count resets each UTC month", async () => {
      await query(
        "insert into usage_months (company_id, month, emails) values ($1, date_trunc('month', now() at time zone 'utc') - interval '1 month', 3000)",
        [tenant.id],
      );
      expect(await admit(3_000)).toBeNull();
      expect((await getPlan()).usage.emails_per_month).toBe(0);
    });

    test("concurrent sends cannot exceed it", async () => {
      const send = () =>
        transaction(async (client) => {
          await requireQuotaWithin(client, tenant.id, 1_000);
          await client.query(
            `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, worker_task_id)
             values ($1, $2, 'c', 'custom', 'pending', 1000, $1, $1)`,
            [newId(), tenant.id],
          );
        });
      const results = await Promise.allSettled(Array.from({ length: 8 }, send));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    });

    test("admitted campaigns that are not expanded yet count", async () => {
      const campaign = (status: string, total: number, more: { next_seq?: number; scheduled_for?: Date } = {}) =>
        query(
          `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, next_seq, scheduled_for,
             smtp_config_id, worker_task_id)
           values ($1, $2, 'c', 'custom', $3, $4, $5, $6, $1, $1)`,
          [newId(), tenant.id, status, total, more.next_seq ?? 1, more.scheduled_for],
        );
      await campaign("pending", 1_000);
      await campaign("sending", 600, { next_seq: 501 });
      await campaign("cancelled", 3_000);
      await campaign("scheduled", 3_000, { scheduled_for: new Date(Date.now() + 40 * 86_400_000) });
      expect(await admit(1_900)).toBeNull();
      expect((await refusal(admit(1_901)))[0]).toBe(403);
    });
  });

  describe("usage", () => {
    test("survives concurrent additions and failed transactions", async () => {
      await Promise.all(Array.from({ length: 20 }, () => addEmails(pool(), tenant.id, 5)));
      await transaction(async (client) => {
        await addEmails(client, tenant.id, 1_000);
        throw new Error("rolled back");
      }).catch(() => {});
      expect((await getPlan()).usage.emails_per_month).toBe(100);
    });

    test("never falls below zero", async () => {
      await addEmails(pool(), tenant.id, -5);
      expect((await getPlan()).usage.emails_per_month).toBe(0);
      await addEmails(pool(), tenant.id, 3);
      await addEmails(pool(), tenant.id, -5);
      expect((await getPlan()).usage.emails_per_month).toBe(0);
    });
  });
});
