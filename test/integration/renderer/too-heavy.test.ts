/** A template that exceeds a worker thread's limit: its author gets an error, and nothing waits for it. */
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { readMetrics } from "../../../services/lib/metrics.ts";
import { Workers } from "../../../services/lib/workers/workers.ts";
import { type App, startApp } from "../../support/app.ts";
import { campaign } from "../../support/campaign-rows.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";

const TEMPLATES = "/api/emails/templates/";
/** Far more work than is allowed here, and far less than it would be in production. */
const HEAVY = "<p>x".repeat(200_000);
const LIMITED = new Workers({ threads: 1, maxSeconds: 0.01 });
const SENTENCE = "it takes more than 0.01 seconds of computing";

let app: App;
let company: TestCompany;
beforeAll(async () => {
  app = await startApp({ services: ["gateway", "accounts", "renderer"] });
  const { run } = Workers.prototype;
  jest.spyOn(Workers.prototype, "run").mockImplementation((...task) => run.apply(LIMITED, task));
  company = await newCompany(app);
});
afterAll(() => Promise.all([app?.stop(), LIMITED.close()]));

const ended = async () =>
  Number(/^flockmail_worker_tasks_total\{outcome="time"\} (\d+)/m.exec(await readMetrics())?.[1] ?? 0);

test("saving a template that renders too slowly is refused, and so is a preview of a stored one", async () => {
  const saved = await company.api.post(TEMPLATES, { name: "T", subject: "Hi", body: HEAVY });
  expect([saved.status, saved.body]).toEqual([400, { body: [`Cannot be checked: ${SENTENCE}.`] }]);
  const { id } = (await company.api.post(TEMPLATES, { name: "T", subject: "Hi" })).body;
  await query("update templates set body = $2 where id = $1", [id, HEAVY]);
  const previewed = await company.api.post(`${TEMPLATES}${id}/preview/`, {});
  expect([previewed.status, previewed.body]).toEqual([400, { body: [`Too much work: ${SENTENCE}.`] }]);
});

test("MJML and styles that take too long are refused", async () => {
  const body = [`Too much work: ${SENTENCE}.`];
  const made = { name: "T", subject: "Hi", body: HEAVY };
  for (const how of [{ inline_css: true }, { template_mode: "mjml", body: `<mjml>${HEAVY}</mjml>` }]) {
    const saved = await company.api.post(TEMPLATES, { ...made, ...how });
    expect([saved.status, saved.body]).toEqual([400, { body }]);
  }
});

test("emails of such a template fail with the reason, and the next batch does not try again", async () => {
  const campaignId = await campaign({ companyId: company.id, body: HEAVY });
  const recipients = [{ id: newId(), email: "a@example.com" }];
  const failed = { mails: [{ ok: false, error: `The template cannot be rendered: Too much work: ${SENTENCE}.` }] };
  expect(await call(app.broker, "renderer.renderMails", { campaignId, recipients })).toEqual(failed);
  const before = await ended();
  expect(await call(app.broker, "renderer.renderMails", { campaignId, recipients })).toEqual(failed);
  expect(await ended()).toBe(before);
});

test("a small template is not rendered in the worker thread", async () => {
  const campaignId = await campaign({ companyId: company.id, body: "<p>[[email]]</p>" });
  const recipients = [{ id: newId(), email: "a@example.com" }];
  const { mails } = await call(app.broker, "renderer.renderMails", { campaignId, recipients });
  const [make] = mails as (() => { ok: boolean })[];
  expect(make!()).toMatchObject({ ok: true });
});
