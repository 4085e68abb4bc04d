/**
 * Warnings of the overview: a sentence each, with the page that helps. Uses stored state only and makes no checks of
 * its own.
 */
import type { ReturnsOf } from "../contracts.ts";
import { messages } from "./messages.ts";
import { formatted, percentOf } from "./render.ts";
import { timeOf } from "./times.ts";

const t = messages.overview.warningsOf;

const and = new Intl.ListFormat("en", { type: "conjunction" });

interface Warning {
  text: string;
  /** Path below the company's path, and its label. Missing if nothing there would help. */
  path?: string;
  link?: string;
}

type Servers = ReturnsOf<"smtp-sender.listConfigs">["results"];
type Endpoints = ReturnsOf<"webhooks.list">["results"];
type Days = ReturnsOf<"tracking.companyStats">["sending"];
type Plan = ReturnsOf<"accounts.getPlan">;

/** Mailbox providers start to refuse senders above these rates. Rates of few mails mean nothing. */
const MAX_BOUNCED = 0.05;
const MAX_COMPLAINED = 0.003;
const MIN_SENT = 200;
/** Share of a plan's limit from which a warning is shown. */
const NEARLY = 0.8;

const serverWarnings = (servers: Servers): Warning[] =>
  servers.flatMap(({ id, name, working, last_error, check_failures, bounce_mailbox }) => {
    const failing = [...new Set(check_failures.map((failure) => messages.domains.inSentence[failure.name]))];
    return [
      ...(working ? [] : [{ text: t.server(name, last_error ?? t.silent), path: `servers/${id}`, link: t.toServer }]),
      ...(failing.length === 0
        ? []
        : [{ text: t.dns(name, and.format(failing), failing.length), path: `domains/${id}`, link: t.toDns }]),
      ...(bounce_mailbox?.last_error
        ? [{ text: t.mailbox(name, bounce_mailbox.last_error), path: `servers/${id}`, link: t.toServer }]
        : []),
    ];
  });

function rateWarnings(days: Days): Warning[] {
  const sum = (metric: "sent" | "bounced" | "complained") => days.reduce((all, day) => all + day[metric], 0);
  const sent = sum("sent");
  if (sent < MIN_SENT) return [];
  const [bounced, complained] = [sum("bounced"), sum("complained")];
  return [
    ...(bounced > MAX_BOUNCED * sent
      ? [{ text: t.bounced(percentOf(bounced, sent)), path: "recipient-domains", link: t.toDomains }]
      : []),
    ...(complained > MAX_COMPLAINED * sent
      ? [{ text: t.complained(percentOf(complained, sent)), path: "bounces?result=complained", link: t.toComplaints }]
      : []),
  ];
}

const planWarnings = ({ limits, usage, period }: Plan, zone: string): Warning[] =>
  (["emails_per_month", "subscribers"] as const).flatMap((name) => {
    const [used, limit] = [usage[name], limits[name]];
    if (limit === null || used === null || used < NEARLY * limit) return [];
    const until = name === "emails_per_month" ? ` ${t.resets(timeOf(period.end, zone))}` : "";
    const text = t[name](formatted(used), formatted(limit)) + until;
    return [{ text, path: "settings/plan", link: t.toPlan }];
  });

/** Endpoints that a person disabled need no warning. */
const webhookWarnings = (endpoints: Endpoints): Warning[] =>
  endpoints
    .filter(({ failing_since }) => failing_since !== null)
    .map(({ id, url, disabled_at }) => ({
      text: disabled_at === null ? t.webhookFails(url) : t.webhookOff(url),
      path: `webhooks/${id}`,
      link: t.toWebhook,
    }));

interface Seen {
  servers: Servers;
  days: Days;
  plan: Plan;
  endpoints: Endpoints;
  /** Time zone of the company. */
  zone: string;
  /** By the operator of the service. */
  isPaused: boolean;
}

export const warningsOf = (seen: Seen): Warning[] => [
  ...(seen.isPaused ? [{ text: t.paused }] : []),
  ...serverWarnings(seen.servers),
  ...rateWarnings(seen.days),
  ...planWarnings(seen.plan, seen.zone),
  ...webhookWarnings(seen.endpoints),
];
