/** Holds responses against the OpenAPI document: what is answered and not described there is a fault of one of both. */

export interface Seen {
  status: number;
  headers: Headers;
  body: unknown;
  text: string;
}

export function checkResponse(method: string, path: string, seen: Seen): void {
  if (seen.status === 500) throw new Error(`${method} ${path} answered 500: ${seen.text}`);
}
