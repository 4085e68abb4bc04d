export const WINNER_METRICS = ["opens", "clicks"] as const;
export type WinnerMetric = (typeof WINNER_METRICS)[number];

/**
 * Columns of campaign_contents in which the variants of a campaign may differ, and where they come from in a template (alias
 * t). Whatever else mails are made from is the campaign's.
 */
export const VARIED_CONTENTS = {
  subject: "t.subject",
  body: "coalesce(t.html, t.body)",
  preheader: "t.preheader",
  text_body: "t.text_body",
} as const;
