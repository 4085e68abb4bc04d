/** The chapters (tags) of the reference: which paths stand in them, and what they are about. */

interface Chapter {
  name: string;
  description: string;
  prefixes: readonly string[];
}

const E = "/api/emails";

/** In the order of routes.ts. */
const CHAPTERS: readonly Chapter[] = [
  {
    name: "Sending",
    description:
      "The three sends. Each answers before any mail is made; the campaign that it answers with says how far it is. With `Idempotency-Key` a request that is sent again makes nothing twice.",
    prefixes: [`${E}/send/`],
  },
  {
    name: "Drafts",
    description: "Sends that are not sent yet: kept as they are written, complete or not, until somebody sends them.",
    prefixes: [`${E}/drafts/`],
  },
  {
    name: "Subscribers",
    description: "The people who get campaigns: one by one, in bulk, from CSV files, and what is kept about a person.",
    prefixes: [`${E}/subscribers/`, `${E}/imports/`],
  },
  { name: "Subscriber lists", description: "Lists that subscribers are on.", prefixes: [`${E}/lists/`] },
  {
    name: "Templates",
    description: "Subject and body with variables, conditions and loops.",
    prefixes: [`${E}/templates/`],
  },
  {
    name: "SMTP configurations",
    description:
      "The mail servers that campaigns leave by: login, sender, DKIM keys, limits, warm-up, and a report on the records in the DNS.",
    prefixes: [`${E}/smtp-configs/`, `${E}/smtp/`],
  },
  {
    name: "Campaigns",
    description: "Every send is a campaign: how far it is, why it waits, what became of it; stop, resume, cancel.",
    prefixes: [`${E}/campaigns/`],
  },
  {
    name: "Webhook endpoints",
    description:
      "Where events are posted to, signed as Standard Webhooks has it; `webhooks` describes the events themselves. Any 2xx within 10 seconds acknowledges one. Otherwise it comes again after 5 s, 30 s, 5 min, 30 min, 2 h, 5 h and 10 h. Each comes at least once, in no promised order; redirects are not followed.",
    prefixes: [`${E}/webhook-endpoints/`],
  },
  { name: "Suppressions", description: "Addresses and domains that get no mail.", prefixes: [`${E}/suppressions/`] },
  {
    name: "Segments",
    description: "Subscribers by rules, looked up when they are needed.",
    prefixes: [`${E}/segments/`],
  },
  { name: "Media files", description: "Images of mails, and attachments.", prefixes: [`${E}/media/`] },
  {
    name: "Tracking",
    description: "What became of each mail, and what its reader did.",
    prefixes: [`${E}/sent-emails/`, `${E}/events/`, `${E}/stats/`],
  },
  {
    name: "Bounces and complaints",
    description: "What comes back after a server took a mail: reported here, or by a provider, or read from a mailbox.",
    prefixes: [`${E}/bounces/`, `${E}/inbound/`, `${E}/inbound-sources/`],
  },
  {
    name: "Public endpoints",
    description: "What forms and mails link to. The token in the path stands in place of credentials.",
    prefixes: [`${E}/public/`],
  },
  {
    name: "Sign in",
    description: "A person's own account: registration, login, sessions, second factor.",
    prefixes: ["/api/auth/"],
  },
  {
    name: "Companies",
    description: "A company's settings, plan, API keys, members and audit log.",
    prefixes: ["/api/companies/"],
  },
];

export const tags = CHAPTERS.map(({ name, description }) => ({ name, description }));

export const tagOf = (path: string): string =>
  CHAPTERS.find(({ prefixes }) => prefixes.some((prefix) => path.startsWith(prefix)))?.name ?? "Other";
