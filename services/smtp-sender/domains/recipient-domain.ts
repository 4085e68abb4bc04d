import { asciiDomain, domainOf } from "../../lib/address.ts";
import type { RecipientRow } from "../delivery/rows.ts";

const ASCII = /^[\x21-\x7e]*$/;

/** The domain of an address as limits know it: lower case, A-labels. */
export function wireDomain(address: string): string {
  const domain = domainOf(address);
  return ASCII.test(domain) ? domain.toLowerCase() : (asciiDomain(domain) ?? domain.toLowerCase());
}

/** Where its mail goes; of a copy that was claimed by itself, where the copy goes. */
export const recipientDomain = ({ email, copy_email }: Pick<RecipientRow, "email" | "copy_email">): string =>
  wireDomain(copy_email ?? email);
