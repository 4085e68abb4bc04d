/** SMTP configurations and their validation, as other services and clients meet them. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { Membership } from "../../../models/membership.ts";
import { User } from "../../../models/user.ts";
import type { Caller } from "../../../services/lib/caller.ts";
import { config } from "../../../services/lib/config.ts";
import { newId } from "../../../services/lib/ids.ts";
import { seal, unseal } from "../../../services/lib/secrets.ts";
import { type App, startApp } from "../../support/app.ts";
import { sideBySide } from "../../support/side-by-side.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "../../support/smtp-server.ts";

let app: App;
let meta: Caller;
let server: SmtpServer | undefined;

const given = {
  name: "Main",
  host: "smtp.example.com",
  port: 587,
  username: "user",
  password: "secret",
  sender_email: "news@example.com",
};
const pem = (type: "rsa" | "ed25519" | "ec", bits = 2_048) => {
  const options = { modulusLength: bits, namedCurve: "P-256" };
  const { privateKey } = generateKeyPairSync(type as "rsa", options);
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
};

beforeAll(async () => {
  app = await startApp({ services: ["smtp-sender"] });
});
afterAll(() => app.stop());
beforeEach(async () => {
  meta = { companyId: newId(), role: "owner" };
  await query("insert into companies (id, name, plan) values ($1, 'Company', 'unlimited')", [meta.companyId]);
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const call = <T>(action: string, params: object) =>
  app.broker.call<T, object>(`smtp-sender.${action}`, params, { meta });
type View = { id: string } & Record<string, unknown>;
const create = (more: object = {}) => call<View>("createConfig", { ...given, ...more });
/**
 * Reads it individually and in the list. The DNS is queried after the response that created it, whose result is
 * ignored.
 */
async function expectShown(created: View): Promise<void> {
  const settled = (view: View) => ({ ...view, checked_at: null, check_failures: [] });
  expect(settled(await call<View>("getConfig", { id: created.id }))).toEqual(created);
  const { count, results } = await call<{ count: number; results: View[] }>("listConfigs", {});
  expect({ count, results: results.map(settled) }).toEqual({ count: 1, results: [created] });
}
const errorsOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => error.data?.fields,
  );
const stored = (id: string) =>
  queryOne<{ password_sealed: Buffer; dkim_key_sealed: Buffer | null }>("select * from smtp_configs where id = $1", [
    id,
  ]);

/** Resolves when a statement of this file's database waits for a lock. */
async function somebodyWaits(): Promise<void> {
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  for (const end = Date.now() + 30_000; !(await queryOne(waiting)); await sleep(20)) {
    if (Date.now() > end) throw new Error("Nobody waits for a lock");
  }
}

describe("the stored password is not sent to another server:", () => {
  const REFUSED = { password: [expect.stringMatching(/^Enter the password again/)] };
  const changes: [string, object][] = [
    ["host", { host: "smtp.attacker.example" }],
    ["port", { port: 2525 }],
    ["username", { username: "other" }],
    ["no TLS any more", { use_tls: false }],
    ["no TLS by mode", { tls_mode: "none" }],
  ];

  test.each(changes)("a change of %s without the password is refused", async (_, change) => {
    const { id } = await create();
    expect(await errorsOf(call("updateConfig", { id, ...change }))).toEqual(REFUSED);
    expect(await queryOne("select host, port, username, use_tls from smtp_configs where id = $1", [id])).toEqual({
      host: given.host,
      port: given.port,
      username: given.username,
      use_tls: true,
    });
    expect(await call("updateConfig", { id, ...change, password: "secret" })).toMatchObject({ id });
  });

  test("a change that began while none was stored is refused: the transaction that writes checks again", async () => {
    const { id } = await create({ username: "", password: "" });
    let moving: Promise<unknown> | undefined;
    await transaction(async (client) => {
      await client.query("select from companies where id = $1 for no key update", [meta.companyId]);
      moving = errorsOf(call("updateConfig", { id, host: "smtp.attacker.example" }));
      await somebodyWaits();
      await client.query("update smtp_configs set password_sealed = $2 where id = $1", [id, seal("secret", id)]);
    });
    expect(await moving).toEqual(REFUSED);
    expect(await queryOne("select host from smtp_configs where id = $1", [id])).toEqual({ host: given.host });
  });

  test("the refusal is reported together with other errors", async () => {
    const { id } = await create();
    const wrong = { id, host: "smtp.attacker.example", sender_email: "nobody" };
    expect(await errorsOf(call("updateConfig", wrong))).toEqual({
      ...REFUSED,
      sender_email: ["Enter a valid email address."],
    });
  });

  test("the password is optional if its target is unchanged, TLS is switched on, or none is stored", async () => {
    const { id } = await create({ use_tls: false });
    const same = { host: "SMTP.example.com", port: given.port, username: given.username, use_tls: true };
    expect(await call("updateConfig", { id, ...same, name: "Renamed", tls_mode: "starttls" })).toMatchObject({
      name: "Renamed",
    });
    const open = await create({ username: "", password: "" });
    expect(await call("updateConfig", { id: open.id, host: "smtp.other.example" })).toMatchObject({
      host: "smtp.other.example",
    });
  });
});

test("owners are notified of a changed host, by any user, and of no other change", async () => {
  const settings = config();
  settings.SYSTEM_SMTP_URL = "smtp://127.0.0.1:9";
  try {
    const email = `${newId()}@owner.example`;
    const { id: userId } = await User.create({ email, passwordHash: "" });
    await Membership.create({ companyId: meta.companyId!, userId, role: "owner" });
    const { id } = await create();
    await call("updateConfig", { id, name: "Renamed", max_connections: 2, password: "another" });
    await call("updateConfig", { id, host: "smtp.other.example", password: "another" });
    expect(await query("select kind, data from system_mails where recipient = $1", [email])).toEqual([
      { kind: "smtp_host_changed", data: expect.objectContaining({ config: "Renamed", host: "smtp.other.example" }) },
    ]);
  } finally {
    delete settings.SYSTEM_SMTP_URL;
  }
});

test("a response has the stored values, and never the login", async () => {
  const created = await create({ sender_name: "Acme", reply_to_email: "hello@example.com" });
  expect(created).toEqual({
    backing_off_until: null,
    bounce_address: null,
    bounce_mailbox: null,
    last_error: null,
    last_error_at: null,
    tls_mode: "auto",
    working: true,
    id: created.id,
    name: "Main",
    host: "smtp.example.com",
    port: 587,
    use_tls: true,
    sender_name: "Acme",
    sender_email: "news@example.com",
    reply_to_email: "hello@example.com",
    dkim: null,
    dkim_waiting: [],
    max_connections: 10,
    max_per_second: null,
    warmup: null,
    domain_limits: [],
    is_default: false,
    checked_at: null,
    check_failures: [],
    created_at: expect.any(String),
  });
  await expectShown(created);
});

test("the password is sealed to the configuration; a PATCH without one keeps it", async () => {
  const { id } = await create();
  const sealed = (await stored(id))!.password_sealed;
  expect(sealed.toString("latin1")).not.toContain("secret");
  expect(unseal(sealed, id)).toBe("secret");
  await call("updateConfig", { id, name: "Renamed", max_connections: 5 });
  expect(unseal((await stored(id))!.password_sealed, id)).toBe("secret");
  await call("updateConfig", { id, password: "" });
  expect(unseal((await stored(id))!.password_sealed, id)).toBe("");
});

test("a relay without login is accepted: both fields may be empty", async () => {
  expect(await create({ username: "", password: "" })).toMatchObject({ name: "Main" });
});

test("all errors are reported at once", async () => {
  const bad = {
    name: " ",
    host: "not a host",
    port: 0,
    password: 5,
    sender_email: "nobody",
    max_connections: 0,
    dkim: { domain: "x", selector: "a b" },
  };
  expect(await errorsOf(call("createConfig", bad))).toEqual({
    name: ["This field may not be blank."],
    host: ["Enter a valid host name or IP address."],
    port: ["Ensure this value is greater than or equal to 1."],
    username: ["This field is required."],
    password: ["Not a valid string."],
    sender_email: ["Enter a valid email address."],
    max_connections: ["Ensure this value is greater than or equal to 1."],
    dkim: [
      "domain: Enter a valid domain name.",
      "selector: Enter a valid DKIM selector.",
      "private_key: This field is required.",
    ],
  });
  expect(await errorsOf(create({ sender_name: "a\r\nBcc: x@y.z" }))).toEqual({
    sender_name: ["Line breaks and control characters are not allowed."],
  });
});

test("limits of domains: stored in wire form, shown, removed by null", async () => {
  const created = await create({
    domain_limits: [
      { domain: "Limited.Example.", max_per_minute: 100 },
      { domain: "b\u00fccher.example", max_connections: 2, max_per_minute: null },
    ],
  });
  expect(created.domain_limits).toEqual([
    { domain: "limited.example", max_per_minute: 100 },
    { domain: "xn--bcher-kva.example", max_connections: 2 },
  ]);
  const { id } = created;
  await expectShown(created);
  expect(await call("updateConfig", { id, name: "Renamed" })).toMatchObject({ domain_limits: created.domain_limits });
  expect(await call("updateConfig", { id, domain_limits: null })).toMatchObject({ domain_limits: [] });
});

test("limits of domains: invalid domains, duplicates and entries without limits are errors", async () => {
  const domain_limits = [
    { domain: "no domain", max_per_minute: 1 },
    { domain: "a.example", max_per_minute: 1 },
    { domain: "A.example", max_connections: 1 },
    { domain: "b.example" },
    { domain: "c.example/x", max_per_minute: 1 },
  ];
  const { id } = await create();
  const errors = {
    domain_limits: [
      "Item at index 0: domain: Enter a valid domain name.",
      "Item at index 2: domain: a.example stands in the list already.",
      "Item at index 3: Set max_per_minute, max_connections or both.",
      "Item at index 4: domain: Enter a valid domain name.",
    ],
  };
  expect(await errorsOf(create({ domain_limits }))).toEqual(errors);
  expect(await errorsOf(call("updateConfig", { id, domain_limits }))).toEqual(errors);
  const many = Array.from({ length: 101 }, (_, n) => ({ domain: `d${n}.example`, max_per_minute: 1 }));
  expect(await errorsOf(create({ domain_limits: many }))).toEqual({
    domain_limits: ["Ensure this field has no more than 100 elements."],
  });
  expect(await errorsOf(create({ domain_limits: [{ domain: "a.example", max_per_minute: 0 }] }))).toEqual({
    domain_limits: ["Item at index 0: max_per_minute: Ensure this value is greater than or equal to 1."],
  });
});

describe("the bounce mailbox", () => {
  const box = { host: "imap.example.com", username: "bounces", password: "mailbox secret" };
  const shown = {
    host: "imap.example.com",
    port: 993,
    username: "bounces",
    use_tls: true,
    folder: "INBOX",
    processed_folder: "Processed",
    last_error: null,
    last_error_at: null,
  };
  const row = (id: string) =>
    queryOne<{ password_sealed: Buffer }>("select * from bounce_mailboxes where id = $1", [id]);
  const patch = (id: string, bounce_mailbox: object | null) => call<View>("updateConfig", { id, bounce_mailbox });

  test("is shown without its password, in every response; null removes it", async () => {
    const created = await create({ bounce_mailbox: box });
    expect(created.bounce_mailbox).toEqual(shown);
    await expectShown(created);
    const { password_sealed: sealed } = (await row(created.id))!;
    expect(sealed.toString("latin1")).not.toContain("secret");
    expect(unseal(sealed, created.id)).toBe("mailbox secret");
    expect(await patch(created.id, null)).toMatchObject({ bounce_mailbox: null });
    expect(await row(created.id)).toBeUndefined();
  });

  test("a PATCH changes only named fields; the mailbox is read again", async () => {
    const { id } = await create();
    expect(await patch(id, { ...box, port: 143 })).toMatchObject({ bounce_mailbox: { ...shown, port: 143 } });
    await query(
      "update bounce_mailboxes set last_error = 'x', last_error_at = now(), failures = 3, next_attempt_at = 'infinity'",
    );
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const failing = { ...shown, port: 143, last_error: "x", last_error_at: at };
    expect(await call("listConfigs", {})).toMatchObject({ results: [{ bounce_mailbox: failing }] });
    expect(await call("getConfig", { id })).toMatchObject({ bounce_mailbox: failing });
    expect(await patch(id, { folder: "Bounces" })).toMatchObject({
      bounce_mailbox: { ...shown, port: 143, folder: "Bounces" },
    });
    expect(await row(id)).toMatchObject({ revision: 2, failures: 0, next_attempt_at: expect.any(Date) });
    expect(await call("updateConfig", { id, name: "Renamed" })).toMatchObject({
      bounce_mailbox: { folder: "Bounces" },
    });
    expect(await row(id)).toMatchObject({ revision: 2 });
    const usual = { port: null, folder: null, processed_folder: null };
    expect(await patch(id, { ...usual, use_tls: false, password: "again" })).toMatchObject({
      bounce_mailbox: { ...shown, use_tls: false, port: 143 },
    });
    expect(await patch(id, { ...usual, use_tls: null, password: "again" })).toMatchObject({ bounce_mailbox: shown });
  });

  test.each([
    ["host", { host: "imap.attacker.example" }],
    ["port", { port: 1993 }],
    ["username", { username: "other" }],
    ["no TLS any more", { use_tls: false }],
  ])("needs its password for a change of %s", async (_, change) => {
    const { id } = await create({ bounce_mailbox: box });
    expect(await errorsOf(patch(id, change))).toEqual({
      bounce_mailbox: [expect.stringMatching(/^password: Enter the password again/)],
    });
    expect(await call("getConfig", { id })).toMatchObject({ bounce_mailbox: shown });
    expect(await patch(id, { ...change, password: "again" })).toMatchObject({ bounce_mailbox: change });
  });

  test("reports its errors with the others", async () => {
    expect(await errorsOf(create({ bounce_mailbox: {}, port: 0 }))).toEqual({
      port: [expect.any(String)],
      bounce_mailbox: ["host", "username", "password"].map((field) => `${field}: This field is required.`),
    });
    expect(await errorsOf(create({ bounce_mailbox: { ...box, processed_folder: "inbox" } }))).toEqual({
      bounce_mailbox: [expect.stringMatching(/^processed_folder: /)],
    });
    expect(await errorsOf(create({ bounce_mailbox: { ...box, host: "not a host", port: 0 } }))).toEqual({
      bounce_mailbox: [expect.stringMatching(/^port: /)],
    });
    expect(await errorsOf(create({ bounce_mailbox: { ...box, host: "imap.example/x" } }))).toEqual({
      bounce_mailbox: ["host: Enter a valid host name or IP address."],
    });
    const { id } = await create({ bounce_mailbox: box });
    expect(await errorsOf(patch(id, { password: " " }))).toEqual({
      bounce_mailbox: ["password: This field may not be blank."],
    });
  });
});

test("a warm-up needs all of its three fields; a PATCH keeps it, changes it whole, and null ends it and deletes its days", async () => {
  const warmup = { start_per_day: 50, factor: 1.5, until_per_day: 5_000 };
  const { id } = await create({ warmup: { ...warmup, colour: "red" } });
  expect((await call<View>("getConfig", { id })).warmup).toEqual(warmup);
  const day =
    "insert into warmup_ledgers (company_id, smtp_config_id, day, step, taken, full_until) select company_id, id, '2026-01-01', 3, 50, now() from smtp_configs where id = $1";
  await query(day, [id]);
  const ledger = () => query("select step, full_until from warmup_ledgers where smtp_config_id = $1", [id]);
  expect(await call("updateConfig", { id, name: "Renamed" })).toMatchObject({ warmup });
  expect(await ledger()).toEqual([{ step: 3, full_until: expect.any(Date) }]);
  const steady = { start_per_day: 70, factor: 1, until_per_day: 70 };
  expect(await call("updateConfig", { id, warmup: steady })).toMatchObject({ warmup: steady });
  expect(await ledger()).toEqual([{ step: 3, full_until: null }]);
  expect(await call("updateConfig", { id, warmup: null })).toMatchObject({ warmup: null });
  expect(await ledger()).toEqual([]);
});

test.each([
  [{ start_per_day: 50, factor: 2 }],
  [{ start_per_day: 0, factor: 2, until_per_day: 10 }],
  [{ start_per_day: 50, factor: 0.9, until_per_day: 100 }],
  [{ start_per_day: 1.5, factor: 2, until_per_day: 100 }],
  [{ start_per_day: 50, factor: 2, until_per_day: 49 }],
  ["fast"],
])("an invalid warm-up is refused: %j", async (warmup) => {
  expect(await errorsOf(create({ warmup }))).toEqual({ warmup: [expect.any(String)] });
  const { id } = await create();
  expect(await errorsOf(call("updateConfig", { id, warmup }))).toEqual({ warmup: [expect.any(String)] });
});

test("a DKIM key is validated, encrypted, kept by a PATCH without one, and never returned", async () => {
  const dkim = { domain: "Example.com", selector: "mail", private_key: pem("rsa", 1_024) };
  const created = await create({ dkim });
  expect(created.dkim).toEqual({ domain: "example.com", selector: "mail" });
  const updated = await call<View>("updateConfig", {
    id: created.id,
    dkim: { domain: "example.com", selector: "new" },
  });
  expect(updated.dkim).toEqual({ domain: "example.com", selector: "new" });
  expect(unseal((await stored(created.id))!.dkim_key_sealed!, created.id)).toBe(dkim.private_key);
  expect(await call("updateConfig", { id: created.id, dkim: null })).toMatchObject({ dkim: null });
  expect((await stored(created.id))!.dkim_key_sealed).toBeNull();
  expect(await create({ dkim: { ...dkim, private_key: pem("ed25519") } })).toMatchObject({
    dkim: { selector: "mail" },
  });
});

describe("two DKIM keys", () => {
  const key = (type: "rsa" | "ed25519", selector: string) => ({
    domain: "example.com",
    selector,
    private_key: pem(type),
  });
  const named = (...selectors: string[]) => selectors.map((selector) => ({ domain: "example.com", selector }));
  const sealed = async (id: string) =>
    (await query<{ id: string; key_sealed: Buffer }>("select * from dkim_keys where smtp_config_id = $1", [id])).map(
      (row) => unseal(row.key_sealed, row.id),
    );

  test("are shown as an array without their private keys, and kept by a PATCH that names them", async () => {
    const [rsa, ed] = [key("rsa", "r1"), key("ed25519", "e1")];
    const created = await create({ dkim: [rsa, ed] });
    expect(created.dkim).toEqual(named("r1", "e1"));
    await expectShown(created);
    expect(unseal((await stored(created.id))!.dkim_key_sealed!, created.id)).toBe(rsa.private_key);
    expect(await sealed(created.id)).toEqual([ed.private_key]);
    const patch = (dkim: unknown) => call<View>("updateConfig", { id: created.id, dkim });
    expect((await patch(named("e1", "r1"))).dkim).toEqual(named("r1", "e1"));
    expect((await patch([named("r1")[0], key("ed25519", "e2")])).dkim).toEqual(named("r1", "e2"));
    expect(unseal((await stored(created.id))!.dkim_key_sealed!, created.id)).toBe(rsa.private_key);
    expect((await patch(named("e2")[0])).dkim).toEqual(named("e2")[0]);
    expect(await sealed(created.id)).toEqual([]);
    expect((await patch([])).dkim).toBeNull();
  });

  test("become one, and the remaining one the first", async () => {
    const [rsa, ed] = [key("rsa", "r1"), key("ed25519", "e1")];
    const { id } = await create({ dkim: [rsa, ed] });
    await call("updateConfig", { id, dkim: named("e1") });
    expect(unseal((await stored(id))!.dkim_key_sealed!, id)).toBe(ed.private_key);
    expect(await sealed(id)).toEqual([]);
  });

  test.each<[string, string, () => unknown]>([
    [
      "three",
      "Ensure this field has no more than 2 elements.",
      () => [key("rsa", "a"), key("ed25519", "b"), key("rsa", "c")],
    ],
    [
      "two of one algorithm",
      "Two keys must be of different algorithms: one RSA, one Ed25519.",
      () => [key("rsa", "a"), key("rsa", "b")],
    ],
    [
      "two of one name",
      "Two keys need different selectors, because each has its own record.",
      () => [key("rsa", "a"), key("ed25519", "A")],
    ],
    [
      "one without its private half",
      "Item at index 1: private_key: This field is required.",
      () => [key("rsa", "a"), named("b")[0]],
    ],
    [
      "a selector of spaces",
      "Item at index 0: selector: Enter a valid DKIM selector.",
      () => [key("rsa", "a b"), key("ed25519", "b")],
    ],
    [
      "a text for a selector's place",
      "Item at index 0: selector: Not a valid string.",
      () => [{ ...key("rsa", "a"), selector: 5 }],
    ],
  ])("are refused in one sentence: %s", async (_, sentence, dkim) => {
    expect(await errorsOf(create({ dkim: dkim() }))).toEqual({ dkim: [sentence] });
  });
});

test.each([
  ["no key", "private_key: Not a valid private key in PEM format.", () => "nonsense"],
  ["a key that cannot sign mail", "private_key: Only RSA and Ed25519 keys can sign mail.", () => pem("ec")],
  ["a short key", "private_key: An RSA key must have at least 1024 bits.", () => pem("rsa", 512)],
])("%s is refused for DKIM", async (_name, text, key) => {
  expect(await errorsOf(create({ dkim: { domain: "example.com", selector: "s", private_key: key() } }))).toEqual({
    dkim: [text],
  });
});

test("a new default replaces the old one", async () => {
  const first = await create({ is_default: true });
  const second = await create({ is_default: true });
  expect(await call("getConfig", { id: first.id })).toMatchObject({ is_default: false });
  await call("updateConfig", { id: first.id, is_default: true });
  expect(await call("getConfig", { id: second.id })).toMatchObject({ is_default: false });
  expect(await call("getConfig", { id: first.id })).toMatchObject({ is_default: true });
});

test("one configuration is the default after many were made it concurrently, and none is refused", async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => create({ is_default: true })));
  await Promise.all(made.map(({ id }) => call("updateConfig", { id, is_default: true })));
  const defaults = await query("select from smtp_configs where company_id = $1 and is_default", [meta.companyId]);
  expect(defaults).toHaveLength(1);
});

test("another company's configuration is 404", async () => {
  const { id } = await create();
  meta = { companyId: newId(), role: "owner" };
  await expect(call("getConfig", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(call("updateConfig", { id, name: "x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(call("removeConfig", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a deleted configuration is 404", async () => {
  const { id } = await create();
  expect(await call("removeConfig", { id })).toBeNull();
  await expect(call("getConfig", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("private networks are refused unless permitted", async () => {
  const { config } = await import("../../../services/lib/config.ts");
  Object.assign(config(), { ALLOW_PRIVATE_NETWORKS: false });
  try {
    const help = expect.stringMatching(/not on the public internet.*ALLOWED_PRIVATE_HOSTS.*ALLOW_PRIVATE_NETWORKS/);
    expect(await errorsOf(create({ host: "127.0.0.1" }))).toMatchObject({ host: [help] });
    const result = await call<object>("validate", { ...given, host: "10.0.0.1" });
    expect(result).toMatchObject({ valid: false, stage: "dns", message: help });
    Object.assign(config(), { ALLOWED_PRIVATE_HOSTS: "localhost, 127.0.0.0/8" });
    expect(await create({ host: "127.0.0.1" })).toMatchObject({ host: "127.0.0.1" });
    server = await startSmtpServer();
    const { host, port } = server;
    const tried = await call<object>("validate", { ...given, host, port, username: "", use_tls: false });
    expect(tried).toMatchObject({ valid: true, stage: "ok" });
  } finally {
    Object.assign(config(), { ALLOW_PRIVATE_NETWORKS: true, ALLOWED_PRIVATE_HOSTS: undefined });
  }
});

test("the hourly capacity of a company without a limit is null", async () => {
  expect(await call("hourRoom", {})).toEqual({ limit: null, used: 0, room: null, retry_after_seconds: 0 });
});

describe("validation", () => {
  const login = { username: "user", password: "right-password" };

  async function validate(options: SmtpServerOptions, more: object = {}) {
    server = await startSmtpServer(options);
    return call<Record<string, unknown>>("validate", { host: "localhost", port: server.port, ...login, ...more });
  }

  afterAll(() => setDefaultCACertificates(getCACertificates("bundled")));

  test("succeeds with working TLS and login", async () => {
    const probe = await startSmtpServer({ tls: "starttls", auth: { user: login.username, pass: login.password } });
    setDefaultCACertificates([...getCACertificates("bundled"), probe.certificate.cert]);
    const { certificate } = probe;
    await probe.stop();
    const result = await validate({
      tls: "starttls",
      auth: { user: login.username, pass: login.password },
      certificate,
    });
    expect(result).toEqual({
      valid: true,
      stage: "ok",
      message: "The server accepts mail.",
      duration_ms: expect.any(Number),
    });
  });

  test("tries a stored configuration with its own login, and another company's is 404", async () => {
    server = await startSmtpServer({ auth: { user: login.username, pass: login.password } });
    const { host, port } = server;
    const plain = { ...login, host, port, use_tls: false };
    const { id } = await create(plain);
    expect(await call("validateConfig", { id })).toMatchObject({ valid: true, stage: "ok" });
    const { id: wrong } = await create({ ...plain, password: "wrong" });
    expect(await call("validateConfig", { id: wrong })).toMatchObject({ valid: false, stage: "auth" });
    meta = { ...meta, companyId: newId() };
    await expect(call("validateConfig", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("reports a closed port", async () => {
    server = await startSmtpServer();
    const { port } = server;
    await server.stop();
    server = undefined;
    const result = await call<object>("validate", { host: "127.0.0.1", port, ...login });
    expect(result).toMatchObject({ valid: false, stage: "connect" });
  });

  test.each(["127.0.0.1/x", "localhost:25", "ann@localhost", "local%68ost"])(
    "refuses the host name %s",
    async (host) => {
      expect(await errorsOf(call("validate", { host, port: 25, ...login }))).toEqual({
        host: ["Enter a valid host name or IP address."],
      });
    },
  );

  test("refuses a name without address", async () => {
    const result = await call<object>("validate", { host: "no-such-host.invalid", port: 25, ...login });
    expect(result).toMatchObject({ valid: false, stage: "dns" });
  });

  test("reports missing STARTTLS, and an untrusted certificate", async () => {
    expect(await validate({})).toMatchObject({ valid: false, stage: "tls" });
    await server!.stop();
    expect(await validate({ tls: "starttls" })).toMatchObject({
      valid: false,
      stage: "tls",
      message: expect.stringMatching(/certificate/),
    });
  });

  test("reports a server that continues in plain text when TLS starts, without library internals", async () => {
    const plain = createServer((socket) => {
      socket.write("220 plain\r\n");
      socket.on("data", (data) => {
        socket.write(`${data}`.startsWith("EHLO") ? "250-plain\r\n250 STARTTLS\r\n" : "220 2.0.0 Go on\r\n");
      });
      socket.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(plain, "listening");
    const { port } = plain.address() as AddressInfo;
    const result = await call<{ message: string }>("validate", { host: "localhost", port, ...login });
    expect(result).toMatchObject({ valid: false, stage: "tls" });
    expect(result.message).toBe(`No TLS with the SMTP server localhost:${port}: wrong version number`);
    plain.close();
  });

  const isNotQuoted = async (greeting: string, toEhlo: string, toMail: string) => {
    const other = createServer((socket) => {
      socket.write(greeting);
      socket.on("data", (data) => socket.write(`${data}`.startsWith("EHLO") ? toEhlo : toMail));
      socket.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    try {
      const where = { host: "127.0.0.1", port, ...login, use_tls: false, username: "" };
      const result = await call<object>("validate", where);
      expect(result).toMatchObject({ valid: false, stage: "connect" });
      expect(JSON.stringify(result)).not.toMatch(/secret/i);
    } finally {
      other.close();
    }
  };
  // Three of the attempts end by their time-out.
  sideBySide({
    "a server that never greets is answered for within 10 seconds": async () => {
      const silent = await startSmtpServer({
        answer: ({ verb }) => (verb === "CONNECT" ? { hang: true } : undefined),
      });
      const where = { host: "localhost", port: silent.port, ...login, use_tls: false };
      const result = await call<{ duration_ms: number }>("validate", where);
      expect(result).toMatchObject({ valid: false, stage: "connect" });
      expect(result.duration_ms).toBeLessThan(10_000);
      await silent.stop();
    },
    ...Object.fromEntries(
      [
        ["at once", "SSH-2.0-secret_9.2\r\n", "", ""],
        ["in two lines", "220-secret\r\nsecret banner\r\n", "", ""],
        ["to EHLO", "220 hello\r\n", "-ERR secret\r\n", ""],
        ["behind its answer to EHLO", "220 hello\r\n", "250 ok\r\n+OK secret\r\n", "250 ok\r\n+OK secret\r\n"],
        ["to MAIL", "220 hello\r\n", "250 ok\r\n", "+OK secret\r\n"],
      ].map(([when, ...answers]) => [
        `a service that says ${when} what is no SMTP is not quoted`,
        () => isNotQuoted(...(answers as [string, string, string])),
      ]),
    ),
  });

  test("succeeds with the one offered login mechanism that works", async () => {
    const auth = { user: login.username, pass: login.password, has: ["LOGIN"], offers: ["PLAIN", "LOGIN"] };
    expect(await validate({ auth }, { use_tls: false })).toMatchObject({ valid: true, stage: "ok" });
  });

  test("fails for a login at a server that offers none", async () => {
    const message = expect.stringContaining("offers no login (AUTH). Leave `username` and `password` empty");
    expect(await validate({}, { use_tls: false })).toMatchObject({ valid: false, stage: "auth", message });
  });

  test("names the setting for `use_tls` at a server without STARTTLS", async () => {
    const message = expect.stringContaining("offers no STARTTLS. To send without encryption set `use_tls` to false");
    expect(await validate({})).toMatchObject({ valid: false, stage: "tls", message });
  });

  test("reports a wrong password without returning it", async () => {
    const result = await validate({ auth: { user: "user", pass: "other" } }, { use_tls: false });
    expect(result).toMatchObject({ valid: false, stage: "auth" });
    expect(JSON.stringify(result)).not.toContain(login.password);
  });

  test.each([
    ["530 5.7.0 Must issue a STARTTLS command first", "auth"],
    ["550 5.7.1 Client was not authenticated", "auth"],
    ["553 5.1.8 Sender address rejected", "connect"],
    ["451 4.3.2 Try again later", "connect"],
  ])("fails in the server's words if MAIL is answered with `%s`", async (text, stage) => {
    const answer: SmtpServerOptions["answer"] = ({ verb }) => (verb === "MAIL" ? text : undefined);
    const result = await validate({ answer }, { use_tls: false, username: "" });
    expect(result).toMatchObject({ valid: false, stage, message: expect.stringContaining(text) });
    expect(server!.protocolErrors).toEqual([]);
  });

  test.each([
    [{ username: "me@login.example" }, "me@login.example"],
    [{ username: "me" }, "postmaster@localhost"],
    [{ host: "127.0.0.1" }, "postmaster@[127.0.0.1]"],
    [{ sender_email: "news@bücher.example" }, "news@xn--bcher-kva.example"],
  ])("tries the sender with %j: %s, and takes it back by RSET", async (more, sender) => {
    const verbs: string[] = [];
    let from = "";
    const answer: SmtpServerOptions["answer"] = (command) => {
      verbs.push(command.verb);
      if (command.verb === "MAIL") from = command.from;
      return undefined;
    };
    const { username: user } = { ...login, ...more };
    const result = await validate({ answer, auth: { user, pass: login.password } }, { use_tls: false, ...more });
    expect(result).toMatchObject({ valid: true, stage: "ok" });
    expect(from).toBe(sender);
    expect(verbs.slice(0, 5)).toEqual(["CONNECT", "EHLO", "AUTH", "MAIL", "RSET"]);
    expect(server!.accepted).toBe(0);
  });

  test("reports a server that closes the connection at MAIL", async () => {
    const answer: SmtpServerOptions["answer"] = ({ verb }) => (verb === "MAIL" ? { drop: true } : undefined);
    const result = await validate({ answer }, { use_tls: false, username: "" });
    expect(result).toMatchObject({ valid: false, stage: "connect" });
  });

  test("follows `tls_mode` on any port: implicit TLS is begun at once", async () => {
    const result = await validate({ tls: "implicit" }, { tls_mode: "implicit" });
    expect(result).toMatchObject({ stage: "tls", message: expect.stringMatching(/certificate/) });
    await server!.stop();
    expect(await validate({}, { tls_mode: "none", username: "" })).toMatchObject({ valid: true });
  });

  test("is limited to 20 a minute per company", async () => {
    // Nothing listens there: a refusal is faster than an answer of the DNS.
    const tryIt = () => call("validate", { host: "127.0.0.1", port: 9, ...login });
    await Promise.all(Array.from({ length: 20 }, tryIt));
    await expect(tryIt()).rejects.toMatchObject({ code: "THROTTLED", data: { retryAfterSeconds: expect.any(Number) } });
    meta = { companyId: newId(), role: "owner" };
    await expect(tryIt()).resolves.toMatchObject({ valid: false });
  });
});
