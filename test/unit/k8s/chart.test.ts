/** Compares the Helm chart with the manifests from which it is generated. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { BY_HAND, CHART, chartFiles, presentFiles } from "../../../scripts/chart/write-chart.ts";
import { objectsIn, withHelm } from "../../support/helm.ts";
import { errorsOf } from "../../support/kubernetes-schemas.ts";
import { build, type Json, type Manifest, withKustomize } from "../../support/kustomize.ts";
import { podsOf, restrictedViolations } from "../../support/pod-security.ts";

const K8S = resolve(import.meta.dirname, "../../../k8s");
const read = (path: string) => readFileSync(join(CHART, path), "utf8");

withKustomize(() => {
  test("the chart is up to date: `npm run chart` would change nothing", () => {
    const files = chartFiles();
    expect(presentFiles()).toEqual([...files.keys(), ...BY_HAND].toSorted());
    expect([...files].filter(([path, text]) => read(path) !== text).map(([path]) => path)).toEqual([]);
  });
});

describe("values", () => {
  // Helm reads YAML 1.1.
  const defaults = parse(read("values.yaml"), { version: "1.1" }) as Json;
  const isValid = new Ajv({ strict: false }).compile(JSON.parse(read("values.schema.json")));
  const isMap = (one: unknown): one is Json => typeof one === "object" && one !== null && !Array.isArray(one);
  const merged = (all: Json, own: Json): Json => ({
    ...all,
    ...Object.fromEntries(
      Object.entries(own).map(([name, one]) => [name, isMap(one) && isMap(all[name]) ? merged(all[name], one) : one]),
    ),
  });

  test("the defaults satisfy the schema", () => {
    isValid(defaults);
    expect(isValid.errors).toBeNull();
  });

  test.each<[string, Json]>([
    ["another number of pods", { services: { smtpSender: { replicas: 0, maxReplicas: 20 } } }],
    ["a separate node pool for the senders", { services: { smtpSender: { nodeSelector: { pool: "outgoing" } } } }],
    ["a setting", { config: { DRAIN_SECONDS: "90", SPAM_CHECK_URL: "http://rspamd:11333" } }],
    ["values of a chart that brings this one", { global: { any: 1 } }],
  ])("%s is taken", (_, own) => {
    isValid(merged(defaults, own));
    expect(isValid.errors).toBeNull();
  });

  test.each<[string, Json, string]>([
    ["an unknown value", { replicas: 2 }, "additionalProperties"],
    ["a misspelled one", { image: { tagg: "1" } }, "additionalProperties"],
    ["a service that is none", { services: { mailer: { replicas: 1 } } }, "additionalProperties"],
    ["a setting that is none", { config: { LOG_LEVEL: "info" } }, "additionalProperties"],
    ["a setting's value that is none", { config: { LOGLEVEL: "loud" } }, "enum"],
    // Helm turns an unquoted million into 1e+06.
    ["a setting that is not a string", { config: { MAX_UPLOAD_BYTES: 1_000_000 } }, "type"],
    ["a secret", { config: { SECRET_KEY: "0123456789abcdef" } }, "additionalProperties"],
    ["a port that the manifests name", { config: { PORT: "8080" } }, "additionalProperties"],
    // A rule without peers lets everybody in.
    ["a policy for nobody", { networkPolicies: { ingress: [] } }, "minItems"],
    ["an address without its scheme", { baseUrl: "mail.example.com" }, "pattern"],
  ])("%s is refused", (_, own, keyword) => {
    isValid(merged(defaults, own));
    expect(isValid.errors?.map((error) => error.keyword)).toEqual([keyword]);
  });

  test("version and appVersion are the service's", () => {
    const { version } = JSON.parse(readFileSync(join(K8S, "../package.json"), "utf8"));
    expect(parse(read("Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });
});

withHelm((helm) => {
  // A helm built by Go assumes Kubernetes 1.20 unless a version is given.
  const rendered = (...args: string[]) =>
    objectsIn(helm("template", "flockmail", CHART, "-n", "flockmail", "--kube-version", "1.29", ...args));
  const find = (all: Manifest[], kind: string, name: string) =>
    all.find((one) => one.kind === kind && one.metadata.name === name) as Manifest & { spec: Json };
  const kinds = (all: Manifest[]) => new Set(all.map(({ kind }) => kind));

  /** Removes what only Helm adds: a Job per revision, and the hash that restarts pods. */
  function comparable(manifests: Manifest[]): [string, Manifest][] {
    return manifests
      .map((one) => structuredClone(one))
      .map((one): [string, Manifest] => {
        if (one.metadata.name === "migrate-1") one.metadata.name = "migrate";
        const pod = ((one.spec as Json | undefined)?.template as Manifest | undefined)?.metadata as Json | undefined;
        if (pod?.annotations) delete (pod.annotations as Json)["checksum/config"];
        return [`${one.kind} ${one.metadata.name}`, one];
      })
      .toSorted(([a], [b]) => a.localeCompare(b));
  }

  withKustomize(() => {
    test.each(["cluster", "small"])("%s: with default values helm produces kustomize's objects", (size) => {
      const ours = comparable(rendered("--set", `size=${size}`));
      expect(ours).toEqual(comparable(build(join(K8S, "overlays", size))));
    });
  });

  const EVERYTHING = `
baseUrl: https://post.example.org
image: { repository: registry.example.org/mail, digest: "sha256:${"ab".repeat(32)}", pullPolicy: Always, pullSecrets: [registry] }
existingSecret: mail
config: { DRAIN_SECONDS: "90", NODE_EXTRA_CA_CERTS: /etc/flockmail/authorities/ca.pem }
services:
  smtpSender: { replicas: 3, maxReplicas: 12, nodeSelector: { pool: outgoing }, extraEnv: [{ name: MAX_IN_DOUBT, value: "400" }] }
autoscaling: { gateway: { enabled: false }, smtpSender: { by: prometheus, recipientsPerSender: 2000000 } }
service: { type: NodePort, annotations: { example.org/one: "1" } }
inbound: { type: ClusterIP }
ingress: { enabled: true }
podMonitor: { enabled: true, labels: { release: prometheus } }
podDisruptionBudgets: { enabled: false }
networkPolicies:
  ingress: [{ ipBlock: { cidr: 10.1.0.0/16 } }]
  extraEgress: [{ to: [{ ipBlock: { cidr: 10.2.0.1/32 } }], ports: [{ port: 25 }] }]
serviceAccount: { annotations: { example.org/role: mail } }
podAnnotations: { example.org/team: mail }
podLabels: { team: mail }
extraEnv: [{ name: OWN, value: x }]
extraEnvFrom: [{ secretRef: { name: more } }]
extraVolumes: [{ name: nats, secret: { secretName: nats } }]
extraVolumeMounts: [{ name: nats, mountPath: /etc/nats }]
nodeSelector: { pool: any }
tolerations: [{ key: mail, operator: Exists }]
affinity: { nodeAffinity: {} }
priorityClassName: mail
`;

  describe("all values at once", () => {
    let folder: string;
    let file: string;
    let all: Manifest[];
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "flockmail-chart-"));
      file = join(folder, "values.yaml");
      writeFileSync(file, EVERYTHING);
      all = rendered("-f", file);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test("objects are valid, and their pods satisfy `restricted`", () => {
      const known = all.filter(({ apiVersion }) => !apiVersion.startsWith("monitoring."));
      expect(errorsOf(known)).toEqual([]);
      expect(podsOf(all).flatMap(([, pod]) => restrictedViolations(pod))).toEqual([]);
    });

    test("helm lint finds nothing", () => {
      expect(helm("lint", "--strict", CHART, "-f", file)).toContain("0 chart(s) failed");
    });

    test("each value has its effect in the right field", () => {
      const sender = find(all, "Deployment", "smtp-sender").spec.template as { metadata: Json; spec: Json };
      const [container] = sender.spec.containers as Json[];
      expect(sender.spec).toMatchObject({
        nodeSelector: { pool: "outgoing" },
        tolerations: [{ key: "mail", operator: "Exists" }],
        priorityClassName: "mail",
        imagePullSecrets: [{ name: "registry" }],
        // preStop of 5 s, DRAIN_SECONDS, and 20 s to write and close.
        terminationGracePeriodSeconds: 115,
      });
      expect(sender.metadata).toMatchObject({ labels: { team: "mail" }, annotations: { "example.org/team": "mail" } });
      expect(Object.keys(sender.metadata.annotations as Json).toSorted()).toEqual([
        "checksum/config",
        "example.org/team",
      ]);
      expect(container).toMatchObject({
        image: `registry.example.org/mail@sha256:${"ab".repeat(32)}`,
        imagePullPolicy: "Always",
        env: expect.arrayContaining([
          { name: "OWN", value: "x" },
          { name: "MAX_IN_DOUBT", value: "400" },
          { name: "SECRET_KEY", valueFrom: { secretKeyRef: { name: "mail", key: "SECRET_KEY" } } },
        ]),
        envFrom: [{ configMapRef: { name: "flockmail" } }, { secretRef: { name: "more" } }],
        volumeMounts: expect.arrayContaining([{ name: "nats", mountPath: "/etc/nats" }]),
      });
      expect(find(all, "Deployment", "gateway").spec).toMatchObject({
        replicas: 2,
        template: { spec: { nodeSelector: { pool: "any" }, terminationGracePeriodSeconds: 140 } },
      });
      expect(find(all, "ConfigMap", "flockmail").data).toMatchObject({
        BASE_URL: "https://post.example.org",
        DRAIN_SECONDS: "90",
      });
      expect(find(all, "ScaledObject", "smtp-sender").spec).toMatchObject({
        minReplicaCount: 3,
        maxReplicaCount: 12,
        triggers: [
          {
            metadata: {
              threshold: "2000000",
              query: 'max(flockmail_send_queue_recipients{state="ready",namespace="flockmail"})',
            },
          },
        ],
      });
      expect(find(all, "Service", "bounces").spec).not.toHaveProperty("externalTrafficPolicy");
      expect(find(all, "NetworkPolicy", "flockmail-api").spec).toMatchObject({
        ingress: [{ from: [{ ipBlock: { cidr: "10.1.0.0/16" } }] }],
      });
      expect(find(all, "NetworkPolicy", "flockmail-extra").spec).toMatchObject({ egress: [{ ports: [{ port: 25 }] }] });
      expect(find(all, "Ingress", "flockmail").spec).toMatchObject({
        rules: [{ host: "post.example.org" }],
        tls: [{ hosts: ["post.example.org"], secretName: "flockmail-tls" }],
      });
      expect(find(all, "PodMonitor", "flockmail").metadata.labels).toEqual({ release: "prometheus" });
      const absent = ["PodDisruptionBudget", "HorizontalPodAutoscaler", "TriggerAuthentication"];
      expect(absent.filter((kind) => kinds(all).has(kind))).toEqual([]);
    });
  });

  test("senders can be scaled by the service's metric without KEDA, or not at all", () => {
    const byMetric = rendered("--set", "autoscaling.smtpSender.by=metric");
    expect(errorsOf(byMetric)).toEqual([]);
    expect(kinds(byMetric)).not.toContain("ScaledObject");
    expect(find(byMetric, "HorizontalPodAutoscaler", "smtp-sender").spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 8,
    });
    const fixed = rendered("--set", "autoscaling.smtpSender.by=none,networkPolicies.enabled=false");
    expect(kinds(fixed)).not.toContain("ScaledObject");
    expect(kinds(fixed)).not.toContain("NetworkPolicy");
    expect(find(fixed, "Deployment", "smtp-sender").spec).toMatchObject({ replicas: 2 });
  });

  test("changing a setting restarts pods, changing the number of pods does not", () => {
    const podOf = (...args: string[]) => find(rendered(...args), "Deployment", "gateway").spec.template;
    const before = podOf();
    expect(podOf("--set", "services.gateway.maxReplicas=20")).toEqual(before);
    expect(podOf("--set", "config.LOGLEVEL=debug")).not.toEqual(before);
  });

  test("an unknown value fails the installation before it starts", () => {
    expect(() => rendered("--set", "replicas=3")).toThrow(/replicas/);
  });
});
