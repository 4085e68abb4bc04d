import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { closeIdleConnections, post } from "../../../services/webhooks/post.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";

// The bundled ones: "default" would hold what an earlier test file of this process trusted.
const trusted = getCACertificates("bundled");
let server: Server;
let hosts: (string | undefined)[] = [];

beforeAll(async () => {
  const certificate = selfMadeCertificate({ names: ["hooks.example"], address: false });
  setDefaultCACertificates([...trusted, certificate.cert]);
  server = createServer(certificate, (request, response) => {
    hosts.push(request.headers.host);
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
beforeEach(() => {
  hosts = [];
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  closeIdleConnections();
  server.closeAllConnections();
  server.close();
});

const deliver = (host: string) => {
  const { port } = server.address() as AddressInfo;
  return post({
    url: new URL(`https://${host}:${port}/hook`),
    // What the name resolved to when it was checked; neither name is known to any resolver.
    address: { address: "127.0.0.1", family: 4 },
    headers: {},
    body: "{}",
    signal: AbortSignal.timeout(5_000),
  });
};

test("the pinned address is connected to, under the endpoint's name, and the name is not resolved again", async () => {
  expect(await deliver("hooks.example")).toBe(200);
  expect(hosts[0]).toMatch(/^hooks\.example:\d+$/);
});

test("a certificate of another name is refused, also where a kept connection to that address is at hand", async () => {
  for (let round = 1; round <= 2; round++) {
    expect(await deliver("hooks.example")).toBe(200);
    await expect(deliver("other.example")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    await expect(deliver("127.0.0.1")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  }
  expect(hosts).toHaveLength(2);
});
