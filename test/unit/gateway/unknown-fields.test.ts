import { contractOf } from "../../../services/contracts.ts";
import type { Context } from "../../../services/gateway/http/context.ts";
import { unknownFieldsOf } from "../../../services/gateway/http/unknown-fields.ts";
import { type Route, routes } from "../../../services/gateway/routes.ts";
import type { FieldErrors } from "../../../services/lib/errors.ts";
import { editDistance, nearestField, unknownFieldErrors } from "../../../services/lib/unknown-fields.ts";

const E = "/api/emails";
const routeOf = (method: string, path: string) => routes.find((one) => one.method === method && one.path === path)!;

/** Names for which such a request is refused. */
const refused = (route: Route, body?: Record<string, unknown>, querystring = ""): FieldErrors =>
  unknownFieldsOf(route, contractOf(route.action))?.({ querystring } as Context, body) ?? {};

const hint = (name: string) => [`Unknown field. Did you mean "${name}"?`];

describe("unknown fields", () => {
  test.each([
    ["", "", 0],
    ["abc", "", 3],
    ["receivers", "recievers", 1],
    ["schedule_for", "scheduled_for", 1],
    ["kitten", "sitting", 3],
  ])("are compared by edits: from %j to %j takes %i", (one, other, edits) => {
    expect([editDistance(one, other), editDistance(other, one)]).toEqual([edits, edits]);
  });

  const SEND = ["name", "template_id", "smtp_config_id", "list_id", "segment_id", "scheduled_for", "attachment_ids"];
  test.each([
    ["schedule_for", "scheduled_for"],
    ["scheduledFor", "scheduled_for"],
    ["Scheduled-For", "scheduled_for"],
    ["send_at", "scheduled_for"],
    ["list", "list_id"],
    ["lists", "list_id"],
    ["template", "template_id"],
    ["templateid", "template_id"],
    ["smtp_config", "smtp_config_id"],
    ["smtp_confg_id", "smtp_config_id"],
    ["nmae", "name"],
    ["nam", "name"],
    ["naem", "name"],
    ["attachments", "attachment_ids"],
  ])("are explained: %s means %s", (typed, meant) => {
    expect(nearestField(typed, SEND)).toBe(meant);
  });

  test.each(["colour", "id", "x", "", "constructor", "__proto__", "names_of_all_people", "s".repeat(100_000)])(
    "%j resembles nothing",
    (typed) => {
      expect(nearestField(typed, SEND)).toBeUndefined();
    },
  );

  test("are reported up to a hundred in a body with very many of them", () => {
    const names = Array.from({ length: 100_000 }, (_, no) => `name_of_a_field_${no}`);
    expect(Object.keys(unknownFieldErrors(names, SEND, "all"))).toHaveLength(100);
  });

  test("are refused in a send, which ignores fields of its response", () => {
    const toList = routeOf("POST", `${E}/send/to-list/`);
    const fine = { name: "N", template_id: "t", smtp_config_id: "s", list_id: "l", is_transactional: false };
    const answered = { id: 1, status: "pending", total_emails: 1, created_at: "x", worker_task_id: "w" };
    const names = (body: object) =>
      Object.entries(refused(toList, { ...fine, ...body })).filter(([name]) => name in body);
    expect(names(answered)).toEqual([]);
    expect(
      Object.fromEntries(names({ schedule_for: null, lists: [], template: "t", subject: "S", colour: 1 })),
    ).toEqual({
      schedule_for: hint("scheduled_for"),
      lists: hint("list_id"),
      template: hint("template_id"),
      subject: ["Unknown field."],
      colour: ["Unknown field."],
    });
  });

  test("are variables in a receiver, and a send to receivers ignores list_id", () => {
    const body = { name: "N", receivers: [{ email: "a@b.example", emial: 1, template: 2 }], list_id: "l" };
    const errors = refused(routeOf("POST", `${E}/send/to-receivers/`), { ...body, bdy: 1 });
    expect(Object.keys(errors)).toEqual(["bdy"]);
  });

  test("are refused elsewhere only if they are likely typos", () => {
    const create = routeOf("POST", `${E}/subscribers/`);
    expect(refused(create, { email: "a@b.example", colour: "red", name: "Ann" })).toEqual({});
    expect(refused(create, { email: "a@b.example", frist_name: "Ann", list: [] })).toEqual({
      frist_name: hint("first_name"),
      list: hint("lists"),
    });
  });

  test("are treated the same in a list's query, where blank parameters are ignored", () => {
    const list = routeOf("GET", `${E}/subscribers/`);
    expect(refused(list, undefined, "page=2&_=17&utm_source=x&company=c&lists=")).toEqual({});
    expect(refused(list, undefined, "lists=x&serach=ann")).toEqual({ lists: hint("list"), serach: hint("search") });
  });

  test("are not checked in one-click unsubscribe, providers' reports and files", () => {
    const isMedia = ({ upload }: Route) => upload === "media";
    for (const route of routes.filter((one) => one.anyBody || one.rawWith || isMedia(one))) {
      expect(refused(route, { emial: 1, list_ids: 2, "List-Unsubscribe": "One-Click" })).toEqual({});
    }
  });

  test("are not refused if they were read from the API", () => {
    const changing = routes.filter(({ method }) => method === "PATCH" || method === "PUT");
    expect(changing.length).toBeGreaterThan(5);
    for (const route of changing) {
      const { returns, json } = contractOf(
        routes.find((r) => r.method === "GET" && r.path === route.path)?.action ?? route.action,
      );
      const { properties } = (json ?? returns) as unknown as { properties: object };
      const body = Object.fromEntries(Object.keys(properties).map((name) => [name, null]));
      const sentences = Object.values(refused(route, body)).flat();
      expect(sentences.filter((sentence) => sentence.startsWith("Unknown field"))).toEqual([]);
    }
  });
});
