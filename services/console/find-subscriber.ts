/** The subscriber who has an address, in whatever case it was typed: with what a mail to them has of them. */
import { type CompanyVisit, callIn } from "./request.ts";

/** The API's search takes an address for a part of one, and an address of few letters is a part of many. */
const MAX_ALIKE = 100;

interface Found {
  email: string;
  values: Record<string, unknown>;
}

export async function findSubscriber(visit: CompanyVisit, address: string): Promise<Found | undefined> {
  const asked = address.trim().toLowerCase();
  const { results } = await callIn(visit, "subscribers.list", { search: asked, page_size: MAX_ALIKE });
  const found = results.find(({ email }) => email.toLowerCase() === asked);
  if (!found) return undefined;
  const { email, attributes, first_name, last_name } = found;
  return { email, values: { ...attributes, first_name, last_name } };
}
