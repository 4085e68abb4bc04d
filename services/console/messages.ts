/**
 * All texts of the console except errors of actions, by page. English; another language is another object of this
 * shape.
 */
import * as account from "./messages/account.ts";
import { campaigns } from "./messages/campaigns.ts";
import { imports } from "./messages/import.ts";
import { list, lists, suppressions } from "./messages/lists.ts";
import { navigation } from "./messages/navigation.ts";
import { newCampaign } from "./messages/new-campaign.ts";
import { notices } from "./messages/notices.ts";
import { operator } from "./messages/operator.ts";
import { overview } from "./messages/overview.ts";
import { search } from "./messages/search.ts";
import { segments } from "./messages/segments.ts";
import { bounces, domains, recipientDomains, servers } from "./messages/sending.ts";
import * as settings from "./messages/settings.ts";
import { starters } from "./messages/starters.ts";
import { peopleMessages, person, subscribers } from "./messages/subscribers.ts";
import { media, templates } from "./messages/templates.ts";
import { visual } from "./messages/visual.ts";
import { webhooks } from "./messages/webhooks.ts";

export const messages = {
  product: "Flockmail",
  skip: "Skip to the content",
  cancel: "Cancel",
  close: "Close",
  /** Leads to the page in the docs. */
  help: "Learn more",
  kept: {
    ended: "Your session expired. Sign in to continue; your changes are kept.",
    back: "You are signed in again, and the form has what you typed. It is not saved yet.",
    gone: "You are signed in again, but this form cannot be shown anymore. Copy what you need from your text below.",
    /** Shown beside a form that saves automatically. */
    notSaved: "Not saved: your session expired. Press a button of this form to sign in; your changes are kept.",
    failed: "Not saved. Press a button of this form to try again.",
  },
  ...account,
  navigation,
  search,
  campaigns,
  newCampaign,
  overview,
  templates,
  starters,
  media,
  visual,
  people: peopleMessages,
  subscribers,
  person,
  list,
  lists,
  suppressions,
  ...settings,
  servers,
  domains,
  bounces,
  recipientDomains,
  webhooks,
  operator,
  segments,
  imports,
  notices,
  pager: {
    label: "Pages of the list",
    about: (n: string) => `about ${n}`,
    next: "Next",
    previous: "Previous",
    of: (page: string, pages: string) => `Page ${page} of ${pages}`,
  },
  problems: {
    400: "This cannot be done",
    403: "You may not do this",
    404: "Page not found",
    409: "Something else came first",
    429: "Too many requests",
    503: "Not available at the moment",
    notFound: "It does not exist, or it belongs to another company.",
    back: "Go to overview",
  },
} as const;
