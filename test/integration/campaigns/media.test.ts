import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { query, queryOne } from "../../../models/database/db.ts";
import type { ReturnsOf } from "../../../services/contracts.ts";
import { downloadFrom } from "../../../services/lib/download.ts";
import { addMembers, as, newCompany, toList, useCompany, useWorld } from "./world.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n and so on", "latin1");

describe("media", () => {
  const world = useWorld();
  const company = useCompany();

  type Media = ReturnsOf<"campaigns.createMedia">;
  const upload = (content: Buffer | Iterable<Buffer>, filename = "logo.png", says = "image/png") =>
    world.app.broker.call(
      "campaigns.createMedia",
      { filename, content_type: says, size: 0 },
      {
        meta: { companyId: company.id },
        stream: Readable.from(Buffer.isBuffer(content) ? [content] : content, { objectMode: false }),
      },
    ) as Promise<Media>;

  async function download(id: string) {
    const document = await as(world)("campaigns.downloadMedia", { id, filename: "any" });
    const from = document.body_from!;
    const stream = await downloadFrom(world.app.broker, from, {});
    return { document, bytes: Buffer.concat(await stream.toArray()) };
  }

  const parts = (id: string) => queryOne<{ n: number }>("select count(*) n from media_parts where media_id = $1", [id]);

  test("an upload gets its type from its own bytes and is served unchanged", async () => {
    const media = await upload(PNG, "C:\\pics\\Logo é.png", "text/html");
    expect(media).toEqual({
      id: expect.any(String),
      filename: "Logo é.png",
      folder: "",
      alt: "",
      copy_of: null,
      crop: null,
      content_type: "image/png",
      size: PNG.length,
      sha256: createHash("sha256").update(PNG).digest("hex"),
      url: expect.stringMatching(new RegExp(`/api/emails/public/media/${media.id}/Logo%20%C3%A9\\.png$`)),
      created_at: expect.any(String),
    });
    const { document, bytes } = await download(media.id);
    expect(bytes).toEqual(PNG);
    expect(document).toMatchObject({
      content_type: "image/png",
      headers: {
        "Content-Length": String(PNG.length),
        "Content-Disposition": "inline; filename=\"Logo _.png\"; filename*=UTF-8''Logo%20%C3%A9.png",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
      },
    });
  });

  test("six concurrent uploads arrive complete", async () => {
    const contents = Array.from({ length: 6 }, (_, n) => randomBytes(1_300_000 + n));
    const media = await Promise.all(contents.map((content) => upload(content)));
    for (const [n, { id }] of media.entries()) {
      expect((await download(id)).bytes.equals(contents[n]!)).toBe(true);
      expect((await parts(id))!.n).toBe(5);
    }
  });

  test("the usage of a file lists the templates and campaigns of its own company that show or attach it", async () => {
    const [shown, attached, unused] = [await upload(PNG), await upload(PNG), await upload(PNG)];
    const body = `<img src="${shown.url}" alt="">`;
    const other = await newCompany();
    const name = (id: string, text: string) =>
      query("update templates set name = $2, body = $3 where id = $1", [id, text, body]);
    await name(company.template, "With the logo");
    await name(other.template, "Not ours");
    const ask = as(world, company);
    const campaign = await ask("campaigns.sendToList", toList(company, { attachment_ids: [attached.id] }));
    const usage = (id: string) => ask("campaigns.mediaUsage", { id });
    const mail = [expect.objectContaining({ id: campaign.id, name: "News" })];
    expect(await usage(shown.id)).toEqual({
      template_count: 1,
      templates: [{ id: company.template, name: "With the logo" }],
      campaign_count: 1,
      campaigns: mail,
    });
    expect(await usage(attached.id)).toMatchObject({ template_count: 0, campaign_count: 1, campaigns: mail });
    expect(await usage(unused.id)).toEqual({ template_count: 0, templates: [], campaign_count: 0, campaigns: [] });
    await ask("campaigns.removeMedia", { id: shown.id });
    await expect(usage(shown.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a large file is stored in parts of 256 KiB and returned byte for byte", async () => {
    const content = randomBytes(3 * 256 * 1024 + 17);
    const pieces = Array.from({ length: Math.ceil(content.length / 10_007) }, (_, n) =>
      content.subarray(n * 10_007, (n + 1) * 10_007),
    );
    const media = await upload(pieces, "data.bin");
    expect(media).toMatchObject({ size: content.length, content_type: "application/octet-stream" });
    const lengths = await query("select no, length(data) as n from media_parts where media_id = $1 order by no", [
      media.id,
    ]);
    expect(lengths).toEqual([
      { no: 0, n: 262_144 },
      { no: 1, n: 262_144 },
      { no: 2, n: 262_144 },
      { no: 3, n: 17 },
    ]);
    expect((await download(media.id)).bytes.equals(content)).toBe(true);
  });

  test.each([
    ["<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "image/svg+xml"],
    ["<html><script>alert(1)</script>", "text/html; charset=utf-8"],
    ["<?xml version='1.0'?><a/>", "text/xml; charset=utf-8"],
    ["PK\x03\x04", "application/zip"],
  ])("%j is served as an attachment only", async (content, type) => {
    const media = await upload(Buffer.from(content), "innocent.png");
    const { document } = await download(media.id);
    expect(document.content_type).toBe(type);
    expect(document.headers!["Content-Disposition"]).toMatch(/^attachment; /);
  });

  test("a file over the limit is 413, and nothing is stored", async () => {
    const piece = Buffer.alloc(1024 * 1024);
    function* pieces() {
      for (let n = 0; n < 11; n++) yield piece;
    }
    await expect(upload(pieces())).rejects.toMatchObject({ code: "TOO_LARGE" });
    expect(await queryOne("select count(*) n from media where company_id = $1", [company.id])).toEqual({ n: 0 });
  });

  test("an empty file and an aborted upload leave nothing", async () => {
    await expect(upload(Buffer.alloc(0))).rejects.toMatchObject({
      code: "INVALID",
      data: { fields: { file: ["The submitted file is empty."] } },
    });
    function* breaking() {
      yield Buffer.alloc(300_000);
      throw new Error("the line went dead");
    }
    await expect(upload(breaking())).rejects.toThrow();
    expect(await queryOne("select count(*) n from media where company_id = $1", [company.id])).toEqual({ n: 0 });
  });

  describe("the storage limit of 1,000,000 bytes", () => {
    beforeEach(() => {
      world.mediaBytes = 1_000_000;
    });
    afterEach(() => {
      world.mediaBytes = null;
    });

    const ofSize = (
      size: number,
      content: Readable = Readable.from([Buffer.alloc(size, "x")], { objectMode: false }),
    ) =>
      world.app.broker.call(
        "campaigns.createMedia",
        { filename: "a.txt", content_type: "", size },
        { meta: { companyId: company.id }, stream: content },
      ) as Promise<Media>;
    const stored = () => queryOne<{ n: number }>("select count(*) n from media_parts", []);

    test("refuses a larger file before a byte is read or stored, and a deletion frees space", async () => {
      const { id } = await ofSize(600_000);
      const before = await stored();
      const unread = new Readable({
        read() {
          throw new Error("It was read");
        },
      });
      await expect(ofSize(400_001, unread)).rejects.toMatchObject({
        code: "MEDIA_QUOTA",
        message: "Media storage is full. Your plan allows 977 KB.",
      });
      expect(await stored()).toEqual(before);
      await ofSize(400_000);
      await as(world, company)("campaigns.removeMedia", { id });
      await ofSize(600_000);
    });

    test("admits exactly the uploads that fit, of many concurrent ones", async () => {
      const uploads = await Promise.allSettled(Array.from({ length: 8 }, () => ofSize(300_000)));
      expect(uploads.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
      expect(await as(world, company)("campaigns.listMedia", {})).toMatchObject({ count: 3 });
    });

    test("has the space back after an aborted upload", async () => {
      const breaking = Readable.from(
        (function* () {
          yield Buffer.alloc(300_000);
          throw new Error("the line went dead");
        })(),
        { objectMode: false },
      );
      await expect(ofSize(1_000_000, breaking)).rejects.toThrow("the line went dead");
      await ofSize(1_000_000);
    });
  });

  test("the list shows the company's files, newest first, searched by name", async () => {
    await upload(PNG, "a.png");
    await upload(Buffer.from("words"), "b.txt");
    const ask = as(world, company);
    expect(await ask("campaigns.listMedia", {})).toMatchObject({
      count: 2,
      results: [{ filename: "b.txt" }, { filename: "a.png" }],
    });
    expect(await ask("campaigns.listMedia", { search: "A." })).toMatchObject({
      count: 1,
      results: [{ filename: "a.png" }],
    });
    expect(await ask("campaigns.listMedia", { ordering: "filename" })).toMatchObject({
      results: [{ filename: "a.png" }, {}],
    });
    expect(await ask("campaigns.listMedia", { content_type: "text/plain" })).toMatchObject({ count: 1 });
    expect(await as(world)("campaigns.listMedia", {})).toMatchObject({ count: 0, results: [] });
  });

  test("a deleted file is removed everywhere, including its bytes", async () => {
    const { id } = await upload(PNG);
    const ask = as(world, company);
    expect(await ask("campaigns.getMedia", { id })).toMatchObject({ id });
    expect(await ask("campaigns.removeMedia", { id })).toBeNull();
    await expect(ask("campaigns.getMedia", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(ask("campaigns.removeMedia", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(download(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await parts(id)).toEqual({ n: 0 });
  });

  test.each(["getMedia", "removeMedia"] as const)("%s of another company's file is 404", async (action) => {
    const { id } = await upload(PNG);
    await expect(as(world)(`campaigns.${action}`, { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await as(world, company)("campaigns.getMedia", { id })).toMatchObject({ id });
  });

  test("bytes attached to an unfinished campaign outlive the deletion, and are removed when it has finished", async () => {
    const { id } = await upload(PNG);
    await addMembers(company, 1);
    const ask = as(world, company);
    const sent = await ask("campaigns.sendToList", toList(company, { attachment_ids: [id] }));
    await ask("campaigns.removeMedia", { id });
    await expect(ask("campaigns.getMedia", { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await parts(id)).toEqual({ n: 1 });

    await query("update media set deleted_at = now() - interval '2 hours' where id = $1", [id]);
    await ask("campaigns.tidy", {});
    expect(await parts(id)).toEqual({ n: 1 });
    await query("update campaigns set status = 'completed', finished_at = now() where id = $1", [sent.id]);
    await ask("campaigns.tidy", {});
    expect(await parts(id)).toEqual({ n: 0 });
  });
});
