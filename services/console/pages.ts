/**
 * All pages of the console: path, view and form. Three kinds: public, for signed-in people, and of a company (below its
 * id). operator-pages.ts has the pages of operators.
 */

import {
  accountPage,
  changePassword,
  endSessionForm,
  mailVerification,
  passwordPage,
  sessionsPage,
} from "./pages/account.ts";
import { auditLogPage } from "./pages/audit-log.ts";
import {
  bouncesPage,
  bouncesSettingsPage,
  makeSource,
  rawMessage,
  recipientDomainsPage,
  removeSource,
  setGuard,
} from "./pages/bounces.ts";
import { brandingPage, brandingPreview, saveBranding, updateDesigns } from "./pages/branding.ts";
import { campaignPage } from "./pages/campaign.ts";
import { editCampaign, editPage } from "./pages/campaign-edit.ts";
import { mailFramePage, mailPage } from "./pages/campaign-mail.ts";
import {
  cancelCampaign,
  deleteCampaign,
  duplicateCampaign,
  exportCampaign,
  resendCampaign,
  resumeCampaign,
  stopCampaign,
} from "./pages/campaign-operations.ts";
import { campaignDomainsPage, failuresPage } from "./pages/campaign-outcomes.ts";
import { recipientPage, recipientsPage } from "./pages/campaign-recipients.ts";
import { campaignsPage, sendingNowPage } from "./pages/campaigns.ts";
import { companyPage, deleteCompany, deleteCompanyPage, saveCompany } from "./pages/company.ts";
import { checkPage, sendDraft, testDraft } from "./pages/compose/check.ts";
import { checksPage } from "./pages/compose/checks.ts";
import { draftStarters, draftVisualPage, saveDraftVisual } from "./pages/compose/design.ts";
import { deleteDraft, draftsPage } from "./pages/compose/drafts.ts";
import { fromPage, saveFrom } from "./pages/compose/from.ts";
import { previewFrame } from "./pages/compose/preview.ts";
import { saveWhat, whatPage } from "./pages/compose/what.ts";
import { saveWhen, whenPage } from "./pages/compose/when.ts";
import { composeWithTemplate, createDraft, newCampaignPage, saveWhom, whomPage } from "./pages/compose/whom.ts";
import {
  domainPage,
  domainsPage,
  giveDkimKey,
  makeDkimKey,
  setTrackingDomain,
  stopSigning,
} from "./pages/deliverability.ts";
import { designPage } from "./pages/design.ts";
import { addSample, chooseCompany, companyHome, nameCompany, removeSample } from "./pages/home.ts";
import { copyImage, imageLibrary, originalImage } from "./pages/image-library.ts";
import {
  discardImport,
  importPage,
  importStatePage,
  refusedRows,
  startImport,
  tryImport,
  undoImport,
  uploadImport,
} from "./pages/import.ts";
import { acceptInvitation, invitationPage, signInAndAccept } from "./pages/invitation.ts";
import { deleteKey, keysPage, makeKey } from "./pages/keys.ts";
import { addToList, changeList, deleteList, listFormPage, listPage, listSettingsPage } from "./pages/list.ts";
import { listsPage, makeList } from "./pages/lists.ts";
import {
  forgotten,
  forgottenPage,
  reset,
  resetPage,
  signInByLink,
  signInLinkPage,
  verify,
  verifyPage,
} from "./pages/mailed-links.ts";
import { mediaPage, uploadFile, uploadImage } from "./pages/media.ts";
import { changeFile, deleteFile, deleteFilePage, filePage } from "./pages/media-file.ts";
import { changeRole, inviteMember, membersPage, removeMember } from "./pages/members.ts";
import {
  changePerson,
  deletePerson,
  erasePerson,
  personData,
  personPage,
  putOnList,
  suppressPerson,
  takeOffList,
} from "./pages/person.ts";
import { planPage } from "./pages/plan.ts";
import { saveBlock } from "./pages/saved-blocks.ts";
import { searchPage } from "./pages/search.ts";
import {
  buildNewSegment,
  buildSegment,
  confirmDelete,
  countPage,
  deleteSegment,
  newSegment,
  segmentPage,
  segmentsPage,
} from "./pages/segments.ts";
import {
  changeServer,
  deleteServer,
  deleteServerPage,
  editServerPage,
  makeServer,
  newServerPage,
} from "./pages/server-forms.ts";
import { checkServer, makeDefault, sendTestMail, serverPage, serversPage } from "./pages/servers.ts";
import { signIn, signInPage, signOut } from "./pages/sign-in.ts";
import { addCompany, newCompanyPage, signUp, signUpPage } from "./pages/sign-up.ts";
import { starterFrame, startersPage } from "./pages/starters.ts";
import { addSubscriber, bulkAction, exportSubscribers, subscribersPage } from "./pages/subscribers.ts";
import {
  exportSuppressions,
  importSuppressions,
  liftSuppression,
  suppress,
  suppressionsPage,
} from "./pages/suppressions.ts";
import { makeTemplate, newTemplatePage, saveTemplate, templatePage } from "./pages/template-editor.ts";
import { emptyFrame, showFindings, showPreview, templateFrame } from "./pages/template-preview.ts";
import { restoreVersion, versionPage, versionsPage } from "./pages/template-versions.ts";
import { deleteTemplate, deleteTemplatePage, duplicateTemplate, templatesPage } from "./pages/templates.ts";
import { beginTwoFactor, confirmTwoFactor, endTwoFactor, twoFactorPage } from "./pages/two-factor.ts";
import { checkVisual, testVisual } from "./pages/visual-checks.ts";
import { makeVisual, newVisualPage, previewVisual, saveVisual, visualPage } from "./pages/visual-editor.ts";
import {
  changeWebhook,
  deleteWebhook,
  deliveryPage,
  enableWebhook,
  makeWebhook,
  newWebhookPage,
  pauseWebhook,
  redeliver,
  rotateWebhookSecret,
  testWebhook,
  webhookPage,
  webhooksPage,
} from "./pages/webhooks.ts";
import type { Answer, CompanyVisit, Outcome, PersonVisit, Visit } from "./request.ts";

type Page<V> = (visit: V) => Promise<Outcome | Answer> | Outcome | Answer;

interface Entry<V> {
  page?: Page<V>;
  form?: Page<V>;
  /** True for a form that viewers may send; the action refuses changes to others. */
  forViewers?: true;
}

export type Table<V> = Record<string, Entry<V>>;

export const openPages: Table<Visit> = {
  design: { page: designPage },
  login: { page: signInPage, form: signIn },
  "login/invitation": { form: signInAndAccept },
  logout: { form: signOut },
  "sign-up": { page: signUpPage, form: signUp },
  forgotten: { page: forgottenPage, form: forgotten },
  verify: { page: verifyPage, form: verify },
  reset: { page: resetPage, form: reset },
  "sign-in-link": { page: signInLinkPage, form: signInByLink },
  invitation: { page: invitationPage, form: acceptInvitation },
};

export const personPages: Table<PersonVisit> = {
  "": { page: chooseCompany },
  "companies/new": { page: newCompanyPage, form: addCompany },
  account: { page: accountPage },
  "account/verify": { form: mailVerification },
  "account/password": { page: passwordPage, form: changePassword },
  "account/two-factor": { page: twoFactorPage, form: beginTwoFactor },
  "account/two-factor/confirm": { form: confirmTwoFactor },
  "account/two-factor/off": { form: endTwoFactor },
  "account/sessions": { page: sessionsPage },
  "account/sessions/:id/end": { form: endSessionForm },
};

export const companyPages: Table<CompanyVisit> = {
  "": { page: (visit) => companyHome(visit) },
  "setup/name": { form: nameCompany },
  "setup/sample-data": { form: addSample },
  "setup/sample-data/remove": { form: removeSample },
  search: { page: searchPage },
  campaigns: { page: campaignsPage },
  "campaigns/sending-now": { page: sendingNowPage },
  "campaigns/new": { page: newCampaignPage, form: createDraft },
  "campaigns/drafts": { page: draftsPage },
  "campaigns/drafts/:id": { page: checkPage },
  "campaigns/drafts/:id/whom": { page: whomPage, form: saveWhom },
  "campaigns/drafts/:id/what": { page: whatPage, form: saveWhat },
  "campaigns/drafts/:id/starters": { page: draftStarters },
  "campaigns/drafts/:id/visual": { page: draftVisualPage, form: saveDraftVisual },
  "campaigns/drafts/:id/versions/:version/starters": { page: draftStarters },
  "campaigns/drafts/:id/versions/:version/visual": { page: draftVisualPage, form: saveDraftVisual },
  "campaigns/drafts/:id/from": { page: fromPage, form: saveFrom },
  "campaigns/drafts/:id/when": { page: whenPage, form: saveWhen },
  "campaigns/drafts/:id/preview": { page: previewFrame },
  "campaigns/drafts/:id/checks": { page: checksPage },
  "campaigns/drafts/:id/test": { form: testDraft },
  "campaigns/drafts/:id/send": { form: sendDraft },
  "campaigns/drafts/:id/delete": { form: deleteDraft },
  "campaigns/:id": { page: campaignPage },
  "campaigns/:id/recipients": { page: recipientsPage },
  "campaigns/:id/recipient": { page: recipientPage },
  "campaigns/:id/mail": { page: mailPage },
  "campaigns/:id/mail/frame": { page: mailFramePage },
  "campaigns/:id/failures": { page: failuresPage },
  "campaigns/:id/domains": { page: campaignDomainsPage },
  "campaigns/:id/export": { page: exportCampaign },
  "campaigns/:id/edit": { page: editPage, form: editCampaign },
  "campaigns/:id/stop": { form: stopCampaign },
  "campaigns/:id/resume": { form: resumeCampaign },
  "campaigns/:id/cancel": { form: cancelCampaign },
  "campaigns/:id/duplicate": { form: duplicateCampaign },
  "campaigns/:id/resend": { form: resendCampaign },
  "campaigns/:id/delete": { form: deleteCampaign },
  templates: { page: templatesPage },
  "templates/new/visual": { page: newVisualPage, form: makeVisual },
  "templates/visual-preview": { form: previewVisual },
  "templates/visual-check": { form: checkVisual },
  "templates/visual-test": { form: testVisual },
  "templates/saved-blocks": { form: saveBlock },
  "templates/starters": { page: startersPage },
  "templates/starters/:id": { page: starterFrame },
  "templates/new": { page: newTemplatePage, form: makeTemplate },
  "templates/preview": { form: showPreview },
  "templates/findings": { form: showFindings },
  "templates/frame": { page: emptyFrame },
  "templates/media": { form: uploadImage },
  "templates/:id": { page: templatePage, form: saveTemplate },
  "templates/:id/campaign": { form: composeWithTemplate },
  "templates/:id/visual": { page: visualPage, form: saveVisual },
  "templates/:id/frame": { page: templateFrame },
  "templates/:id/duplicate": { form: duplicateTemplate },
  "templates/:id/delete": { page: deleteTemplatePage, form: deleteTemplate },
  "templates/:id/versions": { page: versionsPage },
  "templates/:id/versions/:version": { page: versionPage },
  "templates/:id/versions/:version/restore": { form: restoreVersion },
  media: { page: mediaPage, form: uploadFile },
  "media/library": { page: imageLibrary },
  "media/:id": { page: filePage, form: changeFile },
  "media/:id/original": { page: originalImage },
  "media/:id/copy": { form: copyImage },
  "media/:id/delete": { page: deleteFilePage, form: deleteFile },
  subscribers: { page: subscribersPage, form: addSubscriber },
  "subscribers/export": { page: exportSubscribers },
  "subscribers/bulk": { form: bulkAction },
  "subscribers/:id": { page: personPage, form: changePerson },
  "subscribers/:id/on-list": { form: putOnList },
  "subscribers/:id/off-list": { form: takeOffList },
  "subscribers/:id/data": { page: personData },
  "subscribers/:id/suppress": { form: suppressPerson },
  "subscribers/:id/delete": { form: deletePerson },
  "subscribers/:id/erase": { form: erasePerson },
  lists: { page: listsPage, form: makeList },
  "lists/:id": { page: listPage },
  "lists/:id/settings": { page: listSettingsPage, form: changeList },
  "lists/:id/form": { page: listFormPage },
  "lists/:id/add": { form: addToList },
  "lists/:id/delete": { form: deleteList },
  segments: { page: segmentsPage },
  "segments/new": { page: newSegment, form: buildNewSegment },
  "segments/:id": { page: segmentPage, form: buildSegment },
  "segments/:id/count": { page: countPage },
  "segments/:id/delete": { page: confirmDelete, form: deleteSegment },
  import: { page: importPage, form: uploadImport },
  "import/:id": { page: importStatePage, form: tryImport },
  "import/:id/start": { form: startImport },
  "import/:id/undo": { form: undoImport },
  "import/:id/discard": { form: discardImport },
  "import/:id/refused": { page: refusedRows },
  suppressions: { page: suppressionsPage, form: suppress },
  "suppressions/import": { form: importSuppressions },
  "suppressions/export": { page: exportSuppressions },
  "suppressions/:id/lift": { form: liftSuppression },
  "settings/company": { page: companyPage, form: saveCompany },
  "settings/branding": { page: brandingPage, form: saveBranding },
  "settings/branding/preview": { page: brandingPreview },
  "settings/branding/designs": { form: updateDesigns },
  "settings/audit-log": { page: auditLogPage },
  "settings/company/delete": { page: deleteCompanyPage, form: deleteCompany },
  servers: { page: serversPage },
  "servers/new": { page: newServerPage, form: makeServer },
  "servers/:id": { page: serverPage },
  "servers/:id/edit": { page: editServerPage, form: changeServer },
  "servers/:id/check": { form: checkServer },
  "servers/:id/test": { form: sendTestMail },
  "servers/:id/default": { form: makeDefault },
  "servers/:id/delete": { page: deleteServerPage, form: deleteServer },
  domains: { page: domainsPage },
  "domains/tracking": { form: setTrackingDomain },
  "domains/:id": { page: domainPage },
  "domains/:id/dkim": { form: makeDkimKey },
  "domains/:id/own-key": { form: giveDkimKey },
  "domains/:id/stop-signing": { form: stopSigning },
  bounces: { page: bouncesPage },
  "bounces/settings": { page: bouncesSettingsPage },
  "bounces/settings/guard": { form: setGuard },
  "bounces/settings/sources": { form: makeSource },
  "bounces/settings/sources/:id/remove": { form: removeSource },
  "recipient-domains": { page: recipientDomainsPage },
  "bounces/:id/raw": { page: rawMessage },
  webhooks: { page: webhooksPage },
  "webhooks/new": { page: newWebhookPage, form: makeWebhook },
  "webhooks/:id": { page: webhookPage, form: changeWebhook },
  "webhooks/:id/pause": { form: pauseWebhook },
  "webhooks/:id/enable": { form: enableWebhook },
  "webhooks/:id/test": { form: testWebhook },
  "webhooks/:id/rotate": { form: rotateWebhookSecret },
  "webhooks/:id/delete": { form: deleteWebhook },
  "webhooks/:id/deliveries/:delivery": { page: deliveryPage },
  "webhooks/:id/deliveries/:delivery/redeliver": { form: redeliver },
  "settings/keys": { page: keysPage, form: makeKey },
  "settings/keys/:id/delete": { form: deleteKey },
  "settings/members": { page: membersPage, form: inviteMember },
  "settings/members/:id/role": { form: changeRole },
  "settings/members/:id/remove": { form: removeMember, forViewers: true },
  "settings/plan": { page: planPage },
};

interface MatchedPage<V> {
  show: Page<V>;
  params: Record<string, string>;
  forViewers: boolean;
}

function matched(pattern: string, parts: string[]): Record<string, string> | undefined {
  const segments = pattern.split("/");
  if (segments.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [n, name] of segments.entries()) {
    if (name.startsWith(":")) params[name.slice(1)] = parts[n]!;
    else if (name !== parts[n]) return undefined;
  }
  return params;
}

/**
 * Returns the page or form of the first matching pattern that has one; `:name` stands for one part of a path. A path
 * that is in the table itself matches only its own entry: `subscribers/bulk` is no subscriber.
 */
export function findPage<V>(table: Table<V>, path: string, method: "page" | "form"): MatchedPage<V> | undefined {
  const parts = path.split("/");
  const own = Object.hasOwn(table, path) ? table[path] : undefined;
  for (const [pattern, entry] of own ? [[path, own] as const] : Object.entries(table)) {
    const params = matched(pattern, parts);
    const show = entry[method];
    if (params && show) return { show, params, forViewers: entry.forViewers === true };
  }
  return undefined;
}
