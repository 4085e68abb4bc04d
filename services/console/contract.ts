/** What the gateway asks the console's actor: a page, a form that was sent, a file that pages need. */
import type { ServiceContract } from "../define.ts";
import { Document, Type } from "../lib/shapes.ts";

const Fields = Type.Record(Type.String(), Type.String());

const asked = {
  /** Below /app/, without a slash at either end. */
  path: Type.String(),
  query: Fields,
  /** The session's; unset where the browser sent none. */
  cookie: Type.Optional(Type.String()),
};

export const contract = {
  page: {
    summary: "A page of the console",
    visibility: "public",
    params: Type.Object(asked),
    returns: Document,
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
    returns: Document,
  },
  asset: {
    summary: "A style sheet or script of the console",
    visibility: "public",
    params: Type.Object({ name: Type.String() }),
    returns: Document,
  },
} as const satisfies ServiceContract;
