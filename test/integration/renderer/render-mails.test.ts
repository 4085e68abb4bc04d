import { generateKeyPairSync } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { query } from "../../../models/database/db.ts";
import { broadcast, call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { seal } from "../../../services/lib/secrets.ts";
import { readPersonToken } from "../../../services/lib/tokens/person-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { campaign, media, smtpConfig } from "../../support/campaign-rows.ts";
import { faultsOfBytes, fieldOf, read } from "../../support/message.ts";

const COMPANY = newId();
const recipient = () => ({ id: newId(), email: "bob@example.com", first_name: "Bob" });

let app: App;
beforeAll(async () => {
  app = await startApp({ services: ["renderer"] });
  await query("insert into companies (id, name, plan) values ($1, 'ACME', 'unlimited')", [COMPANY]);
});
afterAll(() => app.stop());

type Recipients = Parameters<typeof render>[1];
async function render(campaignId: string, recipients: (ReturnType<typeof recipient> & Record<string, unknown>)[]) {
  const { mails } = await call(app.broker, "renderer.renderMails", { campaignId, recipients });
  return mails.map((mail) => (typeof mail === "function" ? mail() : mail));
}

/** Returns the one requested message, as bytes. */
async function message(
  campaignId: string,
  to: Recipients[number] = recipient(),
  which: "raw" | "copy" = "raw",
): Promise<Buffer> {
  const [mail] = await render(campaignId, [to]);
  if (!mail?.ok) throw new Error(mail?.error);
  return Buffer.from(`${mail[which]}${mail.tail ?? ""}`, "latin1");
}

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const p = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  return { privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })), record: `v=DKIM1; k=rsa; p=${p}` };
}

async function dkimResult(mail: Buffer, record: string): Promise<string | undefined> {
  const { results } = await dkimVerify(mail, { resolver: async () => [[record]] });
  return results[0]?.status.result;
}

describe("renderer.renderMails", () => {
  test("makes a message that an independent parser reads as intended", async () => {
    const body = '<p>Hi <a href="https://example.com/x">[[first_name]]</a> [[plan]] [[company.name]]</p>';
    const to = { ...recipient(), attributes: { plan: "pro" } };
    const mail = await message(await campaign({ companyId: COMPANY, body }), to);
    expect(faultsOfBytes(mail)).toEqual([]);
    const parsed = await read(mail);
    expect(parsed.subject).toBe("Hi Bob");
    expect(parsed.from?.text).toBe('"Ann" <ann@example.com>');
    expect(parsed.messageId).toBe(`<${to.id}@example.com>`);
    expect(parsed.text).toContain("Hi Bob (https://example.com/x) pro ACME");
    expect(parsed.html).toMatch(/href="http:\/\/localhost:\d*\/api\/emails\/public\/click\/[\w-]{36}\/"/);
    expect(parsed.html).toMatch(/\/open\/[\w-]{36}\.gif/);
  });

  test("keeps the order of the recipients, and one that cannot be rendered fails no other", async () => {
    const recipients = [recipient(), { ...recipient(), email: "a@b\r\nBcc: c@d.example" }, recipient()];
    const mails = await render(await campaign({ companyId: COMPANY }), recipients);
    expect(mails.map((mail) => mail.ok || mail.error)).toEqual([true, "The address is not valid.", true]);
    for (const at of [0, 2]) {
      const mail = mails[at]!;
      expect(mail.ok && String(mail.raw)).toContain(`<${recipients[at]!.id}@`);
    }
  });

  test("a chunk of recipients with very many values is rendered like any other", async () => {
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}`, Array(100).fill("")]));
    const recipients = Array.from({ length: 250 }, () => ({ ...recipient(), attributes }));
    const mails = await render(await campaign({ companyId: COMPANY }), recipients);
    expect(mails.every(({ ok }) => ok)).toBe(true);
  });

  test("slow signing lets other work of the process run in between", async () => {
    const body = `[[#each x]]${"[[#if y]][[/if]]".repeat(400)}[[/each]]`;
    const attributes = { x: Array.from({ length: 150 }, () => 1) };
    const dkim = { domain: "example.com", selector: "s1", privateKey: keyPair().privateKey };
    const id = await campaign({ companyId: COMPANY, body, smtpConfigId: await smtpConfig(COMPANY, dkim) });
    await render(id, [recipient()]);
    let ticks = 0;
    const others = setInterval(() => ticks++, 1);
    const mails = await render(
      id,
      Array.from({ length: 60 }, () => ({ ...recipient(), attributes })),
    );
    clearInterval(others);
    expect(mails.every(({ ok }) => ok)).toBe(true);
    // Without a pause between emails there would be one, at the end.
    expect(ticks).toBeGreaterThan(2);
  });

  test("a campaign that does not exist or cannot be rendered is an error for each recipient", async () => {
    const broken = await campaign({ companyId: COMPANY, body: "[[#if x]]" });
    const mails = [...(await render(newId(), [recipient(), recipient()])), ...(await render(broken, [recipient()]))];
    expect(mails).toEqual([
      { ok: false, error: "The campaign no longer exists." },
      { ok: false, error: "The campaign no longer exists." },
      { ok: false, error: "The template cannot be rendered: [[#if …]] is never closed at line 1, column 1." },
    ]);
  });

  test("a preferences link belongs to the subscriber; a recipient who is not a subscriber gets the unsubscribe page", async () => {
    const id = await campaign({ companyId: COMPANY, tracking: false });
    const subscriberId = newId();
    const preferences = async (to: Recipients[number]) =>
      /href="([^"]*)"[^>]*>Preferences/.exec((await read(await message(id, to))).html)?.[1];
    const url = await preferences({ ...recipient(), subscriber_id: subscriberId });
    const token = /\/preferences\/([\w-]+)\/$/.exec(url!)?.[1];
    expect(readPersonToken("preferences", token!)).toMatchObject({ companyId: COMPANY, subscriberId, expired: false });
    const nobody = recipient();
    expect(await preferences(nobody)).toMatch(new RegExp(`/unsubscribe/${nobody.id}/$`));
  });
});

describe("links", () => {
  const links = async (id: string) =>
    (await query<{ links: string[] }>("select links from campaign_contents where campaign_id = $1", [id]))[0]?.links;

  test("are kept with the campaign at its first email", async () => {
    const body = '<a href="https://example.com/1?a=1&amp;b=2">1</a><a href="https://example.com/[[x]]">2</a>';
    const id = await campaign({ companyId: COMPANY, body });
    await render(id, [recipient()]);
    expect(await links(id)).toEqual(["https://example.com/1?a=1&b=2", "https://example.com/[[x]]"]);
  });

  test("keep their numbers when the campaign is compiled again", async () => {
    const id = await campaign({
      companyId: COMPANY,
      body: '<a href="https://example.com/new">n</a><a href="https://example.com/old">o</a>',
    });
    await query("update campaign_contents set links = $2 where campaign_id = $1", [
      id,
      ["https://example.com/gone", "https://example.com/old"],
    ]);
    const { html } = await read(await message(id));
    expect(html).toContain('<a href="https://example.com/new">');
    expect(html).toMatch(/\/click\/[\w-]{36}\/">o<\/a>/);
    expect(await links(id)).toEqual(["https://example.com/gone", "https://example.com/old"]);
  });

  test("are not made without tracking", async () => {
    const id = await campaign({ companyId: COMPANY, tracking: false, body: '<a href="https://example.com/1">1</a>' });
    const { html } = await read(await message(id));
    expect(html).toContain('href="https://example.com/1"');
    expect(html).not.toContain("<img");
    expect(await links(id)).toEqual([]);
  });
});

describe("copies and attachments", () => {
  test("are made only for recipients with cc or bcc, untracked and otherwise the same", async () => {
    const id = await campaign({ companyId: COMPANY, body: '<a href="https://example.com/1">1</a>' });
    const [alone] = await render(id, [recipient()]);
    expect(alone).not.toHaveProperty("copy");
    const to = { ...recipient(), cc: ["carl@example.com"], bcc: ["eve@example.com"] };
    const copy = await message(id, to, "copy");
    expect(fieldOf(copy, "Message-ID")).toBe(`<${to.id}@example.com>`);
    const { html, cc } = await read(copy);
    expect(html).toContain('href="https://example.com/1"');
    expect(html).not.toContain("<img");
    expect(cc).toMatchObject({ text: "carl@example.com" });
    expect(copy.toString("latin1")).not.toContain("eve@");
  });

  test("have the bytes that were uploaded, in one string for all recipients", async () => {
    const parts = [Buffer.alloc(70_000, 1), Buffer.from([0, 13, 10, 46, 255]), Buffer.alloc(11, 46)];
    const mediaIds = [await media(COMPANY, "отчёт.pdf", parts), await media(COMPANY, "b.pdf", [Buffer.from("b")])];
    const id = await campaign({ companyId: COMPANY, mediaIds });
    const [one, two] = await render(id, [recipient(), recipient()]);
    if (!one?.ok || !two?.ok) throw new Error("not rendered");
    expect(one.tail).toBe(two.tail);
    const mail = Buffer.from(`${one.raw}${one.tail}`, "latin1");
    expect(faultsOfBytes(mail)).toEqual([]);
    const { attachments } = await read(mail);
    expect(attachments.map(({ filename }) => filename)).toEqual(["отчёт.pdf", "b.pdf"]);
    expect(attachments[0]!.content.equals(Buffer.concat(parts))).toBe(true);
  });

  test("fail the recipients with a reason if the attachment is missing", async () => {
    const id = await campaign({ companyId: COMPANY, mediaIds: [newId()] });
    expect(await render(id, [recipient()])).toEqual([
      { ok: false, error: "An attachment of this campaign no longer exists." },
    ]);
  });

  test("are missing if the file is another company's", async () => {
    const other = newId();
    await query("insert into companies (id, name, plan) values ($1, 'Other', 'unlimited')", [other]);
    const id = await campaign({ companyId: COMPANY, mediaIds: [await media(other, "secret.pdf", [Buffer.from("s")])] });
    expect(await render(id, [recipient()])).toMatchObject([{ ok: false }]);
  });
});

describe("DKIM", () => {
  test("signs each email and copy with the configuration's key, and uses a changed key immediately", async () => {
    const [first, second] = [keyPair(), keyPair()];
    const configId = await smtpConfig(COMPANY, { domain: "example.com", selector: "s1", privateKey: first.privateKey });
    const mediaIds = [await media(COMPANY, "a.pdf", [Buffer.alloc(5_000, 7)])];
    const id = await campaign({ companyId: COMPANY, smtpConfigId: configId, mediaIds });
    const to = { ...recipient(), cc: ["carl@example.com"] };
    expect(await dkimResult(await message(id, to), first.record)).toBe("pass");
    expect(await dkimResult(await message(id, to, "copy"), first.record)).toBe("pass");

    await query("update smtp_configs set dkim_key_sealed = $3 where company_id = $1 and id = $2", [
      COMPANY,
      configId,
      seal(second.privateKey, configId),
    ]);
    await broadcast(app.broker, "smtpConfig.changed", { smtpConfigId: configId });
    expect(await dkimResult(await message(id, to), second.record)).toBe("pass");
  });

  test("fails the recipients with a reason, not the sender, if the key is unusable", async () => {
    const smtpConfigId = await smtpConfig(COMPANY, { domain: "example.com", selector: "s1", privateKey: "no key" });
    const [mail] = await render(await campaign({ companyId: COMPANY, smtpConfigId }), [recipient()]);
    expect(mail).toEqual({ ok: false, error: "The DKIM key of the SMTP configuration cannot be read." });
  });

  test("signs nothing without a key", async () => {
    expect(fieldOf(await message(await campaign({ companyId: COMPANY })), "DKIM-Signature")).toBeUndefined();
  });
});
