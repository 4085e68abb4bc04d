import { randomUUID } from "node:crypto";
import { query } from "../../../models/database/db.ts";
import { call } from "../../../services/call.ts";
import { BRANDING_KEYS, brandingErrors, type StoredBranding } from "../../../services/lib/branding/branding.ts";
import { newId } from "../../../services/lib/ids.ts";
import { type App, startApp } from "../../support/app.ts";
import { refusal } from "../../support/refusal.ts";
import { FORBIDDEN, join, NOT_FOUND, register, type Tenant } from "./tenant.ts";

async function smtpConfig(companyId: string): Promise<string> {
  const id = newId();
  await query(
    "insert into smtp_configs (id, company_id, name, host, port, sender_email) values ($1, $2, 'a', 'localhost', 25, 'a@example.com')",
    [id, companyId],
  );
  return id;
}

describe("company settings", () => {
  let app: App;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await startApp({ services: ["accounts"] });
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    tenant = await register(app.broker);
  });

  const get = (by = tenant) => call(app.broker, "accounts.getCompany", { id: by.id }, { meta: by.meta });
  const patch = (changes: object, meta = tenant.meta, id = tenant.id) =>
    app.broker.call<object, object>("accounts.updateCompany", { id, ...changes }, { meta });

  test("have the values set at registration", async () => {
    expect(await get()).toEqual(tenant.company);
  });

  test("change individually", async () => {
    const smtp = await smtpConfig(tenant.id);
    const changes = {
      name: "Difference Engines",
      reply_to_email: "hello@example.com",
      website: "https://example.com/",
      footer_text: "Example Street 1\nLondon",
      double_opt_in: true,
      default_smtp_config_id: smtp,
      tracking_enabled: false,
    };
    for (const [field, value] of Object.entries(changes)) {
      const before = await get();
      const after = await patch({ [field]: value });
      expect({ ...after, updated_at: null }).toEqual({ ...before, [field]: value, updated_at: null });
    }
    expect(await get()).toMatchObject(changes);
    const emptied = { reply_to_email: null, website: null, footer_text: "", default_smtp_config_id: null };
    expect(await patch(emptied)).toMatchObject(emptied);
    expect(await patch({})).toMatchObject(emptied);
  });

  test("the bounce guard has defaults, a change is merged, and null resets them", async () => {
    const defaults = { hard_bounce_percent: 10, complaint_percent: 0.3, after: 200 };
    expect(await get()).toMatchObject({ guard: defaults });
    expect(await patch({ guard: { after: 50 } })).toMatchObject({ guard: { ...defaults, after: 50 } });
    const changed = { hard_bounce_percent: 2.5, complaint_percent: 0, after: 50 };
    expect(await patch({ guard: { hard_bounce_percent: 2.5, complaint_percent: 0 } })).toMatchObject({
      guard: changed,
    });
    expect(await get()).toMatchObject({ guard: changed });
    for (const wrong of [
      { after: 0 },
      { after: 1.5 },
      { complaint_percent: -1 },
      { hard_bounce_percent: 101 },
      "off",
    ]) {
      expect(await refusal(patch({ guard: wrong }))).toEqual([400, { guard: [expect.any(String)] }]);
    }
    expect(await patch({ guard: { colour: "red" } })).toMatchObject({ guard: changed });
    expect(((await get()) as { guard: object }).guard).toEqual(changed);
    expect(await patch({ guard: { after: null } })).toMatchObject({ guard: { ...changed, after: 200 } });
    expect(await patch({ guard: { hard_bounce_percent: null, complaint_percent: null, after: 1 } })).toMatchObject({
      guard: { ...defaults, after: 1 },
    });
    expect(await patch({ guard: null })).toMatchObject({ guard: defaults });
  });

  test("branding is merged, reset by null, and refused if unreadable", async () => {
    const nothing = Object.fromEntries(BRANDING_KEYS.map((key) => [key, null]));
    expect(await get()).toMatchObject({ branding: nothing });
    expect(await patch({ branding: { name: " Lantern ", color: "#7A1F3D" } })).toMatchObject({
      branding: { ...nothing, name: "Lantern", color: "#7A1F3D" },
    });
    const more = {
      logo_url: "https://cdn.example/l.png",
      background: "#fffaf0",
      text: "#333333",
      heading_font: "georgia",
      font: "verdana",
      button_radius: 0,
      footer_text: "A\nB",
      language: "de",
    };
    expect(await patch({ branding: more })).toMatchObject({ branding: { ...more, name: "Lantern", color: "#7A1F3D" } });
    expect(await patch({ branding: { name: null, nobodys: 1 } })).toMatchObject({
      branding: { ...more, name: null, color: "#7A1F3D" },
    });
    const changed = ((await get()) as { branding: object }).branding;
    for (const wrong of [
      { color: "#ffff00" },
      { background: "#7a1f3d", text: null },
      // Readable by itself, but not on its default background.
      { color: "#ffffff", background: null },
      { text: "#eeeeee" },
      { on_primary: "#7a1f3d" },
      { font: "comic" },
      { button_radius: 31 },
      { color: "red" },
      { background: "#fff" },
      { logo_url: "javascript:alert(1)" },
      { logo_url: "https://a;script-src/l.png" },
      { logo_url: "https://user@cdn.example/l.png" },
      { language: "tlh" },
      { name: "two\nlines" },
      { name: "" },
      "blue",
    ]) {
      expect(await refusal(patch({ branding: wrong }))).toEqual([400, { branding: [expect.any(String)] }]);
    }
    expect(((await get()) as { branding: object }).branding).toEqual(changed);
    expect(await patch({ branding: null })).toMatchObject({ branding: nothing });
  });

  test("concurrent changes of colours cannot make text unreadable", async () => {
    await patch({ branding: { color: "#000000", background: "#ffffff" } });
    const both = [{ color: "#ffffff" }, { background: "#000000" }].map((branding) => refusal(patch({ branding })));
    for (const outcome of await Promise.all(both)) expect(outcome).toMatchObject([400, {}]);
    const halves = [{ color: "#777777", background: "#000000" }, { background: "#dddddd" }];
    await Promise.allSettled(halves.map((branding) => patch({ branding })));
    const { color, background } = ((await get()) as { branding: StoredBranding }).branding;
    expect(brandingErrors({ color, background })).toEqual([]);
  });

  test("the time zone must be known to the database", async () => {
    expect(await get()).toMatchObject({ timezone: "UTC" });
    expect(await patch({ timezone: "Pacific/Kiritimati" })).toMatchObject({ timezone: "Pacific/Kiritimati" });
    for (const wrong of ["Mars/Base", "", "+02:00", "posix/Europe/Berlin", null]) {
      expect(await refusal(patch({ timezone: wrong }))).toEqual([400, { timezone: [expect.any(String)] }]);
    }
  });

  test("define what public forms may set, and where they may redirect", async () => {
    const changed = await patch({
      form_attributes: ["city", "city"],
      form_hosts: ["Example.org", "bücher.example:8080"],
    });
    expect(changed).toMatchObject({
      form_attributes: ["city"],
      form_hosts: ["example.org", "xn--bcher-kva.example:8080"],
    });
    const wrong = {
      form_attributes: ["email", "website", " x", "__proto__"],
      form_hosts: ["https://example.org", "a b", "x@example.org", "a/b", "%65xample.org", "example.org%2fx"],
    };
    expect(await refusal(patch(wrong))).toEqual([
      400,
      {
        form_attributes: [
          '"email" is a field of every form.',
          '"website" is a field of every form.',
          '" x" is not a valid name.',
          '"__proto__" is not a valid name.',
        ],
        form_hosts: wrong.form_hosts.map((host) => `"${host}" is not a host.`),
      },
    ]);
    await query("insert into subscribers (company_id, email, attributes) values ($1, 'a@x.org', $2)", [
      tenant.company.id,
      { Town: "Bonn", Website: "x" },
    ]);
    expect(await patch({ form_attributes: ["town", "Town", "city"] })).toMatchObject({
      form_attributes: ["Town", "city"],
    });
    expect(await patch({ form_attributes: null, form_hosts: null })).toMatchObject({
      form_attributes: [],
      form_hosts: [],
    });
  });

  test("ignore unknown and read-only fields", async () => {
    const sent = { plan: "free", created_at: "2020-01-01T00:00:00Z", sending_paused_at: null, colour: "red" };
    expect(await patch(sent)).toMatchObject({ created_at: tenant.company.created_at });
    expect((await call(app.broker, "accounts.planOf", {}, tenant)).plan).toBe("unlimited");
  });

  test("report all errors at once", async () => {
    const missing = randomUUID();
    const wrong = {
      name: "",
      reply_to_email: "hello",
      website: "javascript:alert(1)",
      footer_text: "x".repeat(2_001),
      double_opt_in: true,
      default_smtp_config_id: missing,
      tracking_enabled: "yes",
    };
    expect(await refusal(patch(wrong))).toEqual([
      400,
      {
        name: ["This field may not be blank."],
        reply_to_email: ["Enter a valid email address."],
        website: ["Enter a valid URL."],
        footer_text: ["Ensure this field has no more than 2000 characters."],
        double_opt_in: ["An SMTP configuration is needed to send confirmation mails. Create one first."],
        default_smtp_config_id: [`Invalid pk "${missing}" - object does not exist.`],
        tracking_enabled: ["Must be a valid boolean."],
      },
    ]);
    expect(await refusal(patch({ name: null, default_smtp_config_id: "1" }))).toEqual([
      400,
      { name: ["This field may not be null."], default_smtp_config_id: ["Must be a valid UUID."] },
    ]);
    expect(await get()).toEqual(tenant.company);
  });

  test("refuse an SMTP configuration of another company", async () => {
    const other = await register(app.broker);
    const smtp = await smtpConfig(other.id);
    expect(await refusal(patch({ default_smtp_config_id: smtp, double_opt_in: true }))).toEqual([
      400,
      {
        default_smtp_config_id: [`Invalid pk "${smtp}" - object does not exist.`],
        double_opt_in: ["An SMTP configuration is needed to send confirmation mails. Create one first."],
      },
    ]);
  });

  test("clear a default SMTP configuration that is deleted", async () => {
    const smtp = await smtpConfig(tenant.id);
    await patch({ default_smtp_config_id: smtp });
    await query("delete from smtp_configs where company_id = $1 and id = $2", [tenant.id, smtp]);
    expect(await get()).toMatchObject({ id: tenant.id, default_smtp_config_id: null });
  });

  test("are visible to all members and keys, and changed by owners, admins and keys", async () => {
    const admin = await join(tenant, "admin");
    const member = await join(tenant, "member");
    const made = await call(app.broker, "accounts.createKey", { id: tenant.id, name: "Key" }, tenant);
    const key = { companyId: tenant.id, apiKeyId: made.id };
    for (const meta of [admin.meta, member.meta, key]) {
      expect(await get({ ...tenant, meta })).toMatchObject({ id: tenant.id });
    }
    expect(await patch({ name: "By an admin" }, admin.meta)).toMatchObject({ name: "By an admin" });
    expect(await patch({ name: "By a key" }, key)).toMatchObject({ name: "By a key" });
    expect(await refusal(patch({ name: "" }, member.meta))).toEqual(FORBIDDEN);
  });

  test("are 404 for another company", async () => {
    const other = await register(app.broker);
    expect(await refusal(get({ ...tenant, id: other.id }))).toEqual(NOT_FOUND);
    expect(await refusal(patch({ name: "Mine" }, tenant.meta, other.id))).toEqual(NOT_FOUND);
    expect(await get(other)).toEqual(other.company);
  });
});
