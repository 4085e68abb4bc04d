/** The typed client (test/client/) against scripted servers over real sockets. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { contractOf } from "../../../services/contracts.ts";
import { describeApi } from "../../../services/gateway/openapi/document.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { permissionOf } from "../../../services/permissions.ts";
import { newSecret, signedHeaders, signingKey } from "../../../services/webhooks/signature.ts";
import { ApiError, type Client, createClient, each } from "../../client/client.ts";
import { generate } from "../../client/generate.ts";
import { pauseMs } from "../../client/retry.ts";
import { SignatureError, verifyWebhook } from "../../client/webhook.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, times: number) => void;

interface Scripted {
  client: Client;
  seen: IncomingMessage[];
  retries: string[];
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

async function withServer(answer: Answer, test: (scripted: Scripted) => Promise<void>): Promise<void> {
  const seen: IncomingMessage[] = [];
  const retries: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    request.resume();
    request.on("end", () => answer(request, response, seen.length));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const onRetry = (reason: string) => retries.push(reason);
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "fm_test", onRetry });
  try {
    await test({ client, seen, retries });
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

const SEND = { body: { name: "n", template_id: "t", smtp_config_id: "s", list_id: "l" } };

describe("the client", () => {
  test("is what npm run client generates from the current document", () => {
    const document = describeApi({ routes, contractOf, permissionOf, baseUrl: "https://mail.lantern.example" });
    const root = join(import.meta.dirname, "../../..");
    const args = ["biome", "format", "--stdin-file-path=test/client/generated.ts"];
    const formatted = execFileSync("npx", args, { cwd: root, input: generate(document), maxBuffer: 16 * 1024 * 1024 });
    expect(readFileSync(join(root, "test/client/generated.ts"), "utf8") === formatted.toString()).toBe(true);
  }, 120_000);

  test("sends the parameters of an operation, with the key", () =>
    withServer(
      (_, response) => json(response, 200, { id: "1" }),
      async ({ client, seen }) => {
        await client.updateTemplate({ path: { id: "a b" }, body: { name: "New" } });
        expect(seen[0]).toMatchObject({ method: "PATCH", url: "/api/emails/templates/a%20b/" });
        expect(seen[0]!.headers).toMatchObject({ "x-api-key": "fm_test", "content-type": "application/json" });
      },
    ));

  test("retries after Retry-After on 429 and 503, also a POST", () =>
    withServer(
      (_, response, times) =>
        times > 2
          ? json(response, 201, { id: "1" })
          : json(response, times === 1 ? 429 : 503, {}, { "retry-after": "0" }),
      async ({ client, retries }) => {
        expect(await client.createList({ body: { name: "Readers" } })).toEqual({ id: "1" });
        expect(retries).toEqual(["createList: answered 429", "createList: answered 503"]);
      },
    ));

  test("waits no longer than its limit: a daily quota is left to the caller", () =>
    withServer(
      (_, response) => json(response, 429, { detail: "Tomorrow." }, { "retry-after": "40000" }),
      async ({ client, seen }) => {
        const refused = await client.listLists().catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(ApiError);
        expect(refused).toMatchObject({ status: 429, body: { detail: "Tomorrow." } });
        expect(seen).toHaveLength(1);
      },
    ));

  test("retries after a lost connection only where that does nothing twice", () =>
    withServer(
      (request, response, times) =>
        request.method === "GET" && times > 1 ? json(response, 200, { id: "1" }) : request.socket.destroy(),
      async ({ client, seen }) => {
        await client.getList({ path: { id: "1" } });
        expect(seen).toHaveLength(2);
        await expect(client.createList({ body: { name: "Readers" } })).rejects.toThrow();
        expect(seen).toHaveLength(3);
      },
    ));

  test("gives a send one Idempotency-Key for all its attempts, and each send its own", () =>
    withServer(
      (request, response, times) => (times === 1 ? request.socket.destroy() : json(response, 201, { id: "1" })),
      async ({ client, seen }) => {
        await client.sendToList(SEND);
        await client.sendToList(SEND);
        await client.sendToList(SEND, { idempotencyKey: "mine" });
        const keys = seen.map(({ headers }) => headers["idempotency-key"]);
        expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
        expect(keys[1]).toBe(keys[0]);
        expect(keys[2]).not.toBe(keys[0]);
        expect(keys[3]).toBe("mine");
      },
    ));

  test("throws any other 4xx at once, with the whole response", () =>
    withServer(
      (_, response) => json(response, 400, { name: ["This field is required."] }, { "x-request-id": "r-1" }),
      async ({ client, seen }) => {
        const refused = client.createList({ body: { name: "" } });
        const expected = { status: 400, requestId: "r-1", body: { name: ["This field is required."] } };
        await expect(refused).rejects.toMatchObject(expected);
        expect(seen).toHaveLength(1);
      },
    ));

  test("iterates over all pages of a list", () =>
    withServer(
      (request, response) => {
        const place = Number(new URL(request.url!, "http://x").searchParams.get("cursor") ?? "1");
        const next = place < 3 ? `http://x/?page=7&cursor=${place + 1}` : null;
        json(response, 200, { count: 3, next, previous: null, results: [{ id: `${place}` }] });
      },
      async ({ client }) => {
        const ids: string[] = [];
        for await (const { id } of each(client.listSubscribers, { query: { status: "active" } })) ids.push(id);
        expect(ids).toEqual(["1", "2", "3"]);
      },
    ));

  test("doubles its back-off each time, and never retries before Retry-After", () => {
    const lost = new Error("lost");
    for (const [retries, most] of [500, 1_000, 2_000, 4_000].entries()) {
      expect(pauseMs(lost, retries)).toBeGreaterThanOrEqual(most / 2);
      expect(pauseMs(lost, retries)).toBeLessThanOrEqual(most);
    }
    expect(pauseMs(new Response("", { headers: { "retry-after": "7" } }), 0)).toBe(7_000);
  });
});

describe("verifyWebhook", () => {
  const secret = newSecret();
  const body = JSON.stringify({ id: "1", type: "opened" });
  const headers = signedHeaders([signingKey(secret)], "1", body);

  test("accepts the service's signatures, also while the secret is rotated", () => {
    expect(verifyWebhook(secret, headers, body)).toMatchObject({ type: "opened" });
    expect(verifyWebhook(secret, signedHeaders([newSecret(), secret].map(signingKey), "1", body), body)).toMatchObject({
      id: "1",
    });
  });

  test.each<[string, () => unknown]>([
    ["another secret", () => verifyWebhook(newSecret(), headers, body)],
    ["another body", () => verifyWebhook(secret, headers, `${body} `)],
    ["another id", () => verifyWebhook(secret, { ...headers, "webhook-id": "2" }, body)],
    ["no signature", () => verifyWebhook(secret, { ...headers, "webhook-signature": undefined }, body)],
    [
      "a signature of another version",
      () => verifyWebhook(secret, { ...headers, "webhook-signature": "v2,AAAA" }, body),
    ],
    ["no time", () => verifyWebhook(secret, { ...headers, "webhook-timestamp": undefined }, body)],
    ["an old recording", () => verifyWebhook(secret, headers, body, new Date(Date.now() + 301_000))],
  ])("refuses %s", (_, verify) => {
    expect(verify).toThrow(SignatureError);
  });
});
