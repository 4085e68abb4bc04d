import { columnsOf, type Mapping } from "../../../services/subscribers/import/columns.ts";
import { isAffirmed, stateOfWord } from "../../../services/subscribers/import/status-words.ts";

/** Meaning of each column. */
function taken(header: string[], mapping: Mapping = {}): string[] {
  const columns = columnsOf(header, mapping);
  const as: string[] = header.map(() => "-");
  for (const field of ["email", "firstName", "lastName", "fullName"] as const) {
    if (columns[field] !== -1) as[columns[field]] = field;
  }
  for (const { at, state } of columns.statuses) as[at] = state === undefined ? "status" : `status ${state}`;
  for (const { at } of columns.objects) as[at] = "object";
  for (const { at, name } of columns.attributes) as[at] = `=${name}`;
  return as;
}

describe("header names", () => {
  test.each([
    "Email",
    "e-mail",
    "E-Mail",
    "Email Address",
    "EMAIL_ADDRESS",
    "E-Mail-Adresse",
    "email adresse",
    "Mail",
    "E-mail 1 - Value",
    "Adresse e-mail",
    "Correo electrónico",
    "emailAddress",
  ])("recognise %j as the address", (name) => {
    expect(taken(["Ort", name])).toEqual(["=Ort", "email"]);
  });

  test.each([
    [
      ["FIRSTNAME", "LASTNAME", "EMAIL"],
      ["firstName", "lastName", "email"],
    ],
    [
      ["FNAME", "LNAME", "EMAIL"],
      ["firstName", "lastName", "email"],
    ],
    [
      ["Vorname", "Nachname", "EMAIL"],
      ["firstName", "lastName", "email"],
    ],
    [
      ["Vorname", "Name", "EMAIL"],
      ["firstName", "lastName", "email"],
    ],
    [
      ["Vorname", "Nachname", "Name", "EMAIL"],
      ["firstName", "lastName", "=Name", "email"],
    ],
    [
      ["PRENOM", "NOM", "EMAIL"],
      ["firstName", "lastName", "email"],
    ],
    [
      ["Prénom", "Nom", "EMAIL"],
      ["firstName", "lastName", "email"],
    ],
    [
      ["Name", "Email"],
      ["fullName", "email"],
    ],
    [
      ["Full name", "Email"],
      ["fullName", "email"],
    ],
    [
      ["first_name", "name", "email"],
      ["firstName", "=name", "email"],
    ],
    [
      ["uuid", "email", "name", "attributes", "status", "created_at", "updated_at"],
      ["=uuid", "email", "fullName", "object", "status", "-", "=updated_at"],
    ],
    [
      ["Email", "UNSUB_TIME", "CLEAN_TIME", "BLACKLISTED"],
      ["email", "status 2", "status 3", "status 2"],
    ],
    // The usual name wins over other candidates, and no column is lost.
    [
      ["E-Mail", "email", "Mail"],
      ["=E-Mail", "email", "=Mail"],
    ],
    [
      ["first_name", "firstname", "email"],
      ["firstName", "=firstname", "email"],
    ],
  ])("recognise %j as %j", (header, expected) => {
    expect(taken(header)).toEqual(expected);
  });

  test("keep attributes of our own export whose names mean something else in other products", () => {
    const own = ["email", "first_name", "last_name", "status", "created_at", "lists"];
    const named = ["status", "lists", "E-Mail", "data", "Vorname", "unsubscribed"];
    expect(taken([...own, ...named])).toEqual([
      "email",
      "firstName",
      "lastName",
      "status",
      "-",
      "-",
      ...named.map((name) => `=${name}`),
    ]);
    expect(taken([...own, ...named], { status: "tier" })[3]).toBe("=tier");
  });

  test("yield to the mapping", () => {
    const mapping = {
      Mail: "email",
      email: "old_email",
      name: "last_name",
      tags: "attributes",
      stage: "status",
      x: null,
    };
    expect(taken(["email", "Mail", "name", "tags", "Stage", "x"], mapping)).toEqual([
      "=old_email",
      "email",
      "lastName",
      "object",
      "status",
      "-",
    ]);
  });
});

describe("words for a status", () => {
  test.each([
    [0, ["", "active", "Subscribed", "ENABLED", "Soft bounced"]],
    [1, ["unconfirmed", "Not confirmed", "pending", "Non-Subscribed"]],
    [2, ["unsubscribed", "Opted-Out", "opt_out", "Blacklisted", "désabonné", "Abgemeldet"]],
    [3, ["bounced", "Hard bounced", "CLEANED", "unreachable"]],
    [4, ["complained", "Marked as spam", "Spam complaint", "abuse"]],
    [undefined, ["gold", "?", "activ", "1"]],
  ])("are recognised: %s is %j", (state, words) => {
    expect(words.map(stateOfWord)).toEqual(words.map(() => state));
  });

  test("include any value in a column that counts when filled", () => {
    for (const text of ["yes", "1", "true", "x", "2025-03-04 05:06:07", "unsubscribed"])
      expect([text, isAffirmed(text)]).toEqual([text, true]);
    for (const text of ["", "no", "0", "False", "Subscribed", "-"])
      expect([text, isAffirmed(text)]).toEqual([text, false]);
  });
});
