/** Label, hint and error of all fields of settings. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Field } from "../../lib/design/fields.ts";
import { visual as t } from "../messages/visual.ts";
import { useEditor } from "./context.ts";
import { setValue } from "./store.ts";
import type { Path } from "./tree.ts";

interface FieldProps<F extends Field = Field> {
  name: string;
  field: F;
  path: Path;
  value: unknown;
  /** All settings of the block or entry. */
  values: Readonly<Record<string, unknown>>;
}
export type FieldOf<K extends Field["kind"]> = FieldProps<Extract<Field, { kind: K }>>;
export type AnyField = (props: FieldProps) => preact.JSX.Element | null;

export const labelFor = (name: string): string => t.labels[name as keyof typeof t.labels] ?? name;

export function useSetter(path: Path): (value: unknown) => void {
  const { store } = useEditor();
  return (value) => setValue(store, path, value);
}

interface LabelledProps {
  label: string;
  children: (id: string) => ComponentChildren;
}
export function Labelled({ label, children }: LabelledProps) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  );
}
