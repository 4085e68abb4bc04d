/**
 * Every way to opt out or be excluded while a campaign is being sent by a slow server, through all services: no message
 * to such a recipient begins more than 2 s later.
 */
import { call } from "../../../services/call.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { fieldOf } from "../../support/message.ts";
import { sideBySide } from "../../support/side-by-side.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "./world.ts";

const API = "/api/emails";
const MAX_LATE_MS = 2_000;
const SLOW_MS = 400;
const PEOPLE = 18;

let app: App;
const servers: SmtpServer[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
  await Promise.all(servers.map((server) => server.stop()));
});

interface Campaign {
  company: TestCompany;
  server: SmtpServer;
  /** Address → subscriber id. */
  people: Map<string, string>;
  id: string;
}

type Ended = Record<"sent_count" | "failed_count", number> & { status: string };

const ended = ({ company, id }: Campaign) =>
  until<Ended>(
    async () => (await company.api.get(`${API}/campaigns/${id}/`)).body,
    ({ status }) => !["pending", "sending"].includes(status),
  );

async function sent(made: Promise<{ status: number; body: { id: string }; text: string }>): Promise<string> {
  const { status, body, text } = await made;
  expect({ status, text }).toMatchObject({ status: 201 });
  return body.id;
}

/** Campaign to a whole list through its own server, which is slow once `isSlow()`. */
async function start(isSlow: () => boolean = () => true) {
  /** Time at which the server answered MAIL for each recipient. */
  const begun = new Map<string, number>();
  let mailAt = 0;
  const server = await startSmtpServer({
    answer: ({ verb, to }) => {
      if (verb === "MAIL") mailAt = Date.now();
      if (verb === "RCPT" && isSlow()) begun.set(to, mailAt);
      return verb === "DOT" && isSlow() ? { reply: "250 2.0.0 Ok", delayMs: SLOW_MS } : undefined;
    },
  });
  servers.push(server);
  const company = await newCompany(app);
  const { api } = company;
  const list = await sent(api.post(`${API}/lists/`, { name: "Readers" }));
  const people = new Map<string, string>();
  for (let n = 0; n < PEOPLE; n++) {
    const email = `p${n}@d${n % 3}.example`;
    people.set(email, await sent(api.post(`${API}/subscribers/`, { email, lists: [list] })));
  }
  const template = await sent(api.post(`${API}/templates/`, { name: "T", subject: "Hi", body: "<p>Hi</p>" }));
  const smtpConfigId = await sent(
    api.post(`${API}/smtp-configs/`, {
      name: "S",
      host: "127.0.0.1",
      port: server.port,
      username: "",
      password: "",
      use_tls: false,
      sender_email: "news@acme.example",
      max_connections: 1,
    }),
  );
  const send = async (): Promise<Campaign> => {
    const given = { name: "News", template_id: template, smtp_config_id: smtpConfigId, list_id: list };
    return { company, server, people, id: await sent(api.post(`${API}/send/to-list/`, given)) };
  };
  const begunTo = (n: number) =>
    until(
      async () => begun.size,
      (size) => size >= n,
    );
  /** Excluded recipients whose message began too late. */
  const lateOnes = (those: readonly string[], since: number) =>
    those.filter((to) => (begun.get(to) ?? 0) > since + MAX_LATE_MS);
  return { send, begunTo, lateOnes, isWaiting: (to: string) => !begun.has(to) };
}

/** Takes the last recipients, who wait longest. */
const lastOf = (campaign: Campaign) => [...campaign.people.keys()].reverse();

const WAYS: Record<string, (campaign: Campaign) => Promise<string[]>> = {
  "suppressed by address": async (campaign) => {
    const those = lastOf(campaign).slice(0, 9);
    for (const email of those) await sent(campaign.company.api.post(`${API}/suppressions/`, { email }));
    return those;
  },
  "suppressed by domain": async (campaign) => {
    await sent(campaign.company.api.post(`${API}/suppressions/`, { domain: "d1.example" }));
    return lastOf(campaign).filter((email) => email.endsWith("@d1.example"));
  },
  "deleted as a subscriber": async (campaign) => {
    const those = lastOf(campaign).slice(0, 9);
    for (const email of those) {
      const path = `${API}/subscribers/${campaign.people.get(email)}/`;
      expect(await campaign.company.api.delete(path)).toMatchObject({ status: 204 });
    }
    return those;
  },
};

async function goesBy(way: string): Promise<void> {
  const { send, begunTo, lateOnes, isWaiting } = await start();
  const campaign = await send();
  await begunTo(2);
  const those = await WAYS[way]!(campaign);
  const since = Date.now();
  expect(those.filter(isWaiting).length).toBeGreaterThan(2);
  const { sent_count, failed_count, status } = await ended(campaign);
  expect({ way, late: lateOnes(those, since) }).toEqual({ way, late: [] });
  expect({ status, everybody: sent_count + failed_count }).toEqual({ status: "partial", everybody: PEOPLE });
  expect(failed_count).toBeGreaterThan(2);
  expect(campaign.server.messages).toHaveLength(sent_count);
}

sideBySide({
  "suppressed by address or domain, or deleted as a subscriber, through the API": async () => {
    await Promise.all(Object.keys(WAYS).map(goesBy));
  },

  "unsubscribed by the one-click link of the mail before": async () => {
    let isSlow = false;
    const { send, begunTo, lateOnes } = await start(() => isSlow);
    const before = await send();
    await ended(before);
    const links = new Map(
      before.server.messages.map(({ to, raw }) => [
        to[0]!,
        fieldOf(Buffer.from(raw, "latin1"), "List-Unsubscribe")!.slice(1, -1),
      ]),
    );
    isSlow = true;
    const campaign = await send();
    await begunTo(2);
    const those = lastOf(campaign).slice(0, 8);
    for (const email of those) {
      const oneClick = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
      expect(await client(app, { ip: someIp() }).post(links.get(email)!, oneClick)).toMatchObject({ status: 200 });
    }
    const since = Date.now();
    const { sent_count, failed_count } = await ended(campaign);
    expect(lateOnes(those, since)).toEqual([]);
    expect(sent_count + failed_count).toBe(PEOPLE);
    expect(failed_count).toBeGreaterThan(2);
  },

  "the company is paused by an operator; when it goes on, everybody has one mail": async () => {
    const { send, begunTo, lateOnes } = await start();
    const campaign = await send();
    await begunTo(2);
    await call(app.broker, "accounts.pauseCompany", { company_id: campaign.company.id });
    const since = Date.now();
    await new Promise((done) => setTimeout(done, MAX_LATE_MS + 2 * SLOW_MS + 500));
    expect(lateOnes(lastOf(campaign), since)).toEqual([]);
    expect(campaign.server.messages.length).toBeLessThan(PEOPLE);
    await call(app.broker, "accounts.resumeCompany", { company_id: campaign.company.id });
    expect(await ended(campaign)).toMatchObject({ status: "completed", sent_count: PEOPLE, failed_count: 0 });
    expect(new Set(campaign.server.messages.map(({ to }) => to[0])).size).toBe(PEOPLE);
    expect(campaign.server.messages).toHaveLength(PEOPLE);
  },
});
