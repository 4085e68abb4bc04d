/**
 * Violations of the PodSecurity standard `restricted` (which includes `baseline`): the documented controls, as the API
 * server enforces them in namespaces with pod-security.kubernetes.io/enforce=restricted.
 */
import type { Json } from "./kustomize.ts";

interface SecurityContext {
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  procMount?: string;
  capabilities?: { add?: string[]; drop?: string[] };
  seccompProfile?: { type: string };
  appArmorProfile?: { type: string };
  seLinuxOptions?: Json;
  windowsOptions?: { hostProcess?: boolean };
  sysctls?: Json[];
}
interface Container {
  name: string;
  securityContext?: SecurityContext;
  ports?: { hostPort?: number }[];
}
export interface Pod {
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  securityContext?: SecurityContext;
  volumes?: Json[];
  containers: Container[];
  initContainers?: Container[];
}

const VOLUMES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** Applies to pods and containers alike. */
function contextViolations(context: SecurityContext): string[] {
  const rules: [string, boolean | undefined][] = [
    ["runs as root", context.runAsUser === 0 || context.runAsNonRoot === false],
    [
      "has its own seccomp profile or none",
      !["RuntimeDefault", "Localhost", undefined].includes(context.seccompProfile?.type),
    ],
    ["is not confined by AppArmor", context.appArmorProfile?.type === "Unconfined"],
    // Some types would be allowed; our pods need none.
    ["sets SELinux options", context.seLinuxOptions !== undefined],
    ["is a process of the host", context.windowsOptions?.hostProcess],
    ["sets sysctls", context.sysctls !== undefined],
  ];
  return rules.flatMap(([rule, isBroken]) => (isBroken ? [rule] : []));
}

function containerViolations(container: Container, pod: SecurityContext): string[] {
  const { securityContext: own = {}, ports = [] } = container;
  const { add = [], drop = [] } = own.capabilities ?? {};
  const rules: [string, boolean | undefined][] = [
    ["is privileged", own.privileged],
    ["may escalate its privileges", own.allowPrivilegeEscalation !== false],
    ["may run as root", (own.runAsNonRoot ?? pod.runAsNonRoot) !== true],
    ["has no seccomp profile", (own.seccompProfile ?? pod.seccompProfile) === undefined],
    ["keeps capabilities", !drop.includes("ALL")],
    ["adds capabilities", add.some((name) => name !== "NET_BIND_SERVICE")],
    ["takes a port of the host", ports.some(({ hostPort }) => hostPort !== undefined && hostPort !== 0)],
    ["sees all of /proc", own.procMount !== undefined && own.procMount !== "Default"],
    // Since 1.34: probes and hooks may not target another host.
    ["asks another host", /"(?:httpGet|tcpSocket)":\{[^{}]*"host":/.test(JSON.stringify(container))],
  ];
  const broken = rules.flatMap(([rule, isBroken]) => (isBroken ? [rule] : []));
  return [...broken, ...contextViolations(own)].map((rule) => `${container.name} ${rule}`);
}

export function restrictedViolations(pod: Pod): string[] {
  const context = pod.securityContext ?? {};
  const host = [pod.hostNetwork, pod.hostPID, pod.hostIPC].some(Boolean)
    ? ["the pod shares a name space of the host"]
    : [];
  const volumes = (pod.volumes ?? []).flatMap(({ name, ...source }) =>
    Object.keys(source)
      .filter((kind) => !VOLUMES.has(kind))
      .map((kind) => `the volume ${name} is of the kind ${kind}`),
  );
  return [
    ...host,
    ...volumes,
    ...contextViolations(context).map((rule) => `the pod ${rule}`),
    ...[...pod.containers, ...(pod.initContainers ?? [])].flatMap((one) => containerViolations(one, context)),
  ];
}

/** Pods of all these objects. */
export const podsOf = (manifests: { kind: string; metadata: { name: string } }[]): [name: string, pod: Pod][] =>
  manifests
    .filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind))
    .map((one) => [one.metadata.name, (one as unknown as { spec: { template: { spec: Pod } } }).spec.template.spec]);
