/** Sends the 10 KB newsletter with full tracking to a list, through the API, for the delivery benchmarks. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Language, newsletter } from "../support/newsletter.ts";
import { startSmtpServer } from "../support/smtp-server.ts";

const FIELDS = 20;
/** Subscribers per import request, so that memory does not grow with their number. */
const PIECE = 50_000;
/** Interval of polls: each costs the service and PostgreSQL as much as ten mails. */
const POLL_MS = 500;
const LOOK_MS = 50;
const STALLED_MS = 60_000;

export interface Api {
  url: string;
  key: string;
}

export interface Ids {
  template: string;
  smtp: string;
  list: string;
}

interface Campaign {
  id: string;
  status: string;
  sent_count: number;
  failed_count: number;
}

export interface Sending {
  id: string;
  postedAtMs: number;
  answerMs: number;
  /** Time from the POST to `completed`. */
  ms: number;
}

async function request<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}

const json = (body: unknown, headers: Record<string, string>): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
});

export const post = <T = { id: string }>({ url, key }: Api, path: string, body: unknown): Promise<T> =>
  request<T>(`${url}/api/emails/${path}/`, json(body, { "X-API-Key": key }));

export async function newAccount(url: string, name = "bench"): Promise<Api> {
  const owner = { email: `${name}@example.com`, password: "a long password", company_name: "Bench" };
  const registered = await request<{ access: string; company: { id: string } }>(
    `${url}/api/auth/register/`,
    json(owner, {}),
  );
  const { key } = await request<{ key: string }>(
    `${url}/api/companies/${registered.company.id}/api-keys/`,
    json({ name: "bench" }, { Authorization: `Bearer ${registered.access}` }),
  );
  return { url, key };
}

interface Key {
  domain: string;
  selector: string;
  private_key: string;
}

/** Kind of mail; default: the English newsletter, unsigned. */
export interface Kind {
  language?: Language;
  dkim?: Key | Key[];
  /** Recipient domains, used in turn. */
  domains?: readonly string[];
}

const DOMAINS = Array.from({ length: 97 }, (_, n) => `mail${n}.example.com`);

const VALUE: Record<Language, string> = { en: "Value", ru: "Значение", ja: "項目の値" };
const NAME: Record<Language, string> = { en: "First", ru: "Мария", ja: "花子" };

function csv(from: number, to: number, { language = "en", domains = DOMAINS }: Kind): string {
  const fields = Array.from({ length: FIELDS }, (_, n) => `field_${n + 1}`);
  const lines = [`email,first_name,last_name,${fields.join(",")}`];
  for (let n = from; n <= to; n++) {
    const values = fields.map((_, f) => `${VALUE[language]} ${f} ${n % 977}`).join(",");
    lines.push(`${language}.${n}@${domains[n % domains.length]},${NAME[language]}${n},Last${n},${values}`);
  }
  return lines.join("\n");
}

async function newList(api: Api, recipients: number, kind: Kind): Promise<string> {
  const { id } = await post(api, "lists", { name: "All" });
  for (let from = 1; from <= recipients; from += PIECE) {
    const form = new FormData();
    form.set("list_id", id);
    form.set("file", new Blob([csv(from, Math.min(from + PIECE - 1, recipients), kind)]), "people.csv");
    await request(`${api.url}/api/emails/subscribers/bulk/`, {
      method: "POST",
      headers: { "X-API-Key": api.key },
      body: form,
    });
  }
  return id;
}

export async function prepare(
  api: Api,
  sink: URL,
  recipients: number,
  maxConnections: number,
  kind: Kind = {},
): Promise<Ids> {
  const { language = "en", dkim } = kind;
  const list = await newList(api, recipients, kind);
  const name = `${language} ${randomUUID()}`;
  const { id: template } = await post(api, "templates", { name, ...newsletter(language) });
  const { id: smtp } = await post(api, "smtp-configs", {
    name,
    host: sink.hostname,
    port: Number(sink.port),
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@example.com",
    max_connections: maxConnections,
    ...(dkim ? { dkim } : {}),
  });
  return { template, smtp, list };
}

/** Size of such a mail on the wire, as received by a test server. */
export async function wireBytes(api: Api, kind: Kind = {}): Promise<number> {
  const server = await startSmtpServer();
  try {
    const address = new URL(`smtp://${server.host}:${server.port}`);
    await send(api, await prepare(api, address, 1, 1, kind));
    return server.messages[0]!.raw.length;
  } finally {
    await server.stop();
  }
}

/** `look` is called many times a second with the number of finished recipients. */
export async function send(api: Api, ids: Ids, look?: (through: number) => void): Promise<Sending> {
  const [postedAtMs, began] = [Date.now(), performance.now()];
  const { id } = await post<Campaign>(api, "send/to-list", {
    name: "Bench",
    template_id: ids.template,
    smtp_config_id: ids.smtp,
    list_id: ids.list,
  });
  const answerMs = performance.now() - began;
  let [through, movedAt] = [0, began];
  for (;;) {
    await sleep(look ? LOOK_MS : POLL_MS);
    const now = await request<Campaign>(`${api.url}/api/emails/campaigns/${id}/`, {
      headers: { "X-API-Key": api.key },
    });
    if (now.sent_count + now.failed_count > through) movedAt = performance.now();
    through = now.sent_count + now.failed_count;
    look?.(through);
    if (now.status === "completed") return { id, postedAtMs, answerMs, ms: performance.now() - began };
    const isUnderWay = now.status === "pending" || now.status === "sending";
    if (!isUnderWay || performance.now() - movedAt > STALLED_MS) throw new Error(JSON.stringify(now));
  }
}
