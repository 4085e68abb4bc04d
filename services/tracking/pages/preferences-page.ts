/** The preferences page and its JSON twin. */

import { emitWebhookQueued } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import { type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { notFound } from "../../lib/errors.ts";
import type { Document } from "../../lib/shapes.ts";
import { readPersonToken } from "../../lib/tokens/person-token.ts";
import { json, page, wantsJson } from "./page.ts";
import { pageCompany } from "./page-company.ts";
import {
  changePreferences,
  type PersonRef,
  type Preferences,
  type PreferencesChange,
  preferencesOf,
} from "./preferences.ts";

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

async function answer(ctx: Ctx, person: PersonRef, preferences: Preferences, saved: boolean): Promise<Document> {
  if (wantsJson(ctx.meta.http)) return json(withoutDescriptions(preferences));
  const company = await pageCompany(person.companyId);
  return page("preferences", ctx.meta.http, { company, email: preferences.email, person: preferences, saved });
}

export async function preferencesPage(ctx: Ctx<{ token: string }>): Promise<Document> {
  const person = personOf(ctx);
  return answer(ctx, person, await preferencesOf(person), false);
}

/** A form leaves out what is not ticked: what it does not name is a no. */
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

export async function updatePreferences(ctx: Ctx<Update>): Promise<Document> {
  const person = personOf(ctx);
  const change =
    ctx.params.from === "page" ? fromForm(ctx.params, (await preferencesOf(person)).lists) : fromJson(ctx.params);
  const { companyIds, preferences } = await changePreferences(person, change);
  await emitWebhookQueued(ctx, companyIds);
  return answer(ctx, person, preferences, true);
}
