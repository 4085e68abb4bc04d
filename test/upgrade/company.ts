/** A company created through the API, and its requests. Each campaign has its own sender address. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt, type Send } from "../support/api.ts";
import type { Scene } from "./scene.ts";

export interface RequestedCampaign {
  id: string;
  /** Envelope sender of its mails. */
  sender: string;
  recipients: string[];
  /** Phase of the update in which it was requested. */
  phase: string;
}

export interface Company {
  id: string;
  key: string;
  /** The address of a gateway that accepts requests. */
  gateway(): string;
  api: Send;
  templateId: string;
  asked: RequestedCampaign[];
}

const TRIES = 20;

/** Retries, because processes started a moment ago and may not have discovered each other yet. */
async function whenAvailable<T>(step: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (error) {
      if (!/was answered (?:502|503)/.test(String(error)) || tries === TRIES) throw error;
      await sleep(500);
    }
  }
}

let turn = 0;
export const nextGateway = ({ gateways }: Scene): string => gateways[turn++ % gateways.length]!;

export async function newCompany(scene: Scene, name: string): Promise<Company> {
  const account = { email: `ann@${name}.example`, password: "a password for tests", company_name: name };
  const { company, access } = await whenAvailable(() =>
    apiAt(nextGateway(scene))<{ company: { id: string }; access: string }>("POST", "/api/auth/register/", account),
  );
  const bearer = apiAt(nextGateway(scene), { authorization: `Bearer ${access}` });
  const { key } = await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" });
  const api: Send = (method, path, body) =>
    whenAvailable(() => apiAt(nextGateway(scene), { "x-api-key": key })(method, path, body));
  const template = await api<{ id: string }>("POST", "/api/emails/templates/", {
    name: "T",
    subject: "Hello [[first_name]]",
    body: "<p>Hello [[first_name]], <a href='https://example.com/'>look</a></p>",
  });
  await api("POST", "/api/emails/webhook-endpoints/", { url: scene.hooks.url, events: ["delivered"] });
  return { id: company.id, key, gateway: () => nextGateway(scene), api, templateId: template.id, asked: [] };
}

export const addresses = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `p${n}@${name}.example`);

export async function newList({ api }: Company, name: string, recipients: readonly string[]): Promise<string> {
  const { id } = await api<{ id: string }>("POST", "/api/emails/lists/", { name });
  const form = new FormData();
  form.set("list_id", id);
  const rows = recipients.map((email, n) => `${email},Reader${n}`);
  form.set("file", new Blob([["email,first_name", ...rows].join("\n")]), "readers.csv");
  await api("POST", "/api/emails/subscribers/bulk/", form);
  return id;
}

let senders = 0;

export async function newServer(
  { api }: Company,
  port: number,
  over: Record<string, unknown> = {},
): Promise<{ id: string; sender: string }> {
  const sender = `news-${++senders}@upgrade.example`;
  const relay = { name: sender, host: "127.0.0.1", port, username: "", password: "", use_tls: false };
  const { id } = await api<{ id: string }>("POST", "/api/emails/smtp-configs/", {
    ...relay,
    sender_email: sender,
    ...over,
  });
  return { id, sender };
}

interface ListSend {
  phase: string;
  name: string;
  listId: string;
  recipients: string[];
  server: { id: string; sender: string };
  scheduledFor?: Date;
}

export async function sendToList(
  company: Company,
  { phase, name, listId, recipients, server, scheduledFor }: ListSend,
): Promise<RequestedCampaign> {
  const request = {
    name,
    list_id: listId,
    template_id: company.templateId,
    smtp_config_id: server.id,
    ...(scheduledFor ? { scheduled_for: scheduledFor.toISOString() } : {}),
  };
  // A request answered with 503 may have been executed.
  const headers = { "x-api-key": company.key, "idempotency-key": server.id };
  const { id } = await whenAvailable(() =>
    apiAt(company.gateway(), headers)<{ id: string }>("POST", "/api/emails/send/to-list/", request),
  );
  const asked = { id, sender: server.sender, recipients, phase };
  company.asked.push(asked);
  return asked;
}
