/** Applies changes to a text by position. Pure. */
export interface Change {
  start: number;
  end: number;
  /** Replacement text. */
  text: string;
}

export const insertion = (at: number, text: string): Change => ({ start: at, end: at, text });

/** Changes are in order and apart from each other. */
export function changed(text: string, changes: readonly Change[]): string {
  let position = 0;
  const parts: string[] = [];
  for (const change of changes) {
    parts.push(text.slice(position, change.start), change.text);
    position = change.end;
  }
  return parts.join("") + text.slice(position);
}
