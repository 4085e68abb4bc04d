/** An API with one route of each kind, for behaviour common to all routes. */
import { notFound } from "../../../services/lib/errors.ts";
import { Type, Uuid } from "../../../services/lib/shapes.ts";
import { type Sample, sample, startGateway, type TestGateway } from "../../support/gateway.ts";

const Thing = Type.Object({ id: Uuid, note: Type.Optional(Type.String()), n: Type.Optional(Type.Integer()) });
const Listed = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  search: Type.Optional(Type.String()),
  campaign: Type.Optional(Uuid),
  flag: Type.Optional(Type.Boolean()),
});
const echo: Sample["handler"] = ({ params, meta }) => ({ params, meta });
export const MISSING = "01a00000-0000-7000-8000-00000000dead";
const Any = Type.Unknown();

const samples: Record<string, Sample> = {
  get: sample({ method: "GET", path: "/api/emails/things/:id/" }, Thing, Any, (ctx) => {
    if ((ctx.params as { id: string }).id === MISSING) throw notFound();
    return echo(ctx);
  }),
  update: sample(
    { method: "PATCH", path: "/api/emails/things/:id/" },
    Type.Object({ id: Uuid, n: Type.Integer() }),
    Any,
    echo,
  ),
  open: sample(
    { method: "POST", path: "/api/emails/public/things/:id/", access: "public" },
    Type.Object({ id: Uuid }),
    Any,
    echo,
  ),
  bulk: sample({ method: "POST", path: "/api/emails/things/bulk/" }, Type.Object({}), Any, echo),
  remove: sample(
    { method: "DELETE", path: "/api/emails/things/:id/", status: 204, answer: "none" },
    Thing,
    Any,
    () => null,
  ),
  list: sample({ method: "GET", path: "/api/emails/things/", answer: "list" }, Listed, Any, ({ params }) => ({
    count: 45,
    next: "onward",
    previous: "page" in params ? "back" : null,
    results: [params],
  })),
  create: sample(
    { method: "POST", path: "/api/emails/things/", status: 201 },
    Type.Object({ note: Type.String(), n: Type.Optional(Type.Integer()), data: Type.Optional(Type.Unknown()) }),
    Any,
    echo,
  ),
  send: sample(
    { method: "POST", path: "/api/emails/send/thing/", status: 201 },
    Type.Object({ company: Type.Optional(Uuid), name: Type.String(), idempotency_key: Type.Optional(Type.String()) }),
    Any,
    echo,
  ),
  settings: sample({ method: "GET", path: "/api/companies/:id/" }, Thing, Any, echo),
  keys: sample({ method: "GET", path: "/api/companies/:id/keys/", access: "user" }, Thing, Any, echo),
  broken: sample({ method: "GET", path: "/api/emails/broken/", access: "public" }, Type.Object({}), Any, () => {
    throw new Error("the password is hunter2");
  }),
  slow: sample(
    { method: "GET", path: "/api/emails/slow/", access: "public" },
    Type.Object({}),
    Any,
    () => new Promise(() => {}),
  ),
};

export interface Things extends TestGateway {
  /** Uses a valid key unless headers override it. */
  ask(path: string, init?: RequestInit): Promise<Response>;
}

export async function startThings(): Promise<Things> {
  const gateway = await startGateway(samples, { requestTimeoutMs: 500 });
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(gateway.url + path, {
      redirect: "manual",
      ...init,
      headers: { "X-API-Key": "fm_good", ...(init.headers as Record<string, string>) },
    });
  return { ...gateway, ask };
}

export const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...headers },
});

export const statusAndBody = async (response: Response) => [response.status, await response.json()];
