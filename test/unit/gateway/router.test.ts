import type { Context } from "../../../services/gateway/http/context.ts";
import { ResourceRouter } from "../../../services/gateway/http/router.ts";
import { routes } from "../../../services/gateway/routes.ts";

interface Answered {
  by?: string;
  params?: Record<string, string>;
  methods?: string[];
}

/** Asks a router; `by` is the path of the route that answered. */
function ask(router: ResourceRouter, method: string, path: string): Answered {
  const context = { method, path, state: {} } as unknown as Context;
  router.middleware()(context, async () => {});
  return { by: context.state.route, params: context.params, methods: context.methods };
}

function routerOf(paths: readonly (readonly [method: string, path: string])[]): ResourceRouter {
  const router = new ResourceRouter();
  for (const [method, path] of paths) {
    router.add(method, path, (context) => {
      context.state.route = path;
    });
  }
  return router;
}

const api = routerOf(routes.map(({ method, path }) => [method, path] as const));
test.each(routes.map(({ method, path }) => [method, path] as const))(
  "%s %s is found with its parameters",
  (method, path) => {
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
    const params = Object.fromEntries(names.map((name, at) => [name, `some-${at}`]));
    const asked = path.replace(/:(\w+)/g, (_, name) => params[name]!);
    expect(ask(api, method, asked)).toEqual({ by: path, params, methods: undefined });
  },
);

const things = routerOf([
  ["GET", "/api/emails/things/:id/"],
  ["DELETE", "/api/emails/things/:id/"],
  ["POST", "/api/emails/things/bulk/"],
  ["GET", "/api/emails/pictures/:token.gif"],
  ["GET", "/api/emails/mails/:id/raw/"],
  ["POST", "/api/emails/mails/:provider/:token/"],
]);

test.each([
  ["an encoded value is decoded", "/api/emails/things/a%2Fb%20c/", { id: "a/b c" }],
  ["one that cannot be stands for itself", "/api/emails/things/100%/", { id: "100%" }],
  ["what is no word is a value, too", "/api/emails/things/-._~:@!$&'()*+,;=/", { id: "-._~:@!$&'()*+,;=" }],
  ["a part has text behind its parameter", "/api/emails/pictures/a.b.gif", { token: "a.b" }],
])("%s", (_, path, params) => {
  expect(ask(things, "GET", path).params).toEqual(params);
});

test.each([
  "/api/emails/things//",
  "/api/emails/things/1",
  "/api/emails/things/1/2/",
  "/api/emails/Things/1/",
  "/api/emails/pictures/tokenXgif",
  "/api/emails/pictures/.gif",
  "/api/emails/",
  "/api/",
  "/api",
  "*",
])("%s is nobody's", (path) => {
  expect(ask(things, "GET", path)).toEqual({});
  expect(things.has(path)).toBe(false);
});

test("HEAD goes where GET goes", () => {
  expect(ask(things, "HEAD", "/api/emails/things/1/").by).toBe("/api/emails/things/:id/");
});

test("a path without parameters hides a pattern that fits it: its methods alone are allowed", () => {
  expect(ask(things, "POST", "/api/emails/things/bulk/").by).toBe("/api/emails/things/bulk/");
  const refused = ask(things, "DELETE", "/api/emails/things/bulk/");
  expect(refused).toMatchObject({ by: undefined, methods: ["POST"] });
  expect(ask(things, "POST", "/api/emails/things/1/").methods).toEqual(["GET", "HEAD", "DELETE"]);
});

test("where two patterns fit, the method decides", () => {
  const path = "/api/emails/mails/1/raw/";
  expect(ask(things, "GET", path)).toMatchObject({ by: "/api/emails/mails/:id/raw/", params: { id: "1" } });
  const params = { provider: "1", token: "raw" };
  expect(ask(things, "POST", path)).toMatchObject({ by: "/api/emails/mails/:provider/:token/", params });
  expect(ask(things, "PUT", path).methods).toEqual(["GET", "HEAD", "POST"]);
});
