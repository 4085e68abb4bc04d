/**
 * Permissions: role × scope × action, in one table. The gateway enforces them for each request, and the API reference
 * lists them with each operation. Writes of settings, keys and members check them again in their own transaction
 * against the database (models/statements/current-rights.ts), because the gateway's cached rights may be a second old.
 *
 * A viewer reads but cannot export; a member works with subscribers, content and campaigns; an admin also changes
 * settings of the company and of sending; an owner also appoints owners. The refusal of a key without the scope names
 * the scope.
 *
 * | scope of a key | may                                                                                               |
 * |----------------|---------------------------------------------------------------------------------------------------|
 * | full           | everything the other scopes may; nothing that requires a person                                       |
 * | send           | send campaigns, tests and drafts; read their audience, and campaigns created with this key        |
 * | campaigns      | read and write campaigns, drafts, templates and media, report bounces; read mails, events, numbers |
 * | subscribers    | read and write subscribers, lists, segments, suppressions and imports; erase                       |
 * | settings       | read and write SMTP configurations, DKIM keys, webhooks, sources of bounces, the company           |
 * | read           | read all of the above                                                                              |
 * | export         | export subscribers, suppressions, campaigns, and all data of a person                |
 * | (none)         | keys, members, audit log, deleting the company: only people, by role                             |
 */
import type { ActionOf } from "./contracts.ts";
import { type Permission, type Rights, requireRights } from "./lib/rights.ts";

type Scope = Permission["scopes"][number];

const reads = (...scopes: Scope[]): Permission => ({ role: "viewer", scopes: [...scopes, "read"] });
const writes = (...scopes: Scope[]): Permission => ({ role: "member", scopes });
const exports: Permission = { role: "member", scopes: ["export"] };
const settings: Permission = { role: "admin", scopes: ["settings"] };
/** Keys and members: in person, with the second column's role at least. */
const inPerson = (role: Permission["role"]): Permission => ({ role, scopes: [] });

const TABLE = {
  "campaigns.sendToList": writes("send"),
  "campaigns.sendToReceivers": writes("send"),
  "campaigns.sendCustom": writes("send"),
  "campaigns.sendTest": writes("send"),
  "campaigns.sendDraft": writes("send"),
  "campaigns.audience": reads("send"),

  "subscribers.list": reads("subscribers"),
  "subscribers.create": writes("subscribers"),
  "subscribers.import": writes("subscribers"),
  "subscribers.uploadImport": writes("subscribers"),
  "subscribers.listImports": reads("subscribers"),
  "subscribers.getImport": reads("subscribers"),
  "subscribers.importColumns": reads("subscribers"),
  "subscribers.startImport": writes("subscribers"),
  "subscribers.removeImport": writes("subscribers"),
  "subscribers.undoImport": writes("subscribers"),
  "subscribers.importErrors": reads("subscribers"),
  "subscribers.bulkDelete": writes("subscribers"),
  "subscribers.bulkSuppress": writes("subscribers"),
  "subscribers.bulkUpdateLists": writes("subscribers"),
  "subscribers.export": exports,
  "subscribers.erase": writes("subscribers"),
  "subscribers.exportPerson": exports,
  "subscribers.get": reads("subscribers"),
  "subscribers.listsOf": reads("subscribers"),
  "subscribers.update": writes("subscribers"),
  "subscribers.remove": writes("subscribers"),
  "subscribers.listAttributes": reads("subscribers"),
  "subscribers.listLists": reads("subscribers"),
  "subscribers.createList": writes("subscribers"),
  "subscribers.getList": reads("subscribers"),
  "subscribers.updateList": writes("subscribers"),
  "subscribers.removeList": writes("subscribers"),
  "subscribers.listMembers": reads("subscribers"),
  "subscribers.listSuppressions": reads("subscribers"),
  "subscribers.createSuppression": writes("subscribers"),
  "subscribers.importSuppressions": writes("subscribers"),
  "subscribers.exportSuppressions": exports,
  "subscribers.getSuppression": reads("subscribers"),
  "subscribers.removeSuppression": writes("subscribers"),
  "subscribers.listSegments": reads("subscribers"),
  "subscribers.createSegment": writes("subscribers"),
  "subscribers.previewSegment": writes("subscribers"),
  "subscribers.getSegment": reads("subscribers"),
  "subscribers.updateSegment": writes("subscribers"),
  "subscribers.removeSegment": writes("subscribers"),
  "subscribers.listSegmentSubscribers": reads("subscribers"),

  "renderer.listTemplates": reads("campaigns"),
  "renderer.createTemplate": writes("campaigns"),
  "renderer.getTemplate": reads("campaigns"),
  "renderer.updateTemplate": writes("campaigns"),
  "renderer.removeTemplate": writes("campaigns"),
  "renderer.preview": writes("campaigns"),
  "renderer.previewContent": writes("campaigns"),
  "renderer.convertContent": writes("campaigns"),
  "renderer.checkTemplate": writes("campaigns"),
  "renderer.listVersions": reads("campaigns"),
  "renderer.getVersion": reads("campaigns"),
  "renderer.restoreVersion": writes("campaigns"),
  "renderer.updateDesigns": writes("campaigns"),
  "renderer.listSavedBlocks": reads("campaigns"),
  "renderer.createSavedBlock": writes("campaigns"),
  "renderer.getSavedBlock": reads("campaigns"),
  "renderer.updateSavedBlock": writes("campaigns"),
  "renderer.removeSavedBlock": writes("campaigns"),

  "smtp-sender.listConfigs": reads("settings"),
  "smtp-sender.createConfig": settings,
  "smtp-sender.getConfig": reads("settings"),
  "smtp-sender.updateConfig": settings,
  "smtp-sender.removeConfig": settings,
  "smtp-sender.createDkimKey": settings,
  "smtp-sender.deliverability": reads("settings"),
  "smtp-sender.validate": settings,
  "smtp-sender.validateConfig": settings,
  "smtp-sender.listSlowDomains": reads("campaigns"),

  // A key with `send` alone reads the campaigns that it made itself.
  "campaigns.list": reads("campaigns", "send"),
  "campaigns.get": reads("campaigns", "send"),
  "campaigns.progress": reads("campaigns", "send"),
  "campaigns.update": writes("campaigns"),
  "campaigns.remove": writes("campaigns"),
  "campaigns.resume": writes("campaigns"),
  "campaigns.cancel": writes("campaigns"),
  "campaigns.stop": writes("campaigns"),
  "campaigns.resend": writes("campaigns"),
  "campaigns.duplicate": writes("campaigns"),
  "campaigns.listDrafts": reads("campaigns"),
  "campaigns.createDraft": writes("campaigns"),
  "campaigns.getDraft": reads("campaigns"),
  "campaigns.checkDraft": reads("campaigns"),
  "campaigns.previewDraft": writes("campaigns"),
  "campaigns.updateDraft": writes("campaigns"),
  "campaigns.removeDraft": writes("campaigns"),
  "renderer.campaignContent": reads("campaigns"),
  "tracking.analytics": reads("campaigns"),
  "campaigns.failures": reads("campaigns"),
  "campaigns.export": exports,

  "webhooks.list": reads("settings"),
  "webhooks.create": settings,
  "webhooks.get": reads("settings"),
  "webhooks.update": settings,
  "webhooks.remove": settings,
  "webhooks.rotateSecret": settings,
  "webhooks.test": settings,
  "webhooks.listDeliveries": reads("settings"),
  "webhooks.getDelivery": reads("settings"),
  "webhooks.redeliver": settings,

  "campaigns.listMedia": reads("campaigns"),
  "campaigns.createMedia": writes("campaigns"),
  "campaigns.listMediaFolders": reads("campaigns"),
  "campaigns.getMedia": reads("campaigns"),
  "campaigns.updateMedia": writes("campaigns"),
  "campaigns.copyMedia": writes("campaigns"),
  "campaigns.mediaUsage": reads("campaigns"),
  "campaigns.removeMedia": writes("campaigns"),

  "tracking.listSentEmails": reads("campaigns"),
  "tracking.listEvents": reads("campaigns"),
  "tracking.companyStats": reads("campaigns"),
  "tracking.domainStats": reads("campaigns"),

  "bounces.report": writes("campaigns"),
  "bounces.listInbound": reads("campaigns"),
  "bounces.inboundRaw": reads("campaigns"),
  "bounces.listSources": reads("settings"),
  "bounces.createSource": settings,
  "bounces.removeSource": settings,

  "accounts.getCompany": reads("settings"),
  "accounts.updateCompany": settings,
  "accounts.deleteCompany": inPerson("owner"),
  "accounts.getPlan": reads("settings"),
  "accounts.getSampleData": reads("settings"),
  "accounts.addSampleData": writes("settings"),
  "accounts.removeSampleData": writes("settings"),
  "accounts.listKeys": inPerson("viewer"),
  "accounts.createKey": inPerson("admin"),
  "accounts.removeKey": inPerson("admin"),
  "accounts.listAuditLog": inPerson("admin"),
  "accounts.listMembers": inPerson("viewer"),
  "accounts.addMember": inPerson("admin"),
  "accounts.updateMember": inPerson("admin"),
  // Everybody may leave; removing somebody else takes an admin (company-members.ts).
  "accounts.removeMember": inPerson("viewer"),
} as const satisfies Partial<Record<ActionOf, Permission>>;

export type PermittedAction = keyof typeof TABLE;

/** Returns the permission that an action requires; undefined for actions that no company's caller can reach. */
export const permissionOf = (action: string): Permission | undefined =>
  Object.hasOwn(TABLE, action) ? TABLE[action as PermittedAction] : undefined;

/** Throws a 403 where these rights are not enough for the action. */
export const requirePermission = (action: PermittedAction, rights: Rights): void =>
  requireRights(rights, TABLE[action]);
