/** Preferences page and its JSON variant. */

import { emitWebhookQueued } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import { addressText } from "../../lib/address.ts";
import { type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { notFound } from "../../lib/errors.ts";
import type { Document } from "../../lib/shapes.ts";
import { readPersonToken } from "../../lib/tokens/person-token.ts";
import { withUniformTiming } from "../../lib/uniform-timing.ts";
import { json, page, wantsJson } from "./page.ts";
import { pageCompany } from "./page-company.ts";
import {
  changePreferences,
  type PersonRef,
  type Preferences,
  type PreferencesChange,
  preferencesOf,
} from "./preferences.ts";

const MAX_LANGUAGES = 200;

type Update = ParamsOf<"tracking.updatePreferences">;

function personOf(ctx: Ctx<{ token: string }>): PersonRef {
  const person = readPersonToken("preferences", ctx.params.token);
  if (!person || person.expired) throw notFound();
  requireOwnHost(ctx.meta, person.companyId);
  return person;
}

const withoutDescriptions = ({ lists, ...person }: Preferences) => ({
  ...person,
  lists: lists.map(({ description: _, ...list }) => list),
});

/** `asked` is the saved change; a confirmation of a new address is announced whether or not it is available. */
async function answer(ctx: Ctx, person: PersonRef, preferences: Preferences, asked?: Update): Promise<Document> {
  if (wantsJson(ctx.meta.http)) return json(withoutDescriptions(preferences));
  const company = await pageCompany(person.companyId);
  const { email } = preferences;
  const addressAsked = asked?.email !== undefined && addressText(asked.email).toLowerCase() !== email.toLowerCase();
  const values = { company, email, person: preferences, saved: asked !== undefined, addressAsked };
  return page("preferences", ctx.meta.http, values);
}

export async function preferencesPage(ctx: Ctx<{ token: string }>): Promise<Document> {
  const person = personOf(ctx);
  return answer(ctx, person, await preferencesOf(person));
}

/** Forms omit unticked boxes, so a missing field means no. */
function fromForm(
  { first_name, last_name, subscribed, list = [] }: Update,
  lists: Preferences["lists"],
): PreferencesChange {
  const ticked = new Set([list].flat().map((id) => id.toLowerCase()));
  return {
    first_name,
    last_name,
    subscribed: subscribed === "on" || subscribed === "true" || subscribed === true,
    lists: lists.map(({ id }) => ({ id, subscribed: ticked.has(id) })),
  };
}

function fromJson({ first_name, last_name, subscribed, lists }: Update): PreferencesChange {
  const wanted =
    subscribed === undefined ? {} : { subscribed: subscribed === true || subscribed === "true" || subscribed === "on" };
  return { first_name, last_name, ...wanted, ...(lists ? { lists } : {}) };
}

/** The response time must not reveal whether the new address is known. */
export const updatePreferences = (ctx: Ctx<Update>): Promise<Document> =>
  ctx.params.email === undefined ? update(ctx) : withUniformTiming(() => update(ctx));

async function update(ctx: Ctx<Update>): Promise<Document> {
  const person = personOf(ctx);
  const params = ctx.params;
  const change = params.from === "page" ? fromForm(params, (await preferencesOf(person)).lists) : fromJson(params);
  const acceptLanguage = (ctx.meta.http?.acceptLanguage ?? "").slice(0, MAX_LANGUAGES);
  const newEmail = params.email && addressText(params.email);
  const { companyIds, preferences } = await changePreferences(person, { ...change, newEmail, acceptLanguage });
  await emitWebhookQueued(ctx, companyIds);
  return answer(ctx, person, preferences, params);
}
