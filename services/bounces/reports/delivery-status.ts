/**
 * Parses message/delivery-status (RFC 3464, and RFC 6533 for internationalised addresses): machine-readable results per
 * recipient.
 */
import { firstAddress } from "./addresses.ts";
import { type Headers, parseHeaders } from "./headers.ts";

export interface RecipientStatus {
  /** Original-Recipient if present: the address before any forwarding. */
  recipient: string | null;
  /** Further addresses of the same recipient. */
  others: string[];
  /** `failed`, `delayed`, `delivered`, `relayed`, `expanded`; empty if missing. */
  action: string;
  /** Unparsed value such as `5.1.1 (bad destination mailbox)`. */
  status: string;
  /** Diagnostic-Code without its type (`smtp;`). */
  diagnostic: string;
}

const MAX_RECIPIENTS = 100;
const MAX_LINES = 3_000;
const ADDRESS_FIELDS = ["original-recipient", "final-recipient", "x-actual-recipient"];

export function readDeliveryStatus(text: string): RecipientStatus[] {
  const groups = groupsOf(text).map(parseHeaders);
  const first = (fields: Headers, name: string) => fields.get(name)?.[0] ?? "";
  const recipients: RecipientStatus[] = [];
  for (const fields of groups) {
    const named = ADDRESS_FIELDS.some((name) => fields.has(name));
    const status = {
      action: /^[a-z]+/.exec(first(fields, "action").toLowerCase())?.[0] ?? "",
      status: first(fields, "status"),
      diagnostic: diagnosticOf(first(fields, "diagnostic-code")),
    };
    const last = recipients.at(-1);
    if (named) recipients.push({ ...addressesOf(fields), ...status });
    // Some servers put an empty line between the recipient and its status.
    else if (last && !last.action && !last.status) Object.assign(last, status);
    else if (status.action && status.status) recipients.push({ recipient: null, others: [], ...status });
    if (recipients.length >= MAX_RECIPIENTS) break;
  }
  return recipients;
}

/** Splits groups at empty lines, or at a second Final-Recipient if those are missing. */
function groupsOf(text: string): string[] {
  const groups: string[][] = [[]];
  let named = false;
  for (const line of text.split("\n", MAX_LINES)) {
    const begins = /^final-recipient[ \t]*:/i.test(line);
    if (line.trim() === "" || (begins && named)) {
      groups.push([]);
      named = false;
    }
    named ||= begins;
    groups.at(-1)!.push(line);
  }
  return groups.map((lines) => lines.join("\n")).filter((group) => group.trim() !== "");
}

const diagnosticOf = (value: string): string => value.replace(/^[\w-]{1,30}\s*;\s*/, "").trim();

function addressesOf(fields: Headers): { recipient: string | null; others: string[] } {
  const found = ADDRESS_FIELDS.map((name) => firstAddress(unescaped(fields.get(name)?.[0] ?? ""))).filter(
    (address) => address !== null,
  );
  const [recipient = null, ...others] = [...new Set(found)];
  return { recipient, others };
}

/** Decodes `\x{FC}` (RFC 6533 section 3) and `+2B` (xtext, RFC 3461). */
const unescaped = (value: string): string =>
  value
    .replace(/^[\w-]{1,30}\s*;\s*/, "")
    .replace(/\\x\{([0-9a-f]{1,6})\}/gi, (whole, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code > 0x7f && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replace(/^([^@]*)/, (local) => local.replace(/\+(2B|3D)/g, (_, hex: string) => (hex === "2B" ? "+" : "=")));
