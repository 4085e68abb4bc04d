/** A company with everything that the load needs, created through the API. */
import { newsletter } from "../support/newsletter.ts";

const TIMEOUT_MS = 30_000;

export interface LoadCompany {
  id: string;
  url: string;
  owner: { email: string; password: string };
  key: string;
  list: string;
  template: string;
  smtp: string;
}

export const ask = (url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<Response> =>
  fetch(url, {
    method,
    headers:
      body === undefined || body instanceof FormData ? headers : { "Content-Type": "application/json", ...headers },
    body: body === undefined || body instanceof FormData ? body : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });

export async function newLoadCompany(
  url: string,
  ports: { smtp: number; hook: number },
  readers: number,
): Promise<LoadCompany> {
  const must = async <T>(path: string, body: unknown, headers: Record<string, string>): Promise<T> => {
    const response = await ask(url + path, "POST", headers, body);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const account = { email: "load@example.com", password: "a long password", company_name: "Load" };
  const { company, access } = await must<{ company: { id: string }; access: string }>(
    "/api/auth/register/",
    account,
    {},
  );
  const bearer = { Authorization: `Bearer ${access}` };
  const { key } = await must<{ key: string }>(`/api/companies/${company.id}/api-keys/`, { name: "load" }, bearer);
  const post = async (path: string, body: unknown) =>
    (await must<{ id: string }>(`/api/emails/${path}/`, body, { "X-API-Key": key })).id;

  const list = await post("lists", { name: "Readers" });
  const rows = Array.from({ length: readers }, (_, n) => `r${n}@load.example,Reader${n},Last`);
  const form = new FormData();
  form.set("list_id", list);
  form.set("file", new Blob([["email,first_name,last_name", ...rows].join("\n")]), "readers.csv");
  await post("subscribers/bulk", form);
  const { subject, body } = newsletter();
  const template = await post("templates", { name: "Newsletter", subject, body });
  const relay = { name: "Sink", host: "127.0.0.1", port: ports.smtp, username: "", password: "", use_tls: false };
  const smtp = await post("smtp-configs", { ...relay, sender_email: "news@load.example" });
  const events = ["delivered", "opened", "clicked"];
  await post("webhook-endpoints", { url: `http://127.0.0.1:${ports.hook}/`, events });
  return { id: company.id, url, owner: account, key, list, template, smtp };
}
