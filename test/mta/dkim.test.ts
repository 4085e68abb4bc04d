/**
 * Signatures by keys made here, as verified by OpenDKIM and dkimpy. Keys start to sign automatically once the service
 * has found their records.
 */
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type DkimVerifiers, dkimVerifiers } from "../support/mta/dkim-verifiers.ts";
import { type MailService, openService, people, type Receiver } from "../support/mta/service.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

jest.setTimeout(600_000);

/** A minute is promised; the remainder allows for load on this machine. */
const ACTIVE_MS = 180_000;
const DOMAIN = "acme.example";

let service: MailService;
let smtp: SmtpServer;
let dns: DnsServer;
let verifiers: DkimVerifiers;
let id: string;

beforeAll(async () => {
  [dns, smtp] = await Promise.all([startDnsServer(), startSmtpServer()]);
  const records = () => Object.fromEntries([...dns.zones].map(([name, { txt }]) => [name, txt![0]!]));
  [service, verifiers] = await Promise.all([openService({ DNS_SERVERS: dns.address }), dkimVerifiers(records)]);
  id = await service.configure({ port: smtp.port, max_connections: 2 });
});
afterAll(async () => {
  await service?.stop();
  verifiers?.stop();
  await Promise.all([smtp?.stop(), dns?.stop()]);
});

interface Key {
  selector: string;
  active?: boolean;
  record: { name: string; value: string };
}
const keys = async () =>
  [(await service.api<{ dkim: Key | Key[] | null }>("GET", `/api/emails/smtp-configs/${id}/`)).dkim ?? []].flat();
const make = (algorithm: string, selector: string) =>
  service.api<Key>("POST", `/api/emails/smtp-configs/${id}/dkim/`, { domain: DOMAIN, selector, algorithm });
const publish = ({ record }: Key) => dns.zones.set(record.name, { txt: [record.value] });
const untilActive = (selector: string) =>
  service.until(keys, (all) => all.some((key) => key.selector === selector && key.active === true), ACTIVE_MS);

const bytesTo = (email: string) =>
  smtp.messages.filter(({ to }) => to.includes(email)).map(({ raw }) => Buffer.from(raw, "latin1"));
const both = async (message: Buffer) => ({
  opendkim: await verifiers.opendkim(message),
  dkimpy: await verifiers.dkimpy(message),
});
const agreed = (verdicts: Record<string, boolean>) => ({ opendkim: verdicts, dkimpy: verdicts });

async function sendTo(receivers: Receiver[]): Promise<void> {
  const campaign = await service.sendBy(id, receivers);
  expect(await service.finished(campaign, 120_000)).toMatchObject({
    status: "completed",
    sent_count: receivers.length,
  });
}

test("an RSA and an Ed25519 key sign every mail once their records exist", async () => {
  const made = [await make("rsa", "r1"), await make("ed25519", "e1")];
  const [early] = people(1);
  await sendTo([early!]);
  expect(await verifiers.dkimpy(bytesTo(early!.email)[0]!)).toEqual({});
  made.forEach(publish);
  await untilActive("r1");
  await untilActive("e1");
  const receivers = people(5).map((one, n) => (n === 0 ? { ...one, cc: ["carl@to.example"] } : one));
  await sendTo(receivers);
  for (const email of [...receivers.map((one) => one.email), "carl@to.example"]) {
    const mails = bytesTo(email);
    expect([email, mails.length]).toEqual([email, 1]);
    expect([email, await both(mails[0]!)]).toEqual([email, agreed({ r1: true, e1: true })]);
  }
});

test.each([
  "From",
  "To",
  "Cc",
  "Subject",
  "Date",
  "Reply-To",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
  "Content-Type",
])("a second or a first %s breaks both signatures, for both verifiers", async (name) => {
  const message = smtp.messages.at(-1)!.raw;
  const forged = Buffer.from(`${name}: evil@example.com\r\n${message}`, "latin1");
  expect(await both(forged)).toEqual(agreed({ r1: false, e1: false }));
});

test("a key rotated during a campaign leaves every mail verifiable with the key that signed it", async () => {
  const made = await make("rsa", "r2");
  const receivers = people(80);
  const late = new Set(receivers.slice(40).map(({ email }) => email));
  let isRotated = false;
  let deferred = 0;
  smtp.options.answer = ({ verb, to }) => {
    if (verb !== "RCPT" || isRotated || !late.has(to)) return undefined;
    deferred++;
    return "450 4.2.1 Later";
  };
  const campaign = await service.sendBy(id, receivers);
  const isFirstHalfThere = () => receivers.every(({ email }) => late.has(email) || bytesTo(email).length > 0);
  await service.until(() => isFirstHalfThere() && deferred > 0, Boolean, 120_000);
  publish(made);
  await untilActive("r2");
  isRotated = true;
  smtp.options.answer = undefined;
  expect(await service.finished(campaign, 180_000)).toMatchObject({ status: "completed", sent_count: 80 });
  let byNew = 0;
  for (const { email } of receivers) {
    const mails = bytesTo(email);
    expect([email, mails.length]).toEqual([email, 1]);
    const isNew = mails[0]!.includes(" s=r2;");
    if (isNew) byNew++;
    const verdicts = agreed({ [isNew ? "r2" : "r1"]: true, e1: true });
    expect([email, await both(mails[0]!)]).toEqual([email, verdicts]);
  }
  // The second half, except mails that were rendered earlier and not tried yet.
  expect(byNew).toBeGreaterThan(0);
  expect(byNew).toBeLessThanOrEqual(40);
  expect((await keys()).map(({ selector }) => selector)).toEqual(["r2", "e1"]);
});
