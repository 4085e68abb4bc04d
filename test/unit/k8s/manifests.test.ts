/** Compares the manifests with the code they run: ports, settings, probes, services, times. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { parse } from "yaml";
import { configSchema, readConfig } from "../../../services/lib/config.ts";
import { STOP_MARGIN_MS } from "../../../services/lib/processes/lifetime.ts";
import { createDatabase } from "../../support/database.ts";
import { build, type Manifest, withKustomize } from "../../support/kustomize.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

interface Container {
  name: string;
  image: string;
  args?: string[];
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  ports?: { name: string; containerPort: number }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: Record<string, unknown>;
  readinessProbe?: { httpGet: { path: string; port: string } };
  livenessProbe?: { httpGet: { path: string; port: string } };
  startupProbe?: { httpGet?: { path: string; port: string } };
  lifecycle?: { preStop: { exec: { command: string[] } } };
  volumeMounts: { name: string; mountPath: string }[];
}
interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes: { name: string }[];
  enableServiceLinks: boolean;
  automountServiceAccountToken: boolean;
  securityContext: Record<string, unknown>;
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: { topologyKey: string; labelSelector: { matchLabels: Record<string, string> } }[];
}
interface Workload extends Manifest {
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

withKustomize(() => {
  const overlay = (name: string) => build(join(ROOT, "k8s/overlays", name));
  const cluster = overlay("cluster");
  const small = overlay("small");
  const workloadsOf = (all: Manifest[]) =>
    all.filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind)) as Workload[];
  const workloads = [...workloadsOf(cluster), ...workloadsOf(small)].map((one) => [one.metadata.name, one] as const);
  const servers = workloads.filter(([, { kind }]) => kind !== "Job");
  const ours = ({ spec }: Workload) => spec.template.spec.containers.find(({ name }) => name === "flockmail")!;
  const configMap = (cluster.find(({ kind }) => kind === "ConfigMap") as Manifest & { data: Record<string, string> })
    .data;
  const services = readdirSync(join(ROOT, "services")).filter((name) =>
    existsSync(join(ROOT, "services", name, `${name}.service.ts`)),
  );

  describe("settings", () => {
    test.each(workloads)("%s sets only existing variables", (_, workload) => {
      const known = new Set([...Object.keys(configSchema.properties), "HOME", "NODE_OPTIONS", "POSTGRES_PASSWORD"]);
      const names = [...Object.keys(configMap), ...(ours(workload).env ?? []).map(({ name }) => name)];
      expect(names.filter((name) => !known.has(name))).toEqual([]);
    });

    test.each(servers)("%s starts with its settings", (_, workload) => {
      const example: Record<string, string> = {
        DATABASE_URL: "postgres://u:p@db/x",
        REDIS_URL: "redis://redis",
        SYSTEM_SMTP_URL: "smtp://mail",
        TRANSPORTER: "nats://nats",
      };
      const env = (ours(workload).env ?? []).map(({ name, value }) => [
        name,
        example[name] ?? value ?? "0123456789abcdef",
      ]);
      const config = readConfig({ ...configMap, ...Object.fromEntries(env) });
      expect(config.ALLOW_PRIVATE_NETWORKS).toBe(false);
    });

    test("the password of the system mail server reaches every service that uses it", () => {
      const reads = (service: string) =>
        readdirSync(join(ROOT, "services", service), { recursive: true, encoding: "utf8" })
          .filter((file) => file.endsWith(".ts"))
          .some((file) =>
            readFileSync(join(ROOT, "services", service, file), "utf8").includes("config().SYSTEM_SMTP_URL"),
          );
      const readers = services.filter(reads);
      expect(readers).toContain("accounts");
      const mailers = servers.filter(([, workload]) =>
        ours(workload).args!.some((glob) => glob.includes("**") || readers.includes(glob.split("/")[1]!)),
      );
      expect(mailers.length).toBeGreaterThan(1);
      for (const [, workload] of mailers) {
        expect(ours(workload).env).toContainEqual({
          name: "SYSTEM_SMTP_URL",
          valueFrom: { secretKeyRef: { name: "flockmail", key: "SYSTEM_SMTP_URL", optional: true } },
        });
      }
    });

    test("no secret is written down: all reference the Secret", () => {
      const secret = /KEY|PASSWORD|_URL|TRANSPORTER/;
      const written = workloads.flatMap(([, workload]) =>
        [...workload.spec.template.spec.containers, ...(workload.spec.template.spec.initContainers ?? [])]
          .flatMap(({ env = [] }) => env)
          .filter(
            ({ name, value }) => secret.test(name) && value !== undefined && !value.includes("$(POSTGRES_PASSWORD)"),
          ),
      );
      expect(written).toEqual([]);
      expect(Object.keys(configMap).filter((name) => secret.test(name) && name !== "BASE_URL")).toEqual([]);
      expect([...cluster, ...small].filter(({ kind }) => kind === "Secret")).toEqual([]);
    });
  });

  describe("services", () => {
    test("the cluster runs exactly the existing services", () => {
      const globs = workloadsOf(cluster).flatMap((workload) => ours(workload).args ?? []);
      const named = globs.map((glob) => /^services\/([\w-]+)\/\*\.service\.ts$/.exec(glob)?.[1]);
      expect([...new Set(named)].sort()).toEqual(services.toSorted());
    });

    test("small runs all of them in one process, once", () => {
      const [workload] = workloadsOf(small);
      expect(ours(workload!).args).toEqual(["services/**/*.service.ts"]);
      expect(workload).toMatchObject({ kind: "StatefulSet", spec: { replicas: 1 } });
    });

    test("a sender runs its own renderer, so rendering is a local call", () => {
      const sender = workloadsOf(cluster).find(({ metadata }) => metadata.name === "smtp-sender")!;
      expect(ours(sender).args).toContain("services/renderer/*.service.ts");
    });

    test("the migration job runs a file that exists", () => {
      const job = workloadsOf(cluster).find(({ kind }) => kind === "Job")!;
      expect(existsSync(join(ROOT, ours(job).command![1]!))).toBe(true);
    });

    test("only the job uses the owner's role if there is one, else it migrates with the common role", () => {
      const named = workloads.flatMap(([name, workload]) =>
        [...workload.spec.template.spec.containers, ...(workload.spec.template.spec.initContainers ?? [])]
          .flatMap(({ env = [] }) => env)
          .filter(({ valueFrom }) => valueFrom?.secretKeyRef.key === "MIGRATION_DATABASE_URL")
          .map((variable) => [name, variable]),
      );
      expect(named).toEqual([
        [
          "migrate",
          {
            name: "MIGRATION_DATABASE_URL",
            valueFrom: { secretKeyRef: { name: "flockmail", key: "MIGRATION_DATABASE_URL", optional: true } },
          },
        ],
      ]);
      const job = workloadsOf(cluster).find(({ kind }) => kind === "Job")!;
      expect(ours(job).env!.map(({ name }) => name)).toContain("DATABASE_URL");
    });

    test("only the job applies migrations: the cluster's nodes wait for it, and small applies its own", () => {
      const smallMap = small.find(({ kind }) => kind === "ConfigMap") as Manifest & { data: Record<string, string> };
      expect(configMap.MIGRATIONS).toBe("wait");
      expect(smallMap.data.MIGRATIONS).toBeUndefined();
    });

    test("Argo CD applies the migration job's dependencies before it and the nodes after it, also at first", () => {
      const waveOf = ({ metadata }: Manifest) => {
        const { annotations = {} } = metadata as { annotations?: Record<string, string> };
        // Hooks before or after the sync would not take part in its waves.
        expect(annotations["argocd.argoproj.io/hook"] ?? "Sync").toBe("Sync");
        return Number(annotations["argocd.argoproj.io/sync-wave"] ?? 0);
      };
      const waves = (kind: string) => cluster.filter((one) => one.kind === kind).map(waveOf);
      const [job] = waves("Job");
      for (const wave of [...waves("ConfigMap"), ...waves("ServiceAccount")]) expect(wave).toBeLessThan(job!);
      for (const wave of waves("Deployment")) expect(wave).toBeGreaterThan(job!);
    });

    test("docs/kubernetes.md gives the number of PostgreSQL connections", () => {
      const most = Object.fromEntries(
        cluster
          .filter(({ kind }) => ["HorizontalPodAutoscaler", "ScaledObject"].includes(kind))
          .map(
            ({ spec }) => spec as { scaleTargetRef: { name: string }; maxReplicas?: number; maxReplicaCount?: number },
          )
          .map((spec) => [spec.scaleTargetRef.name, spec.maxReplicas ?? spec.maxReplicaCount]),
      ) as Record<string, number>;
      const pods = workloadsOf(cluster)
        .filter(({ kind }) => kind === "Deployment")
        .map(({ metadata, spec }) => most[metadata.name] ?? (spec as unknown as { replicas: number }).replicas)
        .reduce((sum, n) => sum + n, 0);
      const { DATABASE_POOL } = readConfig({});
      const page = readFileSync(join(ROOT, "docs/kubernetes.md"), "utf8").replaceAll(/\s+/g, " ");
      expect(page).toContain(`${pods} pods at most, with up to ${DATABASE_POOL} connections each`);
    });
  });

  describe("ports and probes", () => {
    test.each(servers)("%s: probes use existing paths on their port", (_, workload) => {
      const health = readFileSync(join(ROOT, "mixins/health.middleware.ts"), "utf8");
      const { startupProbe, readinessProbe, livenessProbe, ports } = ours(workload);
      expect(readinessProbe!.httpGet.path).toBe("/ready");
      expect(livenessProbe!.httpGet.path).toBe("/live");
      for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
        expect(health).toContain(`case "${probe!.httpGet!.path}"`);
        expect(probe!.httpGet!.port).toBe("health");
      }
      expect(ports!.find(({ name }) => name === "health")!.containerPort).toBe(Number(configMap.HEALTH_PORT));
    });

    test.each([
      ["cluster", "flockmail", "gateway", cluster],
      ["small", "flockmail", "gateway", small],
      ["cluster", "bounces", "bounces", cluster],
    ])("%s: the Service %s leads to the port of exactly the pods that have the service %s", (_, name, served, all) => {
      const service = all.find(({ kind, metadata }) => kind === "Service" && metadata.name === name) as Manifest & {
        spec: { selector: Record<string, string>; ports: { targetPort: string }[] };
      };
      const chosen = workloadsOf(all).filter(({ spec }) =>
        Object.entries(service.spec.selector).every(([label, value]) => spec.template.metadata.labels[label] === value),
      );
      expect(chosen).toHaveLength(1);
      const { ports, args, env } = ours(chosen[0]!);
      expect(args!.some((glob) => glob.includes("**") || glob.includes(served))).toBe(true);
      const inbound = env!.find((one) => one.name === "INBOUND_PORT")?.value;
      expect(ports!.find((port) => port.name === service.spec.ports[0]!.targetPort)!.containerPort).toBe(
        Number(inbound ?? configMap.PORT),
      );
    });

    test.each(servers)("%s has enough time for a graceful stop", (_, workload) => {
      const stopMs = Number(configMap.DRAIN_SECONDS) * 1_000 + STOP_MARGIN_MS;
      const preStopSeconds = Number(ours(workload).lifecycle!.preStop.exec.command[1]);
      const { terminationGracePeriodSeconds } = workload.spec.template.spec;
      expect(terminationGracePeriodSeconds).toBeGreaterThan(preStopSeconds + stopMs / 1_000);
    });
  });

  describe("hardening", () => {
    test.each(workloads)("%s runs unprivileged, bounded, and without a token or service links", (_, workload) => {
      const pod = workload.spec.template.spec;
      expect(pod).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      });
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
        const volumes = [
          ...pod.volumes.map(({ name }) => name),
          ...(workload.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
        ];
        for (const { name } of container.volumeMounts) expect(volumes).toContain(name);
      }
    });

    test.each(workloads)("%s has room for its heap, and requests what it uses when idle", (_, workload) => {
      const mebibytes = (text: string) => Number.parseInt(text, 10) * (text.endsWith("Gi") ? 1024 : 1);
      const own = ours(workload).env?.find(({ name }) => name === "NODE_OPTIONS")?.value;
      const [semi, old] = [...(own ?? configMap.NODE_OPTIONS!).matchAll(/=(\d+)/g)].map(([, n]) => Number(n));
      const { limits, requests } = ours(workload).resources;
      // The young generation is three semi-spaces; code, buffers and threads take 100 MiB.
      expect(mebibytes(limits.memory!)).toBeGreaterThan(old! + 3 * semi! + 100);
      if (workload.kind !== "Job") expect(mebibytes(requests.memory!)).toBeGreaterThanOrEqual(160);
    });

    test.each(servers)("%s selects its own pods", (_, { spec }) => {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    });

    test("every Deployment but the operators' is spread and keeps pods through a drain", () => {
      const deployments = workloadsOf(cluster).filter(({ kind }) => kind === "Deployment");
      const budgets = cluster.filter(({ kind }) => kind === "PodDisruptionBudget").map(({ metadata }) => metadata.name);
      for (const { metadata, spec } of deployments) {
        const [spread] = spec.template.spec.topologySpreadConstraints!;
        expect(spread!.labelSelector.matchLabels).toEqual(spec.selector.matchLabels);
        if (metadata.name !== "operator") expect(budgets).toContain(metadata.name);
      }
    });

    test("a drain waits neither for unready pods nor for an old revision", () => {
      for (const budget of cluster.filter(({ kind }) => kind === "PodDisruptionBudget")) {
        expect(budget.spec).toMatchObject({ unhealthyPodEvictionPolicy: "AlwaysAllow" });
      }
      for (const { spec } of workloadsOf(cluster).filter(({ kind }) => kind === "Deployment")) {
        const keys = spec.template.spec.topologySpreadConstraints!.map(({ topologyKey }) => topologyKey);
        expect(keys).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
      }
    });

    test("the API's port is for the ingress alone, and the backends' ports are for private networks", () => {
      const policy = (name: string) =>
        cluster.find(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === name)!.spec as {
          ingress?: { from?: unknown[] }[];
          egress?: { to?: { ipBlock?: { cidr: string } }[] }[];
        };
      expect(policy("flockmail-api").ingress).toMatchObject([
        { from: [{ namespaceSelector: { matchLabels: { "flockmail/ingress": "true" } } }] },
      ]);
      const [backends] = policy("flockmail-backends").egress!;
      const blocks = backends!.to!.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []);
      expect(blocks).toEqual(["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]);
    });

    test("everything is closed except what a policy opens, and only services that need it reach the internet", () => {
      for (const all of [cluster, small]) {
        const closed = all.find(({ metadata }) => metadata.name === "flockmail-default-deny") as Manifest & {
          spec: object;
        };
        expect(closed.spec).toEqual({
          podSelector: { matchLabels: { "app.kubernetes.io/name": "flockmail" } },
          policyTypes: ["Ingress", "Egress"],
        });
      }
      const outside = workloadsOf(cluster).filter(
        ({ spec }) => spec.template.metadata.labels["flockmail/reaches"] === "internet",
      );
      expect(outside.map(({ metadata }) => metadata.name).sort()).toEqual([
        "accounts",
        "bounces",
        "renderer",
        "smtp-sender",
        "tracking",
        "webhooks",
      ]);
    });
  });

  describe("scaling", () => {
    test("scaled workloads exist and set no replicas themselves", () => {
      const scalers = cluster.filter(({ kind }) => ["HorizontalPodAutoscaler", "ScaledObject"].includes(kind));
      const names = scalers.map(({ spec }) => (spec as { scaleTargetRef: { name: string } }).scaleTargetRef.name);
      expect(names.sort()).toEqual(["gateway", "smtp-sender"]);
      for (const name of names) {
        const target = workloadsOf(cluster).find(({ metadata }) => metadata.name === name)!;
        expect(target.spec).not.toHaveProperty("replicas");
      }
    });

    test("all methods of scaling the senders use the same limits and target", () => {
      interface Scaler {
        minReplicas?: number;
        maxReplicas?: number;
        minReplicaCount?: number;
        maxReplicaCount?: number;
        metrics?: { external: { target: { averageValue: string } } }[];
        triggers?: { metadata: { targetQueryValue?: string; threshold?: string } }[];
      }
      const measuresOf = ({ spec }: Manifest) => {
        const { minReplicas, maxReplicas, minReplicaCount, maxReplicaCount, metrics, triggers } = spec as Scaler;
        const [trigger] = (triggers ?? []).map(({ metadata }) => metadata);
        const [metric] = (metrics ?? []).map(({ external }) => external.target);
        return [
          minReplicas ?? minReplicaCount,
          maxReplicas ?? maxReplicaCount,
          metric?.averageValue ?? trigger?.targetQueryValue ?? trigger?.threshold,
        ];
      };
      const example = (name: string) => parse(readFileSync(join(ROOT, "k8s/examples", `${name}.yaml`), "utf8"));
      const expected = measuresOf(cluster.find(({ kind }) => kind === "ScaledObject")!);
      expect(measuresOf(example("smtp-sender-prometheus"))).toEqual(expected);
      expect(measuresOf(example("smtp-sender-metric"))).toEqual(expected);
    });

    test("KEDA's query runs on the database", async () => {
      const scaled = cluster.find(({ kind }) => kind === "ScaledObject") as Manifest & {
        spec: { triggers: { metadata: { query: string } }[] };
      };
      const database = await createDatabase();
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        const { rows } = await client.query(scaled.spec.triggers[0]!.metadata.query);
        expect(Object.values(rows[0]).map(Number)).toEqual([0]);
      } finally {
        await client.end();
        await database.drop();
      }
    });
  });
});
