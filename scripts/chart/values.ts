/** Values of the chart; their defaults equal kustomize's output. */
import { configSchema } from "../../services/lib/config.ts";
import type { Json, Manifest } from "../../test/support/kustomize.ts";
import { containerOf, deploymentsOf, type Sources, scalerOf, secretNamesOf, valueAt, valueName } from "./sources.ts";
import type { Group, Value, Values } from "./values-text.ts";

/** Settings that other parts of the manifests depend on; `baseUrl` is a separate value. */
export const FIXED_SETTINGS = ["BASE_URL", "PORT", "HEALTH_PORT", "INBOUND_PORT", "MIGRATIONS", "DATA_DIR", "HOME"];

const value = (description: string, initial: unknown, schema: Json): Value => ({ description, initial, schema });
const text = (description: string, initial = "") => value(description, initial, { type: "string" });
const flag = (description: string, initial: boolean) => value(description, initial, { type: "boolean" });
const choice = (description: string, [initial, ...others]: string[]) =>
  value(description, initial, { type: "string", enum: [initial, ...others] });
const count = (description: string, initial: number, minimum = 1) =>
  value(description, initial, { type: "integer", minimum });
const map = (description: string, initial: unknown = {}) =>
  value(description, initial, { type: "object", additionalProperties: { type: "string" } });
const list = (description: string, initial: unknown[] = []) =>
  value(description, initial, { type: "array", items: { type: "object" } });
/** Peers of a network policy. An empty list would allow everybody. */
const peers = (description: string, initial: unknown) =>
  value(description, initial, { type: "array", minItems: 1, items: { type: "object" } });

const RESOURCES: Json = {
  type: "object",
  additionalProperties: false,
  properties: { requests: { type: "object" }, limits: { type: "object" } },
};
const resources = (pod: string, initial: unknown) =>
  value(`Requests and limits of the ${pod} pod.`, initial, RESOURCES);

/** Placement fields that a service can override. */
const PLACEMENT: Json = {
  nodeSelector: { type: "object", additionalProperties: { type: "string" } },
  tolerations: { type: "array", items: { type: "object" } },
  affinity: { type: "object" },
  priorityClassName: { type: "string" },
};

const EXTRA_ENV: Json = {
  type: "array",
  items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
};

function service(deployment: Manifest, sources: Sources): Value {
  const scaler = scalerOf(sources, deployment.metadata.name);
  const replicas = scaler ? scaler.min : valueAt(deployment, "spec", "replicas");
  const initial = {
    replicas,
    ...(scaler ? { maxReplicas: scaler.max } : {}),
    resources: valueAt(containerOf(deployment), "resources"),
  };
  return value(scaler ? "Autoscaling limits: at least `replicas`, at most `maxReplicas`." : "", initial, {
    type: "object",
    additionalProperties: false,
    required: ["replicas", "resources"],
    properties: {
      replicas: { type: "integer", minimum: 0 },
      ...(scaler ? { maxReplicas: { type: "integer", minimum: 1 } } : {}),
      resources: RESOURCES,
      extraEnv: EXTRA_ENV,
      ...PLACEMENT,
    },
  });
}

interface Setting {
  type?: string;
  enum?: string[];
  description?: string;
}

/** Environment variables and ConfigMap values are text: "40" and "true" in quotes. */
function settingSchema({ type, enum: choices, description }: Setting): Json {
  const form = choices
    ? { enum: choices }
    : type === "integer"
      ? { pattern: "^[0-9]+$" }
      : type === "boolean"
        ? { pattern: "^(true|false)$" }
        : {};
  return { type: "string", ...form, ...(description ? { description } : {}) };
}

function config(sources: Sources): Value {
  const data = valueAt(sources.config, "data") as Record<string, string>;
  const initial = Object.entries(data).filter(([name]) => !FIXED_SETTINGS.includes(name));
  const secret = secretNamesOf(sources);
  const settings = Object.entries(configSchema.properties as Record<string, Setting>).filter(
    ([name]) => !FIXED_SETTINGS.includes(name) && !secret.has(name),
  );
  const others: [string, Setting][] = [
    ["NODE_OPTIONS", { description: "Options of Node; the heap must stay below the containers' memory limits." }],
    [
      "NODE_EXTRA_CA_CERTS",
      {
        description:
          "Certificate authorities to trust in addition: /etc/flockmail/authorities/ca.pem if there is a ConfigMap flockmail-authorities.",
      },
    ],
  ];
  const properties = [...settings, ...others].map(([name, setting]) => [name, settingSchema(setting)]);
  return value(
    "Settings that are not secret, as text (all are in docs/configuration.md). Pods restart when one changes.",
    Object.fromEntries(initial),
    { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) },
  );
}

function autoscaling({ cpuScaler, scaledObject, prometheusScaler }: Sources): Group {
  return {
    description: "Number of pods of `gateway` and `smtp-sender`; docs/scaling.md compares the methods.",
    values: {
      gateway: {
        description: "Scales `gateway` by CPU, with the cluster's metrics server.",
        values: {
          enabled: flag("Whether to scale; if off, `services.gateway.replicas` applies.", true),
          cpuPercent: count(
            "Target CPU use in percent of a pod's request.",
            Number(valueAt(cpuScaler, "spec", "metrics", "0", "resource", "target", "averageUtilization")),
          ),
        },
      },
      smtpSender: {
        description: "Scales `smtp-sender` by the number of waiting recipients.",
        values: {
          by: choice(
            "database: KEDA asks PostgreSQL. prometheus: KEDA asks Prometheus for the service's metric. metric: no KEDA, an adapter gives the metric to Kubernetes (k8s/examples/prometheus-adapter-values.yaml). none: `services.smtpSender.replicas`.",
            ["database", "prometheus", "metric", "none"],
          ),
          recipientsPerSender: count(
            "Waiting recipients per pod.",
            Number(valueAt(scaledObject, "spec", "triggers", "0", "metadata", "targetQueryValue")),
          ),
          prometheus: text(
            "Address of Prometheus for KEDA.",
            String(valueAt(prometheusScaler, "spec", "triggers", "0", "metadata", "serverAddress")),
          ),
        },
      },
    },
  };
}

function networkPolicies({ policies }: Sources): Group {
  const peersOf = (name: string, way: "ingress" | "egress") =>
    valueAt(policies.get(name)!, "spec", way, "0", way === "ingress" ? "from" : "to");
  return {
    description:
      "Allowed traffic to and from pods. Lists of peers as in NetworkPolicies; a given list replaces its default.",
    values: {
      enabled: flag("Whether to create the policies; they require a network plugin that enforces them.", true),
      ingress: peers(
        "Peers of the API's port: allow only the ingress, otherwise clients can fake their address.",
        peersOf("flockmail-api", "ingress"),
      ),
      monitoring: peers("Peers that read /metrics.", peersOf("flockmail-monitoring", "ingress")),
      resolvers: peers("DNS servers.", peersOf("flockmail-dns", "egress")),
      backends: peers(
        "Addresses of PostgreSQL, NATS and Redis: narrow this down to yours.",
        peersOf("flockmail-backends", "egress"),
      ),
      backendPorts: peers(
        "Ports of PostgreSQL, NATS and Redis.",
        valueAt(policies.get("flockmail-backends")!, "spec", "egress", "0", "ports"),
      ),
      internet: peers("Destinations of senders, webhooks and link checks.", peersOf("flockmail-internet", "egress")),
      extraEgress: list(
        "Additional rules for all pods, such as a mail server or a trace collector in your own network.",
      ),
    },
  };
}

export function chartValues(sources: Sources): Values {
  const { bouncesService, ingress, podMonitor, statefulSet, job, overlayImage, config: configMap } = sources;
  const postgres = valueAt(statefulSet, "spec", "template", "spec", "initContainers", "0");
  const claim = valueAt(statefulSet, "spec", "volumeClaimTemplates", "0", "spec");
  const services = deploymentsOf(sources).map((one) => [valueName(one.metadata.name), service(one, sources)]);
  return {
    size: choice(
      "cluster: a Deployment per service, with your PostgreSQL, NATS and Redis. small: one pod with a volume and its own PostgreSQL; needs nothing else.",
      ["cluster", "small"],
    ),
    image: {
      description: "The image that you build and push.",
      values: {
        repository: text("", overlayImage.slice(0, overlayImage.lastIndexOf(":"))),
        tag: text("Tag; unset: the chart's appVersion."),
        digest: value("Digest (`sha256:…`) that is used instead of the tag.", "", {
          type: "string",
          pattern: "^(sha256:[0-9a-f]{64})?$",
        }),
        pullPolicy: value("", "", { type: "string", enum: ["", "Always", "IfNotPresent", "Never"] }),
        pullSecrets: value("Names of Secrets for a private registry.", [], {
          type: "array",
          items: { type: "string" },
        }),
      },
    },
    baseUrl: value("Public address, used by every link in every mail.", (valueAt(configMap, "data") as Json).BASE_URL, {
      type: "string",
      pattern: "^https?://[^/\\s]",
    }),
    existingSecret: value(
      "The Secret with SECRET_KEY, DATABASE_URL … (docs/kubernetes.md). Create it yourself: values stay readable in the release's history, so they contain no secrets.",
      "flockmail",
      { type: "string", minLength: 1 },
    ),
    config: config(sources),
    services: {
      description:
        "Pods of each service of `cluster`. Each may also have nodeSelector, tolerations, affinity and priorityClassName, which replace those below, and an extraEnv in addition to the one below.",
      values: Object.fromEntries(services),
    },
    autoscaling: autoscaling(sources),
    migrations: {
      description: "The Job that applies migrations; pods wait for it.",
      values: { resources: resources("migration", valueAt(containerOf(job), "resources")) },
    },
    small: {
      description: "The one pod of `small`.",
      values: {
        resources: resources("service's", valueAt(containerOf(statefulSet), "resources")),
        postgres: {
          description: "",
          values: {
            image: text("", String(valueAt(postgres, "image"))),
            resources: resources("PostgreSQL", valueAt(postgres, "resources")),
          },
        },
        storage: {
          description: "Volume of PostgreSQL; size and class cannot be changed later.",
          values: {
            size: text("", String(valueAt(claim, "resources", "requests", "storage"))),
            className: text("StorageClass; unset: the cluster's default."),
          },
        },
      },
    },
    service: {
      description: "The Service `flockmail`, the ingress's backend.",
      values: {
        type: choice("", ["ClusterIP", "NodePort", "LoadBalancer"]),
        annotations: map(""),
      },
    },
    inbound: {
      description: "The Service `bounces`, which receives bounces on port 25.",
      values: {
        type: choice("", [String(valueAt(bouncesService, "spec", "type")), "ClusterIP", "NodePort"]),
        annotations: map("Annotations for your cloud's load balancer."),
      },
    },
    ingress: {
      description: "An Ingress with TLS.",
      values: {
        enabled: flag("", false),
        className: text("", String(valueAt(ingress, "spec", "ingressClassName"))),
        host: text("Host name; unset: the host of baseUrl."),
        tlsSecret: text(
          "Secret with the certificate; unset: the ingress does not use TLS.",
          String(valueAt(ingress, "spec", "tls", "0", "secretName")),
        ),
        annotations: map("", valueAt(ingress, "metadata", "annotations")),
      },
    },
    podMonitor: {
      description: "A PodMonitor for the Prometheus operator; replaces the pods' annotations prometheus.io/….",
      values: {
        enabled: flag("", false),
        interval: text("", String(valueAt(podMonitor, "spec", "podMetricsEndpoints", "0", "interval"))),
        labels: map("Labels by which your Prometheus selects PodMonitors."),
      },
    },
    podDisruptionBudgets: {
      description: "PodDisruptionBudgets: draining a node evicts one pod of a service at a time.",
      values: { enabled: flag("", true) },
    },
    networkPolicies: networkPolicies(sources),
    serviceAccount: {
      description: "The pods do not use the Kubernetes API.",
      values: { annotations: map("Annotations for your cloud's workload identity.") },
    },
    podAnnotations: map("Annotations added to every pod."),
    podLabels: map("Labels added to every pod."),
    extraEnv: value("Environment variables of every container of the service, in the format of a pod.", [], EXTRA_ENV),
    extraEnvFrom: list("Environment variables from ConfigMaps and Secrets."),
    extraVolumes: list(
      "Volumes of every pod, for files that settings name (NATS_CREDENTIALS_FILE, INBOUND_TLS_CERT …).",
    ),
    extraVolumeMounts: list("Mount points of `extraVolumes`."),
    nodeSelector: map("Node selector of every pod."),
    tolerations: list("Tolerations of every pod."),
    affinity: value("Affinity of every pod.", {}, { type: "object" }),
    priorityClassName: text("Priority class of every pod."),
  };
}
