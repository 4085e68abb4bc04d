import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany } from "../../support/client.ts";

const API = "/api/emails";

let app: App;
beforeAll(async () => {
  // Without sender, so that nothing is sent to the internet.
  app = await startApp({
    services: ["gateway", "accounts", "campaigns", "renderer", "subscribers"],
    env: { BASE_URL: "http://localhost:3000" },
  });
});
afterAll(async () => {
  await app.stop();
  process.env.BASE_URL = "";
});

async function sends(host: string, sender: string) {
  const company = await newCompany(app);
  const ids = await query<{ id: string }>(
    `insert into smtp_configs (id, company_id, name, host, port, sender_name, sender_email)
     values ($1, $1, 'S', $2, 1, 'Acme', $3) returning id`,
    [company.id, host, sender],
  );
  const list = (await company.api.post(`${API}/lists/`, { name: "L" })).body.id;
  const template = (await company.api.post(`${API}/templates/`, { name: "T", subject: "S", body: "B" })).body.id;
  const common = { name: "N", smtp_config_id: ids[0]!.id };
  const receivers = [{ email: "ann@example.com" }];
  const later = { template_id: template, scheduled_for: "2999-01-01T00:00:00Z" };
  const answers = [
    await company.api.post(`${API}/send/to-list/`, { ...common, ...later, list_id: list }),
    await company.api.post(`${API}/send/to-receivers/`, { ...common, ...later, receivers }),
    await company.api.post(`${API}/send/custom/`, { ...common, subject: "S", body: "B", receivers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  return answers.map(({ body }) => body.warnings);
}

test.each(["smtp.example.com", "127.0.0.1", "10.1.2.3", "mailpit"])(
  "a send through %s warns about unreachable links if BASE_URL is not public",
  async (host) => {
    const warning = [expect.stringMatching(/^The links in these mails.* http:\/\/localhost:3000 .*Set BASE_URL/)];
    expect(await sends(host, "news@shop.example.com")).toEqual([warning, warning, warning]);
  },
);

test.each(["news@acme.example", "news@acme.test", "news@nobody.invalid", "root@localhost", "me@app.localhost"])(
  "a send as %s, whose domain is reserved, causes no warning",
  async (sender) => {
    expect(await sends("smtp.example.com", sender)).toEqual([[], [], []]);
  },
);

test("a custom send warns about placeholders that would appear unreplaced", async () => {
  const company = await newCompany(app);
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, sender_name, sender_email)
     values ($1, $1, 'S', 'smtp.example.com', 1, 'Acme', 'news@acme.example')`,
    [company.id],
  );
  const warnings = async (body: string, more: object = {}) => {
    const given = {
      name: "N",
      smtp_config_id: company.id,
      subject: "S",
      body,
      receivers: [{ email: "ann@example.com" }],
    };
    return (await company.api.post(`${API}/send/custom/`, { ...given, ...more })).body.warnings;
  };
  expect(await warnings("Hello\n\nyou")).toEqual([expect.stringMatching(/no HTML tags/)]);
  expect(await warnings("<p>Hi *|FNAME|*</p>", { text_body: "{{ x }}" })).toEqual([
    expect.stringMatching(/Mailchimp.*Use \[\[first_name\]\]/),
    expect.stringMatching(/^"\{\{ x \}\}"/),
  ]);
  expect(await warnings("<mjml><mj-body></mj-body></mjml>")).toEqual([expect.stringMatching(/MJML/)]);
  expect(await warnings("<p>Hi [[first_name]]</p>")).toEqual([]);
});
