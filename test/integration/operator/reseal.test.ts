/** Changing SECRET_KEY like an operator: both keys side by side, reseal, remove the old one. */
import { newId } from "../../../services/lib/ids.ts";
import type { App } from "../../support/app.ts";

const OLD = "the secret of the years before";
const NEW = "the secret from today on";
const INSTALLATION = "00000000-0000-0000-0000-000000000001";

/** Loads the modules of a process with these secrets. */
function processWith(secrets: { SECRET_KEY: string; SECRET_KEY_OLD?: string }) {
  jest.resetModules();
  const { SECRET_KEY_OLD = "" } = secrets;
  Object.assign(process.env, { DATABASE_URL: "postgres://nowhere/x", ...secrets, SECRET_KEY_OLD });
  return import("../../../services/lib/secrets.ts");
}

describe("changing SECRET_KEY", () => {
  const smtp = newId();
  const further = newId();
  const endpoint = newId();
  const user = newId();
  const source = newId();
  const erasure = newId();
  let app: App;
  let query: <T>(text: string, values?: unknown[]) => Promise<T[]>;

  beforeAll(async () => {
    const { seal } = await processWith({ SECRET_KEY: OLD });
    const [password, dkim, hook] = [seal("pass", smtp), seal("dkim key", smtp), seal("whsec_x", endpoint)];
    const [mailbox, address] = [seal("imap pass", smtp), seal("token", source)];
    const secondKey = seal("second key", further);
    const mailKey = seal("the installation's key", INSTALLATION);
    const factor = seal("TOTPSECRET", user);
    const erased = seal("ann@example.com", erasure);
    await processWith({ SECRET_KEY: NEW, SECRET_KEY_OLD: OLD });
    const { startApp } = await import("../../support/app.ts");
    app = await startApp({ services: ["operator"], env: { SECRET_KEY: NEW, SECRET_KEY_OLD: OLD } });
    ({ query } = await import("../../../models/database/db.ts"));
    const company = newId();
    await query("insert into companies (id, name, plan) values ($1, 'Acme', 'pro')", [company]);
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email, password_sealed, dkim_key_sealed)
       values ($1, $2, 'S', 'h', 25, 'a@b.example', $3, $4)`,
      [smtp, company, password, dkim],
    );
    await query(
      `insert into dkim_keys (id, company_id, smtp_config_id, domain, selector, algorithm, key_sealed, active)
       values ($1, $2, $3, 'b.example', 's', 'ed25519', $4, true)`,
      [further, company, smtp, secondKey],
    );
    await query(
      `insert into bounce_mailboxes (id, company_id, host, port, username, password_sealed, use_tls, folder,
         processed_folder, origin)
       values ($1, $2, 'h', 993, 'u', $3, true, 'INBOX', 'Processed', $1)`,
      [smtp, company, mailbox],
    );
    await query(
      `insert into inbound_sources (id, company_id, provider, token_hash, token_sealed) values ($1, $2, 'brevo', '', $3)`,
      [source, company, address],
    );
    await query(
      "insert into erased_addresses (id, company_id, address_hash, address_sealed) values ($1, $2, '\\x01', $3)",
      [erasure, company, erased],
    );
    await query("update installation set mail_key_sealed = $1", [mailKey]);
    await query(
      "insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values ($1, $2, 'https://x', '{}', $3)",
      [endpoint, company, hook],
    );
    await query("insert into users (id, email, password_hash, totp_secret_sealed) values ($1, 'a@b.example', '', $2)", [
      user,
      factor,
    ]);
  });
  afterAll(() => app.stop());

  const reseal = () => app.broker.call<{ what: string }[], object>("operator.reseal", {});
  const counts = (rows: object[]) => rows.map((row) => Object.values(row).slice(1));

  test("secrets sealed by the old key are readable, are resealed once, and then stay", async () => {
    const { unseal } = await import("../../../services/lib/secrets.ts");
    const [before] = await query<{ password_sealed: Buffer }>("select password_sealed from smtp_configs");
    expect(unseal(before!.password_sealed, smtp)).toBe("pass");

    const first = await reseal();
    expect(first.map(({ what }) => what)).toEqual([
      "SMTP passwords",
      "DKIM keys",
      "further DKIM keys",
      "passwords of mailboxes",
      "webhook secrets",
      "former webhook secrets",
      "addresses that are being erased",
      "addresses of inbound sources",
      "secrets of inbound sources",
      "second factors",
      "the key of ids in mails",
    ]);
    expect(counts(first)).toEqual([
      [1, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
      [0, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
      [0, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
    ]);
    expect(counts(await reseal())).toEqual([
      [0, 1, 0],
      [0, 1, 0],
      [0, 1, 0],
      [0, 1, 0],
      [0, 1, 0],
      [0, 0, 0],
      [0, 1, 0],
      [0, 1, 0],
      [0, 0, 0],
      [0, 1, 0],
      [0, 1, 0],
    ]);
  });

  test("afterwards a process without the old key reads everything", async () => {
    const [row] = await query<{ password_sealed: Buffer; dkim_key_sealed: Buffer }>("select * from smtp_configs");
    const [secondKey] = await query<{ key_sealed: Buffer }>("select * from dkim_keys");
    const [hook] = await query<{ secret_sealed: Buffer }>("select * from webhook_endpoints");
    const [installation] = await query<{ mail_key_sealed: Buffer }>("select * from installation");
    const { unseal } = await processWith({ SECRET_KEY: NEW });
    expect(unseal(installation!.mail_key_sealed, INSTALLATION)).toBe("the installation's key");
    expect(unseal(row!.password_sealed, smtp)).toBe("pass");
    expect(unseal(row!.dkim_key_sealed, smtp)).toBe("dkim key");
    expect(unseal(secondKey!.key_sealed, further)).toBe("second key");
    expect(unseal(hook!.secret_sealed, endpoint)).toBe("whsec_x");
  });

  test("secrets sealed by neither key are counted and left unchanged", async () => {
    const strange = Buffer.alloc(64, 7);
    await query("update smtp_configs set dkim_key_sealed = $1", [strange]);
    expect(counts(await reseal())[1]).toEqual([0, 0, 1]);
    const [row] = await query<{ dkim_key_sealed: Buffer }>("select dkim_key_sealed from smtp_configs");
    expect(row!.dkim_key_sealed.equals(strange)).toBe(true);
  });

  test("secrets that no key opens are counted at start", async () => {
    const { unreadableSecrets } = await import("../../../services/operator/reseal.ts");
    const { openDatabase, closeDatabase } = await import("../../../models/database/db.ts");
    // Earlier tests have reloaded these modules.
    openDatabase(app.databaseUrl, 5);
    expect(await unreadableSecrets()).toBe(1);
    await closeDatabase();
  });
});
