/** A campaign of two mails through all services, over real SMTP and HTTP, as a trace collector sees it. */
import { randomBytes } from "node:crypto";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { type Collector, type SeenSpan, startCollector } from "../../support/otlp-collector.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

const API = "/api/emails";
const SECRET = "no-span-may-say-this";
const RECEIVERS = ["ann@readers.example", "bob@readers.example"];

const traceIdOf = (messageId: string) => Buffer.from(/^<([\w-]+)@/.exec(messageId)![1]!, "base64url").toString("hex");

/** Headers of a caller's own tracing. */
function caller(flags = "01") {
  const traceId = randomBytes(16).toString("hex");
  const spanId = randomBytes(8).toString("hex");
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

describe("a trace", () => {
  let collector: Collector;
  let server: SmtpServer;
  let hook: WebServer;
  let app: App;
  let company: TestCompany;
  let smtp: string;
  beforeAll(async () => {
    collector = await startCollector();
    hook = await startWebServer();
    server = await startSmtpServer();
    // A share so small that only traces requested by a caller are recorded.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: "0.000000000001" };
    app = await startApp({
      services: ["accounts", "campaigns", "gateway", "renderer", "smtp-sender", "webhooks"],
      env: { ...env, OTEL_EXPORTER_OTLP_HEADERS: `api-key=${SECRET}` },
    });
    company = await newCompany(app);
    const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
    smtp = (await company.api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body.id;
    const endpoint = { url: `${hook.url}/hook?token=${SECRET}`, events: ["delivered"] };
    expect((await company.api.post(`${API}/webhook-endpoints/`, endpoint)).status).toBe(201);
  });
  afterAll(async () => {
    await app?.stop();
    await Promise.all([server?.stop(), hook?.stop(), collector?.stop()]);
  });

  const named = (spans: SeenSpan[], name: string) => spans.filter((span) => span.name === name);

  test("connects the request with its actions, each mail's SMTP session and its webhook", async () => {
    const from = caller();
    const body = {
      name: "Letter",
      smtp_config_id: smtp,
      subject: "Hello",
      body: `<p>${SECRET}</p>`,
      receivers: RECEIVERS.map((email) => ({ email })),
    };
    const headers = { traceparent: from.traceparent };
    await company.api.get(`${API}/lists/?of=${SECRET}`, { headers });
    const sent = await company.api.post(`${API}/send/custom/`, body, { headers });
    expect(sent.status).toBe(201);
    const spans = await collector.until(
      (all) => named(all, "webhook POST").length === 2 && named(all, "batch chunk").length === 1,
    );

    const [request] = named(spans, "POST /api/emails/send/custom/");
    expect(request).toMatchObject({
      kind: "server",
      traceId: from.traceId,
      parentId: from.spanId,
      attributes: {
        "http.request.method": "POST",
        "http.route": "/api/emails/send/custom/",
        "http.response.status_code": 201,
        "flockmail.company_id": company.id,
      },
    });
    const [action] = named(spans, "campaigns.sendCustom");
    expect(action).toMatchObject({ traceId: from.traceId, parentId: request!.spanId });
    const [expansion] = named(spans, "campaign.pending");
    expect(expansion).toMatchObject({ kind: "consumer", traceId: from.traceId, parentId: action!.spanId });

    const link = { traceId: from.traceId, spanId: action!.spanId };
    const [batch] = named(spans, "batch chunk");
    expect(batch).toMatchObject({
      links: [link],
      attributes: { "flockmail.campaign_id": sent.body.id, "flockmail.recipients": 2, "flockmail.complete": true },
    });

    const mails = named(spans, "smtp transaction");
    expect(server.messages.map(({ messageId }) => traceIdOf(messageId)).sort()).toEqual(
      mails.map(({ traceId }) => traceId).sort(),
    );
    for (const mail of mails) {
      expect(mail).toMatchObject({
        kind: "client",
        parentId: undefined,
        links: [link, { traceId: batch!.traceId, spanId: batch!.spanId }],
        failed: false,
        attributes: {
          "flockmail.company_id": company.id,
          "flockmail.campaign_id": sent.body.id,
          "flockmail.smtp_config_id": smtp,
          "flockmail.result": "accepted",
          "flockmail.try": 1,
          "smtp.reply_code": 250,
        },
      });
    }

    const hooks = named(spans, "webhook POST");
    for (const mail of mails) {
      expect(hooks.find(({ traceId }) => traceId === mail.traceId)).toMatchObject({
        parentId: mail.spanId,
        links: [link],
        attributes: { "flockmail.event_type": "delivered", "http.response.status_code": 200 },
      });
    }
    expect(hook.asked.map(({ headers }) => headers.traceparent).sort()).toEqual(
      hooks.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
    );
  });

  test("contains no addresses of recipients or endpoints, credentials, queries or content", () => {
    const text = collector.text();
    expect(collector.spans().length).toBeGreaterThan(0);
    for (const said of [...RECEIVERS, "readers.example", company.key, company.token, company.email, SECRET, "/hook"]) {
      expect(text).not.toContain(said);
    }
  });
});
