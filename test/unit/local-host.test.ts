import type { ServiceBroker } from "moleculer";
import { baseUrlWarning } from "../../mixins/base-url.middleware.ts";
import { isLocalHost, isLoopbackHost, isReservedDomain } from "../../services/lib/ssrf/local-host.ts";

describe("a local host by its spelling", () => {
  test.each(["localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.8.9.1", "[::1]", "0.0.0.0", "2130706433"])(
    "%s is this machine",
    (host) =>
      expect({ loopback: isLoopbackHost(host), local: isLocalHost(host) }).toEqual({ loopback: true, local: true }),
  );

  test.each(["10.1.2.3", "192.168.0.9", "[fd00::1]", "mailpit", "smtp.local", "relay.corp.internal", "nas.lan"])(
    "%s is another machine nearby",
    (host) =>
      expect({ loopback: isLoopbackHost(host), local: isLocalHost(host) }).toEqual({ loopback: false, local: true }),
  );

  test.each(["smtp.example.com", "localhost.example.com", "8.8.8.8", "[2001:4860:4860::8888]", "notlocalhost.example"])(
    "%s is on the internet",
    (host) =>
      expect({ loopback: isLoopbackHost(host), local: isLocalHost(host) }).toEqual({ loopback: false, local: false }),
  );
});

test.each(["acme.test", "Acme.Example.", "x.invalid", "localhost", "a.localhost", "[127.0.0.1]"])(
  "%s is a reserved sender domain",
  (domain) => expect(isReservedDomain(domain)).toBe(true),
);

test.each(["example.com", "test.com", "contest", "acme.local", "10.0.0.1", "xexample"])("%s is not local", (domain) =>
  expect(isReservedDomain(domain)).toBe(false),
);

describe("a local host at the start", () => {
  const warnings = (BASE_URL: string, services: string[]) => {
    const said: string[] = [];
    const broker = {
      getLocalService: (name: string) => (services.includes(name) ? {} : null),
      logger: { warn: (text: string) => said.push(text) },
    };
    baseUrlWarning({ BASE_URL }).started!(broker as unknown as ServiceBroker);
    return said;
  };

  test("causes a warning in a service that renders mails", () => {
    expect(warnings("http://localhost:3000", ["renderer"])).toEqual([
      expect.stringContaining("BASE_URL is http://localhost:3000"),
    ]);
    expect(warnings("http://127.0.0.1:3000", ["renderer", "gateway"])).toHaveLength(1);
  });

  test("causes none in others, or with a public address", () => {
    expect(warnings("http://localhost:3000", ["gateway"])).toEqual([]);
    expect(warnings("https://mail.example.org", ["renderer"])).toEqual([]);
  });
});
