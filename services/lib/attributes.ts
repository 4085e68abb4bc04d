/**
 * Validates a subscriber's custom fields: free names and plain values, limited in size because every email carries them.
 */
export type AttributeValue = string | number | boolean | string[];
export type Attributes = Record<string, AttributeValue>;
export type AttributeChanges = Record<string, AttributeValue | null>;

export const MAX_ATTRIBUTES = 100;
export const MAX_TEXT = 4_000;
export const MAX_TEXTS = 100;
export const MAX_BYTES = 16 * 1024;

/** No control characters, no white space at the ends; `__proto__` would change the objects that are built from it. */
export const NAME_PATTERN =
  "^(?!__proto__$)[^\\s\\u0000-\\u001f\\u007f](?:[^\\u0000-\\u001f\\u007f]{0,98}[^\\s\\u0000-\\u001f\\u007f])?$";
const NAME = new RegExp(NAME_PATTERN);

export const isAttributeName = (name: string): boolean => NAME.test(name);

/** Error of the attributes as a whole, once each value is valid. */
export function attributesError(attributes: AttributeChanges): string | undefined {
  if (Object.keys(attributes).length > MAX_ATTRIBUTES) {
    return `Ensure this field has no more than ${MAX_ATTRIBUTES} elements.`;
  }
  if (Buffer.byteLength(JSON.stringify(attributes)) > MAX_BYTES) {
    return `Ensure this field has no more than ${MAX_BYTES} bytes as JSON.`;
  }
  return undefined;
}
