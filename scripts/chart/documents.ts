/** Objects of the chart under construction: copies of kustomize's output in which values replace some fields. */
import type { Manifest } from "../../test/support/kustomize.ts";
import { valueAt } from "./sources.ts";
import { type Fields, inline, type Node, Verbatim } from "./template-yaml.ts";

export const IS_CLUSTER = 'eq .Values.size "cluster"';
export const IS_SMALL = 'eq .Values.size "small"';

/** One object of the chart, with its file and the condition for including it. */
export interface Part {
  file: string;
  condition?: string;
  document: Fields;
}

/** Fields or items that a value adds, if it has any. */
export const whereGiven = (expression: string) =>
  new Verbatim(`{{- with ${expression} }}{{ toYaml . | nindent INDENT }}{{- end }}`);

export function set(document: Fields, path: string[], node: Node): void {
  const last = path.at(-1)!;
  (valueAt(document, ...path.slice(0, -1)) as Fields)[last] = node;
}

/** Replaces an existing node. Throws if it is missing, so a moved default is noticed when the chart is written. */
export function replace(document: Fields, path: string[], node: Node): void {
  valueAt(document, ...path);
  set(document, path, node);
}

export function copied(manifest: Manifest): Fields {
  const document = structuredClone(manifest) as unknown as Fields;
  set(document, ["metadata", "namespace"], inline(".Release.Namespace"));
  return document;
}
