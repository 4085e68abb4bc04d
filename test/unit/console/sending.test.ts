/** Conversion between the API's values and the forms of mail servers and webhooks. */
import { linesOf, nextSelector } from "../../../services/console/pages/deliverability.ts";
import { stateOf } from "../../../services/console/pages/webhooks.ts";
import {
  changeOf,
  fieldsOf,
  isStored,
  limitRows,
  newServerOf,
  type Server,
} from "../../../services/console/server-form.ts";
import { troubleOf, troubleOfTest } from "../../../services/console/server-help.ts";
import { warningsOf } from "../../../services/console/warnings.ts";

const server: Server = {
  id: "01a205d7-0000-7000-8000-000000000001",
  name: "Relay",
  host: "smtp.example.com",
  port: 587,
  use_tls: true,
  tls_mode: "auto",
  sender_name: "Acme",
  sender_email: "news@acme.example",
  reply_to_email: null,
  bounce_address: null,
  bounce_mailbox: null,
  dkim: null,
  dkim_waiting: [],
  max_connections: 10,
  max_per_second: null,
  warmup: { start_per_day: 50, factor: 1.5, until_per_day: 5_000 },
  domain_limits: [{ domain: "mail.example", max_per_minute: 100 }],
  is_default: false,
  working: true,
  last_error: null,
  last_error_at: null,
  backing_off_until: null,
  checked_at: null,
  check_failures: [],
  created_at: "2026-11-23T00:00:00.000Z",
};

describe("the form of a mail server", () => {
  test("changes nothing if nothing was typed, whatever the server has", () => {
    const mailbox = {
      host: "imap.acme.example",
      port: 993,
      username: "bounces",
      use_tls: false,
      folder: "INBOX",
      processed_folder: "Processed",
      last_error: null,
      last_error_at: null,
    };
    const full: Server = {
      ...server,
      bounce_mailbox: mailbox,
      is_default: true,
      max_per_second: 5,
      reply_to_email: "a@b.example",
    };
    for (const one of [server, full, { ...server, use_tls: false }, { ...server, tls_mode: "implicit" as const }]) {
      expect(changeOf(fieldsOf(one), one)).toEqual({});
      expect(isStored(fieldsOf(one), one)).toBe(true);
    }
  });

  test("sends only what was changed; a login only where one was typed, or is removed", () => {
    const fields = fieldsOf(server);
    expect(changeOf({ ...fields, name: "Renamed", password: "" }, server)).toEqual({ name: "Renamed" });
    expect(changeOf({ ...fields, password: "new" }, server)).toEqual({ password: "new" });
    expect(changeOf({ ...fields, no_login: "on", password: "x" }, server)).toEqual({ username: "", password: "" });
    expect(changeOf({ ...fields, warmup_start: "", warmup_factor: "", warmup_until: "" }, server)).toEqual({
      warmup: null,
    });
    expect(isStored({ ...fields, port: "465" }, server)).toBe(false);
    expect(isStored({ ...fields, name: "Renamed" }, server)).toBe(true);
  });

  test("leaves invalid numbers to the action, which reports them", () => {
    const made = newServerOf({ ...fieldsOf(server), port: "many", max_connections: "" });
    expect(made).toMatchObject({ port: "many", max_connections: "", username: "", password: "" });
  });

  test("has two rows more than there are limits of domains, up to the API's maximum", () => {
    expect(limitRows(fieldsOf(server)).map(({ domain }) => domain)).toEqual(["mail.example", "", ""]);
    const many = Object.fromEntries([...Array(100).keys()].map((n) => [`limit.${n}.domain`, `d${n}.example`]));
    expect(limitRows(many)).toHaveLength(100);
    expect(limitRows({ "limit.3.domain": "later.example" })[0]).toMatchObject({ n: 0, domain: "later.example" });
  });
});

test.each([
  ["getaddrinfo ENOTFOUND smtp.example.com", "dns"],
  ["connect ECONNREFUSED 127.0.0.1:25", "connect"],
  ["No answer from smtp.example.com:587 within 10 seconds.", "connect"],
  ["535 5.7.8 Authentication credentials invalid", "auth"],
  ["Hostname/IP does not match certificate's altnames", "tls"],
  ["self-signed certificate in certificate chain", "tls"],
  ["550 5.7.60 Client does not have permissions to send as this sender", "sender"],
  ["554 Email address is not verified", "sender"],
  ["421 4.7.0 Too many connections, slow down", "later"],
  ["451 4.7.650 The mail server has been temporarily rate limited", "later"],
  ["599 Nobody knows", "other"],
])("the advice for %j is of the kind %s", (says, trouble) => {
  expect(troubleOf(says)).toBe(trouble);
});

test("the failed stage of a connection test selects the advice, and a refused sender is recognised by its sentence", () => {
  expect(troubleOfTest({ stage: "tls", message: "No answer" })).toBe("tls");
  expect(troubleOfTest({ stage: "connect", message: "No answer" })).toBe("connect");
  const message = "The SMTP server a:25 did not accept x@y.example as a sender: 550 no.";
  expect(troubleOfTest({ stage: "connect", message })).toBe("sender");
});

test("the result of a check is a record, or lines", () => {
  expect(linesOf(null)).toEqual({ record: null, texts: [] });
  expect(linesOf(["a", "b"])).toEqual({ record: null, texts: ["a", "b"] });
  expect(linesOf({ name: "x", value: "y" })).toEqual({ record: { name: "x", value: "y" }, texts: [] });
  expect(linesOf({ from: "a.example", spf: null, dkim: [] })).toEqual({
    record: null,
    texts: ["from: a.example", "spf: –", "dkim: –"],
  });
});

test("a proposed selector is unused, also by waiting keys", () => {
  const record = { name: "", value: "" };
  const waiting = { domain: "acme.example", selector: "FM2", algorithm: "rsa" as const, record, active: false };
  expect(nextSelector({ dkim: { domain: "acme.example", selector: "fm1" }, dkim_waiting: [waiting] })).toBe("fm3");
  expect(nextSelector(server)).toBe("fm1");
});

test("a webhook that a person switched off is paused, one that failed for days is switched off", () => {
  const endpoint = { id: "", url: "", events: [], created_at: "" };
  const at = "2026-11-23T00:00:00.000Z";
  expect(stateOf({ ...endpoint, failing_since: null, disabled_at: null })).toBe("active");
  expect(stateOf({ ...endpoint, failing_since: at, disabled_at: null })).toBe("failing");
  expect(stateOf({ ...endpoint, failing_since: null, disabled_at: at })).toBe("paused");
  expect(stateOf({ ...endpoint, failing_since: at, disabled_at: at })).toBe("disabled");
});

describe("warnings", () => {
  const day = { date: "2026-11-22", sent: 1_000, delivered: 1_000, bounced: 0, complained: 0, opens: 0, clicks: 0 };
  const limits = {
    emails_per_month: 1_000,
    smtp_per_hour: null,
    subscribers: null,
    api_calls_per_day: null,
    media_bytes: null,
  };
  const usage = { emails_per_month: 0, smtp_per_hour: 0, subscribers: 0, api_calls_per_day: 0, media_bytes: 0 };
  const period = { start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z" };
  const plan = { plan: "small", limits, usage, period } as unknown as Parameters<typeof warningsOf>[0]["plan"];
  const calm = { servers: [server], days: [day], plan, endpoints: [], zone: "UTC", isPaused: false };
  const paths = (seen: Parameters<typeof warningsOf>[0]) => warningsOf(seen).map(({ path }) => path);

  test("are not shown where nothing is wrong, and few mails cause none about a rate", () => {
    expect(warningsOf(calm)).toEqual([]);
    expect(paths({ ...calm, days: [{ ...day, sent: 10, bounced: 9 }] })).toEqual([]);
  });

  test("link to the page that helps", () => {
    const failing = { ...server, working: false, last_error: "535 no" };
    const checked = {
      ...server,
      check_failures: [
        { name: "spf" as const, help: "…" },
        { name: "spf" as const, help: "…" },
      ],
    };
    expect(paths({ ...calm, servers: [failing, checked] })).toEqual([`servers/${server.id}`, `domains/${server.id}`]);
    expect(warningsOf({ ...calm, servers: [checked] })[0]!.text).toContain("the SPF check fails");
    const three = (["mx", "links", "bounce_address"] as const).map((name) => ({ name, help: "…" }));
    expect(warningsOf({ ...calm, servers: [{ ...checked, check_failures: three }] })[0]!.text).toContain(
      "the MX, link, and bounce address checks fail",
    );
    expect(paths({ ...calm, days: [{ ...day, bounced: 51 }] })).toEqual(["recipient-domains"]);
    expect(paths({ ...calm, days: [{ ...day, complained: 4 }] })).toEqual(["bounces?result=complained"]);
    const nearly = { ...plan, usage: { ...plan.usage, emails_per_month: 800 } };
    expect(paths({ ...calm, plan: nearly })).toEqual(["settings/plan"]);
    const at = "2026-11-23T00:00:00.000Z";
    const endpoint = {
      id: "e",
      url: "https://x.example/",
      events: [],
      created_at: at,
      failing_since: at,
      disabled_at: at,
    };
    expect(paths({ ...calm, endpoints: [endpoint, { ...endpoint, failing_since: null }] })).toEqual(["webhooks/e"]);
  });
});
