/** A customer of the cluster: a company with a key, a list of readers, a template and a mail server. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt, type Send } from "../../support/api.ts";
import { MAIL_HOST, MAIL_PORT } from "./backends.ts";

const UPLOAD_TIMEOUT_MS = 280_000;
const ROWS_AT_ONCE = 1_000;

export interface Customer {
  url: string;
  key: string;
  api: Send;
  smtp: string;
  template: string;
}

export async function newCustomer(url: string): Promise<Customer> {
  const account = { email: "ann@image.example", password: "correct horse battery", company_name: "Image" };
  const { company, access } = await apiAt(url)<{ company: { id: string }; access: string }>(
    "POST",
    "/api/auth/register/",
    account,
  );
  const bearer = apiAt(url, { authorization: `Bearer ${access}` });
  const { key } = await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" });
  const api = apiAt(url, { "x-api-key": key });
  const made = async (path: string, body: object) =>
    (await api<{ id: string }>("POST", `/api/emails/${path}/`, body)).id;
  const server = { name: "Relay", host: MAIL_HOST, port: MAIL_PORT, username: "", password: "", use_tls: false };
  const smtp = await made("smtp-configs", { ...server, sender_email: "news@image.example", max_connections: 20 });
  const body = "<p>Hello [[first_name]], <a href='https://example.com/'>look</a></p>";
  const template = await made("templates", { name: "News", subject: "Hello [[first_name]]", body });
  return { url, key, api, smtp, template };
}

/** CSV with this many rows; prefixes keep lists disjoint. */
export function csv(prefix: string, rows: number): Blob {
  const parts = ["email,first_name,city\n"];
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    const length = Math.min(ROWS_AT_ONCE, rows - from);
    const some = Array.from({ length }, (_, n) => `${prefix}${from + n}@readers.example,First${from + n},City ${n}\n`);
    parts.push(some.join(""));
  }
  return new Blob(parts);
}

/** Creates a list with the uploaded people. `send` lets tests time or count the request. */
export async function upload(
  { url, key, api }: Customer,
  file: Blob,
  { background = false, send = (ask: () => Promise<Response>) => ask() } = {},
): Promise<{ list: string; answer: Response | undefined }> {
  const { id: list } = await api<{ id: string }>("POST", "/api/emails/lists/", { name: "Readers" });
  const form = new FormData();
  form.set("list_id", list);
  if (background) form.set("background", "true");
  form.set("file", file, "readers.csv");
  const answer = await send(() =>
    fetch(`${url}/api/emails/subscribers/bulk/`, {
      method: "POST",
      headers: { "x-api-key": key },
      body: form,
      signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
    }),
  );
  return { list, answer };
}

export interface CampaignView {
  id: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
}

export const sendTo = (customer: Customer, list: string) =>
  customer.api<CampaignView>("POST", "/api/emails/send/to-list/", {
    name: "News",
    list_id: list,
    template_id: customer.template,
    smtp_config_id: customer.smtp,
  });

/** The campaign once it is finished, or after the time limit in its current state. */
export async function finished({ api }: Customer, id: string, withinMs: number): Promise<CampaignView> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const campaign = await api<CampaignView>("GET", `/api/emails/campaigns/${id}/`);
    if (!["pending", "sending"].includes(campaign.status) || Date.now() > deadline) return campaign;
    await sleep(500);
  }
}
