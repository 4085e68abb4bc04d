/** A person who follows a link that leads nowhere gets a page in their language; a program gets the error as JSON. */
import type { Ctx } from "../lib/caller.ts";
import { isApiError } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";
import { problemPage, wantsJson } from "./pages/page.ts";

type Handler<P> = (ctx: Ctx<P>) => Promise<Document>;

export const asPage =
  <P>(handler: Handler<P>): Handler<P> =>
  async (ctx) => {
    try {
      return await handler(ctx);
    } catch (error) {
      if (!isApiError(error) || (error.code !== 404 && error.code !== 410)) throw error;
      const asksForHtml = (ctx.meta.http?.accept ?? "").includes("text/html");
      if (!asksForHtml || wantsJson(ctx.meta.http)) throw error;
      return problemPage(error.code, ctx.meta.http);
    }
  };
