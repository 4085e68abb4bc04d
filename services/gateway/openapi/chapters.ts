/** The tags of the reference: their paths and descriptions. */

interface Chapter {
  name: string;
  description: string;
  prefixes: readonly string[];
}

const E = "/api/emails";

/** Chapters in the order of routes.ts. */
const CHAPTERS: readonly Chapter[] = [
  {
    name: "Sending",
    description:
      "Send to a list or segment, to receivers, or a custom email. The answer comes before any mail is created; poll the returned campaign for progress. Repeating a request with the same `Idempotency-Key` sends nothing twice.",
    prefixes: [`${E}/send/`],
  },
  {
    name: "Drafts",
    description: "Saved sends, complete or not, that wait until somebody sends them.",
    prefixes: [`${E}/drafts/`],
  },
  {
    name: "Subscribers",
    description: "The people who get campaigns: create, import, search, export and erase them.",
    prefixes: [`${E}/subscribers/`, `${E}/imports/`],
  },
  { name: "Subscriber lists", description: "Named groups of subscribers.", prefixes: [`${E}/lists/`] },
  {
    name: "Templates",
    description: "Subject and body with variables, conditions and loops.",
    prefixes: [`${E}/templates/`, `${E}/saved-blocks/`],
  },
  {
    name: "SMTP configurations",
    description:
      "Mail servers that campaigns are sent through: login, sender, DKIM keys, limits, warm-up and a deliverability report on DNS records.",
    prefixes: [`${E}/smtp-configs/`, `${E}/smtp/`],
  },
  {
    name: "Campaigns",
    description: "Every send is a campaign: its progress, results and reports; stop, resume or cancel it.",
    prefixes: [`${E}/campaigns/`],
  },
  {
    name: "Webhook endpoints",
    description:
      "Endpoints that events are posted to, signed as Standard Webhooks defines; `webhooks` describes the events. Any 2xx within 10 seconds acknowledges an event. Otherwise it is retried after 5 s, 30 s, 5 min, 30 min, 2 h, 5 h and 10 h. Events arrive at least once and in no guaranteed order; redirects are not followed.",
    prefixes: [`${E}/webhook-endpoints/`],
  },
  {
    name: "Suppressions",
    description: "Addresses and domains that receive no mail.",
    prefixes: [`${E}/suppressions/`],
  },
  {
    name: "Segments",
    description: "Groups of subscribers defined by rules and evaluated when they are used.",
    prefixes: [`${E}/segments/`],
  },
  { name: "Media files", description: "Images and attachments.", prefixes: [`${E}/media/`] },
  {
    name: "Tracking",
    description: "Delivery status of each mail, with opens, clicks, bounces and unsubscribes.",
    prefixes: [`${E}/sent-emails/`, `${E}/events/`, `${E}/stats/`],
  },
  {
    name: "Bounces and complaints",
    description:
      "Bounces and complaints that arrive after delivery: reported here, by a provider, or read from a mailbox.",
    prefixes: [`${E}/bounces/`, `${E}/inbound/`, `${E}/inbound-sources/`],
  },
  {
    name: "Public endpoints",
    description: "Endpoints that forms and mails link to. The token in the path replaces credentials.",
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
