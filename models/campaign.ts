import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from "sequelize";
import { templateOfVariant, type WinnerMetric } from "./campaign-variant.ts";
import type { Company } from "./company.ts";
import { company, id, nullable, required } from "./database/columns.ts";
import { fromRow } from "./database/from-row.ts";
import { SEND_CHUNK_STATE } from "./send-chunk.ts";

export const CAMPAIGN_TYPES = ["to_list", "to_receivers", "custom"] as const;
export type CampaignType = (typeof CAMPAIGN_TYPES)[number];

export const CAMPAIGN_STATUSES = [
  "pending",
  "sending",
  "completed",
  "partial",
  "failed",
  "scheduled",
  "cancelled",
] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

const UNDER_WAY: readonly CampaignStatus[] = ["scheduled", "pending", "sending"];
/** Returns whether the campaign sends nothing more unless it is resumed. */
export const isFinished = (status: CampaignStatus): boolean => !UNDER_WAY.includes(status);

/**
 * One send: to a list, to receivers of the request, or to receivers with individual messages. Transitions of `status`:
 * campaign-lifecycle.ts. The row is updated by every flush of results, so only set-based SQL writes it; Sequelize reads
 * it.
 */
export class Campaign extends Model<InferAttributes<Campaign>, InferCreationAttributes<Campaign>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare campaignType: CampaignType;
  declare status: CampaignStatus;
  declare totalEmails: CreationOptional<number>;
  declare sentCount: CreationOptional<number>;
  declare failedCount: CreationOptional<number>;
  /** Receivers who may not get it when it starts; not part of totalEmails (statements/write-audience-slice.ts). */
  declare suppressedCount: CreationOptional<number>;
  declare scheduledFor: CreationOptional<Date | null>;
  /** Time zone of `scheduledFor`; null: it is an instant (statements/recipient-zones.ts). */
  declare timezone: CreationOptional<"recipient" | null>;
  /** Earliest possible local time of any recipient, for campaigns by recipients' time zones. */
  declare startsAt: CreationOptional<Date | null>;
  declare error: CreationOptional<string | null>;
  declare templateId: CreationOptional<string | null>;
  declare smtpConfigId: string;
  declare listId: CreationOptional<string | null>;
  declare segmentId: CreationOptional<string | null>;
  declare isTransactional: CreationOptional<boolean>;
  /**
   * The company's setting when the campaign started. False: links do not identify recipients, and hits are only
   * counted.
   */
  declare individualTracking: CreationOptional<boolean>;
  declare workerTaskId: string;
  declare expandCursor: CreationOptional<string | null>;
  /**
   * Number that identifies the campaign in its recipients' rows; drawn when the expansion begins (next_campaign_no).
   */
  declare no: CreationOptional<number | null>;
  declare nextSeq: CreationOptional<number>;
  declare expandedAt: CreationOptional<Date | null>;
  declare requeueFrom: CreationOptional<number | null>;
  declare isInternal: CreationOptional<boolean>;
  /** Id of the API key that sent it. */
  declare apiKeyId: CreationOptional<string | null>;
  declare blocksInARow: CreationOptional<number>;
  declare repeatedRefusal: CreationOptional<string | null>;
  declare copiesAsked: CreationOptional<number>;
  declare unwritten: CreationOptional<number>;
  declare unwrittenCursor: CreationOptional<string | null>;
  declare lastTurnAt: CreationOptional<Date | null>;
  declare expansionBeganAt: CreationOptional<Date | null>;
  declare startedAt: CreationOptional<Date | null>;
  declare finishedAt: CreationOptional<Date | null>;
  /** When somebody, or the guard, stopped it. */
  declare stoppedAt: CreationOptional<Date | null>;
  /** Counts of the guard since the last resume (statements/campaign-guard.ts). */
  declare hardBounces: CreationOptional<number>;
  declare complaints: CreationOptional<number>;
  /** Tried recipients that were neither accepted nor suppressed. */
  declare triedUnsent: CreationOptional<number>;
  /** Number of recipients tried up to the last resume. */
  declare guardFrom: CreationOptional<number>;
  declare guardSince: CreationOptional<Date | null>;
  declare guardStopped: CreationOptional<boolean>;
  /** Stopped because the database was restored from a backup (statements/restored-database.ts). */
  declare restored: CreationOptional<boolean>;
  /**
   * State of its recipients: present, kept only for their links, being deleted, or deleted
   * (services/campaigns/lifecycle/delete.ts, services/campaigns/retention.ts).
   */
  declare recipientsState: CreationOptional<"kept" | "hidden" | "removing" | "removed">;
  /** The campaign to whose recipients without an open this one goes (statements/write-audience-slice.ts). */
  declare resendOf: CreationOptional<string | null>;
  declare deletedAt: CreationOptional<Date | null>;
  declare emptiedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  /** Present with `include: "company"`. */
  declare company?: NonAttribute<Company>;

  static register(sequelize: Sequelize): void {
    Campaign.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        campaignType: required(DataTypes.TEXT),
        status: required(DataTypes.TEXT),
        totalEmails: required(DataTypes.INTEGER, 0),
        sentCount: required(DataTypes.INTEGER, 0),
        failedCount: required(DataTypes.INTEGER, 0),
        suppressedCount: required(DataTypes.INTEGER, 0),
        scheduledFor: nullable(DataTypes.DATE),
        timezone: nullable(DataTypes.TEXT),
        startsAt: nullable(DataTypes.DATE),
        error: nullable(DataTypes.TEXT),
        templateId: nullable(DataTypes.UUID),
        smtpConfigId: required(DataTypes.UUID),
        listId: nullable(DataTypes.UUID),
        segmentId: nullable(DataTypes.UUID),
        isTransactional: required(DataTypes.BOOLEAN, false),
        individualTracking: required(DataTypes.BOOLEAN, true),
        workerTaskId: required(DataTypes.UUID),
        expandCursor: nullable(DataTypes.TEXT),
        copiesAsked: required(DataTypes.INTEGER, 0),
        unwritten: required(DataTypes.INTEGER, 0),
        unwrittenCursor: nullable(DataTypes.TEXT),
        no: nullable(DataTypes.INTEGER),
        nextSeq: required(DataTypes.INTEGER, 1),
        expandedAt: nullable(DataTypes.DATE),
        requeueFrom: nullable(DataTypes.INTEGER),
        isInternal: required(DataTypes.BOOLEAN, false),
        apiKeyId: nullable(DataTypes.UUID),
        blocksInARow: required(DataTypes.INTEGER, 0),
        repeatedRefusal: nullable(DataTypes.TEXT),
        lastTurnAt: nullable(DataTypes.DATE),
        expansionBeganAt: nullable(DataTypes.DATE),
        startedAt: nullable(DataTypes.DATE),
        finishedAt: nullable(DataTypes.DATE),
        stoppedAt: nullable(DataTypes.DATE),
        hardBounces: required(DataTypes.INTEGER, 0),
        complaints: required(DataTypes.INTEGER, 0),
        triedUnsent: required(DataTypes.INTEGER, 0),
        guardFrom: required(DataTypes.INTEGER, 0),
        guardSince: nullable(DataTypes.DATE),
        guardStopped: required(DataTypes.BOOLEAN, false),
        restored: required(DataTypes.BOOLEAN, false),
        recipientsState: required(DataTypes.TEXT, "kept"),
        resendOf: nullable(DataTypes.UUID),
        deletedAt: nullable(DataTypes.DATE),
        emptiedAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "campaigns" },
    );
  }

  view() {
    return {
      id: this.id,
      name: this.name,
      campaign_type: this.campaignType,
      status: this.status,
      total_emails: this.totalEmails,
      sent_count: this.sentCount,
      failed_count: this.failedCount,
      suppressed_count: this.suppressedCount,
      scheduled_for: this.scheduledFor?.toISOString() ?? null,
      timezone: this.timezone,
      error: this.error,
      template_id: this.templateId,
      list_id: this.listId,
      segment_id: this.segmentId,
      smtp_config_id: this.smtpConfigId,
      is_transactional: this.isTransactional,
      started_at: this.startedAt?.toISOString() ?? null,
      finished_at: this.finishedAt?.toISOString() ?? null,
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}

interface ShownVariant {
  index: number;
  percent: number;
  subject: string;
  template_id: string | null;
}

interface ShownWinner {
  metric: WinnerMetric;
  after_minutes: number;
  index: number | null;
  due_at: string | null;
  decided_at: string | null;
}

/** The row of a statement that selects or returns CAMPAIGN_COLUMNS. */
export interface CampaignRow {
  id: string;
  name: string;
  campaign_type: CampaignType;
  status: CampaignStatus;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  suppressed_count: number;
  scheduled_for: Date | null;
  timezone: "recipient" | null;
  next_zone_at: Date | null;
  error: string | null;
  template_id: string | null;
  list_id: string | null;
  segment_id: string | null;
  smtp_config_id: string;
  is_transactional: boolean;
  started_at: Date | null;
  finished_at: Date | null;
  subject: string;
  /** Null if hits are not attributed to recipients. */
  opens: number | null;
  clicks: number | null;
  variants: ShownVariant[] | null;
  winner: ShownWinner | null;
  created_at: Date;
  updated_at: Date;
}

/** Row returned by an insert, without a campaign's counters and contents. */
export type InsertedCampaign = Omit<
  CampaignRow,
  "subject" | "opens" | "clicks" | "next_zone_at" | "variants" | "winner"
> & { individual_tracking: boolean; starts_at: Date | null };

/** A campaign without variants as it is read, built right after it was stored. */
export function rowOfNew(inserted: InsertedCampaign, subject: string): CampaignRow {
  const noCount = inserted.individual_tracking ? 0 : null;
  const { starts_at: next_zone_at } = inserted;
  return { ...inserted, subject, opens: noCount, clicks: noCount, next_zone_at, variants: null, winner: null };
}

/**
 * Error of a campaign (alias c): the error that stopped it, the number of recipients beyond the monthly quota, or what
 * it waits for: a failing SMTP server and its reply, Redis, warm-up, or the winner of its variants. Only the first is
 * stored, because senders skip campaigns with an error. Reads by primary key, and only for running campaigns.
 */
export const CAMPAIGN_ERROR = `coalesce(c.error,
  case when c.unwritten > 0 then 'The monthly email quota left no room for ' || c.unwritten || ' of ' || c.total_emails || ' recipients.' end,
  case when c.status in ('pending', 'sending') then (
    select case when s.failing_since is not null then 'Waiting for the SMTP server: ' || s.last_error
      when s.limits_unknown_until > now() then 'Waiting for Redis: sending limits cannot be counted while it is unavailable.' end
    from smtp_configs s where s.id = c.smtp_config_id and s.company_id = c.company_id) end,
  case when c.status in ('pending', 'sending') then (
    select 'Waiting for warm-up: the ' || w.taken || ' mails of its day ' || w.step || ' have left. It goes on at '
      || to_char(w.full_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '.'
    from warmup_ledgers w
    where w.company_id = c.company_id and w.smtp_config_id = c.smtp_config_id and w.full_until > now()) end,
  case when c.status in ('pending', 'sending') then (
    select 'Waiting for the winner of the variants, which is decided at '
      || to_char(w.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '.'
    from campaign_winners w
    where w.company_id = c.company_id and w.campaign_id = c.id and w.winner is null) end)`;

/** People who did it, from counters that are kept with the events: eight rows at most, by primary key. */
const unique = (type: "opened" | "clicked") => `case when c.individual_tracking then (
    select coalesce(sum(k.n), 0)::bigint from campaign_counts k
    where k.company_id = c.company_id and k.campaign_id = c.id and k.metric = '${type}_unique' and k.bucket = 0) end`;

/** When the next of its recipients are due who wait for their hour; before it has begun, the earliest at which it may. */
const NEXT_ZONE_AT = `case when c.timezone is not null then case
    when c.status = 'scheduled' then c.starts_at
    when c.status in ('pending', 'sending') then (
      select min(k.due_at) from send_chunks k where k.company_id = c.company_id and k.campaign_id = c.id and k.state = ${SEND_CHUNK_STATE.waiting})
    end end`;

/** Value of campaign c, looked up by key. */
const VARIANTS = `(select json_agg(json_build_object('index', v.index, 'percent', v.percent,
      'subject', coalesce(v.content->>'subject', t.subject), 'template_id', ${templateOfVariant("v", "c")}) order by v.index)
    from campaign_variants v
    left join campaign_contents t on t.company_id = c.company_id and t.campaign_id = c.id
    where v.company_id = c.company_id and v.campaign_id = c.id)`;
const WINNER = `(select json_build_object('metric', w.metric, 'after_minutes', w.after_minutes, 'index', w.winner,
      'due_at', w.due_at, 'decided_at', w.decided_at)
    from campaign_winners w where w.company_id = c.company_id and w.campaign_id = c.id)`;

/** Columns for a statement with campaigns c. */
export const CAMPAIGN_COLUMNS = `c.id, c.name, c.campaign_type, c.status, c.total_emails, c.sent_count, c.failed_count, c.suppressed_count,
  c.scheduled_for, c.timezone, ${NEXT_ZONE_AT} as next_zone_at, ${CAMPAIGN_ERROR} as error, c.created_at, c.updated_at,
  c.template_id, c.list_id, c.segment_id, c.smtp_config_id, c.is_transactional, c.started_at, c.finished_at,
  coalesce((select t.subject from campaign_contents t
    where t.company_id = c.company_id and t.campaign_id = c.id), '') as subject,
  ${unique("opened")} as opens, ${unique("clicked")} as clicks,
  ${VARIANTS} as variants, ${WINNER} as winner`;

const inUtc = (at: string | null) => (at === null ? null : new Date(at).toISOString());

export const campaignView = (row: CampaignRow) => {
  const { subject, opens, clicks, next_zone_at, variants, winner } = row;
  return {
    ...fromRow(Campaign, row).view(),
    next_zone_at: next_zone_at?.toISOString() ?? null,
    subject,
    opens,
    clicks,
    variants: variants ?? [],
    winner: winner && { ...winner, due_at: inUtc(winner.due_at), decided_at: inUtc(winner.decided_at) },
  };
};
