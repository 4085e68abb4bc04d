/** OpenSMTPD with default settings: a session accepts 100 mails and answers 452 4.5.3 to each further one. */
import type { MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { startOpenSmtpd } from "../support/mta/opensmtpd.ts";
import { addresses, type MailService, openService, people } from "../support/mta/service.ts";

jest.setTimeout(240_000);

let service: MailService;
let server: MailServer;

beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());
afterEach(() => server?.stop());

/** The longest time without an arrival during the campaign, in milliseconds. */
async function longestStall(campaignId: string): Promise<number> {
  let longest = 0;
  let sent = 0;
  let since = Date.now();
  for (;;) {
    const campaign = await service.campaign(campaignId);
    if (campaign.sent_count > sent) since = Date.now();
    sent = campaign.sent_count;
    longest = Math.max(longest, Date.now() - since);
    if (!["pending", "sending"].includes(campaign.status) || longest > 20_000) return longest;
    await new Promise((done) => setTimeout(done, 50));
  }
}

test("1,000 mails over a server that takes 100 per session arrive without a stall and without using up attempts", async () => {
  server = await startOpenSmtpd();
  const to = people(1_000);
  const id = await service.send({ port: server.port, max_connections: 4 }, to);
  const stallMs = await longestStall(id);
  const campaign = await service.finished(id, 20_000);
  const arrived = tally(await service.settled(server.deliveries, 30_000), addresses(to));
  expect({ campaign, ...arrived }).toMatchObject({
    ...ALL_ARRIVED,
    arrived: 1_000,
    campaign: { status: "completed", sent_count: 1_000, failed_count: 0, error: null },
  });
  const again = (await service.sentEmails(id)).filter(({ attempts }) => attempts > 1).length;
  expect({ again, stalled: stallMs > 2_000 ? stallMs : 0 }).toEqual({ again: 0, stalled: 0 });
});
