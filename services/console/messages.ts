/** Every sentence of the console that is not an error of an action, by page. English; another language is another object of this shape. */
import { companies, sessions, signIn } from "./messages/account.ts";
import { campaigns } from "./messages/campaigns.ts";
import { newCampaign } from "./messages/new-campaign.ts";
import { notices } from "./messages/notices.ts";
import { overview } from "./messages/overview.ts";
import { keys, members, plan } from "./messages/settings.ts";
import { lists, subscribers, suppressions } from "./messages/subscribers.ts";

export const messages = {
  product: "Flockmail",
  skip: "Skip to the content",
  pages: "Pages",
  pagesOfSection: "Pages of this section",
  signIn,
  companies,
  sessions,
  campaigns,
  newCampaign,
  overview,
  subscribers,
  lists,
  suppressions,
  keys,
  members,
  plan,
  notices,
  pager: {
    label: "Pages of the list",
    next: "Next",
    previous: "Previous",
    of: (page: string, pages: string) => `Page ${page} of ${pages}`,
  },
  problems: {
    400: "This cannot be done",
    403: "You may not do this",
    404: "There is no such page",
    409: "Something else came first",
    429: "Too many requests",
    503: "Not available at the moment",
    notFound: "It does not exist, or it belongs to another company.",
    back: "To the overview",
  },
} as const;
