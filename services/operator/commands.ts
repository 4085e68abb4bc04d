/** The operators' commands: each is a thin call of an action, in the REPL and as `npm run -s ops`. */
import { randomBytes } from "node:crypto";
import type { ActionOf } from "../contracts.ts";
import type { Caller } from "../lib/caller.ts";
import { VERSION } from "../lib/version.ts";
import type { Ask } from "./ask-broker.ts";
import type { Finding } from "./doctor/finding.ts";
import { exitCodeOf, reportOf } from "./doctor/report.ts";
import { examineWithoutService } from "./doctor/without-service.ts";
import type { Overview } from "./top/overview.ts";
import { PRINTED, screenOf } from "./top/screen.ts";
import { type Watching, watchTop } from "./top/watch.ts";

type Rows = object[];

export interface Command {
  name: string;
  /** Names it had before: scripts may use them. */
  aliases?: string[];
  /** In the words of a usage line: "<needed>", "[optional]". */
  args: string[];
  about: string;
  action: ActionOf;
  /** Names of options with a value, `--name VALUE`: `run` gets the values behind all arguments. */
  options?: string[];
  run(ask: Ask, ...args: (string | undefined)[]): Promise<Rows>;
  /** How a terminal shows the rows, where not as a table. */
  print?(rows: Rows): string;
  /** What the rows make of the exit code; 0 otherwise. */
  exitCode?(rows: Rows): number;
  /** The rows where no service is reached; for other commands that is an error. */
  withoutService?(problem: Error, env: NodeJS.ProcessEnv): Promise<Rows>;
  /** Instead of `run`, of a shell: shows it again and again until it is ended. Such a command has the option `--once`. */
  watch?(ask: Ask, watching: Watching): Promise<void>;
}

const PAGE = 100;

/** An operator acts for a company as its owner would. */
const ownerOf = (companyId: string): Caller => ({ companyId, role: "owner" });

/** A reason of several words is one argument: in quotation marks. */
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

/** What is not a number stays as it was written: the contract says what is wrong with it. */
const limitOf = (word: string) => (word === "-" ? null : /^\d+$/.test(word) ? Number(word) : (word as never));

export const commands: Command[] = [
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
    about: "Create an API key for a company, which is shown this once",
    action: "accounts.createKey",
    async run(ask, companyId, name = "Operator") {
      const { id, key, expires_at } = await ask("accounts.createKey", { id: companyId!, name }, ownerOf(companyId!));
      return [{ id, key, expires_at }];
    },
  },
  {
    name: "set-password",
    args: ["<email>"],
    about: "Give a user a new password, which is shown this once, and end all logins",
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
    name: "save-plan",
    args: ["<plan>", "<features>", "<limits>"],
    about: "Add a plan or change one: its features and five limits as `plans` shows them, a,b,c; - is none",
    action: "accounts.savePlan",
    async run(ask, plan, features, words) {
      const given = words!.split(",");
      if (given.length !== LIMITS.length) throw new Error(`<limits> are ${LIMITS.join(",")}, with - for unlimited`);
      const limits = Object.fromEntries(LIMITS.map((name, i) => [name, limitOf(given[i]!)]));
      const named = features === "-" ? [] : features!.split(",");
      return [flat(await ask("accounts.savePlan", { plan: plan!, features: named, limits }))];
    },
  },
  {
    name: "plan",
    args: ["<company_id>", "<plan>", "[reason]"],
    about: "Put a company on a plan; its audit log has the reason",
    action: "accounts.setPlan",
    run: async (ask, companyId, plan, reason) => [
      flat(await ask("accounts.setPlan", { ...because(companyId, reason), plan: plan! })),
    ],
  },
  {
    name: "limits",
    args: ["<company_id>"],
    about: "A company's limits and what is used of them now",
    action: "operator.limits",
    run: (ask, companyId) => ask("operator.limits", { company_id: companyId! }),
  },
  {
    name: "pause",
    args: ["<company_id>", "[reason]"],
    about: "Hold back a company's mails; its audit log has the reason",
    action: "accounts.pauseCompany",
    run: async (ask, companyId, reason) => [await ask("accounts.pauseCompany", because(companyId, reason))],
  },
  {
    name: "resume",
    args: ["<company_id>", "[reason]"],
    about: "Let a company's mails go on; its audit log has the reason",
    action: "accounts.resumeCompany",
    run: async (ask, companyId, reason) => [await ask("accounts.resumeCompany", because(companyId, reason))],
  },
  {
    name: "campaigns",
    args: [],
    about: "Campaigns that are not finished, with rate and time left",
    action: "operator.campaigns",
    run: (ask) => ask("operator.campaigns", {}),
  },
  {
    name: "stop",
    args: ["<campaign_id>"],
    about: "Stop a campaign that is being sent; its company can resume it",
    action: "campaigns.stopAny",
    run: async (ask, campaignId) => [await ask("campaigns.stopAny", { campaign_id: campaignId! })],
  },
  {
    name: "failures",
    args: ["<campaign_id>"],
    about: "Why recipients of a campaign did not get their mail, by reason",
    action: "operator.failures",
    run: (ask, campaignId) => ask("operator.failures", { campaign_id: campaignId! }),
  },
  {
    name: "why",
    args: ["<address-or-mail-id>"],
    about: "One recipient's whole history",
    action: "operator.why",
    run: (ask, recipient) => ask("operator.why", { recipient: recipient! }),
  },
  {
    name: "trace",
    args: ["<mail-id-message-id-or-address>"],
    about: "The story of one mail, step by step: its campaign, its sender, answers, what came back, webhooks",
    action: "operator.trace",
    run: (ask, mail) => ask("operator.trace", { mail: mail! }),
  },
  {
    name: "top",
    args: [],
    about: "Nodes, campaigns, queues and limits, drawn again every 2 seconds until q; --once prints them",
    action: "operator.top",
    run: async (ask) => [await ask("operator.top", {})],
    print: ([overview]) => screenOf(overview as Overview, PRINTED).join("\n"),
    watch: watchTop,
  },
  {
    name: "doctor",
    args: [],
    about: "Check dependencies, nodes, settings, clocks, DNS and disk, with advice; exit code 1: look at it, 2: broken",
    action: "operator.doctor",
    run: (ask) => ask("operator.doctor", { version: VERSION }),
    print: (rows) => reportOf(rows as Finding[]),
    exitCode: (rows) => exitCodeOf(rows as Finding[]),
    withoutService: examineWithoutService,
  },
  {
    name: "senders",
    args: [],
    about: "Sender nodes with batches, connections and rate",
    action: "operator.senders",
    run: (ask) => ask("operator.senders", {}),
  },
  {
    name: "batches",
    aliases: ["lanes"],
    args: [],
    about: "What each sender node is working on, campaign by campaign",
    action: "operator.batches",
    run: (ask) => ask("operator.batches", {}),
  },
  {
    name: "backing-off",
    args: [],
    about: "SMTP servers that senders leave alone for a while, and why",
    action: "operator.backingOff",
    run: (ask) => ask("operator.backingOff", {}),
  },
  {
    name: "slow-domains",
    args: [],
    about: "Recipient domains that defer: what they say, and how many mails a minute they get for now",
    action: "operator.slowDomains",
    run: (ask) => ask("operator.slowDomains", {}),
  },
  {
    name: "webhooks",
    args: [],
    about: "Webhook endpoints with something waiting or dead",
    action: "operator.webhooks",
    run: (ask) => ask("operator.webhooks", {}),
  },
  {
    name: "dead-webhooks",
    args: ["<endpoint_id>"],
    about: "An endpoint's deliveries that were given up, with the last error",
    action: "operator.deadWebhooks",
    run: (ask, endpointId) => ask("operator.deadWebhooks", { endpoint_id: endpointId! }),
  },
  {
    name: "requeue",
    args: ["<endpoint_id>"],
    about: "Deliver an endpoint's dead webhooks again, and enable it",
    action: "operator.requeueWebhooks",
    run: (ask, endpointId) => ask("operator.requeueWebhooks", { endpoint_id: endpointId! }),
  },
  {
    name: "queues",
    args: [],
    about: "What waits, how much and since when",
    action: "operator.queues",
    run: (ask) => ask("operator.queues", {}),
  },
  {
    name: "health",
    args: [],
    about: "The nodes and what they depend on",
    action: "operator.health",
    run: (ask) => ask("operator.health", {}),
  },
  {
    name: "dependencies",
    args: [],
    about: "PostgreSQL, Redis and NATS: whether they answer, how fast, and which versions they are",
    action: "operator.dependencies",
    run: (ask) => ask("operator.dependencies", {}),
  },
  {
    name: "console-link",
    args: ["[name]"],
    about:
      "Print an address that opens the operators' pages of the console: good once, for 5 minutes; name says for whom",
    action: "operator.consoleLink",
    run: (ask, name) => ask("operator.consoleLink", name ? { name } : {}),
  },
  {
    name: "console-sessions",
    args: [],
    about: "Operators' sessions of the console, and links to one, newest first",
    action: "operator.consoleSessions",
    run: (ask) => ask("operator.consoleSessions", {}),
  },
  {
    name: "end-console-session",
    args: ["<session_id>"],
    about: "End an operator's session of the console, or void the link to one",
    action: "operator.endSession",
    run: (ask, sessionId) => ask("operator.endSession", { session_id: sessionId! }),
  },
  {
    name: "reseal",
    args: [],
    about: "After a change of SECRET_KEY: seal stored secrets with the new one",
    action: "operator.reseal",
    run: (ask) => ask("operator.reseal", {}),
  },
];

export const commandNamed = (name: string): Command | undefined =>
  commands.find((command) => command.name === name || command.aliases?.includes(name));

/** What the operator socket lets through. */
export const operatorActions: ReadonlySet<string> = new Set(commands.map(({ action }) => action));

export const usageOf = ({ name, args, options = [], watch }: Command) =>
  [
    name,
    ...args,
    ...options.map((option) => `[--${option} ${option.toUpperCase()}]`),
    ...(watch ? ["[--once]"] : []),
  ].join(" ");
