import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { retryInOutage } from "../../models/database/outage.ts";
import { expireAuditLog } from "../../models/statements/audit-log.ts";
import { clocksAt, instantOf, zoneNames } from "../../models/statements/time-zones.ts";
import { purgeTransfers } from "../../models/statements/transfers.ts";
import { defineService } from "../define.ts";
import { Background } from "../lib/background.ts";
import { companyOf } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { notFound } from "../lib/errors.ts";
import { createKey, listKeys, newKeyErrors, removeKey } from "./api-keys.ts";
import { listAuditLog } from "./audit-log.ts";
import {
  createCompany,
  listCompanies,
  listPlans,
  savePlan,
  setPassword,
  setPaused,
  setPlan,
} from "./company-administration.ts";
import { deleteCompany, removeCompanies } from "./company-deletion.ts";
import { listMembers, removeMember, updateMember } from "./company-members.ts";
import { companyErrors, getCompany, updateCompany } from "./company-settings.ts";
import { contract } from "./contract.ts";
import { acceptInvitation, invitationErrors, invite, purgeInvitations } from "./invitations.ts";
import { KeyAuthentication } from "./key-authentication.ts";
import { login } from "./people/login.ts";
import { me } from "./people/me.ts";
import { askForReset, changePassword, confirmReset, mailVerificationAgain, verifyEmail } from "./people/passwords.ts";
import { deleteExpiredTokens } from "./people/refresh-tokens.ts";
import { continueSession, endSession, listSessions, logout, membershipOf, requireSession } from "./people/sessions.ts";
import { signInByLink, signInLink } from "./people/sign-in-link.ts";
import { beginTotp, confirmTotp, removeTotp } from "./people/totp.ts";
import { ownCompany } from "./permission.ts";
import { admitEmails, getPlan, planOf, requireDefaultPlan, requireFeature } from "./plans.ts";
import { addCompany, register, registrationErrors } from "./register.ts";
import { addSampleData, getSampleData, removeSampleData } from "./sample-data.ts";
import { deliverSystemMail } from "./system-mail/deliver.ts";
import { purgeSystemMails } from "./system-mail/system-mails.ts";
import { rotate } from "./tokens.ts";
import { checkDueClaims } from "./tracking-domain/tracking-domain.ts";

const PURGE_EVERY_MS = 60 * 60 * 1_000;
const SYSTEM_MAIL_PAUSE_MS = 1_000;
/** Short, because people wait for emails with links. */
const SYSTEM_MAIL_IDLE = { idlePauseMs: 2_000 };
const REMOVE_PAUSE_MS = 10_000;
const TRACKING_DOMAINS_PAUSE_MS = 60_000;

const background = (service: Service) => (service as Service & { background: Background }).background;
const keysOf = (service: Service) => (service as Service & { keys: KeyAuthentication }).keys;

/** Companies, members, API keys and plans: permissions and limits. */
export default defineService("accounts", contract, {
  mixins: [
    every(PURGE_EVERY_MS, "purge"),
    every(SYSTEM_MAIL_PAUSE_MS, "sendSystemMail", SYSTEM_MAIL_IDLE),
    every(REMOVE_PAUSE_MS, "removeCompanies"),
    every(TRACKING_DOMAINS_PAUSE_MS, "proveTrackingDomains"),
  ],

  actions: {
    register: { validate: registrationErrors, handler: (ctx) => register(ctx) },
    login(ctx) {
      return login(ctx, (work) => background(this).begin(work));
    },
    refresh: (ctx) => rotate(ctx.params.refresh, ctx.meta),
    logout,
    me,
    addCompany,
    listSessions,
    endSession,
    verifyEmail,
    mailVerificationAgain,
    changePassword,
    askForReset(ctx) {
      return askForReset(ctx, (work) => background(this).begin(work));
    },
    confirmReset,
    signInLink,
    signInByLink,
    beginTotp,
    confirmTotp,
    removeTotp,
    acceptInvitation,

    authenticateKey(ctx) {
      return keysOf(this).authenticate(ctx.params.key);
    },
    membershipOf: (ctx) => membershipOf(ctx.params),
    requireSession: (ctx) => requireSession(ctx.params),
    continueSession,
    sendSystemMail: async () => ({ tried: await deliverSystemMail() }),
    async purge() {
      await deleteExpiredTokens();
      await purgeInvitations();
      await purgeSystemMails();
      await purgeTransfers();
      await expireAuditLog(config().AUDIT_LOG_DAYS);
      return null;
    },

    getCompany,
    deleteCompany,
    removeCompanies: async (ctx) => ({ rows: await removeCompanies(ctx.broker) }),
    updateCompany: { validate: companyErrors, handler: updateCompany },

    async proveTrackingDomains(ctx) {
      const onError = (error: unknown) => this.logger.error({ error }, "Tracking domain check failed");
      return { checked: await checkDueClaims(ctx, onError) };
    },

    getSampleData: (ctx) => getSampleData(ownCompany(ctx)),
    addSampleData,
    removeSampleData,

    listKeys,
    createKey: { validate: newKeyErrors, handler: createKey },
    removeKey,

    listAuditLog,
    listMembers,
    addMember: { validate: invitationErrors, handler: invite },
    updateMember,
    removeMember,

    getPlan,
    planOf: (ctx) => planOf(companyOf(ctx)),
    timeZones: zoneNames,
    async clocksAt(ctx) {
      const found = await clocksAt(companyOf(ctx), ctx.params.instants);
      if (!found) throw notFound();
      return found;
    },
    async instantOf(ctx) {
      const instant = await instantOf(companyOf(ctx), ctx.params.clock);
      if (!instant) throw notFound();
      return instant.toISOString();
    },
    requireFeature: (ctx) => requireFeature(companyOf(ctx), ctx.params.feature),
    admitEmails: (ctx) =>
      admitEmails(companyOf(ctx), ctx.params.emails, ctx.params.due ? new Date(ctx.params.due) : null),

    listCompanies: (ctx) => listCompanies(ctx.params),
    createCompany: (ctx) => createCompany(ctx.params),
    listPlans,
    savePlan: (ctx) => savePlan(ctx.params),
    setPlan,
    setPassword: (ctx) => setPassword(ctx.params),
    pauseCompany: (ctx) => setPaused(ctx, true),
    resumeCompany: (ctx) => setPaused(ctx, false),
  },

  created() {
    this.keys = new KeyAuthentication();
    this.background = new Background((error) => this.logger.error({ error }, "Background work failed"));
  },
  started: () => retryInOutage(() => requireDefaultPlan(config().DEFAULT_PLAN)),
  async stopped() {
    await Promise.all([keysOf(this).settled(), background(this).settled()]);
  },
});
