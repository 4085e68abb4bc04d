import { compileValidator } from "../../../mixins/ajv-validator.ts";
import type { ActionOf } from "../../../services/contracts.ts";
import { contractOf } from "../../../services/contracts.ts";

const BREAKS = [
  "\r\n",
  "\n",
  "\r",
  "\u000b",
  "\u000c",
  "\u0085",
  "\u2028",
  "\u2029",
  "\0",
  "\u0007",
  "\u001b",
  "\u007f",
];

/** Request fields that are written to a mail header. */
const FIELDS: [ActionOf, string, before?: string, behind?: string][] = [
  ["smtp-sender.createConfig", "sender_name"],
  ["smtp-sender.updateConfig", "sender_name"],
  ["smtp-sender.createConfig", "sender_email", "news@a", "b.example"],
  ["smtp-sender.updateConfig", "sender_email", "new", "s@example.com"],
  ["smtp-sender.createConfig", "reply_to_email", "news@a", "b.example"],
  ["smtp-sender.updateConfig", "reply_to_email", "new", "s@example.com"],
  ["accounts.register", "company_name"],
  ["accounts.createCompany", "name"],
  ["accounts.updateCompany", "name"],
  ["accounts.updateCompany", "reply_to_email", "news@a", "b.example"],
  ["subscribers.createList", "name"],
  ["subscribers.updateList", "name"],
  ["subscribers.create", "email", "ann@a", "b.example"],
  ["subscribers.create", "first_name"],
  ["subscribers.update", "last_name"],
  ["subscribers.subscribe", "first_name"],
  ["tracking.updatePreferences", "first_name"],
  ["renderer.createTemplate", "subject"],
  ["renderer.updateTemplate", "subject"],
  ["campaigns.sendCustom", "subject"],
];

test.each(FIELDS)(
  "%s: neither a line break nor a control character appears in %s",
  (action, field, before = "a", behind = "b") => {
    const errorsOf = compileValidator(contractOf(action).params);
    expect(errorsOf({ [field]: `${before}${behind}` })).not.toHaveProperty(field);
    const passed = BREAKS.filter((text) => !(field in errorsOf({ [field]: `${before}${text}${behind}` })));
    expect(passed).toEqual([]);
  },
);
