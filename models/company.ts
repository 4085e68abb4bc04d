import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from "sequelize";
import { BRANDING_KEYS, type Branding, type StoredBranding } from "../services/lib/branding/branding.ts";
import { id, nullable, required } from "./database/columns.ts";
import type { Plan } from "./plan.ts";
import type { TrackingDomain } from "./tracking-domain.ts";

/** Retention in days; missing: the installation's default. */
export type RetentionDays = Partial<Record<"events" | "sent_emails" | "inbound", number>>;

/** Thresholds that stop a campaign automatically (statements/campaign-guard.ts). */
export interface Guard {
  /** Stops a campaign if more than this percentage of tried emails bounced permanently. */
  hard_bounce_percent: number;
  complaint_percent: number;
  /** Number of tried emails below which no campaign is stopped. */
  after: number;
}
export const GUARD: Readonly<Guard> = { hard_bounce_percent: 10, complaint_percent: 0.3, after: 200 };

/** A tenant: the owner of everything else. */
export class Company extends Model<InferAttributes<Company>, InferCreationAttributes<Company>> {
  declare id: CreationOptional<string>;
  /** Short number of the company, used in large tables (hit.ts). */
  declare no: CreationOptional<number>;
  declare name: string;
  declare plan: string;
  declare replyToEmail: CreationOptional<string | null>;
  declare website: CreationOptional<string | null>;
  declare footerText: CreationOptional<string>;
  declare doubleOptIn: CreationOptional<boolean>;
  declare defaultSmtpConfigId: CreationOptional<string | null>;
  declare trackingEnabled: CreationOptional<boolean>;
  /** False: who opened or clicked is not kept, of campaigns that start from then on. */
  declare individualTracking: CreationOptional<boolean>;
  declare retentionDays: CreationOptional<RetentionDays>;
  declare retentionDoneAt: CreationOptional<Date | null>;
  declare requireAuthentication: CreationOptional<boolean>;
  /** Differences from GUARD. */
  declare guard: CreationOptional<Partial<Guard>>;
  /** An IANA name: when its days begin. */
  declare timezone: CreationOptional<string>;
  /** Attributes that public forms may set, and hosts to which they may redirect. */
  declare formAttributes: CreationOptional<string[]>;
  declare formHosts: CreationOptional<string[]>;
  /** Differences from the defaults. */
  declare branding: CreationOptional<StoredBranding>;
  declare sendingPausedAt: CreationOptional<Date | null>;
  declare confirmationWarnedAt: CreationOptional<Date | null>;
  /** Set when deletion began; rows are deleted in the background (statements/remove-company.ts). */
  declare deletedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  /** Present with `include: "planRow"`. */
  declare planRow?: NonAttribute<Plan>;

  static register(sequelize: Sequelize): void {
    Company.init(
      {
        id: id(),
        no: required(DataTypes.INTEGER, sequelize.literal("nextval('company_no')")),
        name: required(DataTypes.TEXT),
        plan: required(DataTypes.TEXT),
        replyToEmail: nullable(DataTypes.TEXT),
        website: nullable(DataTypes.TEXT),
        footerText: required(DataTypes.TEXT, ""),
        doubleOptIn: required(DataTypes.BOOLEAN, false),
        defaultSmtpConfigId: nullable(DataTypes.UUID),
        trackingEnabled: required(DataTypes.BOOLEAN, true),
        individualTracking: required(DataTypes.BOOLEAN, true),
        retentionDays: required(DataTypes.JSONB, {}),
        retentionDoneAt: nullable(DataTypes.DATE),
        requireAuthentication: required(DataTypes.BOOLEAN, false),
        guard: required(DataTypes.JSONB, {}),
        timezone: required(DataTypes.TEXT, "UTC"),
        formAttributes: required(DataTypes.ARRAY(DataTypes.TEXT), []),
        formHosts: required(DataTypes.ARRAY(DataTypes.TEXT), []),
        branding: required(DataTypes.JSONB, {}),
        sendingPausedAt: nullable(DataTypes.DATE),
        confirmationWarnedAt: nullable(DataTypes.DATE),
        deletedAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "companies" },
    );
  }

  view(trackingDomain: TrackingDomain | null = null) {
    return {
      id: this.id,
      name: this.name,
      reply_to_email: this.replyToEmail,
      website: this.website,
      footer_text: this.footerText,
      double_opt_in: this.doubleOptIn,
      default_smtp_config_id: this.defaultSmtpConfigId,
      tracking_enabled: this.trackingEnabled,
      individual_tracking: this.individualTracking,
      retention_days: {
        events: this.retentionDays.events ?? null,
        sent_emails: this.retentionDays.sent_emails ?? null,
        inbound: this.retentionDays.inbound ?? null,
      },
      require_authentication: this.requireAuthentication,
      tracking_domain: trackingDomain?.domain ?? null,
      tracking_domain_status: trackingDomain && (trackingDomain.provedAt ? ("active" as const) : ("pending" as const)),
      tracking_domain_token: trackingDomain?.token ?? null,
      guard: { ...GUARD, ...this.guard },
      timezone: this.timezone,
      form_attributes: this.formAttributes,
      form_hosts: this.formHosts,
      branding: Object.fromEntries(BRANDING_KEYS.map((key) => [key, this.branding[key] ?? null])) as {
        [Key in keyof Branding]: Branding[Key] | null;
      },
      sending_paused_at: this.sendingPausedAt?.toISOString() ?? null,
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}
