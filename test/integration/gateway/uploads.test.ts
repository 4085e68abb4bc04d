import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../../services/lib/ids.ts";
import { Type } from "../../../services/lib/shapes.ts";
import { signBearer } from "../../../services/lib/tokens/bearer.ts";
import { fileForm } from "../../support/client.ts";
import { B, type Sample, sample, startGateway, type TestGateway } from "../../support/gateway.ts";

const MAX = 100_000;
const File = Type.Object({
  filename: Type.String(),
  content_type: Type.String(),
  size: Type.Integer(),
  list_id: Type.Optional(Type.String({ format: "uuid" })),
});

let fail = false;
const receive: Sample["handler"] = async ({ params, stream }) => {
  if (fail) throw new Error("the action failed before it read");
  const bytes = await buffer(stream!);
  return { ...params, sha256: createHash("sha256").update(bytes).digest("hex") };
};
const upload = { method: "POST", status: 201 } as const;
const samples: Record<string, Sample> = {
  media: sample({ ...upload, path: "/api/emails/media/", upload: "media" }, File, Type.Unknown(), receive),
  bulk: sample({ ...upload, path: "/api/emails/subscribers/bulk/", upload: "import" }, File, Type.Unknown(), receive),
};

const isSpooled = (path: string) => path.includes(`flockmail-upload-${process.pid}-`);
const OPEN_FILES = "/proc/self/fd";
const targetOf = (name: string): string => {
  try {
    return readlinkSync(`${OPEN_FILES}/${name}`);
  } catch {
    return "";
  }
};
/**
 * Temporary files of this process only, because other tests upload, too: named ones, and unlinked ones that it has
 * open.
 */
const spooled = () => {
  const open = existsSync(OPEN_FILES) ? readdirSync(OPEN_FILES).map(targetOf) : [];
  return [...readdirSync(tmpdir()), ...open].filter(isSpooled);
};

describe("uploads", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(samples, { settings: { MAX_UPLOAD_BYTES: MAX } });
  });
  afterAll(() => gateway.stop());
  // A disconnected client's file is removed a moment later.
  afterEach(async () => {
    for (let n = 0; n < 500 && spooled().length > 0; n++) await sleep(10);
    expect(spooled()).toEqual([]);
  });

  const post = async (body: FormData | string, path = "/api/emails/media/", headers: Record<string, string> = {}) => {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      body,
      headers: { "X-API-Key": "fm_good", ...headers },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test("four uploads of a company at once: its others are refused, other companies' succeed, and all reservations end", async () => {
    const begin = (key: string, length = 50_000) => {
      const headers = {
        "X-API-Key": key,
        "Content-Type": "multipart/form-data; boundary=b",
        "Content-Length": String(length),
      };
      const sent = request(`${gateway.url}/api/emails/subscribers/bulk/`, { method: "POST", headers });
      sent.on("error", () => {}).write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx');
      return sent;
    };
    const under = Array.from({ length: 4 }, () => begin("fm_good"));
    const small = () => post(fileForm(new Uint8Array(10), "a.png"));
    let refused = await small();
    while (refused.status === 201) refused = await small();
    expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining("throttled") } });
    const byOther = await post(fileForm(new Uint8Array(10), "a.png"), undefined, { "X-API-Key": "fm_other" });
    expect(byOther.status).toBe(201);
    for (const sent of under) sent.destroy();
    let again = await small();
    while (again.status === 429) again = await small();
    expect(again.status).toBe(201);
  });

  test("an upload too large for the disk is refused by its length before it is written", async () => {
    const announce = (key: string) =>
      new Promise<number | undefined>((resolve) => {
        const headers = {
          "X-API-Key": key,
          "Content-Type": "multipart/form-data; boundary=b",
          "Content-Length": String(1_000_000_000),
        };
        const sent = request(`${gateway.url}/api/emails/subscribers/bulk/`, { method: "POST", headers });
        announced.push(sent);
        sent.on("error", () => resolve(undefined));
        sent.on("response", ({ statusCode }) => resolve(statusCode));
        sent.write("--b\r\n");
      });
    const announced: ReturnType<typeof request>[] = [];
    expect(await Promise.race([announce("fm_good"), announce("fm_other")])).toBe(503);
    for (const sent of announced) sent.destroy();
  });

  test("an upload by a person without a company reports the missing company without reading the file", async () => {
    const bearer = signBearer(newId(), "mark");
    const form = () => fileForm(new Uint8Array(10), "a.png");
    const ask = async (query: string) => {
      const headers = { Authorization: `Bearer ${bearer}` };
      const response = await fetch(`${gateway.url}/api/emails/media/${query}`, {
        method: "POST",
        body: form(),
        headers,
      });
      return [response.status, await response.json()];
    };
    expect(await ask("")).toEqual([400, { company: ["This field is required."] }]);
    expect(await ask("?company=x")).toEqual([400, { company: ["Must be a valid UUID."] }]);
    expect(await ask(`?company=${B}`)).toEqual([404, { detail: "Not found." }]);
  });

  test("bytes, name, type, size and other form fields reach the action", async () => {
    const content = new Uint8Array(MAX).map((_, i) => i * 7);
    const list = "0190a0a0-0000-7000-8000-00000000000a";
    const { status, body } = await post(fileForm(content, "Bildü.png", { list_id: list }));
    expect(status).toBe(201);
    expect(body).toEqual({
      filename: "Bildü.png",
      content_type: "application/octet-stream",
      size: MAX,
      list_id: list,
      sha256: createHash("sha256").update(content).digest("hex"),
    });
  });

  test("a name has its quotes and line breaks, which clients percent-encode, and its own percent signs", async () => {
    const name = '100% of "all"\r\n %20.png';
    expect((await post(fileForm("x", name))).body).toMatchObject({ filename: name });
  });

  test("one byte over the limit is 413, announced or not", async () => {
    expect((await post(fileForm("x".repeat(MAX + 1), "a.png"))).status).toBe(413);
    expect((await post(fileForm("x".repeat(4 * 1024 * 1024), "a.png"))).status).toBe(413);
    expect((await post(fileForm("x".repeat(MAX + 1), "a.csv"), "/api/emails/subscribers/bulk/")).status).toBe(201);
  });

  test("a missing file, an empty one, or one in another field is 400 on file", async () => {
    const empty = new FormData();
    empty.set("other", "x");
    expect(await post(empty)).toEqual({ status: 400, body: { file: ["No file was submitted."] } });
    expect(await post(fileForm("", "a.png"))).toEqual({
      status: 400,
      body: { file: ["The submitted file is empty."] },
    });
    const elsewhere = new FormData();
    elsewhere.set("attachment", new Blob(["x"]), "a.png");
    expect((await post(elsewhere)).body).toEqual({ file: ["No file was submitted."] });
  });

  test("other media types are 415, and broken form-data is 400", async () => {
    expect((await post("{}", undefined, { "Content-Type": "application/json" })).status).toBe(415);
    for (const type of ["multipart/form-data", "multipart/form-data; boundary=b"]) {
      const broken = await post("--b\r\nnonsense", undefined, { "Content-Type": type });
      expect(broken).toEqual({
        status: 400,
        body: { detail: expect.stringMatching(/^Multipart form parse error - /) },
      });
    }
  });

  test("invalid fields are reported by name; a field cannot override the file's size", async () => {
    expect((await post(fileForm("x", "a.png", { list_id: "17", size: "9" }))).body).toEqual({
      list_id: ["Must be a valid UUID."],
    });
    expect((await post(fileForm("xyz", "a.png", { size: "9", __proto__: "x" }))).body).toMatchObject({ size: 3 });
  });

  test("nothing remains if the action fails without reading", async () => {
    fail = true;
    expect((await post(fileForm("x".repeat(MAX), "a.png"))).status).toBe(500);
    fail = false;
  });

  test("nothing remains if the client disconnects", async () => {
    const socket = connect(Number(new URL(gateway.url).port));
    await once(socket, "connect");
    socket.write(
      "POST /api/emails/media/ HTTP/1.1\r\nHost: x\r\nX-API-Key: fm_good\r\nContent-Length: 90000\r\n" +
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n" +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${"x".repeat(10_000)}`,
    );
    while (spooled().length === 0) await new Promise(setImmediate);
    // Waits until the file has no name, so that a killed process leaves nothing.
    for (let n = 0; readdirSync(tmpdir()).some(isSpooled); n++) {
      if (n > 1_000) throw new Error("The file has a name");
      await sleep(10);
    }
    socket.destroy();
    while (spooled().length > 0) await new Promise(setImmediate);
  });
});
