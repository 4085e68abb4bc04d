import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { BounceMailbox } from "./bounce-mailbox.ts";
import { company, id, nullable, required } from "./database/columns.ts";
import type { Warmup } from "./warmup-ledger.ts";

/** How TLS begins: `auto` is implicit on port 465, else STARTTLS, and none without `useTls`. */
export const TLS_MODES = ["auto", "implicit", "starttls", "none"] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** A check of the deliverability report that failed, and what to do about it. */
/** Checks of the deliverability report. */
export const CHECK_NAMES = ["spf", "dkim", "dmarc", "alignment", "mx", "links", "bounce_address"] as const;

export interface CheckFailure {
  name: (typeof CHECK_NAMES)[number];
  help: string;
}

/** Limits of a recipient domain; a missing limit means unlimited. */
export interface DomainLimit {
  /** Domain in wire form: lower case, A-labels. */
  domain: string;
  max_per_minute?: number;
  max_connections?: number;
}

/** An SMTP server that a company sends through. Password and DKIM key are envelopes of services/lib/secrets.ts, sealed to the id; further DKIM keys have a table of their own. */
export class SmtpConfig extends Model<InferAttributes<SmtpConfig>, InferCreationAttributes<SmtpConfig>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare host: string;
  declare port: number;
  declare username: CreationOptional<string>;
  declare passwordSealed: CreationOptional<Buffer | null>;
  declare useTls: CreationOptional<boolean>;
  declare tlsMode: CreationOptional<TlsMode>;
  declare senderName: CreationOptional<string>;
  declare senderEmail: string;
  declare replyToEmail: CreationOptional<string | null>;
  declare bounceAddress: CreationOptional<string | null>;
  declare dkimDomain: CreationOptional<string | null>;
  declare dkimSelector: CreationOptional<string | null>;
  declare dkimKeySealed: CreationOptional<Buffer | null>;
  /** Text of the record to publish, for a generated key. */
  declare dkimRecord: CreationOptional<string | null>;
  declare maxConnections: CreationOptional<number>;
  declare maxPerSecond: CreationOptional<number | null>;
  declare warmup: CreationOptional<Warmup | null>;
  declare domainLimits: CreationOptional<DomainLimit[]>;
  declare isDefault: CreationOptional<boolean>;
  declare failingSince: CreationOptional<Date | null>;
  declare backoffUntil: CreationOptional<Date | null>;
  declare backoffCount: CreationOptional<number>;
  declare lastError: CreationOptional<string | null>;
  /** Set while its limits cannot be counted; its campaigns report it. */
  declare limitsUnknownUntil: CreationOptional<Date | null>;
  declare lastErrorAt: CreationOptional<Date | null>;
  declare workedAt: CreationOptional<Date | null>;
  declare checkedAt: CreationOptional<Date | null>;
  declare checkFailures: CreationOptional<CheckFailure[]>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    SmtpConfig.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        host: required(DataTypes.TEXT),
        port: required(DataTypes.INTEGER),
        username: required(DataTypes.TEXT, ""),
        passwordSealed: nullable(DataTypes.BLOB),
        useTls: required(DataTypes.BOOLEAN, true),
        tlsMode: required(DataTypes.TEXT, "auto"),
        senderName: required(DataTypes.TEXT, ""),
        senderEmail: required(DataTypes.TEXT),
        replyToEmail: nullable(DataTypes.TEXT),
        bounceAddress: nullable(DataTypes.TEXT),
        dkimDomain: nullable(DataTypes.TEXT),
        dkimSelector: nullable(DataTypes.TEXT),
        dkimKeySealed: nullable(DataTypes.BLOB),
        dkimRecord: nullable(DataTypes.TEXT),
        maxConnections: required(DataTypes.INTEGER, 10),
        maxPerSecond: nullable(DataTypes.INTEGER),
        warmup: nullable(DataTypes.JSONB),
        domainLimits: required(DataTypes.JSONB, []),
        isDefault: required(DataTypes.BOOLEAN, false),
        failingSince: nullable(DataTypes.DATE),
        backoffUntil: nullable(DataTypes.DATE),
        backoffCount: required(DataTypes.INTEGER, 0),
        lastError: nullable(DataTypes.TEXT),
        lastErrorAt: nullable(DataTypes.DATE),
        limitsUnknownUntil: nullable(DataTypes.DATE),
        workedAt: nullable(DataTypes.DATE),
        checkedAt: nullable(DataTypes.DATE),
        checkFailures: required(DataTypes.JSONB, []),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "smtp_configs" },
    );
  }

  /** `mailbox`: the mailbox that receives bounces. Like DKIM keys, it has a separate table. */
  view<Keys>(mailbox: BounceMailbox | null, keys: Keys) {
    return {
      id: this.id,
      name: this.name,
      host: this.host,
      port: this.port,
      use_tls: this.useTls,
      tls_mode: this.tlsMode,
      sender_name: this.senderName,
      sender_email: this.senderEmail,
      reply_to_email: this.replyToEmail,
      bounce_address: this.bounceAddress,
      bounce_mailbox: mailbox?.view() ?? null,
      ...keys,
      max_connections: this.maxConnections,
      max_per_second: this.maxPerSecond,
      warmup: this.warmup,
      domain_limits: this.domainLimits,
      is_default: this.isDefault,
      working: this.failingSince === null,
      last_error: this.lastError,
      last_error_at: this.lastErrorAt?.toISOString() ?? null,
      backing_off_until: this.failingSince === null ? null : (this.backoffUntil?.toISOString() ?? null),
      checked_at: this.checkedAt?.toISOString() ?? null,
      check_failures: this.checkedAt ? this.checkFailures : [],
      created_at: this.createdAt.toISOString(),
    };
  }
}
