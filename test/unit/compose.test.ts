/**
 * Checks compose.yaml without a container engine: structure, start order, and that the service accepts the settings.
 * `npm run test:image` starts the service alone with it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { configSchema, readConfig } from "../../services/lib/config.ts";

interface Container {
  build?: string;
  image?: string;
  environment?: Record<string, string>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  volumes?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  stop_grace_period?: string;
}

const root = join(import.meta.dirname, "../..");
const compose = parse(readFileSync(join(root, "compose.yaml"), "utf8")) as {
  services: Record<string, Container>;
  volumes: Record<string, unknown>;
};
const { flockmail, postgres, mailbox } = compose.services;
/** `${NAME:-default}` without NAME. */
const filledIn = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
const environment = Object.fromEntries(
  Object.entries(flockmail!.environment!).map(([name, value]) => [name, filledIn(value)]),
);
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");

describe("compose.yaml", () => {
  test("sets only existing settings, with valid values", () => {
    for (const name of Object.keys(environment)) expect(Object.keys(configSchema.properties)).toContain(name);
    expect(readConfig(environment)).toMatchObject({ PORT: 3000, HOST: "0.0.0.0", REGISTRATION: "open" });
  });

  test("connects the service with its database and mailbox", () => {
    const url = new URL(environment.DATABASE_URL!);
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = postgres!.environment!;
    expect([url.hostname, url.username, url.password, url.pathname.slice(1)]).toEqual([
      "postgres",
      POSTGRES_USER,
      filledIn(POSTGRES_PASSWORD!),
      POSTGRES_DB,
    ]);
    expect(new URL(environment.SYSTEM_SMTP_URL!).hostname).toBe("mailbox");
    expect(environment.ALLOWED_PRIVATE_HOSTS).toBe("mailbox");
  });

  test("starts the service once both are healthy, and defines health checks", () => {
    expect(Object.keys(flockmail!.depends_on!).sort()).toEqual(["mailbox", "postgres"]);
    for (const [name, { condition }] of Object.entries(flockmail!.depends_on!)) {
      expect(condition).toBe("service_healthy");
      expect(compose.services[name]!.healthcheck!.test[0]).toBe("CMD");
    }
    // The image contains its own.
    expect(flockmail!.build).toBe(".");
    expect(existsSync(join(root, "Dockerfile"))).toBe(true);
    expect(dockerfile).toContain("HEALTHCHECK");
  });

  test("is reachable from this machine only, on the port of its links", () => {
    for (const { ports = [] } of Object.values(compose.services)) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
    }
    expect(flockmail!.ports).toEqual([`127.0.0.1:${new URL(environment.BASE_URL!).port}:3000`]);
    expect(dockerfile).toMatch(/EXPOSE 3000/);
  });

  test("pins versions, keeps the database, and lets the service stop gracefully", () => {
    for (const { image } of [postgres!, mailbox!]) expect(image).toMatch(/:v?\d+/);
    const kept = postgres!.volumes!.map((volume) => volume.split(":")[0]!);
    expect(kept).toEqual(Object.keys(compose.volumes));
    expect(flockmail).toMatchObject({
      read_only: true,
      tmpfs: ["/tmp"],
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges"],
    });
    const grace = Number.parseInt(flockmail!.stop_grace_period!, 10);
    expect(grace).toBeGreaterThan(readConfig(environment).DRAIN_SECONDS);
  });
});
