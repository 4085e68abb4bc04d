/** Postfix as distributions ship it, and with the restrictions that operators switch on. */
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { startPolicy } from "../support/mta/policy.ts";
import { type PostfixOptions, startPostfix } from "../support/mta/postfix.ts";
import { addresses, type MailService, openService, people } from "../support/mta/service.ts";

jest.setTimeout(180_000);

let service: MailService;
let server: MailServer;

beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());
afterEach(() => server?.stop());

const start = async (options: PostfixOptions = {}) => {
  server = await startPostfix(options);
  return server;
};
const arrived = () => service.settled(server.deliveries);

test("a policy defers one mail in four at the end of data: those wait, nobody gets a blank mail", async () => {
  const policy = await startPolicy((_attributes, no) => (no % 4 === 0 ? "451 4.7.1 Try again later" : "DUNNO"));
  const { port } = await start({ main: { smtpd_end_of_data_restrictions: policy.check } });
  const to = people(200);
  const id = await service.send({ port, max_connections: 1 }, to);
  const campaign = await service.finished(id);
  const result = { campaign, states: await service.counts(id), ...tally(await arrived(), addresses(to)) };
  await policy.stop();
  expect(result).toMatchObject({
    ...ALL_ARRIVED,
    arrived: 200,
    states: { sent: 200 },
    campaign: { status: "completed", sent_count: 200, failed_count: 0 },
  });
  expect(linesOf(server.log(), /nested MAIL command/)).toEqual([]);
});
