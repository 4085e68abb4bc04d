import { changesOf, errorsAt, fieldsOf, type Setting } from "../../../services/console/settings-form.ts";
import type { ReturnsOf } from "../../../services/contracts.ts";

const company = {
  name: "Lantern",
  website: null,
  tracking_enabled: true,
  form_hosts: ["a.example"],
  guard: { hard_bounce_percent: 10, complaint_percent: 0.3, after: 200 },
  branding: { color: null },
} as unknown as ReturnsOf<"accounts.getCompany">;

const SETTINGS: Setting[] = [
  { name: "name", value: "text", label: "Name" },
  { name: "website", value: "nullable", label: "Website" },
  { name: "tracking_enabled", value: "check", label: "Track" },
  { name: "form_hosts", value: "list", label: "Hosts" },
  { name: "guard.after", value: "number", label: "After" },
  { name: "branding.color", value: "nullable", label: "Colour", otherwise: "#1a4fc4" },
];

const AS_STORED = {
  name: "Lantern",
  website: "",
  tracking_enabled: "on",
  form_hosts: "a.example\r\n",
  "guard.after": "200",
  "branding.color": "#1a4fc4",
};

test("a form that is submitted unchanged changes nothing", () => {
  expect(changesOf(SETTINGS, company, AS_STORED)).toEqual({});
});

test("only differences are sent, as values of the API; an unticked box means no", () => {
  const { tracking_enabled: _, ...unticked } = AS_STORED;
  const form = { ...unticked, website: " https://x.example ", form_hosts: "b.example c.example", "guard.after": "5" };
  expect(changesOf(SETTINGS, company, form)).toEqual({
    website: "https://x.example",
    tracking_enabled: false,
    form_hosts: ["b.example", "c.example"],
    guard: { after: 5 },
  });
});

test.each(["", "many", "1e999"])("an invalid number (%j) is passed on for the API to refuse", (text) => {
  const changes = changesOf(SETTINGS, company, { ...AS_STORED, "guard.after": text });
  expect(changes).toEqual({ guard: { after: text } });
});

test("fields show what is stored, or what was typed", () => {
  const valuesOf = (typed?: Record<string, string>) =>
    Object.fromEntries(fieldsOf(SETTINGS, company, typed).map(({ name, value }) => [name, value]));
  expect(valuesOf()).toEqual({ ...AS_STORED, tracking_enabled: true, form_hosts: "a.example", "guard.after": "200" });
  expect(valuesOf({ name: "" })).toMatchObject({ name: "", tracking_enabled: false });
});

test("an error within an object is shown at its key, and a sentence with a colon stays complete elsewhere", () => {
  expect(errorsAt({ branding: ["color: Too pale.", '"x" is no colour.'], name: ["note: this"] })).toEqual({
    "branding.color": ["Too pale."],
    branding: ['"x" is no colour.'],
    name: ["note: this"],
  });
});
