/** Finds the subscriber with an address, ignoring case, and the variables that a mail to that subscriber would have. */
import { type CompanyVisit, callIn } from "./request.ts";

/** Maximum search results to compare: the API also finds addresses that contain the given one. */
const MAX_ALIKE = 100;

interface FoundSubscriber {
  id: string;
  email: string;
  values: Record<string, unknown>;
}

export async function findSubscriber(visit: CompanyVisit, address: string): Promise<FoundSubscriber | undefined> {
  const searched = address.trim().toLowerCase();
  const { results } = await callIn(visit, "subscribers.list", { search: searched, page_size: MAX_ALIKE });
  const found = results.find(({ email }) => email.toLowerCase() === searched);
  if (!found) return undefined;
  const { id, email, attributes, first_name, last_name } = found;
  return { id, email, values: { ...attributes, first_name, last_name } };
}
