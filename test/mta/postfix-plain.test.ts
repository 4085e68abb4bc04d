/** The shortest case with a real mail server, part of every test run: Postfix with default settings. */
import { linesOf } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { startPostfix } from "../support/mta/postfix.ts";
import { addresses, openService, people } from "../support/mta/service.ts";

jest.setTimeout(120_000);

test("everybody gets one mail from Postfix, its log has no complaint, and the counters agree", async () => {
  const [service, server] = await Promise.all([openService(), startPostfix()]);
  try {
    const to = people(300);
    const id = await service.send({ port: server.port, max_connections: 5 }, to);
    expect(await service.finished(id)).toMatchObject({
      status: "completed",
      sent_count: 300,
      failed_count: 0,
      error: null,
    });
    expect(tally(await service.settled(server.deliveries), addresses(to))).toEqual({ ...ALL_ARRIVED, arrived: 300 });
    expect(await service.counts(id)).toEqual({ sent: 300 });
    expect(linesOf(server.log(), /improper command pipelining|lost connection after [^C]|warning:/)).toEqual([]);
  } finally {
    await Promise.all([service.stop(), server.stop()]);
  }
});
