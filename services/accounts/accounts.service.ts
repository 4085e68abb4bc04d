import type { Service } from "moleculer";
import { every } from "../../mixins/every.mixin.ts";
import { deleteExpiredTokens } from "../../models/statements/refresh-tokens.ts";
import { defineService } from "../define.ts";
import { companyOf } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { createKey, listKeys, newKeyErrors, removeKey } from "./api-keys.ts";
import {
  createCompany,
  listCompanies,
  listPlans,
  savePlan,
  setPassword,
  setPaused,
  setPlan,
} from "./company-administration.ts";
import {
  addMember,
  listMembers,
  membershipOf,
  newMemberErrors,
  removeMember,
  updateMember,
} from "./company-members.ts";
import { companyErrors, getCompany, updateCompany } from "./company-settings.ts";
import { contract } from "./contract.ts";
import { KeyAuthentication } from "./key-authentication.ts";
import { login } from "./login.ts";
import { admitEmails, getPlan, planOf, requireDefaultPlan, requireFeature } from "./plans.ts";
import { register, registrationErrors } from "./register.ts";
import { rotate } from "./tokens.ts";

const PURGE_EVERY_MS = 60 * 60 * 1_000;

const keysOf = (service: Service) => (service as Service & { keys: KeyAuthentication }).keys;

/** Companies, their people, keys and plans: who may do what, and how much of it. */
export default defineService("accounts", contract, {
  mixins: [every(PURGE_EVERY_MS, "purge")],

  actions: {
    register: { validate: registrationErrors, handler: (ctx) => register(ctx.params) },
    login,
    refresh: (ctx) => rotate(ctx.params.refresh),
    authenticateKey(ctx) {
      return keysOf(this).authenticate(ctx.params.key);
    },
    membershipOf: (ctx) => membershipOf(ctx.params),
    async purge() {
      await deleteExpiredTokens();
      return null;
    },

    getCompany,
    updateCompany: { validate: companyErrors, handler: updateCompany },

    listKeys,
    createKey: { validate: newKeyErrors, handler: createKey },
    removeKey,

    listMembers,
    addMember: { validate: newMemberErrors, handler: addMember },
    updateMember,
    removeMember,

    getPlan,
    planOf: (ctx) => planOf(companyOf(ctx)),
    requireFeature: (ctx) => requireFeature(companyOf(ctx), ctx.params.feature),
    admitEmails: (ctx) => admitEmails(companyOf(ctx), ctx.params.emails),

    listCompanies: (ctx) => listCompanies(ctx.params),
    createCompany: (ctx) => createCompany(ctx.params),
    listPlans,
    savePlan: (ctx) => savePlan(ctx.params),
    setPlan: (ctx) => setPlan(ctx.params),
    setPassword: (ctx) => setPassword(ctx.params),
    pauseCompany: (ctx) => setPaused(ctx.params.company_id, true),
    resumeCompany: (ctx) => setPaused(ctx.params.company_id, false),
  },

  created() {
    this.keys = new KeyAuthentication();
  },
  started: () => requireDefaultPlan(config().DEFAULT_PLAN),
  stopped() {
    return keysOf(this).settled();
  },
});
