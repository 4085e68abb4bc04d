/** Chapters of the API reference, in the order of the specification. */
const CHAPTERS: [prefix: string, name: string][] = [
  ["/api/emails/send/", "Sending"],
  ["/api/emails/subscribers/", "Subscribers"],
  ["/api/emails/lists/", "Subscriber lists"],
  ["/api/emails/templates/", "Templates"],
  ["/api/emails/smtp-configs/", "SMTP configurations"],
  ["/api/emails/smtp/", "SMTP configurations"],
  ["/api/emails/campaigns/", "Campaigns"],
  ["/api/emails/webhook-endpoints/", "Webhook endpoints"],
  ["/api/emails/suppressions/", "Suppressions"],
  ["/api/emails/segments/", "Segments"],
  ["/api/emails/media/", "Media files"],
  ["/api/emails/sent-emails/", "Tracking"],
  ["/api/emails/events/", "Tracking"],
  ["/api/emails/public/", "Public endpoints"],
  ["/api/auth/", "Sign in"],
  ["/api/companies/", "Companies"],
];

export const tags = [...new Set(CHAPTERS.map(([, name]) => name))].map((name) => ({ name }));

export const tagOf = (path: string): string => CHAPTERS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "Other";
