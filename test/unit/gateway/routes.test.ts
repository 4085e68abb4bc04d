import { contractOf, contracts } from "../../../services/contracts.ts";
import type { ActionContract } from "../../../services/define.ts";
import { pathNames, propertiesOf } from "../../../services/gateway/http/params.ts";
import { type RouteDeps, routeHandler } from "../../../services/gateway/route-handler.ts";
import { routes } from "../../../services/gateway/routes.ts";

/** The promised endpoints, written by hand: method, path, success status, access. */
const SPECIFIED = `
POST   /api/emails/send/to-list/                        201 key
POST   /api/emails/send/to-receivers/                   201 key
POST   /api/emails/send/custom/                         201 key
GET    /api/emails/subscribers/                         200 key paginated
POST   /api/emails/subscribers/                         201 key
GET    /api/emails/subscribers/{id}/                    200 key
PATCH  /api/emails/subscribers/{id}/                    200 key
DELETE /api/emails/subscribers/{id}/                    204 key
POST   /api/emails/subscribers/bulk/                    201 key file
POST   /api/emails/subscribers/bulk-delete/             200 key
POST   /api/emails/subscribers/bulk-update-lists/       200 key
GET    /api/emails/subscribers/export/                  200 key csv
GET    /api/emails/lists/                               200 key paginated
POST   /api/emails/lists/                               201 key
GET    /api/emails/lists/{id}/                          200 key
PATCH  /api/emails/lists/{id}/                          200 key
DELETE /api/emails/lists/{id}/                          204 key
GET    /api/emails/templates/                           200 key paginated
POST   /api/emails/templates/                           201 key
GET    /api/emails/templates/{id}/                      200 key
PATCH  /api/emails/templates/{id}/                      200 key
DELETE /api/emails/templates/{id}/                      204 key
GET    /api/emails/smtp-configs/                        200 key paginated
POST   /api/emails/smtp-configs/                        201 key
GET    /api/emails/smtp-configs/{id}/                   200 key
PATCH  /api/emails/smtp-configs/{id}/                   200 key
DELETE /api/emails/smtp-configs/{id}/                   204 key
POST   /api/emails/smtp/validate/                       200 key
GET    /api/emails/campaigns/                           200 key paginated
GET    /api/emails/campaigns/{id}/                      200 key
POST   /api/emails/campaigns/{id}/resume/               200 key
POST   /api/emails/campaigns/{id}/cancel/               200 key
POST   /api/emails/campaigns/{id}/stop/                 200 key
GET    /api/emails/campaigns/{id}/analytics/            200 key
GET    /api/emails/campaigns/{id}/export/               200 key csv
GET    /api/emails/webhook-endpoints/                   200 key paginated
POST   /api/emails/webhook-endpoints/                   201 key
GET    /api/emails/webhook-endpoints/{id}/              200 key
PUT    /api/emails/webhook-endpoints/{id}/              200 key
DELETE /api/emails/webhook-endpoints/{id}/              204 key
GET    /api/emails/suppressions/                        200 key paginated
POST   /api/emails/suppressions/                        201 key
GET    /api/emails/suppressions/{id}/                   200 key
DELETE /api/emails/suppressions/{id}/                   204 key
GET    /api/emails/segments/                            200 key paginated
POST   /api/emails/segments/                            201 key
GET    /api/emails/segments/{id}/                       200 key
PATCH  /api/emails/segments/{id}/                       200 key
DELETE /api/emails/segments/{id}/                       204 key
GET    /api/emails/media/                               200 key paginated
POST   /api/emails/media/                               201 key file
GET    /api/emails/media/{id}/                          200 key
DELETE /api/emails/media/{id}/                          204 key
GET    /api/emails/sent-emails/                         200 key paginated
GET    /api/emails/events/                              200 key paginated
POST   /api/emails/public/subscribe/{company_id}/       201 anyone
POST   /api/emails/public/confirm/{token}/              200 anyone
GET    /api/emails/public/unsubscribe/{sent_email_id}/  200 anyone
POST   /api/emails/public/unsubscribe/{sent_email_id}/  200 anyone
GET    /api/emails/public/view/{sent_email_id}/         200 anyone
GET    /api/emails/public/preferences/{token}/          200 anyone
PUT    /api/emails/public/preferences/{token}/          200 anyone
`;

// Five columns in each row: jest would take a missing last one for a callback to wait for.
const specified = SPECIFIED.trim()
  .split("\n")
  .map((line) => [...line.split(/ +/), ""].slice(0, 5) as [string, string, string, string, string]);

const find = (method: string, path: string) =>
  routes.find((route) => route.method === method && route.path.replaceAll(/:(\w+)/g, "{$1}") === path);

describe("the routes", () => {
  test.each(specified)("include %s %s, which answers %s", (method, path, status, access, kind) => {
    const route = find(method, path)!;
    expect(route).toBeDefined();
    expect(String(route.status)).toBe(status);
    expect(route.access).toBe(access === "key" ? "company" : "public");
    if (kind === "paginated") expect(route.answer).toBe("list");
    if (kind === "csv") expect(route.answer).toBe("csv");
    expect(route.upload !== undefined).toBe(kind === "file");
  });

  test.each(routes.map((route) => [route.method, route.path, route] as const))(
    "%s %s has a contract with every name in its path",
    (_, path, { action }) => {
      expect(Object.keys(propertiesOf(contractOf(action)))).toEqual(expect.arrayContaining(pathNames(path)));
    },
  );

  test("return on a write all that a GET of the resource returns", () => {
    const shownBy = ({ action }: (typeof routes)[number]) =>
      Object.keys((contractOf(action).returns as { properties?: object }).properties ?? {});
    const one = /\/:\w+\/$/;
    const reads = routes.filter(({ method, path, answer }) => method === "GET" && answer === "json" && one.test(path));
    expect(reads.length).toBeGreaterThan(10);
    for (const read of reads) {
      const isWrite = ({ method, path }: (typeof routes)[number]) =>
        (method === "POST" && path === read.path.replace(one, "/")) ||
        ((method === "PATCH" || method === "PUT") && path === read.path);
      for (const write of routes.filter(isWrite)) {
        expect([write.action, shownBy(write)]).toEqual([write.action, expect.arrayContaining(shownBy(read))]);
      }
    }
  });

  test("are all different, and a fixed path precedes one with an id", () => {
    const spelled = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(spelled).size).toBe(spelled.length);
    for (const [i, { method, path }] of routes.entries()) {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
      const hidden = routes.slice(i + 1).filter((later) => later.method === method && pattern.test(later.path));
      expect(hidden.filter((later) => later.path !== path)).toEqual([]);
    }
  });

  test("are rate limited exactly if listed", () => {
    const throttled = routes.filter(({ throttle }) => throttle).map(({ throttle, path }) => `${throttle} ${path}`);
    expect(throttled).toEqual([
      "subscribe /api/emails/public/subscribe/:company_id/",
      "tracking /api/emails/public/open/:token.gif",
      "tracking /api/emails/public/click/:token/",
      "auth /api/auth/register/",
      "auth /api/auth/login/",
      "auth /api/auth/token/refresh/",
      "link /api/auth/logout/",
      "link /api/auth/verify/",
      "link /api/auth/password/reset/",
      "link /api/auth/password/reset/confirm/",
      "link /api/auth/invitations/:token/",
    ]);
  });

  test("accept any body for one-click unsubscribe only", () => {
    expect(routes.filter(({ anyBody }) => anyBody).map(({ path }) => path)).toEqual([
      "/api/emails/public/unsubscribe/:sent_email_id/",
    ]);
  });

  test("exist for each action whose contract does not exclude one", () => {
    const published = Object.entries(contracts).flatMap(([service, contract]) =>
      Object.entries<ActionContract>(contract).flatMap(([name, { visibility }]) =>
        visibility ? [] : [`${service}.${name}`],
      ),
    );
    expect(published.sort()).toEqual([...new Set<string>(routes.map(({ action }) => action))].sort());
  });

  test("cannot be given to an internal action", () => {
    const internal = contractOf("accounts.setPassword");
    const bind = () => routeHandler({ ...routes[0]!, action: "accounts.setPassword" }, internal, {} as RouteDeps);
    expect(bind).toThrow("accounts.setPassword is public: no route may lead to it");
  });
});
