/** The kinds of heavy request that noisy.ts sends: each as the company that sends it would, at full speed. */
import { randomBytes } from "node:crypto";

export interface NoisyWorld {
  url: string;
  key: string;
  companyId: string;
  list: string;
  smtp: string;
  template: string;
  segment: string;
  campaign: string;
  subscribers: string[];
}

export interface Answer {
  status: number;
  json: { id?: string } | undefined;
}

interface Kind {
  /** Requests under way at the same time. */
  atOnce: number;
  ask: (world: NoisyWorld, n: number) => Promise<number>;
}

export const someIp = () => `2001:db8:${randomBytes(2).toString("hex")}:${randomBytes(2).toString("hex")}::1`;

export async function ask(
  world: Pick<NoisyWorld, "url" | "key">,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const headers: Record<string, string> = { "X-Forwarded-For": someIp() };
  if (!path.startsWith("public/")) headers["X-API-Key"] = world.key;
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  const response = await fetch(`${world.url}${path.startsWith("/") ? path : `/api/emails/${path}`}`, {
    method,
    headers,
    body: body === undefined || isForm ? body : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text.length < 1_000_000;
  return { status: response.status, json: isJson ? JSON.parse(text) : undefined };
}

type Body = object | undefined | ((world: NoisyWorld, n: number) => unknown);

const kind = (
  method: string,
  path: string | ((world: NoisyWorld, n: number) => string),
  body?: Body,
  atOnce = 20,
): Kind => ({
  atOnce,
  ask: async (world, n) => {
    const where = typeof path === "string" ? path : path(world, n);
    return (await ask(world, method, where, typeof body === "function" ? body(world, n) : body)).status;
  },
});

function file(content: string, name: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set("file", new Blob([content]), name);
  return form;
}

const IMPORTED_ROWS = 20_000;
const csv = (n: number) =>
  [
    "email,first_name,city",
    ...Array.from({ length: IMPORTED_ROWS }, (_, i) => `i${(n % 4) * IMPORTED_ROWS + i}@noisy.example,N${n},C${i}`),
  ].join("\n");

const receivers = (count: number, n: number) =>
  Array.from({ length: count }, (_, i) => ({ email: `r${n * count + i}@noisy.example`, first_name: `R${i}` }));

const send = ({ smtp }: NoisyWorld, more: object) => ({ name: "Noise", smtp_config_id: smtp, ...more });
const custom = { subject: "Hi [[first_name]]", body: "<p>Hi [[first_name]]</p>" };
const LATER = "2999-01-01T00:00:00Z";
const LARGE_PREVIEW = { variables: { items: Array.from({ length: 2_000 }, (_, n) => ({ name: `Item ${n}` })) } };
const LARGE_TEMPLATE = `<table>${"<tr><td>[[first_name]]</td></tr>".repeat(6_000)}</table>`;

export const KINDS: Record<string, Kind> = {
  "segment of 50 texts": kind("GET", ({ segment }) => `segments/${segment}/`),
  "people of a segment": kind("GET", ({ segment }) => `segments/${segment}/subscribers/?ordering=email`),
  "search of subscribers": kind("GET", (_, n) => `subscribers/?search=nobody${n}`),
  "subscribers by name, deep": kind("GET", "subscribers/?ordering=last_name&page=900"),
  "subscribers by status": kind("GET", "subscribers/?status=active&ordering=-first_name"),
  "list by address, deep": kind("GET", ({ list }) => `lists/${list}/subscribers/?ordering=email&page=900`),
  "search of sent mails": kind("GET", (_, n) => `sent-emails/?search=nobody${n}`),
  "sent mails by address": kind(
    "GET",
    ({ campaign }) => `sent-emails/?campaign=${campaign}&ordering=recipient&page=1000`,
  ),
  "search of events": kind("GET", (_, n) => `events/?search=nobody${n}&ordering=timestamp`),
  "export of subscribers": kind("GET", "subscribers/export/", undefined, 6),
  "export of a campaign": kind("GET", ({ campaign }) => `campaigns/${campaign}/export/`, undefined, 6),
  "import of 20,000": kind(
    "POST",
    "subscribers/bulk/",
    ({ list }: NoisyWorld, n: number) => file(csv(n), "i.csv", { list_id: list }),
    6,
  ),
  "list changes of 5,000": kind(
    "POST",
    "subscribers/bulk-update-lists/",
    ({ subscribers, list }: NoisyWorld, n: number) =>
      n % 2
        ? { subscriber_ids: subscribers, remove_from_lists: [list] }
        : { subscriber_ids: subscribers, add_to_lists: [list] },
    6,
  ),
  "new subscribers": kind("POST", "subscribers/", (_world: NoisyWorld, n: number) => ({
    email: `n${n}-${process.pid}@noisy.example`,
    attributes: { n },
  })),
  "sends to 2,000 receivers": kind(
    "POST",
    "send/custom/",
    (world: NoisyWorld, n: number) => send(world, { ...custom, receivers: receivers(2_000, n) }),
    4,
  ),
  receipts: kind("POST", "send/custom/", (world: NoisyWorld, n: number) =>
    send(world, { ...custom, is_transactional: true, receivers: receivers(1, n) }),
  ),
  "sends to everybody": kind(
    "POST",
    "send/to-list/",
    (world: NoisyWorld) => send(world, { template_id: world.template, list_id: world.list }),
    1,
  ),
  "newsletters that are stopped": {
    atOnce: 4,
    ask: async (world) => {
      const news = send(world, { template_id: world.template, list_id: world.list });
      const { status, json } = await ask(world, "POST", "send/to-list/", news);
      return json?.id ? (await ask(world, "POST", `campaigns/${json.id}/stop/`)).status : status;
    },
  },
  "sends to a segment, later": kind("POST", "send/to-list/", (world: NoisyWorld) =>
    send(world, { template_id: world.template, segment_id: world.segment, scheduled_for: LATER }),
  ),
  "previews of a large template": kind("POST", ({ template }) => `templates/${template}/preview/`, LARGE_PREVIEW, 8),
  "large templates": kind("POST", "templates/", { name: "Large", subject: "S", body: LARGE_TEMPLATE }, 8),
  "logins that fail": kind("POST", "/api/auth/login/", (_world: NoisyWorld, n: number) => ({
    email: `x${n}@noisy.example`,
    password: "wrong password",
  })),
  "files of 5 MB": kind("POST", "media/", () => file("x".repeat(5_000_000), "a.txt"), 8),
  "public form": kind(
    "POST",
    ({ companyId }) => `public/subscribe/${companyId}/`,
    (_world: NoisyWorld, n: number) => ({ email: `s${n}-${process.pid}@noisy.example` }),
  ),
};
