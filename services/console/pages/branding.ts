/** Branding of the company's public pages: the form, and a preview with the form's values. */
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
import { FONTS } from "../../lib/design/brand.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, companyPath, type Outcome } from "../request.ts";
import { changesOf, errorsAt, fieldsOf, type Setting } from "../settings-form.ts";

const t = messages.branding;
const PAGES = ["preferences", "unsubscribe", "confirm"] as const;
const MAX_PICTURES = 50;

const pageOf = ({ query }: CompanyVisit) => PAGES.find((one) => one === query.page) ?? PAGES[0];

const SETTINGS: Setting[] = [
  { name: "branding.name", value: "nullable", ...t.fields.name, attributes: { maxlength: 255 } },
  {
    name: "branding.logo_url",
    value: "nullable",
    kind: "url",
    ...t.fields.logo,
    attributes: { maxlength: 2_048, list: "pictures" },
  },
  { name: "branding.color", value: "nullable", kind: "color", ...t.fields.color, otherwise: DEFAULT_COLOR },
  {
    name: "branding.background",
    value: "nullable",
    kind: "color",
    ...t.fields.background,
    otherwise: DEFAULT_BACKGROUND,
  },
  { name: "branding.text", value: "nullable", kind: "color", ...t.fields.text, otherwise: DEFAULT_TEXT },
  {
    name: "branding.on_primary",
    value: "nullable",
    kind: "color",
    ...t.fields.onPrimary,
    otherwise: DEFAULT_ON_PRIMARY,
  },
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

const isTyped = (form: Record<string, string>): boolean => NAMES.some((name) => form[name] !== undefined);

async function show(visit: CompanyVisit, typed: Record<string, string> | undefined, errors: Errors): Promise<Answer> {
  requirePermission("accounts.updateCompany", { role: visit.company.role });
  const [company, media] = await Promise.all([
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
    callIn(visit, "campaigns.listMedia", { page_size: MAX_PICTURES }),
  ]);
  const fields = fieldsOf(SETTINGS, company, typed);
  const shown = Object.fromEntries(fields.map(({ name, value }) => [name, String(value ?? "")]));
  const here = companyPath(visit, "settings/branding");
  const page = pageOf(visit);
  const found = { ...(typed ? errorsAt({ branding: brandingErrors(typedBranding(typed)) }) : {}), ...errorsAt(errors) };
  return {
    view: "branding",
    title: t.title,
    values: {
      fields,
      errors: found,
      above: Object.entries(found).flatMap(([name, sentences]) => (NAMES.includes(name) ? [] : sentences)),
      pictures: media.results.filter(({ content_type }) => content_type.startsWith("image/")),
      pages: PAGES.map((one) => ({ value: one, label: t.pages[one] })),
      page,
      isTyped: typed !== undefined,
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

export function brandingPreview(visit: CompanyVisit): Promise<Answer> {
  requirePermission("accounts.updateCompany", { role: visit.company.role });
  return callUnder(visit, "tracking.previewPage", { page: pageOf(visit), branding: typedBranding(visit.query) });
}
