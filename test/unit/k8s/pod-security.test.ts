import { join, resolve } from "node:path";
import { build, withKustomize } from "../../support/kustomize.ts";
import { type Pod, podsOf, restrictedViolations } from "../../support/pod-security.ts";

const OVERLAYS = resolve(import.meta.dirname, "../../../k8s/overlays");

const container = {
  name: "one",
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
};
const allowed: Pod = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  volumes: [{ name: "tmp", emptyDir: {} }],
  containers: [container],
};
const withContext = (context: object): Pod => ({
  ...allowed,
  containers: [{ ...container, securityContext: { ...container.securityContext, ...context } }],
});

test("a pod that the standard allows has no violation", () => {
  expect(restrictedViolations(allowed)).toEqual([]);
});

test.each<[string, Pod]>([
  ["shares a name space", { ...allowed, hostPID: true }],
  ["is of the kind hostPath", { ...allowed, volumes: [{ name: "tmp", hostPath: { path: "/" } }] }],
  ["runs as root", withContext({ runAsUser: 0 })],
  ["may run as root", { ...allowed, securityContext: { seccompProfile: { type: "RuntimeDefault" } } }],
  ["has no seccomp profile", { ...allowed, securityContext: { runAsNonRoot: true } }],
  ["has its own seccomp profile", withContext({ seccompProfile: { type: "Unconfined" } })],
  ["is privileged", withContext({ privileged: true })],
  ["may escalate", withContext({ allowPrivilegeEscalation: undefined })],
  ["keeps capabilities", withContext({ capabilities: { drop: ["NET_RAW"] } })],
  ["adds capabilities", withContext({ capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] } })],
  ["takes a port", { ...allowed, containers: [{ ...container, ports: [{ hostPort: 80 }] }] }],
  ["may escalate", { ...allowed, initContainers: [{ name: "first" }] }],
])("a violation is seen: %s", (words, pod) => {
  expect(restrictedViolations(pod).join("; ")).toContain(words);
});

withKustomize(() => {
  test.each(["cluster", "small"])("every pod of %s satisfies the PodSecurity standard `restricted`", (overlay) => {
    const pods = podsOf(build(join(OVERLAYS, overlay)));
    expect(pods.length).toBeGreaterThan(0);
    expect(pods.flatMap(([name, pod]) => restrictedViolations(pod).map((rule) => `${name}: ${rule}`))).toEqual([]);
  });
});
