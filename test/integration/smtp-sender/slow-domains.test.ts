/** A recipient domain that defers gets its email more slowly, and no other mail waits for it. */
import { queryOne } from "../../../models/database/db.ts";
import { answersFor, deferringDomain } from "../../support/deferring-domain.ts";
import { type Recipient, useSending } from "../../support/sending.ts";

const sending = useSending();

/** The minute of these tests. */
const WINDOW_SECONDS = 1;
const SLOW = "slow.example";
const OTHERS = ["one.example", "two.example", "three.example", "four.example"];
const EACH = 40;

const to = (domain: string): Recipient[] => Array.from({ length: EACH }, (_, n) => ({ email: `r${n}@${domain}` }));
const mixed = [...Array(EACH).keys()].flatMap((n) => [SLOW, ...OTHERS].map((domain) => ({ email: `r${n}@${domain}` })));

test.each([
  ["in turn with the others", mixed],
  ["before all others", [SLOW, ...OTHERS].flatMap(to)],
])(
  "a domain that defers (its recipients %s) does not delay four others, and gets all its mail later",
  async (_, recipients) => {
    const slow = deferringDomain(SLOW, 10, WINDOW_SECONDS * 1_000);
    const server = await sending.startServer(answersFor(slow));
    const companyId = await sending.company();
    const smtpConfigId = await sending.smtpConfig(companyId, server);
    const id = await sending.campaign({ companyId, smtpConfigId, recipients });
    const engine = sending.engine({ domainWindowSeconds: WINDOW_SECONDS, retryBaseMs: 2_000 });
    await sending.until(
      async () => server.accepted - slow.taken,
      (others) => others === 4 * EACH,
    );
    expect(slow.taken).toBeLessThan(EACH);
    expect(engine.servers.get(smtpConfigId)?.domainBackOffs.all).toEqual([
      { domain: SLOW, perMinute: expect.any(Number), text: expect.stringMatching(/^451 .*rate of mail/) },
    ]);
    // The server itself has never been left alone.
    expect(await queryOne("select failing_since, last_error from smtp_configs where id = $1", [smtpConfigId])).toEqual({
      failing_since: null,
      last_error: null,
    });
    await sending.until(
      async () => slow.taken,
      (taken) => taken >= 20,
    );
    // Five deferrals to detect it, mails in progress, and a few to probe the rate.
    expect(slow.deferred).toBeLessThan(EACH);
    slow.limit = Number.POSITIVE_INFINITY;
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 5 * EACH });
    expect(server.doubled).toEqual([]);
  },
);
