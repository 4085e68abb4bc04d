/**
 * Every page of the console, on one page: where it is, what shows it, what its form does. Three kinds: for everybody, for
 * whoever is signed in, and within a company (below its id).
 */
import {
  campaignPage,
  campaignsPage,
  cancelCampaign,
  deleteCampaign,
  resumeCampaign,
  stopCampaign,
} from "./pages/campaigns.ts";
import { checkPage, sendDraft, testDraft } from "./pages/compose/check.ts";
import { checksPage } from "./pages/compose/checks.ts";
import { deleteDraft, draftsPage } from "./pages/compose/drafts.ts";
import { fromPage, saveFrom } from "./pages/compose/from.ts";
import { previewFrame } from "./pages/compose/preview.ts";
import { saveWhat, whatPage } from "./pages/compose/what.ts";
import { saveWhen, whenPage } from "./pages/compose/when.ts";
import { makeCampaign, newCampaignPage, saveWhom, whomPage } from "./pages/compose/whom.ts";
import { chooseCompany, companyHome } from "./pages/home.ts";
import { deleteKey, keysPage, makeKey } from "./pages/keys.ts";
import { deleteList, liftSuppression, listsPage, makeList, suppress, suppressionsPage } from "./pages/lists.ts";
import { changeRole, inviteMember, membersPage, removeMember } from "./pages/members.ts";
import { planPage } from "./pages/plan.ts";
import { endSessionForm, sessionsPage } from "./pages/security.ts";
import { signIn, signInPage, signOut } from "./pages/sign-in.ts";
import {
  addSubscriber,
  changeSubscriber,
  deleteSubscriber,
  eraseSubscriber,
  subscriberPage,
  subscribersPage,
  takeOffList,
} from "./pages/subscribers.ts";
import type { Answer, CompanyVisit, Outcome, PersonVisit, Visit } from "./request.ts";

type Page<V> = (visit: V) => Promise<Outcome | Answer> | Outcome | Answer;

interface Entry<V> {
  page?: Page<V>;
  form?: Page<V>;
}

type Table<V> = Record<string, Entry<V>>;

export const openPages: Table<Visit> = {
  login: { page: signInPage, form: signIn },
  logout: { form: signOut },
};

export const personPages: Table<PersonVisit> = {
  "": { page: chooseCompany },
  "account/sessions": { page: sessionsPage },
  "account/sessions/:id/end": { form: endSessionForm },
};

export const companyPages: Table<CompanyVisit> = {
  "": { page: companyHome },
  campaigns: { page: campaignsPage },
  "campaigns/new": { page: newCampaignPage, form: makeCampaign },
  "campaigns/drafts": { page: draftsPage },
  "campaigns/drafts/:id": { page: checkPage },
  "campaigns/drafts/:id/whom": { page: whomPage, form: saveWhom },
  "campaigns/drafts/:id/what": { page: whatPage, form: saveWhat },
  "campaigns/drafts/:id/from": { page: fromPage, form: saveFrom },
  "campaigns/drafts/:id/when": { page: whenPage, form: saveWhen },
  "campaigns/drafts/:id/preview": { page: previewFrame },
  "campaigns/drafts/:id/checks": { page: checksPage },
  "campaigns/drafts/:id/test": { form: testDraft },
  "campaigns/drafts/:id/send": { form: sendDraft },
  "campaigns/drafts/:id/delete": { form: deleteDraft },
  "campaigns/:id": { page: campaignPage },
  "campaigns/:id/stop": { form: stopCampaign },
  "campaigns/:id/resume": { form: resumeCampaign },
  "campaigns/:id/cancel": { form: cancelCampaign },
  "campaigns/:id/delete": { form: deleteCampaign },
  subscribers: { page: subscribersPage, form: addSubscriber },
  "subscribers/:id": { page: subscriberPage, form: changeSubscriber },
  "subscribers/:id/off-list": { form: takeOffList },
  "subscribers/:id/delete": { form: deleteSubscriber },
  "subscribers/:id/erase": { form: eraseSubscriber },
  lists: { page: listsPage, form: makeList },
  "lists/:id/delete": { form: deleteList },
  suppressions: { page: suppressionsPage, form: suppress },
  "suppressions/:id/lift": { form: liftSuppression },
  "settings/keys": { page: keysPage, form: makeKey },
  "settings/keys/:id/delete": { form: deleteKey },
  "settings/members": { page: membersPage, form: inviteMember },
  "settings/members/:id/role": { form: changeRole },
  "settings/members/:id/remove": { form: removeMember },
  "settings/plan": { page: planPage },
};

interface Found<V> {
  show: Page<V>;
  params: Record<string, string>;
}

function matched(pattern: string, parts: string[]): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  if (wanted.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [n, name] of wanted.entries()) {
    if (name.startsWith(":")) params[name.slice(1)] = parts[n]!;
    else if (name !== parts[n]) return undefined;
  }
  return params;
}

/** The page, or form, of the first pattern that fits and has one; `:name` stands for one part of a path. */
export function findPage<V>(table: Table<V>, path: string, method: keyof Entry<V>): Found<V> | undefined {
  const parts = path.split("/");
  for (const [pattern, entry] of Object.entries(table)) {
    const params = matched(pattern, parts);
    const show = entry[method];
    if (params && show) return { show, params };
  }
  return undefined;
}
