/**
 * Copies (cc, bcc) that wait for a slow server, following their email or as due retries: after a suppression, or a stop
 * of the campaign, none starts its envelope more than 2 s later.
 */
import { query } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUSES } from "../../../models/sent-email-status.ts";
import { useSending } from "../../support/sending.ts";
import { sideBySide } from "../../support/side-by-side.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

const MAX_LATE_MS = 2_000;
const SLOW_MS = 400;
const COPIES = 15;
const TO_COPY = /@copy\.example$/;

interface Copies {
  /** Copies of one email, or an email for each. */
  of: "one mail" | "many mails";
  /** The server defers each copy once, and is slow from then on. */
  deferred: boolean;
  transactional?: boolean;
}

const FIRST_OF_ONE: Copies = { of: "one mail", deferred: false };
const FIRST_OF_MANY: Copies = { of: "many mails", deferred: false };
const RETRIES: Copies = { of: "many mails", deferred: true };

/** Creates a campaign with its own server, which has one connection. */
async function start({ of, deferred, transactional = false }: Copies) {
  /** Wall-clock time at which the server answered MAIL for a copy. */
  const begun = new Map<string, number>();
  const seen = new Set<string>();
  let mailAt = 0;
  let copiesInTransaction = 0;
  let isSlow = !deferred;
  const server: SmtpServer = await sending.startServer({
    answer: ({ verb, to }) => {
      if (verb === "MAIL") {
        mailAt = Date.now();
        copiesInTransaction = 0;
      }
      if (verb === "RCPT" && TO_COPY.test(to)) {
        if (deferred && seen.size < seen.add(to).size) return "450 4.2.0 Greylisted";
        isSlow = true;
        if (++copiesInTransaction > 1) return "452 4.5.3 Too many recipients";
        begun.set(to, mailAt);
      }
      return verb === "DOT" && isSlow ? { reply: "250 2.0.0 Ok", delayMs: SLOW_MS } : undefined;
    },
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1 });
  const cc = Array.from({ length: COPIES }, (_, n) => `c${n}@copy.example`);
  const recipients =
    of === "one mail"
      ? [{ email: "a@to.example", cc }]
      : cc.map((copy, n) => ({ email: `r${n}@to.example`, cc: [copy] }));
  const id = await sending.campaign({ companyId, smtpConfigId, recipients, transactional });
  return {
    id,
    companyId,
    mails: recipients.length,
    /** Counted by the server. */
    accepted: () => server.messages.flatMap(({ to }) => to.filter((one) => TO_COPY.test(one))).sort(),
    begunCopies: (n: number) =>
      sending.until(
        async () => begun.size,
        (size) => size >= n,
      ),
    lateOnes: (since: number) => [...begun].filter(([, at]) => at > since + MAX_LATE_MS).map(([to]) => to),
  };
}

const copyOutcomes = async (campaignId: string) =>
  (
    await query<{ status: number; error: string | null }>(
      "select status, error from sent_email_copies where campaign_id = $1",
      [campaignId],
    )
  ).map(({ status, error }) => ({ status: SENT_EMAIL_STATUSES[status]!, error }));

const isFinal = ({ status }: { status: string }) => !["queued", "sending"].includes(status);

/** Waits until each copy is final; returns the copies in the wanted state. */
async function settled(campaignId: string, n = COPIES) {
  const outcomes = await sending.until(
    () => copyOutcomes(campaignId),
    (seen) => seen.length >= n && seen.every(isFinal),
  );
  return (wanted: string) => outcomes.filter(({ status }) => status === wanted);
}

const SUPPRESS = {
  domain:
    "insert into suppressions (company_id, domain) select company_id, 'copy.example' from campaigns where id = $1",
  unsubscribed: `insert into suppressions (company_id, email, kind)
    select distinct c.company_id, address, 'unsubscribed' from campaigns c join sent_emails m on m.campaign_no = c.no, unnest(m.cc) address
    where c.id = $1`,
};

async function suppressed(sql: string) {
  const campaigns = await Promise.all([FIRST_OF_ONE, FIRST_OF_MANY, RETRIES].map(start));
  const check = async ({ id, mails, accepted, begunCopies, lateOnes }: (typeof campaigns)[number]) => {
    await begunCopies(2);
    await query(sql, [id]);
    const since = Date.now();
    const those = await settled(id);
    expect(lateOnes(since)).toEqual([]);
    expect(accepted()).toHaveLength(those("sent").length);
    expect(those("suppressed").length).toBe(COPIES - those("sent").length);
    expect(those("suppressed").length).toBeGreaterThan(3);
    for (const { error } of those("suppressed")) expect(error).toMatch(/is suppressed|has unsubscribed/);
    // None of that affects the emails they are copies of.
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: mails, failed_count: 0 });
  };
  await Promise.all(campaigns.map(check));
}

/** The server is quick until its last email, and takes seconds for that one: copies of the others are begun behind it. */
async function suppressedBehindSlowMail() {
  let holds = () => {};
  const held = new Promise<void>((done) => {
    holds = done;
  });
  const server = await sending.startServer({
    answer: ({ verb, to }) => {
      if (verb !== "DOT") return undefined;
      // The wait leaves time to record accepted mails and to prepare the next.
      if (to !== "r4@to.example") return { reply: "250 2.0.0 Ok", delayMs: 20 };
      holds();
      return { reply: "250 2.0.0 Ok", delayMs: MAX_LATE_MS + 1_000 };
    },
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1 });
  const recipients = Array.from({ length: 5 }, (_, n) => ({ email: `r${n}@to.example`, cc: [`c${n}@copy.example`] }));
  const id = await sending.campaign({ companyId, smtpConfigId, recipients });
  await held;
  await query(SUPPRESS.domain, [id]);
  const copies = () => server.messages.flatMap(({ to }) => to.filter((one) => TO_COPY.test(one)));
  const before = copies();
  const those = await settled(id, recipients.length);
  expect(copies()).toEqual(before);
  expect(those("sent")).toHaveLength(before.length);
  expect(those("suppressed")).toHaveLength(recipients.length - before.length);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: recipients.length });
}

async function paused() {
  const { id, companyId, accepted, begunCopies, lateOnes } = await start(FIRST_OF_ONE);
  await begunCopies(2);
  await query("update companies set sending_paused_at = now() where id = $1", [companyId]);
  const since = Date.now();
  await new Promise((done) => setTimeout(done, MAX_LATE_MS + 2 * SLOW_MS + 500));
  expect(lateOnes(since)).toEqual([]);
  expect(accepted().length).toBeLessThan(COPIES);
  await query("update companies set sending_paused_at = null where id = $1", [companyId]);
  expect((await settled(id))("sent")).toHaveLength(COPIES);
  expect(accepted()).toHaveLength(new Set(accepted()).size);
}

async function stopped() {
  const campaigns = await Promise.all([FIRST_OF_ONE, RETRIES].map(start));
  const check = async ({ id, accepted, begunCopies, lateOnes }: (typeof campaigns)[number]) => {
    // Another recipient keeps the campaign unfinished when its emails are sent.
    await query(
      `insert into sent_emails (campaign_no, seq, email, next_attempt_at)
       select no, total_emails + 1, 'later@to.example', now() + interval '1 hour' from campaigns where id = $1`,
      [id],
    );
    await query("update campaigns set total_emails = total_emails + 1 where id = $1", [id]);
    await begunCopies(2);
    await query("update campaigns set error = 'Stopped by a person' where id = $1", [id]);
    const since = Date.now();
    // An email that had not left by then has no copies either.
    const those = await settled(id, 4);
    expect(lateOnes(since)).toEqual([]);
    expect(accepted()).toHaveLength(those("sent").length);
    expect(those("failed").length).toBe((await copyOutcomes(id)).length - those("sent").length);
    expect(those("failed").length).toBeGreaterThan(3);
    for (const { error } of those("failed")) expect(error).toBe("Stopped by a person");
    expect(await sending.finished(id)).toMatchObject({ status: "failed" });
  };
  await Promise.all(campaigns.map(check));
}

/** All tests share one engine, so that a server with one connection has one. */
const beside = (run: () => Promise<void>) => () => {
  if (sending.engines.length === 0) sending.engine({ retryBaseMs: 500 });
  return run();
};

sideBySide({
  "whose address is suppressed (domain)": beside(() => suppressed(SUPPRESS.domain)),
  "whose address is suppressed (unsubscribed)": beside(() => suppressed(SUPPRESS.unsubscribed)),
  "whose address is suppressed while the mail before them takes long": beside(suppressedBehindSlowMail),
  "whose company is paused; they go out when it is not any more, each once": beside(paused),
  "whose campaign is stopped: they fail with what stopped it": beside(stopped),
});

test("copies of a campaign that has ended are claimed once, and transactional ones ignore an unsubscription", async () => {
  const batchesOver = jest.spyOn(sending.engine({ retryBaseMs: 500 }).claims, "release");
  const { id, accepted, begunCopies } = await start({ ...RETRIES, transactional: true });
  await begunCopies(2);
  await query(SUPPRESS.unsubscribed, [id]);
  expect((await settled(id))("sent")).toHaveLength(COPIES);
  expect(accepted()).toHaveLength(COPIES);
  // The copies fall due at the same time, and the server takes six seconds for them.
  expect(batchesOver.mock.calls.filter(([{ kind }]) => kind === "copies").length).toBeLessThanOrEqual(3);
});
