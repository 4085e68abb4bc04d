/**
 * Load of customers and readers, some forty mails a second. Unanswered requests are repeated with the same idempotency
 * key and file until answered.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt } from "../support/api.ts";
import { whenAvailable } from "../support/cluster.ts";
import type { Ledger, MailKind } from "./ledger.ts";
import { type Scene, WINDOW_SECONDS } from "./scene.ts";

const NEWSLETTER = { readers: 36, everyMs: 1_000 };
const RECEIPT_EVERY_MS = 250;
/** A company whose hourly window is always full. */
export const LIMIT = 40;
const LIMITED = { receivers: 20, lookEveryMs: 500 };
/** Above this backlog nothing is requested, because the backlog of an outage must be settled afterwards. */
const MOST_WAITING = 1_500;
const HITS = { everyMs: 100, atOnce: 2 };
const TRY_TIMEOUT_MS = 10_000;
const TRY_AGAIN_MS = 300;

export interface Company {
  id: string;
  headers: Record<string, string>;
  smtp: string;
  template: string;
}

export interface Customers {
  plain: Company;
  limited: Company;
}

async function signUp(scene: Scene, name: string, smtpPort: number): Promise<Company> {
  const url = scene.url();
  const account = { email: `${name}@example.com`, password: "a password for tests", company_name: name };
  const { company, access } = await apiAt(url)<{ company: { id: string }; access: string }>(
    "POST",
    "/api/auth/register/",
    account,
  );
  const bearer = apiAt(url, { authorization: `Bearer ${access}` });
  const { key } = await whenAvailable(scene.cluster, () =>
    bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name }),
  );
  const headers = { "x-api-key": key };
  const create = (path: string, body: object) =>
    whenAvailable(scene.cluster, () => apiAt(url, headers)<{ id: string }>("POST", `/api/emails/${path}/`, body));
  const server = { name: "Sink", host: "127.0.0.1", port: smtpPort, username: "", password: "", use_tls: false };
  const smtp = await create("smtp-configs", { ...server, sender_email: `news@${name}.example` });
  const template = await create("templates", {
    name: "T",
    subject: "Hello [[first_name]]",
    body: "<p>Hello [[first_name]], <a href='https://example.com/'>look</a></p>",
  });
  return { id: company.id, headers, smtp: smtp.id, template: template.id };
}

export async function openCustomers(scene: Scene): Promise<Customers> {
  await scene.postgres.query("insert into plans (name, smtp_per_hour) values ('tight', $1)", [LIMIT]);
  const plain = await signUp(scene, "plain", scene.mail.port);
  const limited = await signUp(scene, "limited", scene.limitedMail.port);
  await scene.postgres.query("update companies set plan = 'tight' where id = $1", [limited.id]);
  const events = ["delivered", "opened", "clicked"];
  const endpoint = { url: `http://127.0.0.1:${scene.hooks.port}/`, events };
  await whenAvailable(scene.cluster, () =>
    apiAt(scene.url(), plain.headers)("POST", "/api/emails/webhook-endpoints/", endpoint),
  );
  return { plain, limited };
}

interface Request {
  path: string;
  headers: Record<string, string>;
  body: object | (() => FormData);
}

export class Load {
  readonly #scene: Scene;
  readonly #ledger: Ledger;
  readonly #customers: Customers;
  #n = 0;
  #hits = 0;
  #over = new AbortController();
  #giveUp = new AbortController();
  #loops: Promise<unknown>;

  constructor(scene: Scene, ledger: Ledger, customers: Customers) {
    this.#scene = scene;
    this.#ledger = ledger;
    this.#customers = customers;
    const every = (ms: number, work: () => Promise<void>) => this.#every(ms, work);
    this.#loops = Promise.all([
      every(NEWSLETTER.everyMs, () => this.#newsletter()),
      every(RECEIPT_EVERY_MS, () => this.#receipt()),
      every(LIMITED.lookEveryMs, () => this.#fillLimited()),
      every(HITS.everyMs, () => this.#read()),
    ]);
  }

  /** Stops new requests; resolves when all pending ones are answered, or after this time. */
  async stop(withinMs: number): Promise<void> {
    this.#over.abort();
    const timer = setTimeout(() => this.#giveUp.abort(), withinMs);
    await this.#loops;
    clearTimeout(timer);
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const startedMs = Date.now();
      await work();
      await sleep(Math.max(0, ms - (Date.now() - startedMs)), undefined, { signal }).catch(() => {});
    }
  }

  #address = (what: string) => `${what}${++this.#n}@chaos.example`;

  /** Undefined if refused or given up; the ledger has both. */
  async #until<T>({ path, headers, body }: Request): Promise<T | undefined> {
    const { signal } = this.#giveUp;
    let last = "";
    while (!signal.aborted) {
      try {
        const form = typeof body === "function";
        const response = await fetch(this.#scene.url() + path, {
          method: "POST",
          headers: { ...headers, ...(form ? {} : { "content-type": "application/json" }) },
          body: form ? body() : JSON.stringify(body),
          signal: AbortSignal.timeout(TRY_TIMEOUT_MS),
        });
        const text = await response.text();
        if (response.ok) return JSON.parse(text) as T;
        last = `${path} was answered ${response.status}: ${text.slice(0, 200)}`;
        // 409: the earlier attempt still runs; 429 and 5xx are temporary.
        if (response.status < 500 && response.status !== 409 && response.status !== 429) break;
      } catch (error) {
        last = `${path}: ${(error as Error).message}`;
      }
      await sleep(TRY_AGAIN_MS);
    }
    this.#ledger.refusals.push(last);
    return undefined;
  }

  async #send(company: Company, kind: MailKind, path: string, body: object, addresses: string[]): Promise<void> {
    const campaign = await this.#until<{ id: string }>({
      path: `/api/emails/send/${path}/`,
      headers: { ...company.headers, "idempotency-key": addresses[0]! },
      body: { name: addresses[0], smtp_config_id: company.smtp, ...body },
    });
    if (campaign) this.#ledger.accepted(campaign.id, kind, addresses);
  }

  /** Creates a list, imports its readers and sends them a newsletter. */
  async #newsletter(): Promise<void> {
    const { plain } = this.#customers;
    if (this.#ledger.outstanding("newsletter") > MOST_WAITING) return;
    const list = await this.#until<{ id: string }>({
      path: "/api/emails/lists/",
      headers: plain.headers,
      body: { name: `L${this.#n}` },
    });
    if (!list) return;
    const addresses = Array.from({ length: NEWSLETTER.readers }, () => this.#address("reader"));
    const csv = ["email,first_name", ...addresses.map((address, n) => `${address},Reader${n}`)].join("\n");
    const file = () => {
      const form = new FormData();
      form.set("list_id", list.id);
      form.set("file", new Blob([csv]), "readers.csv");
      return form;
    };
    if (!(await this.#until({ path: "/api/emails/subscribers/bulk/", headers: plain.headers, body: file }))) return;
    this.#ledger.imports.push({ list: list.id, rows: addresses.length });
    await this.#send(plain, "newsletter", "to-list", { list_id: list.id, template_id: plain.template }, addresses);
  }

  async #receipt(): Promise<void> {
    const email = this.#address("receipt");
    const receipt = { subject: "Receipt", body: "<p>Thanks</p>", is_transactional: true, receivers: [{ email }] };
    await this.#send(this.#customers.plain, "receipt", "custom", receipt, [email]);
  }

  async #fillLimited(): Promise<void> {
    if (this.#ledger.outstanding("limited") >= LIMIT) return;
    const addresses = Array.from({ length: LIMITED.receivers }, () => this.#address("limited"));
    const receivers = addresses.map((email) => ({ email }));
    await this.#send(
      this.#customers.limited,
      "limited",
      "custom",
      { subject: "News", body: "<p>News</p>", receivers },
      addresses,
    );
  }

  async #read(): Promise<void> {
    await Promise.all(this.#ledger.links.splice(0, HITS.atOnce).map((hit) => this.#hit(hit)));
  }

  /** Readers do not retry: only acknowledged hits must be stored. */
  async #hit({ link, address }: { link: string; address: string }): Promise<void> {
    const url = new URL(new URL(link).pathname, this.#scene.url());
    // Rate limits are per address, and clicks above them are redirected without being counted, so each reader has
    // another address.
    const n = this.#hits++;
    const ip = `198.51.${(n >> 8) % 256}.${n % 256}`;
    const headers = { "x-forwarded-for": ip, "user-agent": "Mozilla/5.0 (X11; Linux) Reader/1.0" };
    try {
      const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(TRY_TIMEOUT_MS) });
      await response.arrayBuffer();
      if (response.status === 200) this.#ledger.opened.add(address);
      if (response.status === 302) this.#ledger.clicked.add(address);
    } catch {
      // The reader sees a missing image.
    }
  }
}

export const WINDOW_MS = WINDOW_SECONDS * 1_000;
