/** Contents and labels of the image, and its start and stop without Kubernetes. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { packagesIn } from "../../scripts/image/packages.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { VERSION } from "./rig/build-image.ts";
import { filesIn } from "./rig/files.ts";
import { CGROUP, openPodman, type Podman } from "./rig/podman.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MOST_BYTES = 400e6;
const HEALTHY_WITHIN_MS = 900_000;
/** Docker's time before it kills a container. */
const STOP_GRACE_SECONDS = 60;

jest.setTimeout(1_800_000);

const image = process.env.IMAGE_NAME!;
let podman: Podman;
let root: string;
let base: string;
let database: TestDatabase;
let described: {
  Size: number;
  Labels: Record<string, string>;
  Config: Record<string, unknown>;
  Healthcheck: { Test: string[] };
};

beforeAll(async () => {
  podman = await openPodman(process.env.IMAGE_FOLDER!);
  root = await podman(["image", "mount", image]);
  base = await podman(["image", "mount", process.env.IMAGE_BASE!]);
  [described] = JSON.parse(await podman(["image", "inspect", image]));
  database = await createDatabase();
});
afterAll(async () => {
  await podman(["rm", "--all", "--force", "--time=0"]);
  await database?.drop();
});

describe("the image", () => {
  const installed = () => packagesIn(join(root, "app/node_modules"));

  test("contains exactly the packages of the lock file that the service needs, in the locked versions", () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version: string; dev?: boolean; optional?: boolean; devOptional?: boolean }>;
    };
    const sharp = new RegExp(`/@img/sharp-(?:libvips-)?linux-${process.arch}$`);
    const wanted = Object.entries(packages)
      .filter(
        ([path, { dev, optional, devOptional }]) => path && !dev && !devOptional && (!optional || sharp.test(path)),
      )
      .map(([path, { version }]) => `${path} ${version}`);
    expect(
      installed()
        .map(({ path, version }) => `${path} ${version}`)
        .sort(),
    ).toEqual(wanted.sort());
  });

  test("contains exactly the folders of the repository that the service needs, and only tini outside of /app", () => {
    const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT })
      .toString()
      .trim()
      .split("\n")
      .filter((file) => existsSync(join(ROOT, file)));
    const isCopied = (file: string) =>
      /^(?:docs|mixins|models|services)\//.test(file) ||
      ["package.json", "moleculer.config.ts", "LICENSE"].includes(file);
    const copied = tracked.filter(isCopied);
    const inApp = [
      ...copied,
      ".cache/console/code.json",
      ".cache/console/editor.json",
      "sbom.cdx.json",
      "LICENSES.txt",
    ].map((file) => `/app/${file}`);
    const wanted = [...inApp, "/usr/bin/tini", "/usr/share/doc/tini/copyright"];
    const [ours, theirs] = [filesIn(root), filesIn(base)];
    // Empty files over which the engine mounts when it starts a container.
    const mounts = ["/etc/hostname", "/etc/hosts", "/etc/resolv.conf"];
    const isExpected = (path: string) =>
      theirs.has(path) || mounts.includes(path) || path.startsWith("/app/node_modules/");
    const added = [...ours.keys()].filter((path) => !isExpected(path));
    expect(added.sort()).toEqual(wanted.sort());
    const isChanged = ([path, what]: [string, string]) => theirs.has(path) && theirs.get(path) !== what;
    expect([...ours].filter(isChanged).map(([path]) => path)).toEqual([]);
  });

  test("contains no package manager", () => {
    const programs = [...filesIn(root, "/usr/local/bin").keys(), ...filesIn(root, "/opt").keys()];
    expect(programs).toEqual(["/usr/local/bin/node"]);
    expect(existsSync(join(root, "usr/local/lib/node_modules"))).toBe(false);
  });

  test("contains a bill of materials and the licence of every package", () => {
    const bom = JSON.parse(readFileSync(join(root, "app/sbom.cdx.json"), "utf8")) as {
      bomFormat: string;
      components: { name: string; version: string }[];
    };
    const [named, list] = [installed(), readFileSync(join(root, "app/LICENSES.txt"), "utf8")];
    expect(bom.bomFormat).toBe("CycloneDX");
    expect([...new Set(bom.components.map(({ name, version }) => `${name} ${version}`))].sort()).toEqual(
      [...new Set(named.map(({ name, version }) => `${name} ${version}`))].sort(),
    );
    for (const { name, version } of named) expect(list).toContain(`${name} ${version}: `);
  });

  test("has at most 400 MB", () => {
    process.stdout.write(`  ${(described.Size / 1e6).toFixed(0)} MB\n`);
    expect(described.Size).toBeLessThan(MOST_BYTES);
  });
});

test("has labels and runs as a numeric user", () => {
  expect(described.Labels).toMatchObject({
    "org.opencontainers.image.title": "Flockmail",
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.version": VERSION,
    "org.opencontainers.image.revision": "0123456789abcdef",
    "org.opencontainers.image.created": "2026-01-01T00:00:00.000Z",
  });
  expect(described.Config).toMatchObject({
    User: "1000:1000",
    ExposedPorts: { "3000/tcp": {}, "3030/tcp": {} },
    Cmd: ["services/**/*.service.ts"],
  });
});

interface Confined {
  read_only: boolean;
  tmpfs: string[];
  cap_drop: string[];
  security_opt: string[];
}

/** Starts it like compose.yaml, but in the network of this test with its database. */
async function start(name: string): Promise<void> {
  const { services } = parse(readFileSync(join(ROOT, "compose.yaml"), "utf8")) as { services: { flockmail: Confined } };
  const { read_only, tmpfs, cap_drop, security_opt } = services.flockmail;
  const confined = [
    ...(read_only ? ["--read-only", "--read-only-tmpfs=false"] : []),
    ...tmpfs.map((path) => `--tmpfs=${path}`),
    ...cap_drop.map((right) => `--cap-drop=${right}`),
    ...security_opt.map((option) => `--security-opt=${option}`),
  ];
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: "of the image's tests, and of nothing else",
    HOST: "127.0.0.1",
    LOGLEVEL: "warn",
  };
  const how = ["--detach", `--name=${name}`, "--network=host", `--cgroup-parent=/${CGROUP}`, ...confined];
  await podman(["run", ...how, ...Object.entries(env).map(([key, value]) => `--env=${key}=${value}`), image]);
}

/** Runs the image's own health check in the container, as the engine does. */
const isHealthy = (name: string) => {
  const [, ...check] = described.Healthcheck.Test;
  return podman(["exec", name, ...check]).then(
    () => true,
    () => false,
  );
};

async function stop(name: string): Promise<number> {
  await podman(["stop", `--time=${STOP_GRACE_SECONDS}`, name]);
  return Number(await podman(["inspect", "--format={{.State.ExitCode}}", name]));
}

test("its health check fails until the service is ready; process 1 reaps zombies; SIGTERM ends it with exit code 0", async () => {
  await start("alone");
  expect(await isHealthy("alone")).toBe(false);
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  while (!(await isHealthy("alone"))) {
    if (Date.now() > deadline) throw new Error(`It does not become healthy:\n${await podman(["logs", "alone"])}`);
    await sleep(500);
  }
  await podman(["healthcheck", "run", "alone"]);
  // The parent ends first, so it becomes a child of process 1, which must reap it.
  await podman(["exec", "alone", "sh", "-c", "sleep 0.2 &"]);
  await sleep(1_000);
  const dead = "for s in /proc/[0-9]*/status; do grep -q '^State:.Z' $s && echo $s; done; true";
  expect(await podman(["exec", "alone", "sh", "-c", dead])).toBe("");
  expect(await stop("alone")).toBe(0);
});

test("a SIGTERM within its first tenth of a second also ends it with exit code 0", async () => {
  await start("short");
  await sleep(100);
  expect(await stop("short")).toBe(0);
});
