export const WINNER_METRICS = ["opens", "clicks"] as const;
export type WinnerMetric = (typeof WINNER_METRICS)[number];

/** SQL: text part of a template `t`: its text_body, otherwise the text of its design or Markdown. */
export const TEMPLATE_TEXT = "case when t.text_body ~ '\\S' then t.text_body else t.design_text end";

/**
 * Columns of campaign_contents that may differ between variants, and their sources in a template (alias t). All other
 * content belongs to the campaign.
 */
export const VARIED_CONTENTS = {
  subject: "t.subject",
  body: "coalesce(t.html, t.body)",
  preheader: "t.preheader",
  text_body: TEMPLATE_TEXT,
} as const;

/** SQL: template of variant `v` of campaign `c`; null if the variant has its own content. */
export const templateOfVariant = (v: string, c: string): string =>
  `case when ${v}.content ? 'body' then ${v}.template_id else ${c}.template_id end`;
