/** Branding of the company's mails and public pages: the form, and a preview with the form's values. */

import { brandOf } from "../../lib/branding/brand-of.ts";
import {
  type Branding,
  brandingErrors,
  DEFAULT_BACKGROUND,
  DEFAULT_BUTTON_RADIUS,
  DEFAULT_COLOR,
  DEFAULT_FONT,
  DEFAULT_ON_PRIMARY,
  DEFAULT_TEXT,
  MAX_BUTTON_RADIUS,
  type StoredBranding,
} from "../../lib/branding/branding.ts";
import { isDark } from "../../lib/branding/colours.ts";
import { FONTS } from "../../lib/design/brand.ts";
import { mjmlOf } from "../../lib/design/compile.ts";
import { htmlOf } from "../../lib/made-html/make-html.ts";
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { mailFrame } from "../mail-frame.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, companyPath, may, type Outcome } from "../request.ts";
import { changesOf, errorsAt, fieldsOf, type Setting } from "../settings-form.ts";
import { starterOf } from "./starters.ts";
import { templatesPath } from "./templates.ts";

const t = messages.branding;
const PAGES = ["preferences", "unsubscribe", "confirm"] as const;
const MAX_PICTURES = 50;
/** Twice the width of the largest logo in a mail. */
const LOGO_WIDTH = 800;
/** The starter that shows the brand in a mail. */
const SHOWN = "newsletter-letter";

const pageOf = ({ query }: CompanyVisit) => PAGES.find((one) => one === query.page);

const colour = (name: string, field: { label: string; hint: string }, otherwise: string): Setting => ({
  name: `branding.${name}`,
  value: "nullable",
  kind: "color",
  ...field,
  pick: t.pick(field.label),
  otherwise,
});

const SETTINGS: Setting[] = [
  { name: "branding.name", value: "nullable", ...t.fields.name, attributes: { maxlength: 255 } },
  {
    name: "branding.logo_url",
    value: "nullable",
    kind: "url",
    ...t.fields.logo,
    attributes: { maxlength: 2_048, list: "pictures" },
  },
  colour("color", t.fields.color, DEFAULT_COLOR),
  colour("background", t.fields.background, DEFAULT_BACKGROUND),
  colour("text", t.fields.text, DEFAULT_TEXT),
  colour("on_primary", t.fields.onPrimary, DEFAULT_ON_PRIMARY),
  ...(["heading_font", "font"] as const).map(
    (name): Setting => ({
      name: `branding.${name}`,
      value: "nullable",
      kind: "choice",
      ...t.fields[name],
      otherwise: DEFAULT_FONT,
      options: Object.entries(FONTS).map(([value, family]) => ({ value, label: family.split(",")[0]! })),
    }),
  ),
  {
    name: "branding.button_radius",
    value: "nullable number",
    ...t.fields.buttonRadius,
    attributes: { min: 0, max: MAX_BUTTON_RADIUS },
    otherwise: String(DEFAULT_BUTTON_RADIUS),
  },
  { name: "branding.footer_text", value: "nullable", kind: "lines", ...t.fields.footer },
  {
    name: "branding.language",
    value: "nullable",
    kind: "choice",
    ...t.fields.language,
    otherwise: "en",
    options: Object.entries(t.languages).map(([value, label]) => ({ value, label })),
  },
];

const NAMES = SETTINGS.map(({ name }) => name);

/** Converts the form's values to the stored form of a branding. */
function typedBranding(form: Record<string, string>): StoredBranding {
  const given = SETTINGS.filter(({ name, otherwise }) => form[name] && form[name] !== otherwise);
  return Object.fromEntries(given.map(({ name }) => [name.slice("branding.".length), form[name]])) as Partial<Branding>;
}

/** The action's sentence about contrast has numbers that mean little to most people. */
function plainError(sentence: string): string {
  const [, ground] = / on (#[0-9a-f]{6}) has a contrast of /i.exec(sentence) ?? [];
  if (!ground) return sentence;
  return isDark(ground) ? t.tooDark : t.tooPale;
}

const isTyped = (form: Record<string, string>): boolean => NAMES.some((name) => form[name] !== undefined);

async function show(visit: CompanyVisit, typed: Record<string, string> | undefined, errors: Errors): Promise<Answer> {
  requirePermission("accounts.updateCompany", { role: visit.company.role });
  const [company, media, templates] = await Promise.all([
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
    callIn(visit, "campaigns.listMedia", { page_size: MAX_PICTURES }),
    callIn(visit, "renderer.listTemplates", { page_size: 1 }),
  ]);
  const fields = fieldsOf(SETTINGS, company, typed);
  const shown = Object.fromEntries(fields.map(({ name, value }) => [name, String(value ?? "")]));
  const here = companyPath(visit, "settings/branding");
  const page = pageOf(visit) ?? "";
  const said = { ...(typed ? errorsAt({ branding: brandingErrors(typedBranding(typed)) }) : {}), ...errorsAt(errors) };
  const found = Object.fromEntries(Object.entries(said).map(([name, all]) => [name, all.map(plainError)]));
  return {
    view: "branding",
    title: t.title,
    values: {
      fields,
      errors: found,
      above: Object.entries(found).flatMap(([name, sentences]) => (NAMES.includes(name) ? [] : sentences)),
      pictures: media.results.filter(({ content_type }) => content_type.startsWith("image/")),
      pages: [{ value: "", label: t.email }, ...PAGES.map((one) => ({ value: one, label: t.pages[one] }))],
      page,
      upload: templatesPath(visit, "media"),
      media: companyPath(visit, "media"),
      logoWidth: LOGO_WIDTH,
      starters: may(visit, "renderer.createTemplate") && templatesPath(visit, "starters"),
      isTyped: typed !== undefined,
      templates: templates.count,
      here,
      frame: `${here}/preview?${new URLSearchParams({ ...shown, page })}`,
    },
  };
}

/**
 * Shows the preview with the values of the query. htmx requests it while somebody types, a button does without scripts.
 */
export const brandingPage = (visit: CompanyVisit): Promise<Answer> =>
  show(visit, isTyped(visit.query) ? visit.query : undefined, {});

export const saveBranding = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { id } = visit.company;
      const company = await callIn(visit, "accounts.getCompany", { id });
      await callIn(visit, "accounts.updateCompany", { id, ...changesOf(SETTINGS, company, visit.form) });
      return { goTo: companyPath(visit, "settings/branding"), notice: "saved" };
    },
    (errors) => show(visit, visit.form, errors),
  );

export async function updateDesigns(visit: CompanyVisit): Promise<Answer> {
  const { failed } = await callIn(visit, "renderer.updateDesigns", {});
  const notice = failed.length === 0 ? "designsUpdated" : "designsPartlyUpdated";
  return { goTo: companyPath(visit, "settings/branding"), notice };
}

/** A starter in the brand that was typed; in the stored one while that has errors, which the page shows. */
async function mailPreview(visit: CompanyVisit, typed: StoredBranding): Promise<RawResponse> {
  const { subject, preheader, design } = starterOf(SHOWN)!;
  const company = await callIn(visit, "accounts.getCompany", { id: visit.company.id });
  const stored = Object.fromEntries(Object.entries(company.branding).filter(([, value]) => value !== null));
  const branding = brandingErrors(typed).length === 0 ? typed : stored;
  const body = mjmlOf(design, { brand: brandOf({ ...company, branding }), saved: new Map() });
  const made = await htmlOf(visit.company.id, { body, isMjml: true, inlinesCss: false });
  const content = { subject, preheader, body: made.html ?? "", variables: {} };
  return mailFrame((await callIn(visit, "renderer.previewContent", content)).html);
}

export function brandingPreview(visit: CompanyVisit): Promise<Answer | RawResponse> {
  requirePermission("accounts.updateCompany", { role: visit.company.role });
  const page = pageOf(visit);
  const branding = typedBranding(visit.query);
  return page ? callUnder(visit, "tracking.previewPage", { page, branding }) : mailPreview(visit, branding);
}
