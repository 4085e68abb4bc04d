/** Previews a draft for a recipient: a template, its subject replaced by a variant's, or a text without a template. */
import { queryOne } from "../../models/database/db.ts";
import { subscriberOf } from "../../models/database/row-at.ts";
import type { DraftContent } from "./contract.ts";
import { shownOf, textsOf } from "./preview.ts";
import type { Data } from "./program/scope.ts";

/** Reader of a preview without an address. */
const SAMPLE: Data = { email: "ann@example.com", first_name: "Ann", last_name: "Example" };

const PERSON = `select p.* from (${subscriberOf("$1", "address_key($2)", "r.first_name, r.last_name, r.attributes")}) p`;

interface Person {
  first_name: string;
  last_name: string;
  attributes: Data;
}

/** Values of the subscriber with the address. */
async function valuesOf(companyId: string, email: string): Promise<Data> {
  const person = await queryOne<Person>(PERSON, [companyId, email]);
  return { ...person?.attributes, first_name: person?.first_name, last_name: person?.last_name, email };
}

export async function previewDraft(companyId: string, given: DraftContent): ReturnType<typeof shownOf> {
  const {
    template_id,
    subject,
    body = "",
    preheader = null,
    text_body = null,
    is_transactional,
    email,
    list_id,
    is_to_receivers,
  } = given;
  const texts = template_id
    ? await textsOf(companyId, template_id)
    : { subject: "", body, preheader, textBody: text_body, isTransactional: false };
  const content = {
    ...texts,
    ...(subject === undefined ? {} : { subject }),
    isTransactional: texts.isTransactional || is_transactional === true,
  };
  const person = email === undefined ? {} : await valuesOf(companyId, email);
  const variables = { ...person, ...given.variables };
  return shownOf(
    companyId,
    content,
    email === undefined ? { ...SAMPLE, ...variables } : variables,
    { listId: list_id, isToReceivers: is_to_receivers },
    Object.keys(variables),
  );
}
