/** What the gateway asks the console's actor: a page, a form that was sent, a file that pages need. */
import type { ServiceContract } from "../define.ts";
import type { Caller } from "../lib/caller.ts";
import { Bool, Document, type Static, Type } from "../lib/shapes.ts";

const Fields = Type.Record(Type.String(), Type.String());

const asked = {
  /** Below /app/, without a slash at either end. */
  path: Type.String(),
  query: Fields,
  /** The session's; unset where the browser sent none. */
  cookie: Type.Optional(Type.String()),
  /** A page that refreshes itself asks (`X-Poll`): nobody uses the session by it. */
  isPoll: Type.Optional(Bool),
};

/** `as`: who asks for what `body_from` names. */
const Shown = Type.Composite([Document, Type.Object({ as: Type.Optional(Type.Unsafe<Caller>({})) })]);
export type Shown = Static<typeof Shown>;

/** Forms that carry a file, by the end of their path; the kind says how large it may be. */
export const uploadKindOf = (path: string): "import" | "media" | undefined =>
  (["import", "media"] as const).find((kind) => path.endsWith(`/${kind}`));

/** Pages of operators have a session of their own. */
export const isForOperators = (path: string): boolean => path === "operator" || path.startsWith("operator/");

export const contract = {
  page: {
    summary: "A page of the console",
    visibility: "public",
    params: Type.Object(asked),
    returns: Shown,
  },
  submit: {
    summary: "A form of the console, sent",
    visibility: "public",
    params: Type.Object({
      ...asked,
      form: Fields,
      /** Of the header X-CSRF-Token, in place of the form's field. */
      formToken: Type.Optional(Type.String()),
    }),
    returns: Shown,
  },
  upload: {
    summary: "A form of the console with a file; the call's stream is the file",
    visibility: "public",
    params: Type.Object({
      ...asked,
      form: Fields,
      filename: Type.String(),
      content_type: Type.String(),
      size: Type.Integer(),
    }),
    returns: Shown,
  },
  asset: {
    summary: "A style sheet or script of the console",
    visibility: "public",
    params: Type.Object({ name: Type.String() }),
    returns: Document,
  },
} as const satisfies ServiceContract;
