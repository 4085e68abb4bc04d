/** Names operations for generated clients: a verb and its object, in the API's terms. */

/** Resource names per service, singular and plural. */
const RESOURCES: Record<string, [one: string, many: string]> = {
  campaigns: ["Campaign", "Campaigns"],
  subscribers: ["Subscriber", "Subscribers"],
  renderer: ["Template", "Templates"],
  "smtp-sender": ["SmtpConfig", "SmtpConfigs"],
  webhooks: ["WebhookEndpoint", "WebhookEndpoints"],
};

/** Names for actions whose own name is unclear outside of their service. */
const NAMES: Record<string, string> = {
  "subscribers.import": "importSubscribers",
  "subscribers.importErrors": "downloadImportErrors",
  "subscribers.bulkDelete": "deleteSubscribers",
  "subscribers.bulkSuppress": "suppressSubscribers",
  "subscribers.bulkUpdateLists": "updateListsOfSubscribers",
  "subscribers.export": "exportSubscribers",
  "subscribers.erase": "erasePerson",
  "subscribers.exportPerson": "getPersonData",
  "subscribers.listsOf": "listListsOfSubscriber",
  "subscribers.listMembers": "listSubscribersOfList",
  "subscribers.listSegmentSubscribers": "listSubscribersOfSegment",
  "subscribers.subscribe": "subscribePublicly",
  "renderer.preview": "previewTemplate",
  "renderer.previewContent": "previewTemplateContent",
  "renderer.updateDesigns": "updateDesigns",
  "renderer.listSavedBlocks": "listSavedBlocks",
  "renderer.createSavedBlock": "createSavedBlock",
  "renderer.getSavedBlock": "getSavedBlock",
  "renderer.updateSavedBlock": "updateSavedBlock",
  "renderer.removeSavedBlock": "removeSavedBlock",
  "renderer.listVersions": "listTemplateVersions",
  "renderer.getVersion": "getTemplateVersion",
  "renderer.restoreVersion": "restoreTemplateVersion",
  "smtp-sender.deliverability": "getDeliverability",
  "smtp-sender.validateConfig": "validateSmtpConfig",
  "smtp-sender.listSlowDomains": "listSlowDomains",
  "smtp-sender.validate": "validateSmtp",
  "renderer.campaignContent": "getCampaignContent",
  "campaigns.audience": "countAudience",
  "campaigns.failures": "listCampaignFailures",
  "campaigns.progress": "watchCampaign",
  "campaigns.mediaUsage": "getMediaUsage",
  "campaigns.createMedia": "uploadMedia",
  "webhooks.rotateSecret": "rotateWebhookSecret",
  "webhooks.listDeliveries": "listWebhookDeliveries",
  "webhooks.getDelivery": "getWebhookDelivery",
  "webhooks.redeliver": "redeliverWebhook",
  "tracking.analytics": "getCampaignAnalytics",
  "tracking.domainStats": "getDomainStats",
  "tracking.companyStats": "getStats",
  "tracking.archivePage": "showArchive",
  "tracking.archiveFeed": "getArchiveFeed",
  "tracking.archivedIssue": "showArchivedCampaign",
  "tracking.changeAddressPage": "showAddressChangePage",
  "tracking.changeAddress": "confirmAddressChange",
  "tracking.confirmPage": "showConfirmationPage",
  "tracking.confirm": "confirmSubscription",
  "tracking.unsubscribePage": "showUnsubscribePage",
  "tracking.unsubscribe": "unsubscribeRecipient",
  "tracking.view": "viewEmail",
  "tracking.preferencesPage": "getPreferences",
  "tracking.open": "trackOpen",
  "tracking.click": "trackClick",
  "bounces.report": "reportBounce",
  "bounces.listInbound": "listInboundMessages",
  "bounces.inboundRaw": "downloadInboundMessage",
  "bounces.listSources": "listInboundSources",
  "bounces.createSource": "createInboundSource",
  "bounces.removeSource": "deleteInboundSource",
  "bounces.receiveReport": "receiveProviderReport",
  "accounts.register": "registerCompany",
  "accounts.login": "logIn",
  "accounts.refresh": "refreshTokens",
  "accounts.logout": "logOut",
  "accounts.mailVerificationAgain": "resendVerification",
  "accounts.askForReset": "requestPasswordReset",
  "accounts.confirmReset": "resetPassword",
  "accounts.me": "getMe",
  "accounts.addCompany": "createCompany",
  "accounts.removeTotp": "disableTotp",
  "accounts.listKeys": "listApiKeys",
  "accounts.createKey": "createApiKey",
  "accounts.removeKey": "deleteApiKey",
  "accounts.addMember": "inviteMember",
  "accounts.removeMember": "removeMember",
};

/** `subscribers.remove` becomes deleteSubscriber, `smtp-sender.listConfigs` becomes listSmtpConfigs. */
export function operationIdOf(action: string): string {
  const given = NAMES[action];
  if (given) return given;
  const [service, name] = action.split(".") as [string, string];
  const verb = name.replace(/^remove/, "delete").replace(/(Configs?)$/, "Smtp$1");
  if (/[A-Z]/.test(verb)) return verb;
  const [one, many] = RESOURCES[service] ?? ["", ""];
  return verb + (verb === "list" ? many : one);
}
