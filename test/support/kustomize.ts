/**
 * What `kubectl kustomize` makes of a folder, for the features that k8s/ uses: resources, components, strategic merge patches
 * by kind, namespace, images. Where kubectl is at hand, a test holds the two against each other.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

export type Json = { [key: string]: unknown };
export interface Manifest extends Json {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
}

interface Kustomization {
  namespace?: string;
  resources?: string[];
  components?: string[];
  patches?: { path: string; target: { kind: string } }[];
  images?: { name: string; newName?: string; newTag?: string }[];
}

const KNOWN = new Set(["apiVersion", "kind", "namespace", "resources", "components", "patches", "images"]);

/** Lists whose items strategic merge joins by a key, as the Kubernetes API declares them. */
const MERGE_KEYS: Record<string, string> = {
  containers: "name",
  initContainers: "name",
  env: "name",
  volumes: "name",
  volumeMounts: "mountPath",
  ports: "containerPort",
};

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function mergeLists(into: Json[], patch: Json[], key: string): Json[] {
  const known = new Set(patch.map((item) => item[key]));
  const merged = patch.map((item) => merge(into.find((other) => other[key] === item[key]) ?? {}, item));
  return [...merged, ...into.filter((item) => !known.has(item[key]))];
}

function merge(into: Json, patch: Json): Json {
  const merged = { ...into };
  for (const [name, value] of Object.entries(patch)) {
    const old = merged[name];
    const key = MERGE_KEYS[name];
    if (isObject(value) && isObject(old)) merged[name] = merge(old, value);
    else if (Array.isArray(value) && Array.isArray(old) && key) merged[name] = mergeLists(old, value, key);
    else merged[name] = value;
  }
  return merged;
}

function patched(manifest: Manifest, patch: Manifest): Manifest {
  const { spec } = patch;
  return merge(manifest, { spec }) as Manifest;
}

function withImages(value: unknown, images: NonNullable<Kustomization["images"]>): unknown {
  if (Array.isArray(value)) return value.map((item) => withImages(item, images));
  if (!isObject(value)) return value;
  const copy: Json = {};
  for (const [name, inside] of Object.entries(value)) {
    const image = name === "image" ? images.find((one) => one.name === inside) : undefined;
    copy[name] = image ? `${image.newName ?? image.name}:${image.newTag}` : withImages(inside, images);
  }
  return copy;
}

function apply(folder: string, manifests: Manifest[]): Manifest[] {
  const plan = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")) as Kustomization;
  for (const field of Object.keys(plan)) {
    if (!KNOWN.has(field)) throw new Error(`${folder}: this resolver does not know ${field}`);
  }
  let all = [...manifests, ...(plan.resources ?? []).flatMap((name) => resource(join(folder, name)))];
  for (const name of plan.components ?? []) all = apply(join(folder, name), all);
  for (const { path, target } of plan.patches ?? []) {
    const [patch] = documents(join(folder, path));
    const kind = new RegExp(`^(?:${target.kind})$`);
    all = all.map((manifest) => (kind.test(manifest.kind) ? patched(manifest, patch!) : manifest));
  }
  if (plan.images) all = all.map((manifest) => withImages(manifest, plan.images!) as Manifest);
  const { namespace } = plan;
  return namespace ? all.map((manifest) => ({ ...manifest, metadata: { ...manifest.metadata, namespace } })) : all;
}

const documents = (path: string): Manifest[] =>
  parseAllDocuments(readFileSync(path, "utf8")).map((document) => document.toJS() as Manifest);

const resource = (path: string): Manifest[] => (statSync(path).isDirectory() ? apply(path, []) : documents(path));

export const build = (folder: string): Manifest[] => apply(folder, []);

/** Lists that are joined by a key have no order of their own. */
export function normal(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => normal(item));
    const key = MERGE_KEYS[name];
    const by = (item: unknown) => String((item as Json)[key!]);
    return key && items.every(isObject) ? items.toSorted((a, b) => by(a).localeCompare(by(b))) : items;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inside]) => [field, normal(inside, field)]));
}
