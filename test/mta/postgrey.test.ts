/** Greylisting by postgrey: each recipient waits independently, others continue, and copies are retried, too. */
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { startPostfix } from "../support/mta/postfix.ts";
import { type Greylist, startPostgrey } from "../support/mta/postgrey.ts";
import { addresses, type MailService, openService, people } from "../support/mta/service.ts";

jest.setTimeout(240_000);

const DELAY_SECONDS = 3;

let service: MailService;
let server: MailServer;
let greylist: Greylist;

beforeAll(async () => {
  // A retry before the end of the greylisting delay is deferred again.
  service = await openService({ RETRY_BASE_SECONDS: "5" });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  greylist = await startPostgrey(DELAY_SECONDS);
  server = await startPostfix({
    main: { smtpd_recipient_restrictions: `${greylist.check}, permit_mynetworks, reject` },
  });
});
afterEach(async () => {
  await server?.stop();
  await greylist?.stop();
});

test("six mails with cc and bcc arrive as all twelve copies, once", async () => {
  const to = people(6).map(({ email }) => ({ email, cc: [`cc.${email}`], bcc: [`bcc.${email}`] }));
  const id = await service.send({ port: server.port }, to);
  const campaign = await service.finished(id, 40_000);
  await service.until(server.deliveries, ({ length }) => length >= 18, 30_000).catch(() => []);
  const copies = (await service.sentEmails(id)).flatMap((mail) => mail.copies ?? []).map(({ status }) => status);
  expect({ campaign, copies, ...tally(await service.settled(server.deliveries), addresses(to)) }).toMatchObject({
    ...ALL_ARRIVED,
    arrived: 18,
    campaign: { status: "completed", sent_count: 6, failed_count: 0 },
    copies: Array(12).fill("sent"),
  });
});

test("1,000 new recipients are each tried once before the first is tried again, and all mails arrive", async () => {
  const to = people(1_000);
  const id = await service.send({ port: server.port, max_connections: 5 }, to);
  const campaign = await service.finished(id, 120_000);
  const arrived = tally(await service.settled(server.deliveries), addresses(to));
  const refused = linesOf(server.log(), /NOQUEUE: reject: RCPT/).map((line) => / to=<([^>]+)>/.exec(line)![1]!);
  const seen = new Set<string>();
  const firstRepeat = refused.findIndex((address) => seen.size === seen.add(address).size);
  expect({ campaign, ...arrived, triedBeforeFirstRepeat: firstRepeat < 0 ? seen.size : firstRepeat }).toMatchObject({
    ...ALL_ARRIVED,
    arrived: 1_000,
    campaign: { status: "completed", sent_count: 1_000, failed_count: 0, error: null },
    triedBeforeFirstRepeat: 1_000,
  });
});
