/** Checks a template against a real rspamd. */
import { type App, startApp } from "../support/app.ts";
import { newCompany, type TestCompany } from "../support/client.ts";
import { type SpamFilter, startRspamd } from "../support/mta/rspamd.ts";

jest.setTimeout(240_000);

let filter: SpamFilter;
let app: App;
let company: TestCompany;
beforeAll(async () => {
  filter = await startRspamd();
  app = await startApp({ services: ["gateway", "accounts", "renderer"], env: { SPAM_CHECK_URL: filter.url } });
  company = await newCompany(app);
});
afterAll(async () => {
  await app?.stop();
  await filter?.stop();
});

const check = async (subject: string, body: string) => {
  const answer = await company.api.post("/api/emails/templates/check/", { subject, body });
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("symbols")]);
  return answer.body.spam;
};

test("it scores a newsletter low, reads it as it will be sent, and knows the pattern made to test filters", async () => {
  const letter = `<p>${"The river rose by two metres this spring, and the society counted the birds. ".repeat(6)}</p>`;
  const spam = await check("News from the river", letter);
  expect(spam.score).toBeLessThan(5);
  // Rspamd found both parts, the unsubscribe header and the sender.
  expect(Object.keys(spam.symbols)).toEqual(expect.arrayContaining(["MIME_GOOD", "HAS_LIST_UNSUB"]));
  expect(Object.keys(spam.symbols)).not.toEqual(
    expect.arrayContaining(["MISSING_MID", "MISSING_DATE", "HFILTER_HOSTNAME_UNKNOWN"]),
  );
  const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";
  const bad = await check("Hello", `<p>${gtube}</p>`);
  expect(bad.score).toBeGreaterThanOrEqual(15);
  expect(bad.symbols).toHaveProperty("GTUBE");
});
