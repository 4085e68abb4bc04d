/** Concurrent load of customers and readers until `until`. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SmtpServer } from "../support/smtp-server.ts";
import { ask, type LoadCompany } from "./company.ts";
import type { Tally } from "./tally.ts";

const TRANSACTIONAL_EVERY_MS = 1_000;
const HITS_AT_ONCE = 10;
const MAX_WAITING_LINKS = 2_000;

export interface Traffic {
  company: LoadCompany;
  tally: Tally;
  smtp: SmtpServer;
  until: number;
  campaigns: string[];
  /** Intervals between newsletters, and between requests of an API client. */
  newsletterEveryMs: number;
  apiPauseMs: number;
}

/** Pixel and link of some mails on arrival, for readers to open. */
const links: string[] = [];
const posted = new Map<string, number>();

async function api({ company, tally, until, apiPauseMs }: Traffic): Promise<void> {
  const { url, key } = company;
  const headers = { "X-API-Key": key };
  const get = (what: string, path: string) =>
    tally.request(what, () => ask(`${url}/api/emails/${path}`, "GET", headers));
  for (let n = 0; Date.now() < until; n++) {
    const email = `new${n}-${Math.random()}@load.example`;
    const created = await tally.request("create subscriber", () =>
      ask(`${url}/api/emails/subscribers/`, "POST", headers, { email }),
    );
    if (created) await get("get subscriber", `subscribers/${(JSON.parse(created) as { id: string }).id}/`);
    await get("page of subscribers", `subscribers/?page=${1 + (n % 50)}`);
    await get("campaigns", "campaigns/");
    if (n % 10 === 0) await get("sent emails", "sent-emails/");
    await sleep(apiPauseMs);
  }
}

async function send(traffic: Traffic, what: string, path: string, body: object): Promise<void> {
  const { company, tally, campaigns } = traffic;
  const { url, key, smtp } = company;
  const text = await tally.request(what, () =>
    ask(`${url}/api/emails/send/${path}/`, "POST", { "X-API-Key": key }, { ...body, smtp_config_id: smtp }),
  );
  if (text) campaigns.push((JSON.parse(text) as { id: string }).id);
}

async function newsletters(traffic: Traffic): Promise<void> {
  for (let n = 1; Date.now() < traffic.until; n++) {
    const { list, template } = traffic.company;
    await send(traffic, "send to list", "to-list", { name: `News ${n}`, list_id: list, template_id: template });
    await sleep(Math.min(traffic.newsletterEveryMs, Math.max(0, traffic.until - Date.now())));
  }
}

/** Watches every mail until the mail server has it (noteArrivals). */
async function receipts(traffic: Traffic): Promise<void> {
  for (let n = 1; Date.now() < traffic.until; n++) {
    const email = `receipt${n}@load.example`;
    posted.set(email, performance.now());
    const custom = { name: "Receipt", subject: "Receipt", body: "<p>Thanks</p>", is_transactional: true };
    await send(traffic, "send transactional", "custom", { ...custom, receivers: [{ email }] });
    await sleep(TRANSACTIONAL_EVERY_MS);
  }
}

const plain = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");

function noteArrivals({ smtp, tally }: Traffic): void {
  for (const { to, raw } of smtp.messages.splice(0)) {
    const postedMs = posted.get(to[0]!);
    if (postedMs !== undefined) {
      posted.delete(to[0]!);
      tally.took("transactional: POST to mail server", performance.now() - postedMs);
    }
    if (links.length >= MAX_WAITING_LINKS) continue;
    const found = plain(raw).match(/http:\/\/[^\s"'<>]+\/public\/(?:open|click)\/[^\s"'<>]+/g) ?? [];
    links.push(...found.slice(0, 1), ...found.slice(-1));
  }
}

async function readers(traffic: Traffic): Promise<void> {
  const { tally, until, company } = traffic;
  while (Date.now() < until) {
    noteArrivals(traffic);
    const some = links.splice(0, HITS_AT_ONCE);
    await Promise.all(
      some.map((link, n) => {
        const here = new URL(new URL(link).pathname, company.url).href;
        // Rate limits are per address, so each reader has another one.
        const ip = `198.51.${Math.floor(Math.random() * 256)}.${n + Math.floor(Math.random() * 240)}`;
        const headers = { "X-Forwarded-For": ip, "User-Agent": "Mozilla/5.0 (X11; Linux) Load/1.0" };
        return tally.request(link.includes("/open/") ? "open" : "click", () => ask(here, "GET", headers));
      }),
    );
    await sleep(100);
  }
  noteArrivals(traffic);
}

/** An error in one kind of load ends the run, because its results would be meaningless. */
export const drive = (traffic: Traffic): Promise<unknown> =>
  Promise.all([api(traffic), api(traffic), newsletters(traffic), receipts(traffic), readers(traffic)]);
