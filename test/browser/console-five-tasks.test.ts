/**
 * The five tasks that people come for, each by mouse, by keyboard alone and by touch on a phone, with the number of
 * clicks and fields that it may take.
 */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { query } from "../../models/database/db.ts";
import { notices } from "../../services/console/messages/notices.ts";
import { until } from "../integration/campaigns/world.ts";
import { type App, startApp } from "../support/app.ts";
import { client, newCompany, someIp, type TestCompany } from "../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { launchChromium } from "./chromium.ts";
import { openPage, SHOTS, signInOn } from "./open-page.ts";
import { csv, DESK, Person, WAYS, type Way } from "./person.ts";

const E = "/api/emails";
jest.setTimeout(180_000);

const LOGIN = { user: "lantern", pass: "a key of the relay" };
const UNKNOWN = "550 5.1.1 No such mailbox here";

let app: App;
let server: SmtpServer;
let browser: Browser;
beforeAll(async () => {
  server = await startSmtpServer({
    auth: LOGIN,
    answer: ({ verb, to }) => (verb === "RCPT" && to.startsWith("nobody") ? UNKNOWN : undefined),
  });
  [app, browser] = [await startApp(), await launchChromium()];
}, 240_000);
afterAll(async () => {
  process.stdout.write(`${COUNTED.join("\n")}\n`);
  await browser?.close();
  await app?.stop();
  await server.stop();
});

const COUNTED: string[] = [];
const WINDOWS: Record<Way, BrowserContextOptions> = {
  mouse: DESK,
  keyboard: DESK,
  touch: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

/** Signs in, does the task and expects it to take no more than this. */
async function does(
  way: Way,
  task: string,
  { company, most }: { company: TestCompany; most: [clicks: number, fields: number] },
  work: (person: Person) => Promise<void>,
): Promise<void> {
  await openPage(browser, { bypassCSP: false, ...WINDOWS[way] }, async (page) => {
    await signInOn(page, app, company);
    const person = new Person(page, way);
    await work(person).catch(async (error) => {
      await page.screenshot({ path: `${SHOTS}/five-tasks-${way}.png`, fullPage: true });
      throw error;
    });
    const { clicks, fields, menus } = person.counts;
    COUNTED.push(`${task} by ${way}: ${clicks} clicks, ${fields} fields${menus ? `, menu opened ${menus} times` : ""}`);
    expect(clicks).toBeLessThanOrEqual(most[0]);
    expect(fields).toBeLessThanOrEqual(most[1]);
  });
}

const mailsTo = (email: string) => server.messages.filter(({ to }) => to.includes(email)).map(({ raw }) => raw);
const arrived = async (email: string): Promise<string> =>
  (
    await until(
      async () => mailsTo(email),
      ({ length }) => length > 0,
    )
  )[0]!;

const made = async ({ api }: TestCompany, path: string, body: object): Promise<string> => {
  const answer = await api.post(`${E}/${path}/`, body);
  expect({ path, status: answer.status, text: answer.status < 300 || answer.text }).toMatchObject({ status: 201 });
  return answer.body.id;
};

/** A company that has sent one campaign, which reached Ann and found no mailbox of Nobody. */
async function established(way: Way): Promise<TestCompany> {
  const company = await newCompany(app, { name: "Lantern Books" });
  const smtp_config_id = await made(company, "smtp-configs", {
    name: "Relay",
    host: "127.0.0.1",
    port: server.port,
    username: LOGIN.user,
    password: LOGIN.pass,
    use_tls: false,
    sender_email: "news@lantern.example",
    is_default: true,
  });
  const list = await made(company, "lists", { name: "Readers" });
  for (const name of ["ann", "bob", "nobody"]) {
    await made(company, "subscribers", { email: `${name}-${way}@example.com`, lists: [list] });
  }
  const content = { subject: "Six books", body: '<p>Good evening</p><a href="https://lantern.example/">Read</a>' };
  const campaign = await made(company, "send/to-list", { name: "October", list_id: list, smtp_config_id, content });
  await until(
    async () => (await company.api.get(`${E}/campaigns/${campaign}/`)).body.status,
    (status) => status === "partial",
  );
  return company;
}

/** Loads the images of a mail that arrived some time ago: opens within seconds count as those of a scanner. */
async function readMail(company: TestCompany, email: string): Promise<void> {
  const raw = (await arrived(email)).replaceAll("=\r\n", "").replaceAll("=3D", "=");
  const [, pixel] = /https?:\/\/[^"]+(\/api\/emails\/public\/open\/[^"]+)"/.exec(raw)!;
  await query(
    `update sent_emails s set sent_at = sent_at - interval '1 hour' from campaigns c
     where c.company_id = $1 and c.no = s.campaign_no`,
    [company.id],
  );
  const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
  await client(app, { ip: someIp() }).get(pixel!, { headers });
  const opened = { query: { type: "opened", recipient: email } };
  await until(
    async () => (await company.api.get(`${E}/events/`, opened)).body.count,
    (count) => count === 1,
  );
}

describe.each(WAYS)("by %s", (way) => {
  let company: TestCompany;
  beforeAll(async () => {
    company = await established(way);
  }, 120_000);

  test("the first mail to oneself", async () => {
    const fresh = await newCompany(app);
    await does(way, "First mail to myself", { company: fresh, most: [2, 4] }, async (person) => {
      await person.press(/^Connect\b.*mail server$/);
      await person.fill("Sender address", "news@lantern.example");
      await person.fill("Host", `127.0.0.1:${server.port}`);
      await person.fill("Username", LOGIN.user);
      await person.fill("Password", LOGIN.pass);
      await person.press("Connect and send me a test email");
      await person.sees(`The server accepted the email to ${fresh.email}.`);
    });
    expect(await arrived(fresh.email)).toContain("Subject: [Test] Your mail server works");
  });

  test("a file is imported, and a campaign sent to its people", async () => {
    const people = ["eve", "max"].map((name) => `${name}-${way}@example.com`);
    await does(way, "Import and send to a list", { company, most: [8, 3] }, async (person) => {
      await person.menu();
      await person.press("Audience");
      await person.press("Import");
      await person.attach(
        "File",
        csv("fair.csv", `email,first_name\n${people.map((email) => `${email},E`).join("\n")}\n`),
      );
      await person.press("Upload file");
      await person.press("Check file");
      await person.press("Import 2 rows now");
      await person.press("New campaign to this list");
      await person.fill("Subject", `Fair ${way}`);
      await person.fill("Text", "Good evening,\n\nthank you for your visit.");
      await person.press("Save and continue");
      await person.sees("2 people in “fair” get this now.");
      await person.press("Send now");
      await person.sees(notices.campaignSent);
    });
    for (const email of people) expect(await arrived(email)).toContain(`Subject: Fair ${way}`);
  });

  test("who opened a campaign", async () => {
    await readMail(company, `ann-${way}@example.com`);
    await does(way, "See who opened", { company, most: [2, 0] }, async (person) => {
      await person.press("October");
      await person.press("Opened");
      await person.sees("1 open, newest first");
      await person.sees(`ann-${way}@example.com`);
      expect(await person.page.getByText(`bob-${way}@example.com`).count()).toBe(0);
    });
  });

  test("why somebody got no mail", async () => {
    await does(way, "Find why somebody got no mail", { company, most: [1, 1] }, async (person) => {
      await person.search(`nobody-${way}@example.com`);
      await person.page.getByRole("heading", { level: 1, name: `nobody-${way}@example.com` }).waitFor();
      await person.sees("Suppressed after a bounce. No email has been sent to this address");
      await person.sees(/No such mailbox here/);
    });
  });

  test("the footer of all mails", async () => {
    const columns = [{ blocks: [{ type: "heading", text: "Gifts" }, { type: "footer" }] }];
    const design = { version: 1, blocks: [{ type: "section", columns }] };
    const template = await made(company, "templates", { name: "Gifts", subject: "Gifts", design });
    await does(way, "Change the footer", { company, most: [2, 1] }, async (person) => {
      await person.menu();
      await person.press("Settings");
      await person.fill("Footer", `Harbour Street 9, ${way}`);
      await person.press("Save");
      await person.sees(notices.savedInDesigns);
    });
    const text = `Harbour Street 9, ${way}`;
    expect((await company.api.get(`${E}/templates/${template}/`)).body.body).toContain(text);
    const [server] = (await company.api.get(`${E}/smtp-configs/`)).body.results;
    const mail = { smtp_config_id: server.id, to: [`after-${way}@example.com`], subject: "After", body: "<p>Hi</p>" };
    expect((await company.api.post(`${E}/send/test/`, mail)).status).toBe(200);
    expect(await arrived(`after-${way}@example.com`)).toContain(text);
  });
});

test("a word of a setting, typed after “/”, leads into its field", async () => {
  const company = await newCompany(app);
  await does("keyboard", "Change the footer, with /", { company, most: [2, 2] }, async (person) => {
    await person.search("footer");
    await person.page.waitForURL(/settings\/company#footer_text$/);
    await person.fill("Footer", "Harbour Street 9");
    await person.press("Save");
    await person.sees("Saved.");
  });
  expect((await company.api.get(`/api/companies/${company.id}/`)).body.footer_text).toBe("Harbour Street 9");
});
