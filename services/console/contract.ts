/** The gateway's requests to the console: a page, a submitted form, or an asset. */
import type { ServiceContract } from "../define.ts";
import type { Caller } from "../lib/caller.ts";
import { Bool, Document, type Static, Type } from "../lib/shapes.ts";

const Fields = Type.Record(Type.String(), Type.String());

const requestParams = {
  /** Path below /app/, without a slash at either end. */
  path: Type.String(),
  query: Fields,
  /** Value of the session cookie; unset if the browser sent none. */
  cookie: Type.Optional(Type.String()),
  /** True for requests of pages that refresh themselves (`X-Poll`): these do not extend the session. */
  isPoll: Type.Optional(Bool),
  /** True for requests of the editors' scripts (`Accept: application/json`), which cannot show a page. */
  wantsJson: Type.Optional(Bool),
};

/** `as`: the caller in whose name `body_from` is read. */
const RawResponse = Type.Composite([Document, Type.Object({ as: Type.Optional(Type.Unsafe<Caller>({})) })]);
export type RawResponse = Static<typeof RawResponse>;

/** Forms with a file upload, recognised by the end of their path. The kind determines the maximum size. */
export const uploadKindOf = (path: string): "import" | "media" | undefined =>
  (["import", "media"] as const).find((kind) => path.endsWith(`/${kind}`));

/** Operator pages use a separate session. */
export const isForOperators = (path: string): boolean => path === "operator" || path.startsWith("operator/");

export const contract = {
  page: {
    summary: "A page of the console",
    visibility: "public",
    params: Type.Object(requestParams),
    returns: RawResponse,
  },
  submit: {
    summary: "A form of the console, sent",
    visibility: "public",
    params: Type.Object({
      ...requestParams,
      form: Fields,
      /** Value of the header X-CSRF-Token, which replaces the form's field. */
      formToken: Type.Optional(Type.String()),
    }),
    returns: RawResponse,
  },
  upload: {
    summary: "A form of the console with a file; the call's stream is the file",
    visibility: "public",
    params: Type.Object({
      ...requestParams,
      form: Fields,
      filename: Type.String(),
      content_type: Type.String(),
      size: Type.Integer(),
    }),
    returns: RawResponse,
  },
  asset: {
    summary: "A style sheet or script of the console",
    visibility: "public",
    params: Type.Object({ name: Type.String() }),
    returns: Document,
  },
} as const satisfies ServiceContract;
