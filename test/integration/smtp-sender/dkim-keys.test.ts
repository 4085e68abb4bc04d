/** Generated DKIM keys, over HTTP, with an independent name server, mail server and verifier. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { query, queryOne } from "../../../models/database/db.ts";
import { claimWaitingKeys } from "../../../services/smtp-sender/dkim/dkim-keys.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Answer, newCompany, type TestCompany } from "../../support/client.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const CONFIGS = "/api/emails/smtp-configs/";
/** Time limit for a busy machine. */
const PATIENCE_MS = 60_000;
jest.setTimeout(3 * PATIENCE_MS);

let dns: DnsServer;
let smtp: SmtpServer;
let app: App;
let company: TestCompany;
beforeAll(async () => {
  [dns, smtp] = await Promise.all([startDnsServer(), startSmtpServer()]);
  const env = { DNS_SERVERS: dns.address, REGISTRATION: "open", RETRY_BASE_SECONDS: "1" };
  const services = ["gateway", "accounts", "smtp-sender", "renderer", "campaigns", "subscribers"];
  app = await startApp({ services, env });
});
afterAll(async () => {
  await app.stop();
  await smtp.stop();
  await dns.stop();
});
beforeEach(async () => {
  dns.zones.clear();
  smtp.options.answer = undefined;
  company = await newCompany(app);
});

interface Made {
  domain: string;
  selector: string;
  algorithm: string;
  record: { name: string; value: string };
  active: boolean;
}

const given = (type: "rsa" | "ed25519", selector: string) => {
  const { privateKey } = generateKeyPairSync(type as "rsa", { modulusLength: 2048 });
  return {
    domain: "acme.example",
    selector,
    private_key: privateKey.export({ format: "pem", type: "pkcs8" }) as string,
  };
};

async function configuration(more: object = {}): Promise<string> {
  const relay = { name: "Relay", host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
  const made = await company.api.post(CONFIGS, { ...relay, sender_email: "news@acme.example", ...more });
  expect([made.status, made.body.id ?? made.body]).toEqual([201, expect.any(String)]);
  return made.body.id;
}
const shown = async (id: string) => (await company.api.get(`${CONFIGS}${id}/`)).body.dkim;
const waiting = async (id: string) => (await company.api.get(`${CONFIGS}${id}/`)).body.dkim_waiting;
const make = (id: string, algorithm: string, selector: string): Promise<Answer> =>
  company.api.post(`${CONFIGS}${id}/dkim/`, { domain: "acme.example", selector, algorithm });
const publish = ({ record }: Made) => dns.zones.set(record.name, { txt: [record.value] });

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("It does not come about");
    await sleep(50);
  }
}

/** The checks of a report; a busy machine may have left it no time to hear from the name server. */
async function report(id: string): Promise<{ name: string; status: string; found: unknown; expected: unknown }[]> {
  for (let n = 0; ; n++) {
    const { checks } = (await company.api.get(`${CONFIGS}${id}/deliverability/`)).body;
    const isLate = checks.some(
      ({ name, status }: { name: string; status: string }) => name === "dkim" && status === "unknown",
    );
    if (!isLate || n === 10) return checks;
    await sleep(1_000);
  }
}
const dkimIn = (checks: Awaited<ReturnType<typeof report>>) => checks.filter(({ name }) => name === "dkim");

/** Runs one round of the check that each node makes twice per minute. */
async function look(): Promise<void> {
  await query("update dkim_keys set next_look_at = now()");
  await app.broker.call("smtp-sender.activateDkimKeys", {});
}
const untilActive = (id: string, selector: string) =>
  until(async () => {
    await look();
    return [await shown(id)].flat().some((key) => key?.selector === selector);
  });

async function send(id: string, to: string[]): Promise<string> {
  const sent = await company.api.post("/api/emails/send/custom/", {
    name: "News",
    smtp_config_id: id,
    subject: "News",
    body: "<p>Hello [[email]]</p>",
    receivers: to.map((email) => ({ email })),
  });
  expect(sent.status).toBe(201);
  return sent.body.id;
}
const mailTo = (email: string) => smtp.messages.filter(({ to }) => to.includes(email));
async function sentTo(id: string, email: string): Promise<string> {
  await send(id, [email]);
  await until(() => mailTo(email).length > 0);
  return mailTo(email)[0]!.raw;
}

/** `selector: result` of each signature, by the records that are published. */
async function verified(raw: string): Promise<string[]> {
  const resolver = async (name: string) => (dns.zones.get(name)?.txt ?? []).map((text) => [text]);
  const { results } = await dkimVerify(Buffer.from(raw, "latin1"), { resolver });
  return results.filter(({ selector }) => selector).map(({ selector, status }) => `${selector}: ${status.result}`);
}

test.each(["rsa", "ed25519"])("a new %s key waits for its record, and then signs", async (algorithm) => {
  const id = await configuration();
  const made = await make(id, algorithm, "fm1");
  expect([made.status, made.body]).toEqual([
    201,
    {
      domain: "acme.example",
      selector: "fm1",
      algorithm,
      record: { name: "fm1._domainkey.acme.example", value: expect.stringContaining(`v=DKIM1; k=${algorithm}; p=`) },
      active: false,
    },
  ]);
  const { value } = made.body.record;
  const bytes = Buffer.from(value.split("p=")[1], "base64");
  if (algorithm === "ed25519") expect(bytes).toHaveLength(32);
  else {
    const { asymmetricKeyDetails } = createPublicKey({ key: bytes, format: "der", type: "spki" });
    expect(asymmetricKeyDetails!.modulusLength).toBe(2048);
  }
  await look();
  expect([await shown(id), await waiting(id)]).toEqual([null, [made.body]]);
  expect((await company.api.get(CONFIGS)).body.results).toMatchObject([{ dkim: null, dkim_waiting: [made.body] }]);
  expect(await verified(await sentTo(id, `before.${algorithm}@to.example`))).toEqual([]);

  publish(made.body);
  await untilActive(id, "fm1");
  expect([await shown(id), await waiting(id)]).toEqual([{ ...made.body, active: true }, []]);
  expect(await verified(await sentTo(id, `after.${algorithm}@to.example`))).toEqual(["fm1: pass"]);
});

test("a record of another key, or none, activates nothing, and the report shows the record to publish", async () => {
  const id = await configuration();
  const made: Made = (await make(id, "rsa", "fm1")).body;
  const dkim = async () => dkimIn(await report(id));
  const line = expect.stringMatching(
    /In a zone file: fm1\._domainkey\.acme\.example\. IN TXT \( "v=DKIM1;[^"]{247}" "[^"]+" \)$/,
  );
  expect(await dkim()).toEqual([{ name: "dkim", status: "warn", found: null, expected: made.record, help: line }]);
  const other = (await make(await configuration(), "rsa", "fm1")).body;
  for (const txt of [[other.record.value], [made.record.value, other.record.value], ["v=DKIM1; p="], ["nonsense"]]) {
    dns.zones.set(made.record.name, { txt });
    await look();
    expect([txt, await shown(id)]).toEqual([txt, null]);
    expect(await dkim()).toMatchObject([{ status: "warn", expected: made.record }]);
  }
});

test("the report activates a key whose record it finds, and shows that at once", async () => {
  const id = await configuration();
  publish((await make(id, "rsa", "fm1")).body);
  publish((await make(id, "ed25519", "fm2")).body);
  const checks = await report(id);
  expect(dkimIn(checks).map(({ status }) => status)).toEqual(["pass", "pass"]);
  const alignment = checks.find(({ name }) => name === "alignment");
  expect(alignment!.found).toMatchObject({ dkim: ["acme.example"] });
  expect(await shown(id)).toMatchObject([{ active: true }, { active: true }]);
  // The stored failures are valid for the current configuration and not checked again before the next send.
  expect(await queryOne("select checked_at from smtp_configs where id = $1", [id])).toEqual({
    checked_at: expect.any(Date),
  });
  expect(await verified(await sentTo(id, "report@to.example"))).toEqual(["fm1: pass", "fm2: pass"]);
});

test("the private key is encrypted, and in no response; the audit log names its creator", async () => {
  const id = await configuration();
  const answers = [(await make(id, "rsa", "fm1")).text, (await company.api.get(CONFIGS)).text];
  expect(answers.join()).not.toContain("PRIVATE");
  const row = await queryOne<{ key_sealed: Buffer }>("select key_sealed from dkim_keys where smtp_config_id = $1", [
    id,
  ]);
  expect(row!.key_sealed.toString("latin1")).not.toContain("PRIVATE");
  const log = await query("select action, target, detail from audit_log where target = $1 order by at desc limit 1", [
    id,
  ]);
  expect(log).toEqual([
    {
      action: "dkim_key.created",
      target: id,
      detail: { name: "Relay", domain: "acme.example", selector: "fm1", algorithm: "rsa" },
    },
  ]);
});

test("the same request returns the same key; another one of the algorithm replaces the waiting key", async () => {
  const id = await configuration();
  const first = await make(id, "ed25519", "fm1");
  expect((await make(id, "ed25519", "FM1")).body).toEqual(first.body);
  const second = await make(id, "ed25519", "fm2");
  expect(await waiting(id)).toEqual([second.body]);
  publish(second.body);
  await untilActive(id, "fm2");
  const taken = { selector: [expect.stringMatching(/Choose another selector/)] };
  expect(await make(id, "ed25519", "fm2")).toMatchObject({ status: 400, body: taken });
  expect(await make(id, "rsa", "fm2")).toMatchObject({ status: 400, body: taken });
});

test.each([
  [{ algorithm: "dsa" }, "algorithm"],
  [{ domain: "no domain" }, "domain"],
  [{ selector: "a b" }, "selector"],
  [{ selector: undefined }, "selector"],
  [{ domain: {} }, "domain"],
])("%j is refused", async (wrong, field) => {
  const path = `${CONFIGS}${await configuration()}/dkim/`;
  const answer = await company.api.post(path, { domain: "acme.example", selector: "s", algorithm: "rsa", ...wrong });
  expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
});

test("each key is looked up by only one of the nodes that check at the same time, and not again at once", async () => {
  const ids = await Promise.all([1, 2, 3].map(() => configuration()));
  for (const id of ids) await make(id, "ed25519", "fm1");
  await query("update dkim_keys set next_look_at = now() - interval '1 hour'");
  const claimed = await Promise.all([claimWaitingKeys(50), claimWaitingKeys(50), claimWaitingKeys(50)]);
  const ours = claimed.flat().filter(({ smtp_config_id: id }) => ids.includes(id));
  // The service in this process may have been first.
  expect(new Set(ours.map(({ id }) => id)).size).toBe(ours.length);
  expect(await claimWaitingKeys(50)).toEqual([]);
});

test("another company's configuration gets no key", async () => {
  const id = await configuration();
  const other = await newCompany(app);
  const asked = { domain: "acme.example", selector: "fm1", algorithm: "rsa" };
  expect((await other.api.post(`${CONFIGS}${id}/dkim/`, asked)).status).toBe(404);
  expect(await shown(id)).toBeNull();
});

test("null removes all keys, also a waiting one; other values keep it waiting", async () => {
  const id = await configuration({ dkim: given("rsa", "s1") });
  const made: Made = (await make(id, "rsa", "fm1")).body;
  const s1 = { domain: "acme.example", selector: "s1" };
  const patch = async (dkim: unknown) => (await company.api.patch(`${CONFIGS}${id}/`, { dkim })).body;
  expect(await patch(s1)).toMatchObject({ dkim: s1, dkim_waiting: [made] });
  expect(await patch(given("ed25519", "e1"))).toMatchObject({ dkim: { selector: "e1" }, dkim_waiting: [made] });
  expect(await patch(given("rsa", "fm1"))).toMatchObject({ dkim: { selector: "fm1" }, dkim_waiting: [] });
  await make(id, "rsa", "fm2");
  expect(await patch(null)).toMatchObject({ dkim: null, dkim_waiting: [] });
  expect(await query("select from dkim_keys where smtp_config_id = $1", [id])).toEqual([]);
});

test("a key can be rotated during a campaign: every email has valid signatures of the key that was active", async () => {
  const keys = [given("rsa", "old"), given("ed25519", "e1")];
  const id = await configuration({ dkim: keys, max_connections: 2 });
  for (const { expected } of dkimIn(await report(id))) {
    const { name, value } = expected as Made["record"];
    dns.zones.set(name, { txt: [value] });
  }
  const made: Made = (await make(id, "rsa", "new")).body;
  const people = Array.from({ length: 120 }, (_, n) => `${n}@rotation.example`);
  const [early, late] = [people.slice(0, 60), people.slice(60)];
  let isRotated = false;
  let deferred = 0;
  smtp.options.answer = ({ verb, to }) => {
    if (verb !== "RCPT" || isRotated || !late.includes(to)) return undefined;
    deferred++;
    return "450 4.2.1 Later";
  };
  const campaign = await send(id, people);
  await until(() => deferred > 0 && early.every((email) => mailTo(email).length > 0));
  publish(made);
  await untilActive(id, "new");
  isRotated = true;
  await until(async () => (await company.api.get(`/api/emails/campaigns/${campaign}/`)).body.status === "completed");

  const found = new Map<string, string[]>();
  for (const email of people) {
    const mails = mailTo(email);
    expect([email, mails.length]).toEqual([email, 1]);
    found.set(email, await verified(mails[0]!.raw));
  }
  const [byOld, byNew] = ["old", "new"].map((name) => [`${name}: pass`, "e1: pass"]);
  expect(early.map((email) => found.get(email))).toEqual(early.map(() => byOld));
  // Emails signed before the change and not tried yet are sent as they are; the old record still exists.
  const others = late.map((email) => found.get(email)!.join());
  expect(others.filter((one) => one !== byOld!.join() && one !== byNew!.join())).toEqual([]);
  expect(others).toContain(byNew!.join());
  expect(await verified(await sentTo(id, "afterwards@to.example"))).toEqual(byNew);
  expect(await shown(id)).toEqual([
    { ...made, active: true },
    { domain: "acme.example", selector: "e1" },
  ]);
});
