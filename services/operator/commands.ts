/** Operator commands, each a thin call of an action, for the REPL and for `npm run -s ops`. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ActionOf } from "../contracts.ts";
import type { Caller } from "../lib/caller.ts";
import { bytesOf } from "../lib/size-text.ts";
import { VERSION } from "../lib/version.ts";
import type { Ask } from "./ask-broker.ts";
import type { Finding } from "./doctor/finding.ts";
import { exitCodeOf, reportOf } from "./doctor/report.ts";
import { examineWithoutService } from "./doctor/without-service.ts";
import type { Overview } from "./status/overview.ts";
import { screenOf, sizeOf } from "./status/screen.ts";
import { table } from "./table.ts";

type Rows = object[];

export interface Command {
  name: string;
  /** Arguments as in a usage line: "<needed>", "[optional]". */
  args: string[];
  about: string;
  action: ActionOf;
  /** Names of options with a value, `--name VALUE`. `run` gets the values after all arguments. */
  options?: string[];
  /** Names of options without a value, `--name`. */
  flags?: string[];
  run(ask: Ask, ...args: (string | undefined)[]): Promise<Rows>;
  /** Renders the rows for a terminal if not as a table. `flags` are the given ones. */
  print?(rows: Rows, flags: readonly string[]): string;
  /** Default: 0. */
  exitCode?(rows: Rows): number;
  /** Rows to show if no service can be reached; other commands report an error then. */
  withoutService?(problem: Error, env: NodeJS.ProcessEnv): Promise<Rows>;
}

const PAGE = 100;
const RATE_OVER_MS = 1_000;

/** An operator acts for a company with the owner's rights. */
const ownerOf = (companyId: string): Caller => ({ companyId, role: "owner" });

const because = (companyId: string | undefined, reason: string | undefined) => ({
  company_id: companyId!,
  ...(reason ? { reason } : {}),
});

const flat = (plan: { plan: string; features: string[]; limits: object }) => ({
  plan: plan.plan,
  features: plan.features.join(" "),
  ...plan.limits,
});

const LIMITS = ["api_calls_per_day", "subscribers", "emails_per_month", "smtp_per_hour", "media_bytes"];

/** Passes other words on: the contract's error names them. */
function limitOf(name: string, word: string): number | null {
  if (word === "-") return null;
  const size = name === "media_bytes" ? bytesOf(word) : undefined;
  return size ?? (/^\d+$/.test(word) ? Number(word) : (word as never));
}

export const commands: Command[] = [
  {
    name: "status",
    args: [],
    flags: ["watch"],
    about: "Nodes, campaigns, queues and limits on one screen; --watch refreshes it every 2 seconds until Ctrl-C",
    action: "operator.status",
    async run(ask) {
      // Rates compare two requests, so ask twice.
      await ask("operator.status", {});
      await sleep(RATE_OVER_MS);
      return [await ask("operator.status", {})];
    },
    print: ([overview]) => screenOf(overview as Overview, sizeOf(process.stdout)).join("\n"),
  },
  {
    name: "doctor",
    args: [],
    flags: ["all"],
    about:
      "Problems of dependencies, nodes, settings, clocks, DNS and disk, with advice; exit code 1: warnings, 2: failures",
    action: "operator.doctor",
    run: (ask) => ask("operator.doctor", { version: VERSION }),
    print: (rows, flags) => reportOf(rows as Finding[], flags.includes("all")),
    exitCode: (rows) => exitCodeOf(rows as Finding[]),
    withoutService: examineWithoutService,
  },
  {
    name: "trace",
    args: ["<mail-id-message-id-or-address>"],
    about: "One mail step by step: campaign, sender, the server's answers, bounces, opens and webhooks",
    action: "operator.trace",
    run: (ask, mail) => ask("operator.trace", { mail: mail! }),
  },
  {
    name: "why",
    args: ["<address-or-mail-id>"],
    about: "Everything known about a recipient or a mail",
    action: "operator.why",
    run: (ask, recipient) => ask("operator.why", { recipient: recipient! }),
    print: (rows) => (rows.length === 0 ? "Nothing is known about this address or mail." : table(rows)),
    exitCode: (rows) => (rows.length === 0 ? 1 : 0),
  },
  {
    name: "failures",
    args: ["<campaign_id>"],
    about: "Failed recipients of a campaign, grouped by reason",
    action: "operator.failures",
    run: (ask, campaignId) => ask("operator.failures", { campaign_id: campaignId! }),
  },
  {
    name: "pause",
    args: ["<company_id>", "[reason]"],
    about: "Stop sending for a company until `unpause`; the reason goes to its audit log",
    action: "accounts.pauseCompany",
    run: async (ask, companyId, reason) => [await ask("accounts.pauseCompany", because(companyId, reason))],
  },
  {
    name: "unpause",
    args: ["<company_id>", "[reason]"],
    about: "Resume sending for a paused company; the reason goes to its audit log",
    action: "accounts.resumeCompany",
    run: async (ask, companyId, reason) => [await ask("accounts.resumeCompany", because(companyId, reason))],
  },
  {
    name: "stop",
    args: ["<campaign_id>"],
    about: "Stop a campaign that is being sent; its company can resume it",
    action: "campaigns.stopAny",
    async run(ask, campaignId) {
      const { id, name, error } = await ask("campaigns.stopAny", { campaign_id: campaignId! });
      return [{ id, name, error }];
    },
  },
  {
    name: "requeue",
    args: ["<endpoint_id>"],
    about: "Enable a webhook endpoint and deliver its failed webhooks again",
    action: "operator.requeueWebhooks",
    run: (ask, endpointId) => ask("operator.requeueWebhooks", { endpoint_id: endpointId! }),
  },
  {
    name: "companies",
    args: ["[search]"],
    about: "All companies with owners, plan and usage",
    action: "accounts.listCompanies",
    async run(ask, search) {
      const companies: Rows = [];
      for (let page = 1; ; page++) {
        const params = { page, page_size: PAGE, ...(search ? { search } : {}) };
        const { count, results } = await ask("accounts.listCompanies", params);
        companies.push(...results);
        if (results.length < PAGE || companies.length >= count) return companies;
      }
    },
  },
  {
    name: "create-company",
    args: ["<name>", "[plan]"],
    options: ["owner"],
    about:
      "Create a company and its first API key; --owner ADDRESS also prints the link that sets the owner's password",
    action: "accounts.createCompany",
    async run(ask, name, plan, owner) {
      const params = { name: name!, ...(plan ? { plan } : {}), ...(owner ? { owner } : {}) };
      const { company, key, invite_url } = await ask("accounts.createCompany", params);
      return [{ company_id: company.id, name: company.name, key: key.key, ...(invite_url ? { invite_url } : {}) }];
    },
  },
  {
    name: "create-key",
    args: ["<company_id>", "[name]"],
    about: "Create an API key for a company and show it once",
    action: "accounts.createKey",
    async run(ask, companyId, name = "Operator") {
      const { id, key, expires_at } = await ask("accounts.createKey", { id: companyId!, name }, ownerOf(companyId!));
      return [{ id, key, expires_at }];
    },
  },
  {
    name: "set-password",
    args: ["<email>"],
    about: "Give a user a new password, show it once, and sign the user out everywhere",
    action: "accounts.setPassword",
    async run(ask, email) {
      const password = randomBytes(15).toString("base64url");
      await ask("accounts.setPassword", { email: email!, password });
      return [{ email, password }];
    },
  },
  {
    name: "plans",
    args: [],
    about: "All plans",
    action: "accounts.listPlans",
    run: async (ask) => (await ask("accounts.listPlans", {})).map(flat),
  },
  {
    name: "plan",
    args: ["<company_id>", "<plan>", "[reason]"],
    about: "Change a company's plan; the reason goes to its audit log",
    action: "accounts.setPlan",
    run: async (ask, companyId, plan, reason) => [
      flat(await ask("accounts.setPlan", { ...because(companyId, reason), plan: plan! })),
    ],
  },
  {
    name: "save-plan",
    args: ["<plan>", "<features>", "<limits>"],
    about:
      "Add or change a plan: features and the five limits in the order of `plans`, as a,b,c; - for none, 5GB for media",
    action: "accounts.savePlan",
    async run(ask, plan, features, words) {
      const given = words!.split(",");
      if (given.length !== LIMITS.length) throw new Error(`<limits> are ${LIMITS.join(",")}, with - for unlimited`);
      const limits = Object.fromEntries(LIMITS.map((name, i) => [name, limitOf(name, given[i]!)]));
      const named = features === "-" ? [] : features!.split(",");
      return [flat(await ask("accounts.savePlan", { plan: plan!, features: named, limits }))];
    },
  },
  {
    name: "limits",
    args: ["<company_id>"],
    about: "A company's limits and current usage",
    action: "operator.limits",
    run: (ask, companyId) => ask("operator.limits", { company_id: companyId! }),
  },
  {
    name: "console-link",
    args: ["[name]"],
    about: "Print a link to the operators' pages of the console; it works once, within 5 minutes",
    action: "operator.consoleLink",
    run: (ask, name) => ask("operator.consoleLink", name ? { name } : {}),
  },
  {
    name: "sign-in-link",
    args: ["<email>"],
    about: "Print a link that signs a person in to the console; it works once, within 5 minutes",
    action: "accounts.signInLink",
    run: (ask, email) => ask("accounts.signInLink", { email: email! }),
  },
  {
    name: "console-sessions",
    args: [],
    about: "Operators' console sessions and links, newest first",
    action: "operator.consoleSessions",
    run: (ask) => ask("operator.consoleSessions", {}),
  },
  {
    name: "end-console-session",
    args: ["<session_id>"],
    about: "End an operator's console session, or revoke the link to one",
    action: "operator.endSession",
    run: (ask, sessionId) => ask("operator.endSession", { session_id: sessionId! }),
  },
  {
    name: "reseal",
    args: [],
    about: "Encrypt stored secrets with the new SECRET_KEY",
    action: "operator.reseal",
    run: (ask) => ask("operator.reseal", {}),
  },
];

export const commandNamed = (name: string): Command | undefined => commands.find((command) => command.name === name);

/** Actions that the operator socket accepts. */
export const operatorActions: ReadonlySet<string> = new Set(commands.map(({ action }) => action));

export const usageOf = ({ name, args, options = [], flags = [] }: Command) =>
  [
    name,
    ...args,
    ...options.map((option) => `[--${option} ${option.toUpperCase()}]`),
    ...flags.map((flag) => `[--${flag}]`),
  ].join(" ");
