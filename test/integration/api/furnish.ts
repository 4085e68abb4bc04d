/** Creates one of everything that a company can have, and maps paths to it. */
import { setTimeout as sleep } from "node:timers/promises";
import { InboundMessage, InboundRaw } from "../../../models/inbound-message.ts";
import { newId } from "../../../services/lib/ids.ts";
import type { App } from "../../support/app.ts";
import { client, fileForm, type TestCompany } from "../../support/client.ts";

const E = "/api/emails";
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

export type Owned = Record<string, string>;

/** Creates one of each resource. */
export async function furnish({ api, id, token, userId }: TestCompany, app: App): Promise<Owned> {
  const make = async (path: string, body: object) => {
    const made = await api.post(path, body);
    if (made.status >= 300) throw new Error(`${path} answered ${made.status}: ${made.text}`);
    return made.body;
  };
  const list = (await make(`${E}/lists/`, { name: "Readers" })).id;
  const subscriber = (await make(`${E}/subscribers/`, { email: "ann@example.com", first_name: "Ann", lists: [list] }))
    .id;
  const template = (await make(`${E}/templates/`, { name: "T", subject: "Hello", body: "<p>Hi [[first_name]]</p>" }))
    .id;
  const saved = (await make(`${E}/saved-blocks/`, { name: "Line", blocks: [{ type: "divider" }] })).id;
  const smtp = (
    await make(`${E}/smtp-configs/`, {
      name: "Relay",
      host: "127.0.0.1",
      port: 2525,
      username: "",
      password: "",
      use_tls: false,
      sender_email: "news@example.com",
    })
  ).id;
  const segment = (
    await make(`${E}/segments/`, {
      name: "S",
      rules: { match: "all", conditions: [{ field: "email", operator: "contains", value: "@" }] },
    })
  ).id;
  const media = (await api.post(`${E}/media/`, fileForm("a file", "a.txt"))).body.id;
  const campaign = (
    await make(`${E}/send/to-list/`, {
      name: "Later",
      template_id: template,
      smtp_config_id: smtp,
      list_id: list,
      attachment_ids: [media],
      scheduled_for: inAnHour(),
    })
  ).id;
  const draft = (
    await make(`${E}/drafts/`, { name: "Later", kind: "to-list", body: { list_id: list, template_id: template } })
  ).id;
  const endpoint = (await make(`${E}/webhook-endpoints/`, { url: "http://127.0.0.1:9/hook", events: ["opened"] })).id;
  const delivery = (await make(`${E}/webhook-endpoints/${endpoint}/test/`, {})).id;
  const { id: source, url } = await make(`${E}/inbound-sources/`, { provider: "postmark" });
  const report = new URL(url).pathname.split("/").slice(4, 6).join("/");
  // A trial run, so that the import has a result and a file.
  const imported = (await api.post(`${E}/imports/`, fileForm("email\nnobody\n", "a.csv"))).body.id;
  await api.post(`${E}/imports/${imported}/start/`, { dry_run: true });
  // Waits until the import is finished: repeated reads must not differ.
  const isRunning = async () => (await api.get(`${E}/imports/${imported}/`)).body.status === "running";
  for (const deadline = Date.now() + 50_000; Date.now() < deadline && (await isRunning()); ) await sleep(50);
  const suppression = (await make(`${E}/suppressions/`, { email: "never@example.com" })).id;
  const [inbound, rawId] = [newId(), newId()];
  await InboundRaw.create({ id: rawId, companyId: id, raw: Buffer.from("Subject: Undelivered\r\n\r\n") });
  await InboundMessage.create({
    id: inbound,
    companyId: id,
    via: "smtp",
    result: "unmatched",
    rawId,
    receivedAt: new Date(),
  });
  const key = (await client(app, { token }).get(`/api/companies/${id}/api-keys/`)).body.results[0].id;
  return {
    list,
    subscriber,
    template,
    saved,
    version: "1",
    smtp,
    segment,
    media,
    campaign,
    draft,
    endpoint,
    delivery,
    source,
    report,
    suppression,
    imported,
    inbound,
    key,
    company: id,
    user: userId,
  };
}

/** Values of `:id` by path prefix, and of further id names. */
const IDS: [prefix: string, owned: string][] = [
  [`${E}/subscribers/`, "subscriber"],
  [`${E}/lists/`, "list"],
  [`${E}/templates/`, "template"],
  [`${E}/saved-blocks/`, "saved"],
  [`${E}/smtp-configs/`, "smtp"],
  [`${E}/campaigns/`, "campaign"],
  [`${E}/drafts/`, "draft"],
  [`${E}/webhook-endpoints/`, "endpoint"],
  [`${E}/inbound-sources/`, "source"],
  [`${E}/suppressions/`, "suppression"],
  [`${E}/imports/`, "imported"],
  [`${E}/inbound/`, "inbound"],
  [`${E}/segments/`, "segment"],
  [`${E}/media/`, "media"],
  ["/api/companies/", "company"],
  ["/api/auth/sessions/", "session"],
];
const FURTHER: Record<string, string> = {
  delivery_id: "delivery",
  key_id: "key",
  user_id: "user",
  version: "version",
  list_id: "list",
  campaign_id: "campaign",
};

export function pathOf(path: string, owned: Owned): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const kind = FURTHER[name] ?? IDS.find(([prefix]) => path.startsWith(prefix))?.[1];
    const id = kind && owned[kind];
    if (!id) throw new Error(`This test knows no ${name} for ${path}: extend it`);
    return id;
  });
}
