/** Further load of long runs: imports, bounces, and console viewers. */
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./company.ts";
import type { Traffic } from "./traffic.ts";

const IMPORT_EVERY_MS = 20_000;
const ROWS = 2_000;
/** Imports the same people again and again, half of them with another name, so tables must not grow. */
const DIFFERENT_FILES = 10;
const REPORT_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 5_000;

async function imports({ company, tally, until }: Traffic): Promise<void> {
  const headers = { "X-API-Key": company.key };
  const created = await ask(`${company.url}/api/emails/lists/`, "POST", headers, { name: "Imported" });
  const { id } = (await created.json()) as { id: string };
  for (let n = 0; Date.now() < until; n++) {
    const file = n % DIFFERENT_FILES;
    const rows = Array.from({ length: ROWS }, (_, row) => `i${file}-${row}@load.example,${row % 2 ? n : "Same"},Last`);
    const form = new FormData();
    form.set("list_id", id);
    form.set("file", new Blob([["email,first_name,last_name", ...rows].join("\n")]), "people.csv");
    await tally.request("import of 2,000", () =>
      ask(`${company.url}/api/emails/subscribers/bulk/`, "POST", headers, form),
    );
    await sleep(Math.min(IMPORT_EVERY_MS, Math.max(0, until - Date.now())));
  }
}

/** Soft bounces of receipts, which suppress nobody and stop no campaign. */
async function bounces({ company, tally, until }: Traffic): Promise<void> {
  const headers = { "X-API-Key": company.key };
  const mails = `${company.url}/api/emails/sent-emails/?status=sent`;
  for (; Date.now() < until; await sleep(REPORT_EVERY_MS)) {
    const text = await tally.request("sent emails by status", () => ask(mails, "GET", headers));
    const mail = text && (JSON.parse(text) as { results: { id: string }[] }).results.at(-1);
    if (!mail) continue;
    const report = { sent_email_id: mail.id, type: "soft", diagnostic: "452 4.2.2 Mailbox full" };
    await tally.request("bounce reported", () => ask(`${company.url}/api/emails/bounces/`, "POST", headers, report));
  }
}

async function signIn({ company }: Traffic): Promise<string> {
  const cookieOf = (answer: Response) => answer.headers.get("set-cookie")!.split(";", 1)[0]!;
  const page = await fetch(`${company.url}/app/login`);
  const [, form_token] = /name="csrf-token" content="([^"]+)"/.exec(await page.text())!;
  const { email, password } = company.owner;
  const answer = await fetch(`${company.url}/app/login`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: cookieOf(page) },
    body: new URLSearchParams({ form_token: form_token!, email, password }),
  });
  if (answer.status !== 303) throw new Error(`Signing in: ${answer.status}`);
  return cookieOf(answer);
}

async function viewer(traffic: Traffic): Promise<void> {
  const cookie = await signIn(traffic);
  const { company, tally, until, campaigns } = traffic;
  const look = (what: string, path: string) =>
    tally.request(`console: ${what}`, () => ask(`${company.url}/app/${company.id}/${path}`, "GET", { cookie }));
  for (; Date.now() < until; await sleep(LOOK_EVERY_MS)) {
    await look("overview", "");
    await look("campaigns", "campaigns");
    const campaign = campaigns.at(-1);
    if (campaign) await look("campaign", `campaigns/${campaign}`);
    await look("subscribers", "subscribers");
  }
}

export const everythingElse = (traffic: Traffic): Promise<unknown> =>
  Promise.all([imports(traffic), bounces(traffic), viewer(traffic), viewer(traffic)]);
