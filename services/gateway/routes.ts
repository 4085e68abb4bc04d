/** All routes of the HTTP API. */
import type { ActionOf } from "../contracts.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Credentials of a request: "company" and "user" act within a company, by API key or bearer token ("company") or by
 * bearer token alone ("user"); "person" is a bearer token for the person's own account; "anyone" accepts but does not
 * need a bearer token; "public" ignores credentials.
 */
export type Access = "company" | "user" | "person" | "anyone" | "public";

/**
 * The kind of response body: JSON, a page of a list, CSV download, server-sent events, HTML page, RSS feed, bytes,
 * redirect, nothing.
 */
export type Answer = "json" | "list" | "csv" | "events" | "html" | "feed" | "bytes" | "redirect" | "none";

export interface Route {
  method: Method;
  path: string;
  action: ActionOf;
  access: Access;
  answer: Answer;
  status: number;
  /** Form-data with one file in the field `file`, streamed to the action. The kind decides the maximum size. */
  upload?: "import" | "media";
  /** Uploads only: the body may also be JSON, without a file. */
  orJson?: boolean;
  /** The status to answer if this field of the request is true. */
  statusBy?: Partial<Record<"dry_run" | "background", number>>;
  /** Accepts any body or none: clients of one-click unsubscribe (RFC 8058) differ, and none may fail. */
  anyBody?: boolean;
  /** Cost limit of a body (http/body-cost.ts) if it differs from the default for its access. */
  body?: "large" | "report";
  /** Passes the unparsed body (`raw`) and these headers (`headers`) to the action, for signature checks. */
  rawWith?: readonly string[];
  /** Action called with the path's values before a stranger's large body is read. Throws if the path names nothing. */
  first?: ActionOf;
  /** Rate limit (access/throttle.ts) that replaces the plan's daily API calls. */
  throttle?: "auth" | "link" | "subscribe" | "tracking";
  /** Success can also be a 303 redirect to an address given by the client. */
  mayRedirect?: boolean;
  /** Action that shows a person's form again, with its errors. */
  formAgain?: ActionOf;
  /** Reads a body although the method is DELETE. */
  deleteBody?: boolean;
  /** Responses have an ETag; a client with the current version gets a 304. */
  conditional?: boolean;
  /** Sends the result's `device` as the cookie that marks a browser (http/device-cookie.ts). */
  deviceCookie?: boolean;
}

type Options = Partial<Omit<Route, "method" | "path" | "action">>;

function route(method: Method, path: string, action: ActionOf, options: Options = {}): Route {
  const status = options.status ?? (method === "DELETE" ? 204 : 200);
  return { method, path, action, access: "company", answer: status === 204 ? "none" : "json", ...options, status };
}

const list = { answer: "list" } as const;
const csv = { answer: "csv" } as const;
const created = { status: 201 } as const;
const send = { status: 201, body: "large" } as const;
const user = { access: "user" } as const;
const anyone = { access: "public" } as const;
const page = { access: "public", answer: "html" } as const;
const feed = { access: "public", answer: "feed" } as const;
const auth = { access: "public", throttle: "auth" } as const;
const person = { access: "person" } as const;
/** Mailed links need no credentials; guesses are rate limited. */
const link = { access: "public", throttle: "link" } as const;

/** Headers in which providers send signatures or secrets. */
const SIGNATURE_HEADERS = [
  "authorization",
  "x-twilio-email-event-webhook-signature",
  "x-twilio-email-event-webhook-timestamp",
  "x-messagesystems-webhook-token",
] as const;

const E = "/api/emails";

export const routes: readonly Route[] = [
  // Sending
  route("POST", `${E}/send/to-list/`, "campaigns.sendToList", send),
  route("POST", `${E}/send/to-receivers/`, "campaigns.sendToReceivers", send),
  route("POST", `${E}/send/custom/`, "campaigns.sendCustom", send),
  route("POST", `${E}/send/test/`, "campaigns.sendTest", { body: "large" }),
  route("GET", `${E}/send/audience/`, "campaigns.audience"),

  // Drafts
  route("GET", `${E}/drafts/`, "campaigns.listDrafts", list),
  route("POST", `${E}/drafts/`, "campaigns.createDraft", send),
  route("GET", `${E}/drafts/:id/`, "campaigns.getDraft"),
  route("PATCH", `${E}/drafts/:id/`, "campaigns.updateDraft", { body: "large" }),
  route("DELETE", `${E}/drafts/:id/`, "campaigns.removeDraft"),
  route("GET", `${E}/drafts/:id/check/`, "campaigns.checkDraft"),
  route("POST", `${E}/drafts/:id/preview/`, "campaigns.previewDraft"),
  route("POST", `${E}/drafts/:id/send/`, "campaigns.sendDraft", created),

  // Subscribers
  route("GET", `${E}/subscribers/`, "subscribers.list", list),
  route("POST", `${E}/subscribers/`, "subscribers.create", created),
  route("POST", `${E}/subscribers/bulk/`, "subscribers.import", {
    ...created,
    upload: "import",
    statusBy: { dry_run: 200, background: 202 },
  }),
  route("GET", `${E}/imports/`, "subscribers.listImports", list),
  route("POST", `${E}/imports/`, "subscribers.uploadImport", { ...created, upload: "import" }),
  route("GET", `${E}/imports/:id/`, "subscribers.getImport"),
  route("DELETE", `${E}/imports/:id/`, "subscribers.removeImport"),
  route("POST", `${E}/imports/:id/undo/`, "subscribers.undoImport"),
  route("GET", `${E}/imports/:id/columns/`, "subscribers.importColumns"),
  route("POST", `${E}/imports/:id/start/`, "subscribers.startImport", { status: 202 }),
  route("GET", `${E}/imports/:id/errors/`, "subscribers.importErrors", csv),
  route("POST", `${E}/subscribers/bulk-delete/`, "subscribers.bulkDelete"),
  route("POST", `${E}/subscribers/bulk-suppress/`, "subscribers.bulkSuppress"),
  route("POST", `${E}/subscribers/bulk-update-lists/`, "subscribers.bulkUpdateLists"),
  route("GET", `${E}/subscribers/export/`, "subscribers.export", csv),
  route("GET", `${E}/subscribers/attributes/`, "subscribers.listAttributes"),
  route("POST", `${E}/subscribers/erase/`, "subscribers.erase"),
  route("GET", `${E}/subscribers/:id/data/`, "subscribers.exportPerson"),
  route("GET", `${E}/subscribers/:id/lists/`, "subscribers.listsOf"),
  route("GET", `${E}/subscribers/:id/`, "subscribers.get"),
  route("PATCH", `${E}/subscribers/:id/`, "subscribers.update"),
  route("DELETE", `${E}/subscribers/:id/`, "subscribers.remove"),

  // Subscriber lists
  route("GET", `${E}/lists/`, "subscribers.listLists", list),
  route("POST", `${E}/lists/`, "subscribers.createList", created),
  route("GET", `${E}/lists/:id/`, "subscribers.getList"),
  route("PATCH", `${E}/lists/:id/`, "subscribers.updateList"),
  route("DELETE", `${E}/lists/:id/`, "subscribers.removeList"),
  route("GET", `${E}/lists/:id/subscribers/`, "subscribers.listMembers", list),

  // Templates
  route("GET", `${E}/templates/`, "renderer.listTemplates", list),
  route("POST", `${E}/templates/`, "renderer.createTemplate", created),
  route("POST", `${E}/templates/preview/`, "renderer.previewContent"),
  route("POST", `${E}/templates/check/`, "renderer.checkTemplate"),
  route("POST", `${E}/templates/update-designs/`, "renderer.updateDesigns"),
  route("GET", `${E}/templates/:id/`, "renderer.getTemplate"),
  route("PATCH", `${E}/templates/:id/`, "renderer.updateTemplate"),
  route("DELETE", `${E}/templates/:id/`, "renderer.removeTemplate"),
  route("POST", `${E}/templates/:id/preview/`, "renderer.preview"),
  route("GET", `${E}/templates/:id/versions/`, "renderer.listVersions"),
  route("GET", `${E}/templates/:id/versions/:version/`, "renderer.getVersion"),
  route("POST", `${E}/templates/:id/versions/:version/restore/`, "renderer.restoreVersion"),
  route("GET", `${E}/saved-blocks/`, "renderer.listSavedBlocks", list),
  route("POST", `${E}/saved-blocks/`, "renderer.createSavedBlock", created),
  route("GET", `${E}/saved-blocks/:id/`, "renderer.getSavedBlock"),
  route("PATCH", `${E}/saved-blocks/:id/`, "renderer.updateSavedBlock"),
  route("DELETE", `${E}/saved-blocks/:id/`, "renderer.removeSavedBlock"),

  // SMTP configurations
  route("GET", `${E}/smtp-configs/`, "smtp-sender.listConfigs", list),
  route("POST", `${E}/smtp-configs/`, "smtp-sender.createConfig", created),
  route("GET", `${E}/smtp-configs/:id/`, "smtp-sender.getConfig"),
  route("PATCH", `${E}/smtp-configs/:id/`, "smtp-sender.updateConfig"),
  route("DELETE", `${E}/smtp-configs/:id/`, "smtp-sender.removeConfig"),
  route("POST", `${E}/smtp-configs/:id/validate/`, "smtp-sender.validateConfig"),
  route("POST", `${E}/smtp-configs/:id/dkim/`, "smtp-sender.createDkimKey", created),
  route("GET", `${E}/smtp-configs/:id/deliverability/`, "smtp-sender.deliverability"),
  route("POST", `${E}/smtp/validate/`, "smtp-sender.validate"),

  // Campaigns
  route("GET", `${E}/campaigns/`, "campaigns.list", list),
  route("GET", `${E}/campaigns/:id/`, "campaigns.get"),
  route("GET", `${E}/campaigns/:id/stream/`, "campaigns.progress", { answer: "events" }),
  route("PATCH", `${E}/campaigns/:id/`, "campaigns.update"),
  route("DELETE", `${E}/campaigns/:id/`, "campaigns.remove"),
  route("POST", `${E}/campaigns/:id/resume/`, "campaigns.resume"),
  route("POST", `${E}/campaigns/:id/cancel/`, "campaigns.cancel"),
  route("POST", `${E}/campaigns/:id/stop/`, "campaigns.stop"),
  route("POST", `${E}/campaigns/:id/resend/`, "campaigns.resend", created),
  route("POST", `${E}/campaigns/:id/duplicate/`, "campaigns.duplicate", created),
  route("GET", `${E}/campaigns/:id/analytics/`, "tracking.analytics"),
  route("GET", `${E}/campaigns/:id/content/`, "renderer.campaignContent"),
  route("GET", `${E}/campaigns/:id/failures/`, "campaigns.failures"),
  route("GET", `${E}/campaigns/:id/export/`, "campaigns.export", csv),

  // Webhook endpoints
  route("GET", `${E}/webhook-endpoints/`, "webhooks.list", list),
  route("POST", `${E}/webhook-endpoints/`, "webhooks.create", created),
  route("GET", `${E}/webhook-endpoints/:id/`, "webhooks.get"),
  route("PUT", `${E}/webhook-endpoints/:id/`, "webhooks.update"),
  route("DELETE", `${E}/webhook-endpoints/:id/`, "webhooks.remove"),
  route("POST", `${E}/webhook-endpoints/:id/rotate-secret/`, "webhooks.rotateSecret"),
  route("POST", `${E}/webhook-endpoints/:id/test/`, "webhooks.test"),
  route("GET", `${E}/webhook-endpoints/:id/deliveries/`, "webhooks.listDeliveries", list),
  route("GET", `${E}/webhook-endpoints/:id/deliveries/:delivery_id/`, "webhooks.getDelivery"),
  route("POST", `${E}/webhook-endpoints/:id/deliveries/:delivery_id/redeliver/`, "webhooks.redeliver"),

  // Suppressions
  route("GET", `${E}/suppressions/`, "subscribers.listSuppressions", list),
  route("POST", `${E}/suppressions/`, "subscribers.createSuppression", created),
  route("POST", `${E}/suppressions/bulk/`, "subscribers.importSuppressions", {
    ...created,
    upload: "import",
    orJson: true,
    body: "large",
  }),
  route("GET", `${E}/suppressions/export/`, "subscribers.exportSuppressions", csv),
  route("GET", `${E}/suppressions/:id/`, "subscribers.getSuppression"),
  route("DELETE", `${E}/suppressions/:id/`, "subscribers.removeSuppression"),

  // Segments
  route("GET", `${E}/segments/`, "subscribers.listSegments", list),
  route("POST", `${E}/segments/`, "subscribers.createSegment", created),
  route("POST", `${E}/segments/preview/`, "subscribers.previewSegment"),
  route("GET", `${E}/segments/:id/`, "subscribers.getSegment"),
  route("PATCH", `${E}/segments/:id/`, "subscribers.updateSegment"),
  route("DELETE", `${E}/segments/:id/`, "subscribers.removeSegment"),
  route("GET", `${E}/segments/:id/subscribers/`, "subscribers.listSegmentSubscribers", list),

  // Media files
  route("GET", `${E}/media/`, "campaigns.listMedia", list),
  route("POST", `${E}/media/`, "campaigns.createMedia", { ...created, upload: "media" }),
  route("GET", `${E}/media/folders/`, "campaigns.listMediaFolders"),
  route("GET", `${E}/media/:id/`, "campaigns.getMedia"),
  route("PATCH", `${E}/media/:id/`, "campaigns.updateMedia"),
  route("POST", `${E}/media/:id/copies/`, "campaigns.copyMedia", created),
  route("GET", `${E}/media/:id/usage/`, "campaigns.mediaUsage"),
  route("DELETE", `${E}/media/:id/`, "campaigns.removeMedia"),

  // Tracking
  route("GET", `${E}/sent-emails/`, "tracking.listSentEmails", list),
  route("GET", `${E}/events/`, "tracking.listEvents", list),
  route("GET", `${E}/stats/`, "tracking.companyStats"),
  route("GET", `${E}/stats/domains/`, "tracking.domainStats"),
  route("GET", `${E}/stats/slow-domains/`, "smtp-sender.listSlowDomains"),

  // Bounces and replies
  route("POST", `${E}/bounces/`, "bounces.report", { status: 202 }),
  route("GET", `${E}/inbound/`, "bounces.listInbound", list),
  route("GET", `${E}/inbound/:id/raw/`, "bounces.inboundRaw", { answer: "bytes" }),

  // Providers' reports
  route("GET", `${E}/inbound-sources/`, "bounces.listSources", list),
  route("POST", `${E}/inbound-sources/`, "bounces.createSource", created),
  route("DELETE", `${E}/inbound-sources/:id/`, "bounces.removeSource"),
  route("POST", `${E}/inbound/:provider/:token/`, "bounces.receiveReport", {
    ...anyone,
    body: "report",
    rawWith: SIGNATURE_HEADERS,
    first: "bounces.findSource",
  }),

  // Public endpoints and links in mails
  route("GET", `${E}/public/subscribe/:company_id/`, "tracking.subscribePage", page),
  route("POST", `${E}/public/subscribe/:company_id/`, "subscribers.subscribe", {
    ...page,
    ...created,
    throttle: "subscribe",
    mayRedirect: true,
    formAgain: "tracking.subscribeAgain",
  }),
  route("GET", `${E}/public/confirm/:token/`, "tracking.confirmPage", page),
  route("POST", `${E}/public/confirm/:token/`, "tracking.confirm", page),
  route("GET", `${E}/public/unsubscribe/:sent_email_id/`, "tracking.unsubscribePage", page),
  route("POST", `${E}/public/unsubscribe/:sent_email_id/`, "tracking.unsubscribe", { ...page, anyBody: true }),
  route("GET", `${E}/public/view/:sent_email_id/`, "tracking.view", page),
  route("GET", `${E}/public/archive/:list_id/`, "tracking.archivePage", { ...page, conditional: true }),
  route("GET", `${E}/public/archive/:list_id/feed.xml`, "tracking.archiveFeed", { ...feed, conditional: true }),
  route("GET", `${E}/public/archive/:list_id/:campaign_id/`, "tracking.archivedIssue", { ...page, conditional: true }),
  route("GET", `${E}/public/address/:token/`, "tracking.changeAddressPage", page),
  route("POST", `${E}/public/address/:token/`, "tracking.changeAddress", page),
  route("GET", `${E}/public/preferences/:token/`, "tracking.preferencesPage", page),
  route("PUT", `${E}/public/preferences/:token/`, "tracking.updatePreferences", page),
  route("POST", `${E}/public/preferences/:token/`, "tracking.updatePreferences", page),
  route("GET", `${E}/public/open/:token.gif`, "tracking.open", { ...anyone, answer: "bytes", throttle: "tracking" }),
  route("GET", `${E}/public/click/:token/`, "tracking.click", {
    ...anyone,
    status: 302,
    answer: "redirect",
    throttle: "tracking",
  }),
  route("GET", `${E}/public/media/:id/:filename`, "campaigns.downloadMedia", { ...anyone, answer: "bytes" }),

  // Accounts
  route("POST", "/api/auth/register/", "accounts.register", { ...auth, ...created }),
  route("POST", "/api/auth/login/", "accounts.login", { ...auth, deviceCookie: true }),
  route("POST", "/api/auth/token/refresh/", "accounts.refresh", auth),
  route("POST", "/api/auth/logout/", "accounts.logout", { ...link, status: 204 }),
  route("POST", "/api/auth/verify/", "accounts.verifyEmail", link),
  route("POST", "/api/auth/verify/resend/", "accounts.mailVerificationAgain", person),
  route("POST", "/api/auth/password/reset/", "accounts.askForReset", link),
  route("POST", "/api/auth/password/reset/confirm/", "accounts.confirmReset", link),
  route("POST", "/api/auth/invitations/:token/", "accounts.acceptInvitation", { ...link, access: "anyone" }),
  route("GET", "/api/auth/me/", "accounts.me", person),
  route("GET", "/api/auth/sessions/", "accounts.listSessions", person),
  route("DELETE", "/api/auth/sessions/:id/", "accounts.endSession", person),
  route("POST", "/api/auth/password/change/", "accounts.changePassword", person),
  route("POST", "/api/auth/totp/", "accounts.beginTotp", { ...person, ...created }),
  route("POST", "/api/auth/totp/confirm/", "accounts.confirmTotp", person),
  route("DELETE", "/api/auth/totp/", "accounts.removeTotp", { ...person, deleteBody: true }),
  route("POST", "/api/companies/", "accounts.addCompany", { ...person, ...created }),
  route("GET", "/api/companies/:id/", "accounts.getCompany"),
  route("PATCH", "/api/companies/:id/", "accounts.updateCompany"),
  route("DELETE", "/api/companies/:id/", "accounts.deleteCompany", { ...user, status: 202, deleteBody: true }),
  route("GET", "/api/companies/:id/plan/", "accounts.getPlan"),
  route("GET", "/api/companies/:id/sample-data/", "accounts.getSampleData"),
  route("POST", "/api/companies/:id/sample-data/", "accounts.addSampleData", created),
  route("DELETE", "/api/companies/:id/sample-data/", "accounts.removeSampleData"),
  route("GET", "/api/companies/:id/api-keys/", "accounts.listKeys", { ...user, ...list }),
  route("POST", "/api/companies/:id/api-keys/", "accounts.createKey", { ...user, ...created }),
  route("DELETE", "/api/companies/:id/api-keys/:key_id/", "accounts.removeKey", user),
  route("GET", "/api/companies/:id/audit-log/", "accounts.listAuditLog", { ...user, ...list }),
  route("GET", "/api/companies/:id/members/", "accounts.listMembers", { ...user, ...list }),
  route("POST", "/api/companies/:id/members/", "accounts.addMember", { ...user, ...created }),
  route("PATCH", "/api/companies/:id/members/:user_id/", "accounts.updateMember", user),
  route("DELETE", "/api/companies/:id/members/:user_id/", "accounts.removeMember", user),
];
