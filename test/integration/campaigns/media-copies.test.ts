import { Readable } from "node:stream";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { query, queryOne } from "../../../models/database/db.ts";
import { declaredPixels } from "../../../services/campaigns/media/declared-pixels.ts";
import type { ReturnsOf } from "../../../services/contracts.ts";
import { downloadFrom } from "../../../services/lib/download.ts";
import { as, newCompany, useCompany, useWorld } from "./world.ts";

type Media = ReturnsOf<"campaigns.createMedia">;

/** Red at the left, blue at the right. */
const halves = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#0000ff" } }).composite([
    { input: { create: { width: width / 2, height, channels: 3, background: "#ff0000" } }, left: 0, top: 0 },
  ]);

const chunk = (type: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** A PNG of a few hundred bytes that declares any size. */
function declaredPng(width: number, height: number): Buffer {
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = chunk("IDAT", deflateSync(Buffer.alloc(1_000)));
  return Buffer.concat([signature, chunk("IHDR", head), data, chunk("IEND", Buffer.alloc(0))]);
}

/** An animation of frames of one pixel, on a canvas of `side` × `side`. */
function gifOf(frames: number, side = 1): Buffer {
  const size = [side & 0xff, side >> 8];
  const head = [...Buffer.from("GIF89a"), ...size, ...size, 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  const frame = [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0];
  return Buffer.from([...head, ...Array.from({ length: frames }, () => frame).flat(), 0x3b]);
}

describe("copies of images", () => {
  const world = useWorld();
  const company = useCompany();

  const upload = (content: Buffer, filename: string, more: { folder?: string; alt?: string } = {}) =>
    world.app.broker.call(
      "campaigns.createMedia",
      { filename, content_type: "", size: content.length, ...more },
      { meta: { companyId: company.id }, stream: Readable.from([content], { objectMode: false }) },
    ) as Promise<Media>;

  async function bytesOf({ id }: Media): Promise<Buffer> {
    const { body_from } = await as(world)("campaigns.downloadMedia", { id, filename: "any" });
    return Buffer.concat(await (await downloadFrom(world.app.broker, body_from!, {})).toArray());
  }
  const copy = (media: Media, asked: object) => as(world, company)("campaigns.copyMedia", { id: media.id, ...asked });
  const pixel = async (bytes: Buffer, left: number, top: number) => [
    ...(await sharp(bytes).extract({ left, top, width: 1, height: 1 }).removeAlpha().raw().toBuffer()),
  ];
  const isNear = (found: number[], wanted: number[]) => found.every((value, n) => Math.abs(value - wanted[n]!) < 40);

  test("a photo is turned upright and loses its EXIF data and place; the upload stays byte for byte", async () => {
    const photo = await halves(400, 200)
      .jpeg()
      .withExif({ IFD0: { Model: "Camera" }, IFD3: { GPSLatitudeRef: "N", GPSLatitude: "38/1 42/1 0/1" } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const media = await upload(photo, "books.jpeg", { folder: "Autumn", alt: "Two books" });
    const made = await copy(media, { width: 100 });
    expect(made).toMatchObject({
      filename: "books-100x200.jpg",
      content_type: "image/jpeg",
      folder: "Autumn",
      alt: "Two books",
      copy_of: media.id,
    });
    const bytes = await bytesOf(made);
    const { width, height, orientation, exif, icc } = await sharp(bytes).metadata();
    expect({ width, height, orientation, exif, icc }).toEqual({ width: 100, height: 200 });
    // What was at the left is at the top.
    expect(isNear(await pixel(bytes, 50, 20), [255, 0, 0])).toBe(true);
    expect(isNear(await pixel(bytes, 50, 180), [0, 0, 255])).toBe(true);
    expect((await bytesOf(media)).equals(photo)).toBe(true);
  });

  test("a part is cut out in pixels of the upright image, and nothing is enlarged", async () => {
    const media = await upload(await halves(400, 200).png().toBuffer(), "halves.png");
    const made = await copy(media, { crop: { left: 200, top: 0, width: 200, height: 100 }, width: 800 });
    expect(made).toMatchObject({
      filename: "halves-200x100.png",
      crop: { left: 200, top: 0, width: 200, height: 100 },
    });
    expect(await pixel(await bytesOf(made), 0, 0)).toEqual([0, 0, 255]);
    await expect(copy(media, { crop: { left: 300, top: 0, width: 101, height: 10 } })).rejects.toMatchObject({
      code: "INVALID",
      data: { fields: { crop: ["The image has 400 × 200 pixels."] } },
    });
  });

  test("an animation stays one; as JPEG it is its first frame", async () => {
    const frames = await Promise.all(
      ["#ff0000", "#00ff00", "#0000ff"].map((background) =>
        sharp({ create: { width: 60, height: 40, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const media = await upload(
      await sharp(frames, { join: { animated: true } })
        .gif()
        .toBuffer(),
      "dance.gif",
    );
    const made = await copy(media, { width: 30 });
    expect(made.filename).toBe("dance-30x20.gif");
    expect(await sharp(await bytesOf(made)).metadata()).toMatchObject({ pages: 3, width: 30 });
    expect((await copy(media, { format: "jpeg" })).filename).toBe("dance-60x40.jpg");
  });

  test("the same request returns the same copy, also concurrently, until the copy is deleted", async () => {
    const media = await upload(await halves(400, 200).png().toBuffer(), "halves.png");
    const copies = await Promise.all(Array.from({ length: 4 }, () => copy(media, { width: 100 })));
    expect(new Set(copies.map(({ id }) => id)).size).toBe(1);
    const other = await copy(media, { width: 101 });
    expect(other.id).not.toBe(copies[0]!.id);
    await as(world, company)("campaigns.removeMedia", { id: copies[0]!.id });
    expect((await copy(media, { width: 100 })).id).not.toBe(copies[0]!.id);
    const ask = as(world, company);
    expect(await ask("campaigns.listMedia", { is_copy: false })).toMatchObject({
      count: 1,
      results: [{ id: media.id }],
    });
    expect(await ask("campaigns.listMedia", { is_copy: true })).toMatchObject({ count: 2 });
    // A deleted original leaves its copies, which mails show.
    await ask("campaigns.removeMedia", { id: media.id });
    expect(await ask("campaigns.getMedia", { id: other.id })).toMatchObject({ copy_of: media.id });
  });

  test("requests that differ in words only return one copy: a width or crop of the whole image, its own format", async () => {
    const media = await upload(await halves(400, 200).png().toBuffer(), "halves.png");
    const part = { left: 0, top: 0, width: 200, height: 100 };
    for (const same of [
      [{}, { width: 400 }, { width: 5_000 }, { format: "png" }, { crop: { ...part, width: 400, height: 200 } }],
      [{ crop: part }, { crop: part, width: 200 }, { crop: part, width: 300, format: "png" }],
      [{ width: 100 }, { width: 100, format: "png" }],
    ]) {
      const made = await Promise.all(same.map((asked) => copy(media, asked)));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    }
    expect(await as(world, company)("campaigns.listMedia", { is_copy: true })).toMatchObject({ count: 3 });
  });

  test("a part far to the right of a wide image is cut out, and a WebP is narrowed to what WebP can hold", async () => {
    const media = await upload(await halves(40_000, 20).png().toBuffer(), "wide.png");
    const right = await copy(media, { crop: { left: 21_000, top: 0, width: 18_000, height: 20 } });
    expect(right.filename).toBe("wide-18000x20.png");
    expect(await pixel(await bytesOf(right), 0, 0)).toEqual([0, 0, 255]);
    expect((await copy(media, { format: "webp" })).filename).toBe("wide-16383x8.webp");
    const column = await upload(await halves(2, 20_000).png().toBuffer(), "tall.png");
    expect((await copy(column, { format: "webp" })).filename).toBe("tall-1x10000.webp");
  });

  test("an animation with an EXIF rotation is refused with advice", async () => {
    const frames = await Promise.all(
      ["#ff0000", "#00ff00"].map((background) =>
        sharp({ create: { width: 60, height: 40, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const turned = (orientation: number) =>
      sharp(frames, { join: { animated: true } })
        .withMetadata({ orientation })
        .webp()
        .toBuffer();
    for (const orientation of [3, 6]) {
      const media = await upload(await turned(orientation), "dance.webp");
      await expect(copy(media, { width: 30 })).rejects.toMatchObject({
        code: "BAD_REQUEST",
        message: expect.stringMatching(/Rotate it and upload it again, or choose the format jpeg or png/),
      });
      expect((await copy(media, { format: "jpeg" })).filename).toMatch(orientation === 3 ? /-60x40/ : /-40x60/);
    }
    const mirrored = await upload(await turned(2), "dance.webp");
    expect((await copy(mirrored, { width: 30 })).filename).toBe("dance-30x20.webp");
  });

  test.each([
    [
      "a GIF with 300 frames of 1,000 × 1,000 pixels",
      () => gifOf(300, 1_000),
      /^The image has more than 50 million pixels\.$/,
    ],
    ["a GIF with 3,000 frames", () => gifOf(3_000), /^The image has more than 500 frames\.$/],
    ["a damaged PNG", () => declaredPng(400, 400), /^The image cannot be read\. It may be damaged\.$/],
    [
      "a PNG that ends after its signature",
      () => Buffer.from("\x89PNG\r\n\x1a\n and so on", "latin1"),
      /cannot be read/,
    ],
    [
      "an SVG",
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      /^Copies can be made of/,
    ],
    ["a text", () => Buffer.from("words"), /^Copies can be made of/],
  ])("%s is refused, and nothing is stored", async (_, content, sentence) => {
    const media = await upload(content(), "image.png");
    await expect(copy(media, { width: 100 })).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringMatching(sentence),
    });
    expect(await queryOne("select count(*) n from media where company_id = $1", [company.id])).toEqual({ n: 1 });
  });

  test("an image that declares 50,000 × 50,000 pixels in a few bytes is not stored, in any format", async () => {
    await expect(upload(declaredPng(50_000, 50_000), "image.png")).rejects.toMatchObject({
      code: "INVALID",
      data: { fields: { file: ["The image has more than 50 million pixels. Make it smaller."] } },
    });
    expect(await queryOne("select count(*) n from media where company_id = $1", [company.id])).toEqual({ n: 0 });
    const image = await halves(400, 200);
    const opaque = await image.png().toBuffer();
    const clear = sharp(opaque).ensureAlpha(0.5);
    for (const [type, bytes] of [
      ["png", opaque],
      ["jpeg", await image.jpeg().toBuffer()],
      ["jpeg", await image.jpeg({ progressive: true }).withMetadata().toBuffer()],
      ["gif", await image.gif().toBuffer()],
      ["webp", await image.webp().toBuffer()],
      ["webp", await image.webp({ lossless: true }).toBuffer()],
      ["webp", await clear.webp().toBuffer()],
      ["avif", await image.avif().toBuffer()],
    ] as const) {
      expect([type, declaredPixels(bytes, `image/${type}`)]).toEqual([type, 80_000]);
      for (let end = 0; end < 30; end++) {
        expect(declaredPixels(bytes.subarray(0, end), `image/${type}`)).toBeLessThanOrEqual(80_000);
      }
    }
  });

  test("another company's image is 404, and a full plan refuses a copy like an upload", async () => {
    const media = await upload(await halves(400, 200).png().toBuffer(), "halves.png");
    const other = await newCompany();
    for (const [action, asked] of [
      ["copyMedia", { width: 10 }],
      ["updateMedia", { alt: "Mine" }],
    ] as const) {
      const asking = as(world, other)(`campaigns.${action}`, { id: media.id, ...asked });
      await expect(asking).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
    world.mediaBytes = media.size + 10;
    try {
      await expect(copy(media, { width: 100 })).rejects.toMatchObject({ code: "MEDIA_QUOTA" });
    } finally {
      world.mediaBytes = null;
    }
    expect(await query("select id from media where company_id = $1", [company.id])).toEqual([{ id: media.id }]);
  });

  test("files are renamed, moved into folders and described, and found by folder and description", async () => {
    const ask = as(world, company);
    const [a, b] = [
      await upload(Buffer.from("a"), "a.txt"),
      await upload(Buffer.from("b"), "b.txt", { folder: "Zoo" }),
    ];
    const change = { filename: "../x/new.txt", folder: " Autumn ", alt: "Leaves, 100%" };
    expect(await ask("campaigns.updateMedia", { id: a.id, ...change })).toMatchObject({
      id: a.id,
      filename: "new.txt",
      folder: "Autumn",
      alt: "Leaves, 100%",
      url: expect.stringMatching(/\/new\.txt$/),
    });
    expect(await ask("campaigns.listMediaFolders", {})).toEqual([
      { folder: "Autumn", count: 1 },
      { folder: "Zoo", count: 1 },
    ]);
    expect(await ask("campaigns.listMedia", { folder: "Zoo" })).toMatchObject({ count: 1, results: [{ id: b.id }] });
    expect(await ask("campaigns.listMedia", { folder: ["Zoo", "Autumn"] })).toMatchObject({ count: 2 });
    expect(await ask("campaigns.listMedia", { search: "leaves" })).toMatchObject({ results: [{ id: a.id }] });
    expect(await ask("campaigns.updateMedia", { id: a.id, folder: "" })).toMatchObject({
      folder: "",
      filename: "new.txt",
    });
    expect(await as(world)("campaigns.listMediaFolders", {})).toEqual([]);
  });

  test("folder names lose invisible characters, and at most 1,000 folders are listed", async () => {
    const ask = as(world, company);
    const unseen = "A\u202eutu\u2066mn\u200b \u061c";
    const media = await upload(Buffer.from("a"), "a.txt", { folder: unseen });
    expect(media).toMatchObject({ folder: "Autumn" });
    const family = "Family 👩\u200d👧";
    expect(await ask("campaigns.updateMedia", { id: media.id, folder: `\ufeff${family}` })).toMatchObject({
      folder: family,
    });
    expect(await ask("campaigns.listMedia", { folder: `${family}\u200e` })).toMatchObject({ count: 1 });
    await query(
      `insert into media (id, company_id, filename, content_type, size, sha256, folder)
       select gen_random_uuid(), $1, 'f', '', 1, '', 'f' || lpad(n::text, 4, '0') from generate_series(1, 1001) n`,
      [company.id],
    );
    const folders = await ask("campaigns.listMediaFolders", {});
    expect([folders.length, folders.at(-1)]).toEqual([1_000, { folder: "f1000", count: 1 }]);
  });
});
