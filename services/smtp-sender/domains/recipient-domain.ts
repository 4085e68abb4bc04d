import { asciiDomain, domainOf } from "../../lib/address.ts";
import type { RecipientRow } from "../delivery/rows.ts";

const ASCII = /^[\x21-\x7e]*$/;

/** Normalizes the domain of an address for limits: lower case, A-labels. */
export function wireDomain(address: string): string {
  const domain = domainOf(address);
  return ASCII.test(domain) ? domain.toLowerCase() : (asciiDomain(domain) ?? domain.toLowerCase());
}

/** Domain of the email, or of an individually claimed copy. */
export const recipientDomain = ({ email, copy_email }: Pick<RecipientRow, "email" | "copy_email">): string =>
  wireDomain(copy_email ?? email);
