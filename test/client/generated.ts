// Written by `npm run client` from the OpenAPI document. Changes belong into the contracts.

/** Error as a sentence; `code` where programs need to distinguish errors. */
export type Error = {
  detail: Detail;
  /** Error code for programs. */
  code?: string;
};

/** All errors of the request, by field. */
export type FieldErrors = {
  [name: string]: string[];
};

/** The company's plan does not include the feature. */
export type FeatureNotAvailable = {
  /** Message for people. */
  detail: {
    /** Error code. */
    code: "feature_not_available";
    /** Message for people. */
    message: string;
    /** Missing feature. */
    feature: string;
    /** The company's plan. */
    package: string;
  };
};

/** The daily limit of API calls is used up. */
export type DailyQuotaExceeded = {
  /** Message for people. */
  detail: {
    /** Error code. */
    code: "rate_limit_exceeded";
    /** Message for people. */
    message: string;
    /** Calls per day. */
    limit: number;
    /** Calls made today. */
    current: number;
  };
};

/** The hourly limit of mails is used up. */
export type SmtpRateLimited = {
  /** Message for people. */
  detail: {
    /** Error code. */
    code: "smtp_rate_limited";
    /** Message for people. */
    message: string;
    /** The limit that is used up. */
    limit_type: "hourly";
  };
};

/** Internal error, logged under `request_id`. */
export type InternalError = {
  detail: Detail;
  /** Id of this request in the service's log. */
  request_id: string;
};

/** Total number of entries on all pages. */
export type Count = number;

/** True if `count` is an estimate because counting takes more than 2 seconds; omitted if it is exact. */
export type CountEstimated = boolean;

/** URL of the next page, to be requested unchanged; null on the last one. */
export type NextPage = string | null;

/** URL of the previous page; null on the first one. */
export type PreviousPage = string | null;

/** Body of a webhook request. */
export type WebhookEvent = {
  /** The event's id. */
  id: string;
  /** Type of the event. */
  type:
    | "delivered"
    | "opened"
    | "clicked"
    | "bounced"
    | "unsubscribed"
    | "complained"
    | "failed"
    | "campaign.completed"
    | "subscribed"
    | "confirmed";
  /** Recipient; null for events about a campaign. */
  recipient: string | null;
  /** Sent email; null if the event concerns none. */
  sent_email_id: string | null;
  /** Campaign; null if the event concerns none. */
  campaign_id: string | null;
  /** Details by type. */
  metadata: {
    [name: string]: unknown;
  };
  /** Time of the event. */
  timestamp: string;
};

/** One send: its content, audience, mail server and progress. */
export type Campaign = {
  id: Id;
  name: NameOfListCampaigns;
  campaign_type: CampaignType;
  status: Status;
  total_emails: TotalEmails;
  sent_count: SentCount;
  failed_count: FailedCount;
  suppressed_count: SuppressedCount;
  scheduled_for: ScheduledFor;
  timezone: Timezone;
  next_zone_at: NextZoneAt;
  error: ErrorOfListCampaigns;
  subject: Subject;
  template_id: TemplateId;
  list_id: ListId;
  segment_id: SegmentId;
  smtp_config_id: SmtpConfigId;
  is_transactional: IsTransactional;
  variants: Variants;
  winner: Winner;
  started_at: StartedAt;
  finished_at: FinishedAt;
  opens: Opens;
  clicks: Clicks;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  /** Extension. Design that the campaign's own content was made from; null for a template or HTML. Not in lists. */
  design: Design | null;
};

/** A campaign with its sources. */
export type NewCampaign = {
  id: Id;
  name: NameOfListCampaigns;
  campaign_type: CampaignType;
  status: Status;
  total_emails: TotalEmails;
  sent_count: SentCount;
  failed_count: FailedCount;
  suppressed_count: SuppressedCount;
  scheduled_for: ScheduledFor;
  timezone: Timezone;
  next_zone_at: NextZoneAt;
  error: ErrorOfListCampaigns;
  subject: Subject;
  template_id: TemplateId;
  list_id: ListId;
  segment_id: SegmentId;
  smtp_config_id: SmtpConfigId;
  is_transactional: IsTransactional;
  variants: Variants;
  winner: Winner;
  started_at: StartedAt;
  finished_at: FinishedAt;
  opens: Opens;
  clicks: Clicks;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  company: CompanyOfSendToList;
  /** Source template. */
  template: string | null;
  /** Lists that it is sent to. */
  lists: string[];
  /** Accepted for compatibility; has no effect. */
  worker_task_id: string;
  /** Extension. Warnings about this send, which is accepted all the same, and about a body in the request: placeholders of other products, MJML, several lines without tags. Senders in a reserved domain (`.test`, `.example`, `.invalid`, `.localhost`) get none about deliverability. */
  warnings: string[];
};

/** One reason for failed recipients. */
export type CampaignFailure = {
  /** Unique text; addresses within are replaced by `<address>`. */
  reason: string;
  /** SMTP reply code. */
  smtp_code: number | null;
  /** Enhanced status code (RFC 3463). */
  enhanced_code: string | null;
  bounce_type: BounceType;
  /** Recipients that failed for this reason. */
  count: number;
  /** Example address; null if no rows are kept. */
  example: string | null;
  /** How to fix it. */
  help: string;
  /** Present only when `count` is an estimate. */
  estimated?: boolean;
};

/** A person who can receive campaigns. */
export type Subscriber = {
  id: Id;
  email: Email;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  /** Only `active` subscribers get campaigns. */
  status: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
  /** Suppression of the address or its domain, which keeps mail from it; null if none. */
  suppression: {
    /** Reason for the suppression; `unsubscribed` lets transactional mail through. */
    kind: "manual" | "unsubscribed" | "bounced" | "complained";
    created_at: CreatedAt;
  } | null;
  attributes: SubscriberAttributes;
  /** Lists of the subscriber. */
  lists: string[];
  created_at: CreatedAt;
};

/** Custom fields, usable as template variables and in segments. */
export type SubscriberAttributes = {
  [name: string]: string | number | boolean | string[];
};

/** A named group of subscribers. */
export type SubscriberList = {
  id: Id;
  /** Name; shown to subscribers if the list is public. */
  name: string;
  description: DescriptionOfSubscriberList;
  visibility: Visibility;
  /** Name shown to subscribers of a public list; empty: the list's name. */
  public_name: string;
  /** Description shown to subscribers of a public list. */
  public_description: string;
  archive: Archive;
  double_opt_in: DoubleOptIn;
  subscriber_count: SubscriberCount;
  created_at: CreatedAt;
};

/** Subject and body with variables. */
export type EmailTemplate = {
  id: Id;
  name: NameOfEmailTemplate;
  subject: SubjectOfEmailTemplate;
  body: BodyOfEmailTemplate;
  preheader: PreheaderOfGetTemplateVersion;
  text_body: TextBodyOfGetTemplateVersion;
  inline_css: InlineCss;
  design?: DesignOfEmailTemplate;
  markdown?: MarkdownOfEmailTemplate;
  template_mode: TemplateMode;
  template_type: TemplateType;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** Blocks that designs share. */
export type SavedBlock = {
  id: Id;
  name: NameOfUpdateSavedBlock;
  blocks?: BlocksOfUpdateSavedBlock;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** A template with warnings. */
export type SavedTemplate = {
  id: Id;
  name: NameOfEmailTemplate;
  subject: SubjectOfEmailTemplate;
  body: BodyOfEmailTemplate;
  preheader: PreheaderOfGetTemplateVersion;
  text_body: TextBodyOfGetTemplateVersion;
  inline_css: InlineCss;
  design?: DesignOfEmailTemplate;
  markdown?: MarkdownOfEmailTemplate;
  template_mode: TemplateMode;
  template_type: TemplateType;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  warnings: Warnings;
};

/** A mail server and its sending settings. */
export type SmtpConfiguration = {
  id: Id;
  name: NameOfListListsOfSubscriber;
  host: HostOfSmtpConfiguration;
  port: PortOfSmtpConfiguration;
  use_tls: UseTls;
  tls_mode: TlsMode;
  /** Sender name (From). */
  sender_name: string;
  /** Sender address (From). */
  sender_email: string;
  /** Reply-To address. */
  reply_to_email: string | null;
  /** Address for bounces; each mail's envelope sender is this address with a token. */
  bounce_address: string | null;
  /** IMAP mailbox that receives bounces; null: none. */
  bounce_mailbox: {
    host: HostOfSmtpConfiguration;
    port: PortOfSmtpConfiguration;
    /** Login name; empty for no login. */
    username: string;
    use_tls: UseTls;
    /** Folder to read. */
    folder: string;
    /** Folder that read mails are moved to. */
    processed_folder: string;
    last_error: LastErrorOfSmtpConfiguration;
    last_error_at: LastErrorAt;
  } | null;
  /** Signing keys: one, or an array of two (RSA and Ed25519); null: mails are not signed. */
  dkim:
    | {
        domain: DomainOfListSlowDomains;
        selector: SelectorOfSmtpConfiguration;
        algorithm?: Algorithm;
        record?: RecordOfSmtpConfiguration;
        active?: Active;
      }
    | {
        domain: DomainOfListSlowDomains;
        selector: SelectorOfSmtpConfiguration;
        algorithm?: Algorithm;
        record?: RecordOfSmtpConfiguration;
        active?: Active;
      }[]
    | null;
  /** Generated keys that wait for their DNS record. */
  dkim_waiting: DkimKey[];
  max_connections: MaxConnectionsOfSmtpConfiguration;
  /** Maximum mails per second; null: no limit. */
  max_per_second: number | null;
  /** Daily limits that build a new sender's reputation; null: no limit. */
  warmup: {
    /** Mails per day on the first day. */
    start_per_day: number;
    /** Daily growth factor (1.5 means 50 % more each day). */
    factor: number;
    /** Maximum mails per day. */
    until_per_day: number;
  } | null;
  /** Limits for recipient domains. */
  domain_limits: {
    domain: DomainOfGetDomainStats;
    /** Maximum mails in any 60 seconds; null: no limit. */
    max_per_minute?: number;
    max_connections?: MaxConnectionsOfSmtpConfiguration;
  }[];
  is_default: IsDefault;
  /** False while the server accepts no mail. */
  working: boolean;
  last_error: LastErrorOfSmtpConfiguration;
  last_error_at: LastErrorAt;
  backing_off_until: NextAttemptAt;
  /** Time of the last DNS check; null: not checked since the last change. */
  checked_at: string | null;
  /** Failed checks of the deliverability report. */
  check_failures: {
    name: NameOfGetDeliverability;
    /** How to fix it. */
    help: string;
  }[];
  created_at: CreatedAt;
};

/** A generated DKIM key. */
export type DkimKey = {
  domain: DomainOfListSlowDomains;
  selector: SelectorOfSmtpConfiguration;
  algorithm: Algorithm;
  record: RecordOfSmtpConfiguration;
  active: Active;
};

/** Signing keys; null: mails are not signed. */
export type GivenDkimKeys =
  | {
      domain: Domain;
      selector: Selector;
      private_key?: PrivateKey;
    }
  | {
      domain: Domain;
      selector: Selector;
      private_key?: PrivateKey;
    }[]
  | null;

/** IMAP mailbox that receives bounces; null removes it. */
export type GivenBounceMailbox = {
  host?: Host;
  /** Port. */
  port?: number | null;
  username?: Username;
  /** Password for the login. Write-only. */
  password?: string;
  /** Whether TLS is required. */
  use_tls?: boolean | null;
  /** Folder to read. */
  folder?: string | null;
  /** Folder that read mails are moved to. */
  processed_folder?: string | null;
} | null;

/** Daily limits that build a new sender's reputation; null: no limit. */
export type WarmUp = {
  /** Mails per day on the first day. */
  start_per_day: number;
  /** Daily growth factor (1.5 means 50 % more each day). */
  factor: number;
  /** Maximum mails per day; `warmup: null` ends warm-up. */
  until_per_day: number;
} | null;

/** Limits for recipient domains. */
export type GivenDomainLimits =
  | {
      domain: Domain;
      /** Maximum mails in any 60 seconds; null: no limit. */
      max_per_minute?: number | null;
      /** Maximum concurrent connections. */
      max_connections?: number | null;
    }[]
  | null;

/** URL that receives the events. */
export type WebhookEndpoint = {
  id: Id;
  url: UrlOfCreateWebhookEndpoint;
  events: EventsOfCreateWebhookEndpoint;
  failing_since: FailingSince;
  disabled_at: DisabledAt;
  created_at: CreatedAt;
};

/** Delivery of one event to one endpoint. */
export type WebhookDelivery = {
  id: Id;
  event_id: EventId;
  event_type: EventType;
  status: StatusOfGetWebhookDelivery;
  attempts: Attempts;
  response_status: ResponseStatus;
  last_error: LastError;
  next_attempt_at: NextAttemptAt;
  created_at: CreatedAt;
};

/** A received bounce, complaint or other message. */
export type InboundMessage = {
  id: Id;
  /** Time of arrival. */
  received_at: string;
  /** Source: `smtp` (listener), `imap` (mailbox), `api`, or the provider. */
  via: "smtp" | "imap" | "api" | "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";
  sent_email_id: SentEmailId;
  /** Recipient address. */
  recipient: string | null;
  /** `unmatched`: it belongs to no mail of the company and changed nothing. */
  result: "bounced" | "complained" | "ignored" | "unmatched";
  bounce_type: BounceType;
  /** Reply of the server that refused the mail; starts with `Reported for` and an address if the report names another one than the recipient (forwarded mail). */
  diagnostic: string | null;
  /** Original message, kept for 30 days. */
  raw_url: string | null;
};

/** Address for a provider's reports. */
export type InboundSource = {
  id: Id;
  provider: Provider;
  /** URL that the provider posts to. It contains a token: keep it secret. */
  url: string;
  created_at: CreatedAt;
};

/** An address or domain that receives no mail. */
export type Suppression = {
  id: Id;
  /** Suppressed address; null for a domain. */
  email: string | null;
  /** Suppressed domain; null for an address. */
  domain: string | null;
  /** Reason for the suppression; the stronger kind wins. */
  kind: "manual" | "unsubscribed" | "bounced" | "complained";
  /** Reason. */
  reason: string;
  created_at: CreatedAt;
};

/** A segment with its current size. */
export type Segment = {
  id: Id;
  name: NameOfSegment;
  description: DescriptionOfSubscriberList;
  rules: SegmentRules;
  created_at: CreatedAt;
  /** Number of subscribers; null if not counted. */
  subscriber_count: number | null;
  subscriber_count_is_estimate: SubscriberCountIsEstimate;
  not_dates: NotDates;
};

/** A group of subscribers defined by rules. */
export type SegmentDefinition = {
  id: Id;
  name: NameOfSegment;
  description: DescriptionOfSubscriberList;
  rules: SegmentRules;
  created_at: CreatedAt;
};

/** Rules of a segment. */
export type SegmentRules = {
  /** Whether all conditions must match, or any. */
  match?: "all" | "any";
  /** A condition: field, operator and value. `attributes.city` becomes `attributes.City` where subscribers have only that. */
  conditions: (
    | {
        field: Field4;
        operator: Operator3;
        value: Value;
      }
    | {
        field: Field4;
        operator: Operator;
        value: ValueOfSegmentRules;
      }
    | {
        field: Field5;
        operator: Operator3;
        value: Value;
      }
    | {
        field: Field5;
        operator: Operator;
        value: ValueOfSegmentRules;
      }
    | {
        field: FieldOfSegmentRules;
        operator: Operator3;
        value: Value;
      }
    | {
        field: FieldOfSegmentRules;
        operator: Operator;
        value: ValueOfSegmentRules;
      }
    | {
        field: FieldOfSegmentRules;
        operator: Operator2;
        /** Ignored. */
        value?: unknown;
      }
    | {
        field: Field6;
        operator: OperatorOfSegmentRules;
        /** Value or values to compare with. */
        value: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
      }
    | {
        field: Field6;
        operator: Operator;
        /** Value or values to compare with. */
        value: ("active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained")[];
      }
    | {
        field: Field7;
        operator: Operator5;
        value: Value2;
      }
    | {
        field: Field7;
        operator: Operator4;
        value: Value3;
      }
    | {
        field: Field2;
        operator: Operator5;
        value: Value2;
      }
    | {
        field: Field2;
        operator: Operator4;
        value: Value3;
      }
    | {
        field: Field2;
        operator: Operator2;
        /** Ignored. */
        value?: unknown;
      }
    | {
        /** Field of the subscriber. */
        field: "soft_bounces";
        /** How the field is compared. */
        operator: "equals" | "not_equals" | "gt" | "gte" | "lt" | "lte";
        value: Value6;
      }
    | {
        /** Field of the subscriber. */
        field: "complained";
        operator: OperatorOfSegmentRules;
        /** Value or values to compare with. */
        value: boolean;
      }
    | {
        field: Field3;
        operator: OperatorOfSegmentRules;
        value: Value4;
      }
    | {
        field: Field3;
        operator: Operator;
        value: Value5;
      }
    | {
        field: Field3;
        operator: Operator2;
        /** Ignored. */
        value?: unknown;
      }
    | {
        field: Field8;
        operator: OperatorOfSegmentRules;
        value: Value4;
      }
    | {
        field: Field8;
        operator: Operator;
        value: Value5;
      }
    | {
        field: Field9;
        operator: OperatorOfSegmentRules;
        value: Value4;
      }
    | {
        field: Field9;
        operator: Operator;
        value: Value5;
      }
    | {
        field: Field;
        operator: OperatorOfSegmentRules;
        /** Value or values to compare with. */
        value: string | number | boolean;
      }
    | {
        field: Field;
        /** How the field is compared. */
        operator: "contains" | "not_contains" | "starts_with" | "ends_with";
        value: Value;
      }
    | {
        field: Field;
        operator: Operator;
        /** Value or values to compare with. */
        value: (string | number | boolean)[];
      }
    | {
        field: Field;
        /** How the field is compared. */
        operator: "gt" | "gte" | "lt" | "lte";
        value: Value6;
      }
    | {
        field: Field;
        /** How the field is compared. */
        operator: "before" | "after";
        value: Value2;
      }
    | {
        field: Field;
        operator: Operator4;
        value: Value3;
      }
    | {
        field: Field;
        operator: Operator2;
        /** Ignored. */
        value?: unknown;
      }
  )[];
};

/** Result of an import. */
export type ImportReport = {
  import_id: ImportId;
  total: Total;
  created: Created;
  updated: Updated;
  skipped: Skipped;
  repeated: Repeated;
  suppressed: Suppressed;
  errors: ErrorsOfImportReport;
  errors_count: ErrorsCount;
  errors_url: ErrorsUrl;
  columns: Columns;
  decoded_cells: DecodedCells;
};

/** An uploaded file, waiting or being imported. */
export type Import = {
  id: Id;
  /** Current state. */
  status: "waiting" | "running" | "done" | "failed";
  /** Size of the file in bytes. */
  bytes: number;
  /** Bytes read so far. */
  bytes_read: number;
  import_id: ImportId;
  total: Total;
  created: Created;
  updated: Updated;
  skipped: Skipped;
  repeated: Repeated;
  suppressed: Suppressed;
  errors: ErrorsOfImportReport;
  errors_count: ErrorsCount;
  errors_url: ErrorsUrl;
  columns: Columns;
  decoded_cells: DecodedCells;
  /** Reason for the failure; nothing was imported. */
  error: string | null;
  /** File name of the upload. */
  filename: string;
  /** List that the people are added to. */
  list_id: string | null;
  /** Column mapping, as requested. */
  mapping: {
    [name: string]: string | null;
  };
  /** Character encoding of the file. */
  charset: string | null;
  /** Treatment of existing subscribers. */
  on_conflict: "update" | "skip";
  /** Order of dates such as 03/04/2000. Without it each column's own cells decide (31/12 is unambiguous); otherwise they stay text. */
  date_order: "dmy" | "mdy" | null;
  header: Header;
  /** True if it only checks the file. */
  dry_run: boolean;
  /** True while the file is kept and can be started, also after a dry run or a failure. */
  startable: boolean;
  created_at: CreatedAt;
  /** Time when the import, its file and its errors are deleted. */
  kept_until: string;
};

/** An image or attachment. */
export type MediaFile = {
  id: Id;
  /** The file's name. */
  filename: string;
  /** Extension. Folder of the file; empty: in no folder. */
  folder: string;
  /** Extension. Text for people who do not see the image; offered as its alt text where the image is used. */
  alt: string;
  /** Extension. Id of the image that this copy was made from, also if that image was deleted; null for an upload. */
  copy_of: string | null;
  /** Extension. The part of the image that the copy shows; null for all of it, and for an upload. */
  crop: {
    left: Left;
    top: Top;
    width: Width;
    height: Height;
  } | null;
  /** Detected from the file's content. */
  content_type: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the content, hexadecimal. */
  sha256: string;
  /** Public URL of the file. */
  url: string;
  created_at: CreatedAt;
};

/** Results of a campaign. */
export type Analytics = {
  campaign_id: CampaignIdOfAnalytics;
  /** Recipients of the campaign. */
  total_emails: number;
  sent: Sent;
  /** Recipients without an accepted mail. */
  failed: number;
  delivered: Delivered;
  /** Bounced mails. */
  bounced: number;
  /** Bounced mails by kind. */
  bounces: {
    hard: Hard;
    soft: Soft;
    block: Block;
  };
  complaints: Complaints;
  /** Recipients who unsubscribed through this campaign. */
  unsubscribed: number;
  /** Opens of this campaign. */
  opens: {
    total: TotalOfAnalytics;
    unique: Unique;
    machine: MachineOfAnalytics;
  };
  /** Clicks in this campaign. */
  clicks: {
    total: TotalOfAnalytics;
    unique: Unique;
    machine: MachineOfAnalytics;
  };
  /** Extension. Opens and clicks beyond 60 a minute from one address on one mail. */
  not_recorded: {
    /** Opens that no other count includes. */
    opens: number;
    /** Clicks that are in no other number. */
    clicks: number;
  };
  /** Rates between 0 and 1. */
  rates: {
    /** Null for a campaign without individual tracking. */
    open: number | null;
    /** Null for a campaign without individual tracking. */
    click: number | null;
    /** Null for a campaign without individual tracking. */
    click_to_open: number | null;
    /** Bounced mails divided by accepted and bounced mails. */
    bounce: number;
    /** Unsubscribed recipients divided by delivered mails. */
    unsubscribe: number;
  };
  /** Links, most clicked first. */
  links: {
    /** URL. */
    url: string;
    /** All clicks by people. */
    total: number;
    unique: Unique;
  }[];
  /** Opens and clicks over time. */
  timeline: {
    at: AtOfAnalytics;
    /** Opens by people. */
    opens: number;
    /** Clicks by people. */
    clicks: number;
  }[];
  /** Extension. Results of an A/B test's variants, in the order of the request; empty without a test. */
  variants: {
    index: Index;
    /** Requested share of the recipients. */
    percent: number;
    /** Accepted mails with this variant; for the winner including those to the remaining recipients. */
    sent: number;
    /** People who opened at least one of these mails, without scanners and proxies. */
    opens: number;
    /** People who clicked in at least one of these mails, without scanners and proxies. */
    clicks: number;
  }[];
};

/** One mail to one recipient. */
export type SentEmail = {
  id: Id;
  campaign_id: CampaignIdOfAnalytics;
  /** Subscriber; null if deleted or never created. */
  subscriber_id: string | null;
  recipient: Recipient;
  /** Visible copy recipients. */
  cc: string[];
  /** Hidden copy recipients. */
  bcc: string[];
  /** Status of each copy. */
  copies: {
    email: EmailOfConfirmSubscription;
    /** Header of the copy: cc or bcc. */
    kind: "cc" | "bcc";
    /** Status of this copy; it does not affect the mail itself. */
    status: "queued" | "sending" | "sent" | "failed" | "bounced" | "suppressed" | "unknown";
    error: ErrorOfSentEmail;
    sent_at: SentAt;
  }[];
  /** Subject as sent. */
  subject: string;
  /** `unknown`: handed over without an answer; `suppressed`: skipped, `error` gives the reason. */
  status: "queued" | "sending" | "sent" | "failed" | "bounced" | "suppressed" | "unknown";
  attempts: Attempts;
  error: ErrorOfSentEmail;
  /** Reply of the accepting mail server. */
  smtp_response: string | null;
  /** Message-ID of the mail. */
  message_id: string;
  /** Time of the first open by a person. */
  opened_at: string | null;
  /** Time of the first click by a person. */
  clicked_at: string | null;
  /** Time of the bounce. */
  bounced_at: string | null;
  sent_at: SentAt;
  created_at: CreatedAt;
};

/** An event of a mail. */
export type EmailEvent = {
  id: Id;
  /** Type of event. */
  type: "opened" | "clicked" | "bounced" | "unsubscribed" | "complained";
  recipient: Recipient;
  sent_email_id: SentEmailId;
  /** The campaign. */
  campaign_id: string | null;
  /** Details by type. */
  metadata: {
    [name: string]: unknown;
  };
  timestamp: At;
};

/** A subscriber's preferences. */
export type Preferences = {
  email: EmailOfConfirmSubscription;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  /** Whether the subscriber wants mail. */
  subscribed: boolean;
  /** Lists of the subscriber. */
  lists: {
    id: Id;
    /** Shown to subscribers. */
    name: string;
    subscribed: SubscribedOfUpdatePreferences;
  }[];
};

/** A company and its settings. */
export type Company = {
  id: Id;
  name: NameOfCompany;
  reply_to_email: ReplyToEmailOfCompany;
  website: WebsiteOfCompany;
  footer_text: FooterTextOfCompany;
  double_opt_in: DoubleOptInOfUpdateCompany;
  default_smtp_config_id: DefaultSmtpConfigId;
  tracking_enabled: TrackingEnabled;
  individual_tracking: IndividualTracking;
  retention_days: RetentionDays;
  require_authentication: RequireAuthentication;
  tracking_domain: TrackingDomain;
  tracking_domain_status: TrackingDomainStatus;
  tracking_domain_token: TrackingDomainToken;
  guard: Guard;
  timezone: TimezoneOfCompany;
  form_attributes: FormAttributes;
  form_hosts: FormHosts;
  branding: Branding;
  sending_paused_at: SendingPausedAt;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** A company with the person's role. */
export type CompanyWithRole = {
  id: Id;
  name: NameOfCompany;
  reply_to_email: ReplyToEmailOfCompany;
  website: WebsiteOfCompany;
  footer_text: FooterTextOfCompany;
  double_opt_in: DoubleOptInOfUpdateCompany;
  default_smtp_config_id: DefaultSmtpConfigId;
  tracking_enabled: TrackingEnabled;
  individual_tracking: IndividualTracking;
  retention_days: RetentionDays;
  require_authentication: RequireAuthentication;
  tracking_domain: TrackingDomain;
  tracking_domain_status: TrackingDomainStatus;
  tracking_domain_token: TrackingDomainToken;
  guard: Guard;
  timezone: TimezoneOfCompany;
  form_attributes: FormAttributes;
  form_hosts: FormHosts;
  branding: Branding;
  sending_paused_at: SendingPausedAt;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  role: Role;
};

/** A person who can sign in. */
export type User = {
  id: Id;
  email: EmailOfConfirmSubscription;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  created_at: CreatedAt;
};

/** Tokens of a session. */
export type Tokens = {
  access: Access;
  refresh: Refresh;
};

/** An API key, without the key itself. */
export type ApiKey = {
  id: Id;
  name: NameOfCreateApiKey;
  prefix: Prefix;
  scopes: Scopes;
  allowed_ips: AllowedIps;
  created_by: CreatedByOfCreateApiKey;
  expires_at: ExpiresAt;
  last_used_at: LastUsedAt;
  created_at: CreatedAt;
};

/** A member of a company, or an invited person. */
export type Member = {
  id: Id;
  /** The user; null while invited. */
  user_id: string | null;
  email: EmailOfConfirmSubscription;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  role: Role;
  /** Current state. */
  status: "active" | "invited";
  /** When the invitation was accepted. */
  joined_at: string | null;
  expires_at: ExpiresAt;
};

/** The company's plan and usage. */
export type PlanUsage = {
  /** Name. */
  plan: string;
  /** Features of the plan. */
  features: string[];
  /** Limits of the plan; null: no limit. */
  limits: {
    /** API calls per day (UTC). */
    api_calls_per_day: number | null;
    /** Subscribers. */
    subscribers: number | null;
    /** Mails per month (UTC). */
    emails_per_month: number | null;
    /** Mails in any 60 minutes. */
    smtp_per_hour: number | null;
    /** Bytes of media files. */
    media_bytes: number | null;
  };
  /** Usage in this period. */
  usage: {
    /** API calls per day (UTC). */
    api_calls_per_day: number;
    /** Subscribers. */
    subscribers: number;
    /** Mails per month (UTC). */
    emails_per_month: number;
    /** Mails in any 60 minutes. */
    smtp_per_hour: number;
    /** Bytes of media files. */
    media_bytes: number;
  };
  /** Month of the mail quota. */
  period: {
    start: AtOfAnalytics;
    /** End of the interval. */
    end: string;
  };
};

/** Extension. Document of a visual template: a tree of blocks, from which body and text part are made. */
export type Design = {
  /** Version of this format. */
  version: 1;
  /** Look of the whole mail. */
  settings?: {
    /** Width in pixels; 0: as wide as possible. */
    width?: number;
    /** Background colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty. */
    background?: string;
    /** Background of sections that have none of their own. */
    content_background?: string;
    /** Colour of texts that have none of their own. */
    text_color?: string;
    /** Colour of links in texts. */
    link_color?: string;
    /** Language of the mail (BCP 47), for screen readers. Empty: unknown. */
    language?: string;
  };
  blocks: Blocks;
};

/** Heading. */
export type DesignBlockHeading = {
  /** Kind. */
  type: "heading";
  text?: Text;
  /** Level of the heading; 1 is the largest. */
  level?: "1" | "2" | "3";
  align?: Align;
  /** Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one. */
  color?: string;
};

/** Text. */
export type DesignBlockText = {
  type: TypeOfDesignBlockText;
  content?: DesignRichText;
  /** Size of the text in pixels. */
  size?: number;
  align?: Align;
  /** Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one. */
  color?: string;
};

/** Image, which may be a link. */
export type DesignBlockImage = {
  /** Kind. */
  type: "image";
  src?: Src;
  alt?: Alt;
  href?: Href;
  /** Width in pixels; 0: as wide as possible. */
  width?: number;
  /** Radius of the corners in pixels. */
  radius?: number;
  align?: Align;
};

/** Button. */
export type DesignBlockButton = {
  /** Kind. */
  type: "button";
  /** Text; may contain variables. */
  text?: string;
  href?: Href;
  /** Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one. */
  color?: string;
  /** Background colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty. */
  background?: string;
  align?: Align;
  /** True: as wide as the column. */
  wide?: boolean;
};

/** Horizontal line. */
export type DesignBlockDivider = {
  /** Kind. */
  type: "divider";
  /** Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one. */
  color?: string;
  /** Thickness in pixels. */
  thickness?: number;
};

/** Empty space. */
export type DesignBlockSpacer = {
  /** Kind. */
  type: "spacer";
  /** Height in pixels. */
  height?: number;
};

/** List of short texts. */
export type DesignBlockList = {
  /** Kind. */
  type: "list";
  /** Entries, in order. */
  entries?: {
    text?: Text;
  }[];
  /** Marks before the entries. */
  kind?: "bullets" | "numbers" | "checks";
};

/** Quotation. */
export type DesignBlockQuote = {
  /** Kind. */
  type: "quote";
  /** Text; may contain variables. */
  text?: string;
  /** Name of the person quoted. Empty: no name is shown. */
  author?: string;
  /** Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one. */
  color?: string;
};

/** Table of texts. */
export type DesignBlockTable = {
  /** Kind. */
  type: "table";
  /** True: the first row has the headings of the columns. */
  header?: boolean;
  /** Rows, in order. */
  rows?: {
    /** Cells of the row, as many as the first row has. */
    cells?: {
      text?: Text;
    }[];
  }[];
};

/** Card of a product: image, title, text, price and button. */
export type DesignBlockCard = {
  /** Kind. */
  type: "card";
  src?: Src;
  alt?: Alt;
  /** Title; may contain variables. */
  title?: string;
  /** Text; may contain variables. */
  text?: string;
  /** Price, as text. */
  price?: string;
  /** Words on the button. Empty: no button. */
  button?: string;
  href?: Href;
};

/** Links to profiles in social networks. */
export type DesignBlockSocial = {
  /** Kind. */
  type: "social";
  /** Links, in order. */
  links?: {
    /** Network whose name is shown. */
    network?: "website" | "facebook" | "instagram" | "linkedin" | "x" | "youtube" | "tiktok" | "mastodon" | "bluesky";
    href?: Href;
  }[];
  align?: Align;
};

/** Logo of the company, or its name. */
export type DesignBlockHeader = {
  /** Kind. */
  type: "header";
  href?: Href;
  /** Width in pixels; 0: as wide as possible. */
  width?: number;
  align?: Align;
};

/** Company name and footer text, with the links to unsubscribe and to the preferences. */
export type DesignBlockFooter = {
  /** Kind. */
  type: "footer";
  text?: Text;
  /** Words of the link that unsubscribes. Empty: no link. */
  unsubscribe?: string;
  /** Words of the link to the preferences page. Empty: no link. */
  preferences?: string;
  /** Colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty for the usual one. */
  color?: string;
  align?: Align;
};

/** HTML of the author. */
export type DesignBlockHtml = {
  /** Kind. */
  type: "html";
  /** HTML of the author, with everything that the body of a template may contain. */
  html?: string;
};

/** Blocks for recipients for whom a variable is filled and not false, and others for everybody else. */
export type DesignBlockIf = {
  type: TypeOfDesignBlockIf;
  variable: Variable;
  blocks: BlocksOfDesignBlockIf;
  else?: BlocksOfDesignBlockIf;
};

/** Repeats its blocks for each entry of a variable. */
export type DesignBlockEach = {
  type: TypeOfDesignBlockEach;
  variable: Variable;
  blocks: BlocksOfDesignBlockIf;
};

/** Saved block, by its id. */
export type DesignBlockSaved = {
  type: TypeOfDesignBlockSaved;
  id: IdOfDesignBlockSaved;
};

/** One of these kinds, by `type`. */
export type DesignBlocks =
  | DesignBlockHeading
  | DesignBlockText
  | DesignBlockImage
  | DesignBlockButton
  | DesignBlockDivider
  | DesignBlockSpacer
  | DesignBlockList
  | DesignBlockQuote
  | DesignBlockTable
  | DesignBlockCard
  | DesignBlockSocial
  | DesignBlockHeader
  | DesignBlockFooter
  | DesignBlockHtml
  | DesignBlockIf
  | DesignBlockEach
  | DesignBlockSaved;

/** Section of one to four columns. */
export type DesignPartSection = {
  /** Kind. */
  type: "section";
  /** Columns, from the start of the line. */
  columns: {
    /** Share of the section's width; with 1 everywhere columns are equally wide. */
    share?: number;
    blocks: BlocksOfDesignBlockIf;
  }[];
  /** Background colour: `#rrggbb`, a brand colour such as `brand.primary`, or empty. */
  background?: string;
  /** Space above and below in pixels. */
  padding?: number;
  /** True: columns stand below each other on phones. */
  stack?: boolean;
  /** Alignment of columns of different height. */
  vertical?: "top" | "middle" | "bottom";
};

/** Blocks for recipients for whom a variable is filled and not false, and others for everybody else. */
export type DesignPartIf = {
  type: TypeOfDesignBlockIf;
  variable: Variable;
  blocks: Blocks;
  else?: Blocks;
};

/** Repeats its blocks for each entry of a variable. */
export type DesignPartEach = {
  type: TypeOfDesignBlockEach;
  variable: Variable;
  blocks: Blocks;
};

/** Saved block, by its id. */
export type DesignPartSaved = {
  type: TypeOfDesignBlockSaved;
  id: IdOfDesignBlockSaved;
};

/** One of these kinds, by `type`. */
export type DesignSections = DesignPartSection | DesignPartIf | DesignPartEach | DesignPartSaved;

/** Bold text. */
export type DesignMarkBold = {
  /** Kind. */
  type: "bold";
};

/** Italic text. */
export type DesignMarkItalic = {
  /** Kind. */
  type: "italic";
};

/** Underlined text. */
export type DesignMarkUnderline = {
  /** Kind. */
  type: "underline";
};

/** Struck text. */
export type DesignMarkStrike = {
  /** Kind. */
  type: "strike";
};

/** Text that is a link. */
export type DesignMarkLink = {
  /** Kind. */
  type: "link";
  /** Settings of the mark. */
  attrs: {
    href: Href;
  };
};

/** Coloured text. */
export type DesignMarkColour = {
  /** Kind. */
  type: "colour";
  /** Settings of the mark. */
  attrs: {
    /** Colour: `#rrggbb`, or a brand colour such as `brand.primary`. */
    value: string;
  };
};

/** One of these kinds, by `type`. */
export type DesignMark =
  | DesignMarkBold
  | DesignMarkItalic
  | DesignMarkUnderline
  | DesignMarkStrike
  | DesignMarkLink
  | DesignMarkColour;

/** Text. */
export type DesignInlineText = {
  type: TypeOfDesignBlockText;
  /** Text; may contain variables. */
  text: string;
  marks?: Marks;
};

/** Line break. */
export type DesignInlineBreak = {
  /** Kind. */
  type: "break";
  marks?: Marks;
};

/** One of these kinds, by `type`. */
export type DesignInline = DesignInlineText | DesignInlineBreak;

/** Entry of a list. */
export type DesignItem = {
  /** Kind. */
  type: "item";
  /** Paragraphs. */
  content: DesignRichParagraph[];
};

/** Paragraph. */
export type DesignRichParagraph = {
  /** Kind. */
  type: "paragraph";
  /** Settings of the paragraph. */
  attrs?: {
    /** Alignment. */
    align?: "left" | "center" | "right";
  };
  /** Texts and line breaks. */
  content?: DesignInline[];
};

/** List with bullets. */
export type DesignRichBullets = {
  /** Kind. */
  type: "bullets";
  content: ContentOfDesignRichBullets;
};

/** Numbered list. */
export type DesignRichNumbers = {
  /** Kind. */
  type: "numbers";
  content: ContentOfDesignRichBullets;
};

/** One of these kinds, by `type`. */
export type DesignRich = DesignRichParagraph | DesignRichBullets | DesignRichNumbers;

/** Paragraphs and lists with marks, as ProseMirror stores them. */
export type DesignRichText = {
  /** Kind. */
  type: "doc";
  /** Paragraphs and lists. */
  content: DesignRich[];
};

/** Company that owns it. */
export type CompanyOfSendToList = string;

/** Name. */
export type Name = string;

/** SMTP configuration to send with. */
export type SmtpConfigId = string;

/** Attached media files. */
export type AttachmentIds = string[];

/** True for receipts, password resets and similar mails. They are sent before newsletters, also to people who unsubscribed, and are retried when delivery is in doubt. */
export type IsTransactional = boolean;

/** Parameters added to tracked links that lack them, after the link's own query and before the fragment. Links that are not tracked (tracking off, copies, text part) get none. Clicks are reported by the address without them. */
export type Utm = {
  source?: Source;
  medium?: Medium;
  campaign?: CampaignOfSendToList;
  term?: Term;
  content?: Content;
} | null;

/** `utm_source`: source of the visit. */
export type Source = string;

/** `utm_medium`: kind of channel. */
export type Medium = string;

/** `utm_campaign`: name of the campaign. */
export type CampaignOfSendToList = string;

/** `utm_term`: keyword or audience. */
export type Term = string;

/** `utm_content`: distinguishes links or versions. */
export type Content = string;

/** Template to use. */
export type TemplateIdOfSendToList = string;

/** Subject of the mail. Templates may contain variables. */
export type SubjectOfSendToList = string;

/** The mail in HTML, with variables. Required without `design`. */
export type BodyOfSendToList = string;

/** Preview text shown after the subject in the inbox, hidden in the mail itself. Variables are allowed; their values are always treated as text. Not part of the text version. */
export type Preheader = string | null;

/** Plain-text version, instead of the one derived from the HTML. Variables are allowed and not escaped; without an unsubscribe link the footer is added. Null or blank: derived. */
export type TextBody = string | null;

/** Inlines CSS on save or send. An element's own style wins unless a rule is `!important`. Media queries, other at-rules and rules for states such as `:hover` stay in the style sheet, as do sheets with a `media` attribute, `data-embed`, conditions or loops. Where `class` or `id` contains a variable, the sheets are kept complete and the properties it may set are not inlined. Linked and imported sheets are not fetched and stay links. */
export type InlineCss = boolean;

/** List to send to. */
export type ListIdOfSendToList = string;

/** Segment to send to. */
export type SegmentIdOfSendToList = string;

/** Start time; null: now. */
export type ScheduledFor = string | null;

/** The variant's share of the recipients, at most two decimals. The number of its recipients differs from the exact share by less than one. */
export type Percent = number;

/** Criterion: people who opened or clicked, per sent mail. Machines are not counted. The first variant wins a tie. */
export type Metric = "opens" | "clicks";

/** Waiting time for opens and clicks, from when every test recipient has been tried once. */
export type AfterMinutes = number;

/** Recipients with their variables. */
export type Receivers = {
  email: Email;
  cc?: Cc;
  bcc?: Bcc;
  [name: string]: unknown;
}[];

/** An email address. */
export type Email = string;

/** Visible copy recipients. */
export type Cc = string[] | null;

/** Hidden copy recipients. */
export type Bcc = string[] | null;

/** Id. */
export type Id = string;

/** Name of the campaign, if the body has none. */
export type NameOfListDrafts = string;

/** Kind of send that the body is for: `POST /api/emails/send/{kind}/`. */
export type Kind = "to-list" | "to-receivers" | "custom";

/** Time of creation. */
export type CreatedAt = string;

/** Time of the last change. */
export type UpdatedAt = string;

/** Request body of that send, stored as given. It may be incomplete: errors are reported when it is sent. */
export type Body = {
  [name: string]: unknown;
};

export type CreateDraftBody = {
  id: Id;
  name: NameOfListDrafts;
  kind: Kind;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  body: Body;
};

/** Extension. The draft's `updated_at` as last read. If it was changed since, the answer is 409 and nothing happens. */
export type UnchangedSince = string;

export type PreviewDraftBody = {
  subject: SubjectOfPreviewDraft;
  html: Html;
  text: TextOfPreviewDraft;
  warnings: Warnings;
};

/** Rendered subject. */
export type SubjectOfPreviewDraft = string;

/** The HTML part. */
export type Html = string;

/** Plain-text version. */
export type TextOfPreviewDraft = string;

/** Extension. Warnings about placeholders of other products and MJML, which are sent unchanged; links that open nothing, such as those without a scheme; several lines without tags; variables that are not built in and that no subscriber has, or that some lack, with their number; HTML over 102 KB; and a missing visible unsubscribe link. */
export type Warnings = string[];

export type ListSubscribersBody = {
  count: Count;
  next: NextPage;
  previous: PreviousPage;
  results: Results;
  count_estimated?: CountEstimated;
};

/** The entries of this page. */
export type Results = Subscriber[];

/** First name. */
export type FirstName = string;

/** Last name. */
export type LastName = string;

/** Lists to add the subscriber to. */
export type Lists = string[];

/** List to add all imported people to. */
export type ListIdOfImportSubscribers = string;

/** Default utf-8; a byte order mark overrides it. Any label of the Encoding Standard, such as windows-1252. */
export type Charset = string;

/** Check only: counts and reports (200) without importing. */
export type DryRun = boolean;

/** `skip`: existing subscribers and their lists do not change and count as skipped; a stricter status still applies and counts as updated. */
export type OnConflict = "update" | "skip";

/** Order of dates such as 03/04/2000. Without it each column's own cells decide (31/12 is unambiguous); otherwise they stay text. */
export type DateOrder = "dmy" | "mdy";

/** False: the first line is a person, and `mapping` names columns by number, `{"1": "email"}`; columns it omits are ignored. Default: true. */
export type Header = boolean;

/** The file, as a form-data part with a file name. */
export type FileOfImportSubscribers = Blob;

/** Subscribers, all or nothing. */
export type SubscriberIds = string[];

/** Extension. In place of `subscriber_ids`: all subscribers that `GET /api/emails/subscribers/` lists with these parameters; `{}` is everybody. They are changed in slices, each in a transaction of its own. */
export type Filter = {
  search?: Search;
  status?: StatusOfDeleteSubscribers;
  list?: ListOfDeleteSubscribers;
};

/** Text in email or names, case-insensitive. */
export type Search = string;

/** Only subscribers with this status. Repeat it for several values. */
export type StatusOfDeleteSubscribers =
  | "active"
  | "unconfirmed"
  | "unsubscribed"
  | "bounced"
  | "complained"
  | ("active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained")[];

/** Only subscribers of this list. Repeat it for several values. */
export type ListOfDeleteSubscribers = string | string[];

/** Extension. Present and false only if the time ran out with a `filter`: repeat the request to continue. */
export type Complete = boolean;

/** Number updated. */
export type Updated = number;

export type ErasePersonBody = {
  email: Email;
};

/** Name. */
export type NameOfListListsOfSubscriber = string;

/** Internal description; recipients do not see it. */
export type Description = string;

/** `public` lists appear on subscribers' preferences page. */
export type Visibility = "private" | "public";

/** Name shown to subscribers of a public list; empty: the list's name. */
export type PublicName = string;

/** Description shown to subscribers of a public list. */
export type PublicDescription = string;

/** Publishes campaigns to the list as a page and an RSS feed at `/api/emails/public/archive/{list_id}/`. Only for public lists. */
export type Archive = boolean;

/** People who request this list by the public form join once they confirm by a mailed link. Null: the company's `double_opt_in` applies. */
export type DoubleOptIn = boolean | null;

/** Subject of the mail. Templates may contain variables. */
export type SubjectOfCreateTemplate = string;

/** The mail in HTML, with variables. */
export type BodyOfCreateTemplate = string;

/** Extension. A tree of blocks, in place of `body`: body and text part are made from it, and `template_mode` is `visual`. A 400 names the path in the tree. A new `body` replaces a design, and so does null, which keeps the body. */
export type DesignOfCreateTemplate = Design | null;

/** Extension. Markdown with variables, in place of `body`: the body is made from it in the company's fonts and colors, and `template_mode` is `basic`. It is also the text part, unless it contains HTML. `[[#if name]]` and its like may stand on lines of their own. A new `body` replaces it, and so does null, which keeps the body. */
export type Markdown = string | null;

/** `mjml` is an extension: the body is MJML, compiled when it is saved. `basic` and `visual` bodies are HTML and differ only for editors. */
export type TemplateMode = "basic" | "visual" | "mjml";

/** Purpose: newsletters (`marketing`) or receipts and similar mails (`transactional`). */
export type TemplateType = "marketing" | "transactional";

/** Values of the template's variables. */
export type Variables = {
  [name: string]: unknown;
};

/** Templates whose mail changed; each has a new version. */
export type UpdatedOfUpdateDesigns = number;

/** Templates whose mail is the same. */
export type Unchanged = number;

/** Templates whose mail could not be made; they keep the one they have. */
export type Failed = {
  id: Id;
  name: NameOfUpdateDesigns;
  errors: Errors;
}[];

/** Name. */
export type NameOfUpdateDesigns = string;

/** Reasons. */
export type Errors = string[];

/** Numbered from 1 for each template, without gaps. */
export type Version = number;

/** Subject of the mail. Templates may contain variables. */
export type SubjectOfListTemplateVersions = string;

/** Time of saving. */
export type CreatedAtOfListTemplateVersions = string;

/** Author; null if unknown or deleted. */
export type CreatedBy = {
  id: Id;
  name: NameOfListTemplateVersions;
} | null;

/** Address of the person, or name of the API key. */
export type NameOfListTemplateVersions = string;

/** Preview text shown after the subject in the inbox, hidden in the mail itself. Variables are allowed; their values are always treated as text. Not part of the text version. */
export type PreheaderOfGetTemplateVersion = string | null;

/** Plain-text version, instead of the one derived from the HTML. Variables are allowed and not escaped; without an unsubscribe link the footer is added. Null or blank: derived. */
export type TextBodyOfGetTemplateVersion = string | null;

/** Name. */
export type NameOfCreateSavedBlock = string;

/** Sections, or blocks for a column; no other saved blocks. */
export type BlocksOfCreateSavedBlock = (DesignSections | DesignBlocks)[];

/** Name. */
export type NameOfUpdateSavedBlock = string;

/** Sections, or blocks for a column. Not in lists. */
export type BlocksOfUpdateSavedBlock = (DesignSections | DesignBlocks)[];

/** Host of the server. */
export type Host = string;

/** Port. */
export type Port = number;

/** Login name; empty for no login. */
export type Username = string;

/** Login; empty for none. Write-only. */
export type Password = string;

/** Sender address (From). */
export type SenderEmail = string;

/** Whether TLS is required. */
export type UseTls = boolean;

/** `auto` depends on the port: 465 is `implicit`, others are `starttls` if `use_tls` is set. */
export type TlsMode = "auto" | "implicit" | "starttls" | "none";

/** Sender name (From). */
export type SenderName = string;

/** Reply-To address. */
export type ReplyToEmail = string | null;

/** Address for bounces; each mail's envelope sender is this address with a token. */
export type BounceAddress = string | null;

/** Maximum concurrent connections. */
export type MaxConnections = number;

/** Maximum mails per second; null: no limit. */
export type MaxPerSecond = number | null;

/** True for the configuration that sends confirmation mails unless the company selects another. */
export type IsDefault = boolean;

export type ValidateSmtpConfigBody = {
  valid: Valid;
  stage: Stage;
  message: Message;
  duration_ms: DurationMs;
};

/** Whether the configuration can send. */
export type Valid = boolean;

/** Failed stage; `ok` if none. */
export type Stage = "dns" | "connect" | "tls" | "auth" | "ok";

/** Reply of the server, or the network error. */
export type Message = string;

/** Duration in milliseconds. */
export type DurationMs = number;

/** A domain. */
export type Domain = string;

/** DNS selector of the key. */
export type Selector = string;

/** Algorithm of the key. */
export type Algorithm = "rsa" | "ed25519";

/** Name of the check. */
export type NameOfGetDeliverability = "spf" | "dkim" | "dmarc" | "alignment" | "mx" | "links" | "bounce_address";

/** Name; not shown to recipients. */
export type NameOfListCampaigns = string;

/** Kind of send that created it. */
export type CampaignType = "to_list" | "to_receivers" | "custom";

/** `scheduled`, `pending` (recipients are being prepared), `sending`, then `completed`, `partial`, `failed` or `cancelled`. */
export type Status = "pending" | "sending" | "completed" | "partial" | "failed" | "scheduled" | "cancelled";

/** Number of recipients with a mail. */
export type TotalEmails = number;

/** Mails accepted by a mail server. */
export type SentCount = number;

/** Recipients without an accepted mail: refused, in doubt, or not tried. */
export type FailedCount = number;

/** Receivers who were suppressed, unsubscribed or unconfirmed when the campaign started. Not part of `total_emails`. Receivers named in a request are sent emails with the status `suppressed`; those of a list or segment are only counted. */
export type SuppressedCount = number;

/** `recipient`: `scheduled_for` is in each recipient's time zone. Null: one instant for all. */
export type Timezone = "recipient" | null;

/** For a campaign in recipients' time zones: when the next recipients' time comes; while scheduled, the earliest possible start. Null if no more recipients wait. */
export type NextZoneAt = string | null;

/** Why the campaign stopped automatically, how many recipients exceeded the monthly quota, or what it waits for: the SMTP server's last reply, limits that cannot be counted while Redis is unavailable, warm-up, or the winning variant. */
export type ErrorOfListCampaigns = string | null;

/** As sent, with variables. */
export type Subject = string;

/** Template to use. */
export type TemplateId = string | null;

/** List to send to. */
export type ListId = string | null;

/** Segment to send to. */
export type SegmentId = string | null;

/** Extension. Variants of an A/B test; empty without a test. */
export type Variants = {
  index: Index;
  subject: SubjectOfListCampaigns;
  template_id: TemplateIdOfListCampaigns;
  percent: Percent;
}[];

/** From 0, in the order of the request. */
export type Index = number;

/** As written, with variables. */
export type SubjectOfListCampaigns = string;

/** Template to use; null for content of its own. */
export type TemplateIdOfListCampaigns = string | null;

/** Extension. Decision on the winning variant for the other recipients; null without a winner. */
export type Winner = {
  metric: Metric;
  after_minutes: AfterMinutes;
  index: IndexOfListCampaigns;
  due_at: DueAt;
  decided_at: DecidedAt;
} | null;

/** Winning variant; null until decided. */
export type IndexOfListCampaigns = number | null;

/** Time of the decision; null until every test recipient has been tried. */
export type DueAt = string | null;

/** Time when it was decided; null until then. */
export type DecidedAt = string | null;

/** Time when the first recipients were prepared. */
export type StartedAt = string | null;

/** Time of the end of sending. */
export type FinishedAt = string | null;

/** How many of the recipients opened it; machines are not counted. Null for a campaign without individual tracking. */
export type Opens = number | null;

/** How many of the recipients clicked; machines are not counted. Null for a campaign without individual tracking. */
export type Clicks = number | null;

export type ResumeCampaignBody = {
  id: Id;
  name: NameOfListCampaigns;
  campaign_type: CampaignType;
  status: Status;
  total_emails: TotalEmails;
  sent_count: SentCount;
  failed_count: FailedCount;
  suppressed_count: SuppressedCount;
  scheduled_for: ScheduledFor;
  timezone: Timezone;
  next_zone_at: NextZoneAt;
  error: ErrorOfListCampaigns;
  subject: Subject;
  template_id: TemplateId;
  list_id: ListId;
  segment_id: SegmentId;
  smtp_config_id: SmtpConfigId;
  is_transactional: IsTransactional;
  variants: Variants;
  winner: Winner;
  started_at: StartedAt;
  finished_at: FinishedAt;
  opens: Opens;
  clicks: Clicks;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** https, without credentials. */
export type Url = string;

/** `campaign.completed`: the campaign ended with `metadata.status` (completed, partial, failed). `subscribed`: a person became active or joined a list by the public form; `confirmed`: by the link in a mail. The latter two are not about a mail; `metadata` contains the subscriber and the lists. */
export type Events = (
  | "delivered"
  | "opened"
  | "clicked"
  | "bounced"
  | "unsubscribed"
  | "complained"
  | "failed"
  | "campaign.completed"
  | "subscribed"
  | "confirmed"
)[];

/** URL that receives the events. */
export type UrlOfCreateWebhookEndpoint = string;

/** Event types to deliver. */
export type EventsOfCreateWebhookEndpoint = (
  | "delivered"
  | "opened"
  | "clicked"
  | "bounced"
  | "unsubscribed"
  | "complained"
  | "failed"
  | "campaign.completed"
  | "subscribed"
  | "confirmed"
)[];

/** Time since which every attempt has failed; the endpoint is disabled after three days. */
export type FailingSince = string | null;

/** Time since which nothing is delivered: on request (`failing_since` is null), or after three days of failures. */
export type DisabledAt = string | null;

/** `whsec_` followed by 32 random bytes in base64 (Standard Webhooks). */
export type Secret = string;

/** The event's id: the header `webhook-id`. */
export type EventId = string;

/** Type of event. */
export type EventType =
  | "delivered"
  | "opened"
  | "clicked"
  | "bounced"
  | "unsubscribed"
  | "complained"
  | "failed"
  | "campaign.completed"
  | "subscribed"
  | "confirmed";

/** `dead`: the last attempt failed. */
export type StatusOfGetWebhookDelivery = "pending" | "succeeded" | "dead";

/** Number of attempts. */
export type Attempts = number;

/** HTTP status of the receiver. */
export type ResponseStatus = number | null;

/** Error of the last attempt, with the beginning of a refusal's body. */
export type LastError = string | null;

/** Time of the next attempt. */
export type NextAttemptAt = string | null;

/** Number of rows. */
export type Total = number;

/** Number created. */
export type Created = number;

/** Line of the file, or position in the array from 1. */
export type Row = number;

/** Address as given. */
export type EmailOfImportSuppressions = string;

/** Error message. */
export type ErrorOfImportSuppressions = string;

/** Number of subscribers. */
export type SubscriberCount = number;

/** True if the number is an estimate. */
export type SubscriberCountIsEstimate = boolean;

/** Attributes that the rules compare with a date, with values that are not dates; people with such values do not match. */
export type NotDates = {
  field: FieldOfPreviewSegment;
  count: CountOfPreviewSegment;
}[];

/** The attribute. */
export type FieldOfPreviewSegment = string;

/** Number of values that are not dates; null if counting took too long. */
export type CountOfPreviewSegment = number | null;

/** Pixels from the left edge. */
export type Left = number;

/** Pixels from the top edge. */
export type Top = number;

/** Width in pixels. */
export type Width = number;

/** Height in pixels. */
export type Height = number;

/** A day in the company's time zone. */
export type DateOfGetStats = string;

/** Recipient domain. */
export type DomainOfGetDomainStats = string;

/** Mails accepted by mail servers. */
export type Sent = number;

/** Accepted mails that have not bounced. */
export type Delivered = number;

/** The mailbox does not exist. */
export type Hard = number;

/** The mailbox could not accept it. */
export type Soft = number;

/** The server refused the sender. */
export type Block = number;

/** Recipients who reported it as spam. */
export type Complaints = number;

/** A domain. */
export type DomainOfListSlowDomains = string;

/** Email provider that sends the reports. */
export type Provider = "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";

export type SubscribePubliclyBody = {
  email: Email;
  first_name?: FirstName;
  last_name?: LastName;
  list_id?: ListIdOfSubscribePublicly;
  redirect_url?: RedirectUrl;
  website?: Website;
  contact_url_2?: ContactUrl2;
};

/** List to join. */
export type ListIdOfSubscribePublicly = string;

/** Redirect after a form (303): http or https, on a host of the company's `form_hosts`. */
export type RedirectUrl = string;

/** Trap field, hidden in the form. If it is filled in, the answer is the same and nothing happens. */
export type Website = unknown;

/** Trap field like `website`, under a name that password managers ignore. */
export type ContactUrl2 = unknown;

export type ConfirmSubscriptionBody = {
  detail: Detail;
  email: EmailOfConfirmSubscription;
};

/** Message for people. */
export type Detail = string;

/** An email address. */
export type EmailOfConfirmSubscription = string;

export type UnsubscribeRecipientBody = {
  "List-Unsubscribe"?: ListUnsubscribe;
  from?: From;
  only_this_list?: OnlyThisList;
};

/** Sent by mailbox providers (RFC 8058). */
export type ListUnsubscribe = unknown;

/** Set by the page's own form. */
export type From = unknown;

/** `true`: leave only the list that the mail came through. */
export type OnlyThisList = unknown;

export type UpdatePreferencesJsonBody = {
  first_name?: FirstName;
  last_name?: LastName;
  email?: Email;
  subscribed?: Subscribed;
  lists?: ListsOfUpdatePreferences;
  list?: List;
  from?: From;
};

/** Whether the subscriber wants mail. */
export type Subscribed = boolean | "on" | "true" | "false";

/** Public lists to join or leave. */
export type ListsOfUpdatePreferences =
  | {
      id: Id;
      subscribed: SubscribedOfUpdatePreferences;
    }[]
  | null;

/** Whether the person is a member. */
export type SubscribedOfUpdatePreferences = boolean;

/** Public lists to join; other lists of the page are left. */
export type List = string | string[];

export type UpdatePreferencesBody = {
  first_name?: FirstName;
  last_name?: LastName;
  email?: Email;
  subscribed?: Subscribed;
  list?: List;
  from?: From;
};

/** At least 10 characters and not easily guessed. */
export type PasswordOfRegisterCompany = string;

/** First name. */
export type FirstNameOfRegisterCompany = string;

/** Last name. */
export type LastNameOfRegisterCompany = string;

/** Bearer token, valid for 15 minutes. */
export type Access = string;

/** Valid once, for 7 days. */
export type Refresh = string;

/** Code from the authenticator, or a recovery code. */
export type Code = string;

export type RefreshTokensBody = {
  refresh: RefreshOfRefreshTokens;
};

/** Valid once, for 7 days. */
export type RefreshOfRefreshTokens = string;

/** Token from the link. */
export type Token = string;

/** Whether the address was verified by a mailed link. */
export type EmailVerified = boolean;

/** New password. */
export type NewPassword = string;

/** Bearer token, valid for 15 minutes. */
export type AccessOfAcceptInvitation = string;

/** Valid once, for 7 days. */
export type RefreshOfAcceptInvitation = string;

/** First name. */
export type FirstNameOfGetMe = string;

/** Last name. */
export type LastNameOfGetMe = string;

/** Role of the person in the company. */
export type Role = "viewer" | "member" | "admin" | "owner";

/** IP address. */
export type Ip = string | null;

/** At least 10 characters and not easily guessed. */
export type PasswordOfDisableTotp = string;

/** Whether sign-ups by the public form must confirm by a mailed link. */
export type DoubleOptInOfUpdateCompany = boolean;

/** SMTP configuration that sends confirmation mails. */
export type DefaultSmtpConfigId = string | null;

/** Opens and clicks are recorded. */
export type TrackingEnabled = boolean;

/** False: opens and clicks are counted per campaign and link without recording who they belong to. Applies to campaigns that start afterwards; their data stays anonymous even if it is set to true again. */
export type IndividualTracking = boolean;

export type NameOfUpdateCompany = string | null;

export type LogoUrl = string | null;

export type Color = string | null;

export type Background = string | null;

export type TextOfUpdateCompany = string | null;

export type OnPrimary = string | null;

export type HeadingFont = "arial" | "verdana" | "tahoma" | "trebuchet" | "georgia" | "times" | "courier" | null;

export type Font = "arial" | "verdana" | "tahoma" | "trebuchet" | "georgia" | "times" | "courier" | null;

export type ButtonRadius = number | null;

export type FooterText = string | null;

export type Language = "en" | "de" | "fr" | "es" | "ar" | null;

export type GetSampleDataBody = {
  created_at: CreatedAtOfGetSampleData;
  subscribers: Subscribers;
  list_id: ListIdOfGetSampleData;
  template_id: TemplateIdOfGetSampleData;
  campaign_id: CampaignId;
};

/** When it was added. Null: there is none. */
export type CreatedAtOfGetSampleData = string | null;

/** How many of its people there are still. */
export type Subscribers = number;

/** Its list. */
export type ListIdOfGetSampleData = string | null;

/** Its template. */
export type TemplateIdOfGetSampleData = string | null;

/** Its campaign, with a finished report. */
export type CampaignId = string | null;

/** Expiry; null: never. */
export type ExpiresAt = string | null;

/** Name. */
export type NameOfCreateApiKey = string;

/** First characters of the key, to distinguish keys. */
export type Prefix = string;

/** Scopes of the key. */
export type Scopes = ("full" | "send" | "campaigns" | "subscribers" | "settings" | "read" | "export")[];

/** IP addresses and networks that may use it; empty: all. */
export type AllowedIps = string[];

/** User who created it; null if deleted. */
export type CreatedByOfCreateApiKey = {
  id: Id;
  name: Name2;
} | null;

/** Name or address of that user. */
export type Name2 = string;

/** Time of the last use; null if never used. */
export type LastUsedAt = string | null;

/** Time of the event. */
export type At = string;

/** Reply of the mail server. */
export type SmtpResponse = string | null;

/** Message-ID of the mail. */
export type MessageId = string;

/** User agent of the client. */
export type UserAgent = string | null;

/** IP address. */
export type IpOfOnOpened = string | null;

/** True for a scanner or proxy. */
export type Machine = boolean;

/** Details of the event. */
export type Metadata = {
  subscriber_id?: SubscriberId;
  lists?: ListsOfOnSubscribed;
};

/** The subscriber. */
export type SubscriberId = string;

/** Lists joined. */
export type ListsOfOnSubscribed = string[];

/** `hard`: the mailbox does not exist; `soft`: temporary problem; `block`: the server refuses the sender. */
export type BounceType = "hard" | "soft" | "block" | null;

/** Internal description; recipients do not see it. */
export type DescriptionOfSubscriberList = string;

/** Name; not shown to recipients. */
export type NameOfEmailTemplate = string;

/** Subject of the mail. Templates may contain variables. */
export type SubjectOfEmailTemplate = string;

/** The mail in HTML, with variables. */
export type BodyOfEmailTemplate = string;

/** Extension. The template's design; null: it has none. Not in lists. */
export type DesignOfEmailTemplate = Design | null;

/** Extension. The Markdown that the body is made from; null: none. Not in lists. */
export type MarkdownOfEmailTemplate = string | null;

/** Host of the server. */
export type HostOfSmtpConfiguration = string;

/** Port. */
export type PortOfSmtpConfiguration = number;

/** Last error. */
export type LastErrorOfSmtpConfiguration = string | null;

/** Time of the last error. */
export type LastErrorAt = string | null;

/** DNS selector of the key. */
export type SelectorOfSmtpConfiguration = string;

/** TXT record to publish. */
export type RecordOfSmtpConfiguration = {
  name: NameOfSmtpConfiguration;
  value: ValueOfSmtpConfiguration;
};

/** Name. */
export type NameOfSmtpConfiguration = string;

/** Value of the record. */
export type ValueOfSmtpConfiguration = string;

/** False until its record is found; then it signs. */
export type Active = boolean;

/** Maximum concurrent connections. */
export type MaxConnectionsOfSmtpConfiguration = number;

/** The key (PEM). Write-only. */
export type PrivateKey = string;

/** Sent email; null if it belongs to none. */
export type SentEmailId = string | null;

/** Name. */
export type NameOfSegment = string;

/** Field of the subscriber. */
export type Field4 = "email";

/** How the field is compared. */
export type Operator3 = "equals" | "not_equals" | "contains" | "not_contains" | "starts_with" | "ends_with";

/** Value or values to compare with. */
export type Value = string;

/** How the field is compared. */
export type Operator = "in" | "not_in";

/** Value or values to compare with. */
export type ValueOfSegmentRules = string[];

/** Field of the subscriber. */
export type Field5 = "domain";

/** Field of the subscriber. */
export type FieldOfSegmentRules = "first_name" | "last_name";

/** How the field is compared. */
export type Operator2 = "is_empty" | "is_not_empty";

/** Field of the subscriber. */
export type Field6 = "status";

/** How the field is compared. */
export type OperatorOfSegmentRules = "equals" | "not_equals";

/** Field of the subscriber. */
export type Field7 = "created_at";

/** How the field is compared. */
export type Operator5 = "before" | "after" | "lt" | "lte" | "gt" | "gte";

/** A date (the whole day in the company's time zone) or a date-time, within the years 1 to 9999 in UTC. */
export type Value2 = string;

/** How the field is compared. */
export type Operator4 = "in_last_days";

/** Value or values to compare with. */
export type Value3 = number;

/** Field of the subscriber. */
export type Field2 = "last_opened_at" | "last_clicked_at" | "last_bounced_at";

/** Value or values to compare with. */
export type Value6 = number;

/** Field of the subscriber. */
export type Field3 = "list";

/** Value or values to compare with. */
export type Value4 = string;

/** Value or values to compare with. */
export type Value5 = string[];

/** Field of the subscriber. */
export type Field8 = "opened_campaign";

/** Field of the subscriber. */
export type Field9 = "clicked_campaign";

/** Field of the subscriber. */
export type Field = string;

/** Id of the import, for `POST /api/emails/imports/{id}/undo/`. */
export type ImportId = string;

/** Skipped rows. */
export type Skipped = number;

/** Extension. Rows with the address of an earlier row; `updated` or, with `on_conflict: skip`, `skipped` counts them too. */
export type Repeated = number;

/** Number of people in the file whose address or domain is suppressed; they get no mail. */
export type Suppressed = number;

/** The first 100 errors. */
export type ErrorsOfImportReport = {
  row: Row;
  email: EmailOfImportSuppressions;
  error: ErrorOfImportSuppressions;
}[];

/** Number of errors. */
export type ErrorsCount = number;

/** URL of all errors as CSV, for 24 hours; null without errors. */
export type ErrorsUrl = string | null;

/** Attribute columns that were not read as text. */
export type Columns = {
  name: NameOfImportReport;
  type: Type;
  read: Read;
  unread: Unread;
  date_order?: DateOrderOfImportReport;
}[];

/** The attribute. */
export type NameOfImportReport = string;

/** Type of more than half of the filled cells. Text columns are not listed. */
export type Type = "boolean" | "number" | "date";

/** Cells stored with this type. */
export type Read = number;

/** Cells stored as text. */
export type Unread = number;

/** For cells such as 03/04/2000: the order in which they were read; null if it was unclear and they stay text (set `date_order`). */
export type DateOrderOfImportReport = "dmy" | "mdy" | null;

/** Cells in which HTML entities such as `&amp;` were decoded. */
export type DecodedCells = number;

/** The campaign. */
export type CampaignIdOfAnalytics = string;

/** All opens or clicks by people. */
export type TotalOfAnalytics = number;

/** Number of people; null without individual tracking. */
export type Unique = number | null;

/** Opens or clicks by scanners and proxies. */
export type MachineOfAnalytics = number;

/** Start of the interval. */
export type AtOfAnalytics = string;

/** Recipient address. */
export type Recipient = string;

/** Reason for the failure. */
export type ErrorOfSentEmail = string | null;

/** Time when a mail server accepted it. */
export type SentAt = string | null;

/** Name; appears in mail headers. */
export type NameOfCompany = string;

/** Reply-To address, unless the SMTP configuration has one. */
export type ReplyToEmailOfCompany = string | null;

/** Website. */
export type WebsiteOfCompany = string | null;

/** Shown at the foot of every marketing mail. */
export type FooterTextOfCompany = string;

/** Days to keep data; null: the installation's default. */
export type RetentionDays = {
  events: EventsOfCompany;
  sent_emails: SentEmails;
  inbound: Inbound;
};

/** Opens, clicks, bounces and other events. */
export type EventsOfCompany = number | null;

/** Recipients of finished campaigns. */
export type SentEmails = number | null;

/** Received bounce messages. */
export type Inbound = number | null;

/** Refuses sends while SPF, DKIM, DMARC or alignment fails. */
export type RequireAuthentication = boolean;

/** Host of links, pixel and public pages in the company's mails. */
export type TrackingDomain = string | null;

/** `active` after verification. */
export type TrackingDomainStatus = "pending" | "active" | null;

/** Proves the domain when served at /.well-known/flockmail. */
export type TrackingDomainToken = string | null;

/** Limits that stop a campaign automatically. */
export type Guard = {
  hard_bounce_percent: HardBouncePercent;
  complaint_percent: ComplaintPercent;
  after: After;
};

/** Stops a campaign above this percentage of hard bounces. */
export type HardBouncePercent = number;

/** Stops a campaign above this percentage of complaints. */
export type ComplaintPercent = number;

/** Number of recipients tried before a campaign can be stopped. */
export type After = number;

/** IANA time zone that decides when days begin. */
export type TimezoneOfCompany = string;

/** Attributes accepted as fields of the public form. */
export type FormAttributes = string[];

/** Hosts that `redirect_url` of the public form may lead to. */
export type FormHosts = string[];

/** Look and language of public pages, confirmation mails and designs. Merged key by key; null resets. Dark mode colours are derived from these. */
export type Branding = {
  name: NameOfUpdateCompany;
  logo_url: LogoUrl;
  color: Color;
  background: Background;
  text: TextOfUpdateCompany;
  on_primary: OnPrimary;
  heading_font: HeadingFont;
  font: Font;
  button_radius: ButtonRadius;
  footer_text: FooterText;
  language: Language;
};

/** Extension. Time at which the operator of the service paused sending; null if sending is not paused. */
export type SendingPausedAt = string | null;

/** Blocks, from top to bottom. */
export type Blocks = DesignSections[];

/** Text; may contain variables. */
export type Text = string;

/** Alignment. */
export type Align = "left" | "center" | "right";

/** Kind. */
export type TypeOfDesignBlockText = "text";

/** http or https address, or one that starts with a variable. Empty: no image. */
export type Src = string;

/** What the image shows, for people who do not see it. Empty: decoration. */
export type Alt = string;

/** http, https, mailto or tel address, or one that starts with a variable. Empty: no link. */
export type Href = string;

/** Kind. */
export type TypeOfDesignBlockIf = "if";

/** Name of a variable, with dots for objects. */
export type Variable = string;

/** Blocks, from top to bottom. */
export type BlocksOfDesignBlockIf = DesignBlocks[];

/** Kind. */
export type TypeOfDesignBlockEach = "each";

/** Kind. */
export type TypeOfDesignBlockSaved = "saved";

/** Id of the saved block. */
export type IdOfDesignBlockSaved = string;

/** Marks of the text. */
export type Marks = DesignMark[];

/** Entries of the list. */
export type ContentOfDesignRichBullets = DesignItem[];

/** Parameters and result of each operation. */
export interface Operations {
  /** Send a saved template to a subscriber list */
  sendToList: {
    request: {
      body: {
        company?: CompanyOfSendToList;
        name: Name;
        smtp_config_id: SmtpConfigId;
        attachment_ids?: AttachmentIds;
        is_transactional?: IsTransactional;
        utm?: Utm;
        template_id?: TemplateIdOfSendToList;
        /** Extension. Content of this campaign alone, in place of a template; checked like one. Requires exactly one of `body` and `design`. */
        content?: {
          subject: SubjectOfSendToList;
          body?: BodyOfSendToList;
          design?: Design;
          preheader?: Preheader;
          text_body?: TextBody;
          inline_css?: InlineCss;
        };
        list_id?: ListIdOfSendToList;
        segment_id?: SegmentIdOfSendToList;
        scheduled_for?: ScheduledFor;
        /** Requires `scheduled_for`. Its wall-clock time (`09:00`, whatever the offset) is taken in each recipient's time zone: the subscriber's attribute `timezone` (an IANA name such as `Europe/Berlin`), or the company's. Where that time has already passed, the mail is sent at once. The campaign is `sending` from the first time zone that has recipients. Recipients and their time zones are fixed then: later members of the list do not get it, and nobody gets it twice. A time skipped by a change to daylight saving time moves forward by the skipped hour; of a repeated time the second one counts. */
        timezone?: "recipient" | null;
        /** Extension. An A/B test: each variant goes to its share of the recipients, chosen at random. Values that a variant omits come from the campaign. Without a `winner` the shares must add up to 100 percent; with one the other recipients wait for it. */
        variants?:
          | {
              /** Overrides the subject of the template or content. */
              subject?: string;
              /** Overrides the campaign's template or content. */
              template_id?: string;
              /** Overrides the campaign's template or content, in place of a `template_id`. */
              content?: {
                subject: SubjectOfSendToList;
                body?: BodyOfSendToList;
                design?: Design;
                preheader?: Preheader;
                text_body?: TextBody;
                inline_css?: InlineCss;
              };
              percent: Percent;
            }[]
          | null;
        /** Extension. Recipients outside all shares get the winning variant as soon as it is decided. The campaign is `sending` until then. */
        winner?: {
          metric: Metric;
          after_minutes: AfterMinutes;
        } | null;
      };
    };
    answer: NewCampaign;
  };
  /** Send a saved template to inline receivers */
  sendToReceivers: {
    request: {
      body: {
        company?: CompanyOfSendToList;
        name: Name;
        smtp_config_id: SmtpConfigId;
        attachment_ids?: AttachmentIds;
        is_transactional?: IsTransactional;
        utm?: Utm;
        template_id: TemplateIdOfSendToList;
        receivers: Receivers;
        scheduled_for?: ScheduledFor;
      };
    };
    answer: NewCampaign;
  };
  /** Send a custom email with inline subject and body */
  sendCustom: {
    request: {
      body: {
        company?: CompanyOfSendToList;
        name: Name;
        smtp_config_id: SmtpConfigId;
        attachment_ids?: AttachmentIds;
        is_transactional?: IsTransactional;
        utm?: Utm;
        subject: SubjectOfSendToList;
        body?: BodyOfSendToList;
        design?: Design;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        receivers: Receivers;
        /** Must be null or absent. */
        scheduled_for?: unknown;
      };
    };
    answer: NewCampaign;
  };
  /** Send a test to a few addresses */
  sendTest: {
    request: {
      body: {
        company?: CompanyOfSendToList;
        /** The SMTP configuration to send through. */
        smtp_config_id: string;
        /** Each address gets its own mail; a repeated address gets one. */
        to: string[];
        /** Used instead of `subject` and the other content. */
        template_id?: string;
        /** Used with `body` instead of a template. */
        subject?: string;
        /** HTML with template tags. */
        body?: string;
        design?: Design;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        /** Values for all addresses. */
        variables?: {
          [name: string]: unknown;
        };
        /** Media files to attach. */
        attachment_ids?: string[];
      };
    };
    answer: {
      /** In the order of `to`, each address once. */
      results: {
        /** Address as given in the request. */
        email: string;
        /** `sent`: the server accepted it; `bounced`: the mailbox does not exist; `failed`: it was not accepted for another reason; `unknown`: the server did not confirm; `suppressed`: the address is suppressed and nothing was sent. */
        status: "sent" | "failed" | "bounced" | "unknown" | "suppressed";
        /** Reply of the SMTP server; null if it was not asked or did not answer. */
        smtp_response: string | null;
        /** Reason in one sentence; null for `sent`. */
        error: string | null;
      }[];
      /** Warnings about variables that are neither built in nor known for any subscriber, HTML over 102 KB, a missing visible unsubscribe link, and those of a send. */
      warnings: string[];
    };
  };
  /** Count the recipients of a send to a list or segment */
  countAudience: {
    request: {
      query?: {
        /** List to send to. */
        list_id?: string;
        /** Segment to send to. */
        segment_id?: string;
        /** True for receipts, password resets and similar mails. They are sent before newsletters, also to people who unsubscribed, and are retried when delivery is in doubt. */
        is_transactional?: boolean;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** People of the list or segment. */
      total: number;
      /** People who would get the mail. */
      recipients: number;
      /** People who would not get it, by reason. */
      left_out: {
        /** Have not confirmed their subscription. */
        unconfirmed: number;
        /** Have unsubscribed; they still get transactional mail. */
        unsubscribed: number;
        /** Their mailbox does not exist. */
        bounced: number;
        /** Have reported a mail as spam. */
        complained: number;
        /** People whose address or domain is suppressed. */
        suppressed: number;
      };
      /** True if the numbers are estimates from a sample. */
      is_estimate: boolean;
    };
  };
  /** List drafts */
  listDrafts: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name" | "updated_at" | "-updated_at";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: {
        id: Id;
        name: NameOfListDrafts;
        kind: Kind;
        created_at: CreatedAt;
        updated_at: UpdatedAt;
        /** Null if it is larger than 100000 bytes; get the draft to read it. */
        body: {
          [name: string]: unknown;
        } | null;
      }[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create a draft of a send */
  createDraft: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        name?: Name;
        kind: Kind;
        body?: Body;
      };
    };
    answer: CreateDraftBody;
  };
  /** Get a draft */
  getDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: CreateDraftBody;
  };
  /** Change a draft */
  updateDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        kind?: Kind;
        body?: Body;
        unchanged_since?: UnchangedSince;
      };
    };
    answer: CreateDraftBody;
  };
  /** Delete a draft */
  deleteDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Check a draft without sending it */
  checkDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** The first 100 errors. */
      errors: {
        [name: string]: unknown;
      };
    };
  };
  /** Preview a draft as a recipient sees it */
  previewDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        email?: Email;
        /** Index, starting at 0. */
        variant?: number;
      };
    };
    answer: PreviewDraftBody;
  };
  /** Send a draft */
  sendDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        unchanged_since?: UnchangedSince;
      };
    };
    answer: NewCampaign;
  };
  /** List subscribers */
  listSubscribers: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "email"
          | "-email"
          | "first_name"
          | "-first_name"
          | "last_name"
          | "-last_name";
        /** Only entries with this status. Repeat it for several values. */
        status?:
          | "active"
          | "unconfirmed"
          | "unsubscribed"
          | "bounced"
          | "complained"
          | ("active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained")[];
        /** Only subscribers of this list. Repeat it for several values. */
        list?: string | string[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ListSubscribersBody;
  };
  /** Create a subscriber */
  createSubscriber: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        email: Email;
        first_name?: FirstName;
        last_name?: LastName;
        attributes?: SubscriberAttributes;
        lists?: Lists;
      };
    };
    answer: Subscriber;
  };
  /** Import subscribers from a CSV file */
  importSubscribers: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        list_id?: ListIdOfImportSubscribers;
        /** JSON object: the target of each column (email, first_name, last_name, name, status, attributes, or the name of an attribute); null skips the column. `{"Ort": "city"}` */
        mapping?: string;
        charset?: Charset;
        dry_run?: DryRun;
        /** Answers 202 when the file is stored and imports in the background; poll `GET /api/emails/imports/{id}/` for progress. */
        background?: boolean;
        on_conflict?: OnConflict;
        date_order?: DateOrder;
        header?: Header;
        file: FileOfImportSubscribers;
      };
    };
    answer:
      | ImportReport
      | {
          /** Id of the import; poll it for progress. */
          import_id: string;
        };
  };
  /** List background imports */
  listImports: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: Import[];
      count_estimated?: CountEstimated;
    };
  };
  /** Upload a file to import later */
  uploadImport: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        file: FileOfImportSubscribers;
      };
    };
    answer: Import;
  };
  /** Get an import */
  getImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Import;
  };
  /** Delete an import */
  deleteImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Undo an import */
  undoImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Number of people deleted. */
      deleted: number;
      /** Number of people of the import who stay. */
      kept: number;
      /** Number of people who can still be deleted; repeat the request for very large imports. */
      remaining: number;
    };
  };
  /** Inspect an uploaded file */
  importColumns: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Default utf-8; a byte order mark overrides it. Any label of the Encoding Standard, such as windows-1252. */
        charset?: string;
        /** What each column is imported as. */
        mapping?: string;
        /** Whether the first line is a header. Default: true unless it contains an address. */
        header?: boolean;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Character encoding used: the one requested, or the one detected. */
      charset: string;
      /** Whether the first line is a header. Without one, columns are identified by number. */
      header: boolean;
      /** Delimiter between cells. */
      delimiter: string | null;
      /** Columns in the order of the file. */
      columns: {
        /** Display name in the header. */
        name: string;
        /** Values in the first rows. */
        values: string[];
        /** Field that it is imported as. `unsubscribed`, `bounced`, `complained`: people with a value in this column get that status. */
        as:
          | "email"
          | "first_name"
          | "last_name"
          | "name"
          | "status"
          | "unsubscribed"
          | "bounced"
          | "complained"
          | "attributes"
          | "attribute"
          | "ignored";
        /** The attribute's name. */
        attribute: string | null;
      }[];
      /** Why it cannot be imported with this mapping. */
      problem: string | null;
    };
  };
  /** Import an uploaded file */
  startImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        list_id?: ListIdOfImportSubscribers;
        /** For each column: email, first_name, last_name, name, status, attributes, or an attribute's name; null skips the column. */
        mapping?: {
          [name: string]: string | null;
        };
        charset?: Charset;
        dry_run?: DryRun;
        on_conflict?: OnConflict;
        date_order?: DateOrder;
        header?: Header;
      };
    };
    answer: Import;
  };
  /** Download the errors of an import as CSV */
  downloadImportErrors: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** Delete subscribers */
  deleteSubscribers: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        subscriber_ids?: SubscriberIds;
        filter?: Filter;
      };
    };
    answer: {
      /** Number of subscribers deleted. */
      deleted: number;
      complete?: Complete;
    };
  };
  /** Suppress subscribers */
  suppressSubscribers: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        subscriber_ids?: SubscriberIds;
        filter?: Filter;
        /** Why they get no mail. */
        reason?: string;
      };
    };
    answer: {
      /** Number of new suppressions. */
      suppressed: number;
      /** Number of addresses that were suppressed before. */
      existing: number;
      complete?: Complete;
    };
  };
  /** Add subscribers to lists or remove them */
  updateListsOfSubscribers: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        subscriber_ids?: SubscriberIds;
        filter?: Filter;
        /** Lists to add the subscribers to. */
        add_to_lists?: string[];
        /** Lists to remove the subscribers from. */
        remove_from_lists?: string[];
      };
    };
    answer: {
      updated: Updated;
      /** Number of new memberships. */
      added: number;
      /** Number of ended memberships. */
      removed: number;
      complete?: Complete;
    };
  };
  /** Download subscribers as CSV */
  exportSubscribers: {
    request: {
      query?: {
        /** Text in email or names, case-insensitive. */
        search?: string;
        /** Only subscribers of this list. Repeat it for several values. */
        list?: string | string[];
        /** Only entries with this status. Repeat it for several values. */
        status?:
          | "active"
          | "unconfirmed"
          | "unsubscribed"
          | "bounced"
          | "complained"
          | ("active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained")[];
        /** Only subscribers in this segment. Repeat it for several values. */
        segment?: string | string[];
        /** Extension. Only this subscriber. Repeat it for several values. */
        id?: string | string[];
        /** Starts with a byte order mark, for Excel. */
        bom?: boolean;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** List attribute names */
  listAttributes: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** In alphabetical order. */
      names: string[];
    };
  };
  /** Erase a person */
  erasePerson: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: ErasePersonBody;
    };
    answer: {
      /** Number of erased rows by kind. */
      erased: {
        /** List memberships. */
        lists: number;
        /** Subscriber rows. */
        subscribers: number;
        /** Mails from which the person's data was removed. */
        sent_emails: number;
        /** Copies (cc, bcc) from which the person's data was removed. */
        copies: number;
        /** Events from which the person's data was removed. */
        events: number;
        /** Bounces, complaints and their messages. */
        inbound: number;
        /** Receivers of pending sends. */
        receivers: number;
        /** Suppressions of the address, now stored as a keyed hash. */
        suppressions: number;
        /** Deliveries from which the person's data was removed. */
        webhook_deliveries: number;
        /** Stored answers for `Idempotency-Key`. */
        idempotency_keys: number;
        /** Invitations. */
        invitations: number;
        /** Entries of the audit log from which the person's data was removed. */
        audit_log: number;
        /** Server replies that quoted the address. */
        quotations: number;
      };
      /** False: erasing continues in the background. */
      complete: boolean;
    };
  };
  /** Export everything stored about a person */
  getPersonData: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Time of the export. */
      exported_at: string;
      subscriber: Subscriber;
      /** Soft bounces in a row, without a delivery between; the fifth suppresses. */
      soft_bounces: number;
      /** List memberships. */
      lists: {
        [name: string]: unknown;
      }[];
      /** Values of a sign-up form that the person has not confirmed yet. */
      form_values: {
        [name: string]: unknown;
      }[];
      /** Lists that the person asked for and has not confirmed yet. */
      list_requests: {
        [name: string]: unknown;
      }[];
      /** New addresses that the person has not confirmed yet. */
      address_changes: {
        [name: string]: unknown;
      }[];
      /** Former addresses of the person. */
      former_addresses: {
        [name: string]: unknown;
      }[];
      /** Mails sent to the person. */
      sent_emails: {
        [name: string]: unknown;
      }[];
      /** Copies sent to the person. */
      copies: {
        [name: string]: unknown;
      }[];
      /** Events of these mails. */
      events: {
        [name: string]: unknown;
      }[];
      /** Bounces and complaints. */
      inbound: {
        [name: string]: unknown;
      }[];
      /** Suppressions of the address. */
      suppressions: {
        [name: string]: unknown;
      }[];
      /** Webhook deliveries about the person. */
      webhook_deliveries: {
        [name: string]: unknown;
      }[];
      /** Kinds with more than 10,000 rows. */
      truncated: string[];
    };
  };
  /** List the memberships of a subscriber */
  listListsOfSubscriber: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      id: Id;
      name: NameOfListListsOfSubscriber;
      /** `waiting`: requested, not confirmed yet. */
      state: "on" | "left" | "waiting";
      /** Null while it waits for confirmation. */
      joined_at: string | null;
      /** Time when it was left on the preferences page. */
      left_at: string | null;
      /** Time when the public form requested it, while it is not confirmed. */
      asked_at: string | null;
    }[];
  };
  /** Get a subscriber */
  getSubscriber: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Subscriber;
  };
  /** Update a subscriber */
  updateSubscriber: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        first_name?: FirstName;
        last_name?: LastName;
        /** Custom fields, usable as template variables and in segments. */
        attributes?: {
          [name: string]: string | number | boolean | string[] | null;
        };
        lists?: Lists;
      };
    };
    answer: Subscriber;
  };
  /** Delete a subscriber */
  deleteSubscriber: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** List subscriber lists */
  listLists: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: SubscriberList[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create a subscriber list */
  createList: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        name: Name;
        description?: Description;
        visibility?: Visibility;
        public_name?: PublicName;
        public_description?: PublicDescription;
        archive?: Archive;
        double_opt_in?: DoubleOptIn;
      };
    };
    answer: SubscriberList;
  };
  /** Get a subscriber list */
  getList: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: SubscriberList;
  };
  /** Update a subscriber list */
  updateList: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        description?: Description;
        visibility?: Visibility;
        public_name?: PublicName;
        public_description?: PublicDescription;
        archive?: Archive;
        double_opt_in?: DoubleOptIn;
      };
    };
    answer: SubscriberList;
  };
  /** Delete a subscriber list */
  deleteList: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** List the subscribers of a list */
  listSubscribersOfList: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "email"
          | "-email"
          | "first_name"
          | "-first_name"
          | "last_name"
          | "-last_name";
        /** Only entries with this status. Repeat it for several values. */
        status?:
          | "active"
          | "unconfirmed"
          | "unsubscribed"
          | "bounced"
          | "complained"
          | ("active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained")[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ListSubscribersBody;
  };
  /** List templates */
  listTemplates: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name" | "updated_at" | "-updated_at";
        /** Only entries of this mode. Repeat it for several values. */
        template_mode?: "basic" | "visual" | "mjml" | ("basic" | "visual" | "mjml")[];
        /** Only entries of this type. Repeat it for several values. */
        template_type?: "marketing" | "transactional" | ("marketing" | "transactional")[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: EmailTemplate[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create a template */
  createTemplate: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        name: Name;
        subject: SubjectOfCreateTemplate;
        body?: BodyOfCreateTemplate;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        design?: DesignOfCreateTemplate;
        markdown?: Markdown;
        template_mode?: TemplateMode;
        template_type?: TemplateType;
      };
    };
    answer: SavedTemplate;
  };
  /** Preview an unsaved template */
  previewTemplateContent: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        subject: SubjectOfCreateTemplate;
        body?: BodyOfCreateTemplate;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        design?: DesignOfCreateTemplate;
        markdown?: Markdown;
        template_mode?: TemplateMode;
        template_type?: TemplateType;
        variables?: Variables;
      };
    };
    answer: PreviewDraftBody;
  };
  /** Check a template */
  checkTemplate: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        subject: SubjectOfCreateTemplate;
        /** The mail in HTML, with variables. Required without `design` and `markdown`. */
        body?: string;
        design?: Design;
        /** Markdown to check, in place of `body`. */
        markdown?: string;
        /** True: without requesting links and without the spam check. */
        quick?: boolean;
      };
    };
    answer: {
      /** Warnings that saving would return; the size is among the findings instead. */
      warnings: string[];
      /** Size of the HTML in bytes. */
      size: number;
      /** Findings on accessibility (WCAG 2.2 AA), support by six email clients (data of caniemail.com), size, links and spam: errors first, at most 100. */
      findings: {
        /** Subject of the finding. */
        kind: "accessibility" | "support" | "weight" | "link" | "spam";
        /** Name of the rule, such as `contrast`, `alt`, `link-text`, `heading-order`, `language`, `table-role`, `scheme`, `example` or `size`; for `support` the feature that some clients lack. */
        rule: string;
        /** `error`: some readers cannot read or use a part of the mail; `warning`: it is worse for them. */
        severity: "error" | "warning";
        /** The fault, and what readers notice. */
        message: string;
        /** How to fix it. */
        fix: string;
        /** Path of the block in the design; null without a design, and for the whole mail. */
        path: string | null;
        /** Email clients with the fault; empty: all. */
        clients: ("gmail" | "outlook_classic" | "outlook" | "apple_mail" | "yahoo" | "samsung")[];
      }[];
      /** The http and https addresses of the body, without duplicates and without those that contain variables: links first, then images and backgrounds; at most 100. */
      links: {
        /** URL. */
        url: string;
        /** Status of the final response after redirects; null if none arrived in time. */
        status: number | null;
        /** Use of the address in the mail. */
        kind: "link" | "image";
        /** Place of the address in the design. */
        path?: string;
        /** True if the final response, after at most five redirects, is a success. */
        ok: boolean;
      }[];
      /** Result of rspamd for the mail to a sample recipient; null if this installation has no spam check (`SPAM_CHECK_URL`) or it did not answer. */
      spam: {
        /** Sum of all rules; filters refuse from about 15. */
        score: number;
        /** Rules that matched, by name, with the score of each. */
        symbols: {
          [name: string]: unknown;
        };
      } | null;
    };
  };
  /** Update the designs of templates */
  updateDesigns: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      updated: UpdatedOfUpdateDesigns;
      unchanged: Unchanged;
      failed: Failed;
    };
  };
  /** Get a template */
  getTemplate: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: EmailTemplate;
  };
  /** Change a template */
  updateTemplate: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        subject?: SubjectOfCreateTemplate;
        body?: BodyOfCreateTemplate;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        design?: DesignOfCreateTemplate;
        markdown?: Markdown;
        template_mode?: TemplateMode;
        template_type?: TemplateType;
        /** Extension. The template's `updated_at` as last read. If it was saved since, the answer is 409 and nothing changes. */
        unchanged_since?: string;
      };
    };
    answer: SavedTemplate;
  };
  /** Delete a template */
  deleteTemplate: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Preview a template */
  previewTemplate: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        variables?: Variables;
      };
    };
    answer: PreviewDraftBody;
  };
  /** List the versions of a template */
  listTemplateVersions: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      version: Version;
      subject: SubjectOfListTemplateVersions;
      created_at: CreatedAtOfListTemplateVersions;
      created_by: CreatedBy;
    }[];
  };
  /** Get a version of a template */
  getTemplateVersion: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** Number of the version. */
        version: number;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      version: Version;
      subject: SubjectOfListTemplateVersions;
      created_at: CreatedAtOfListTemplateVersions;
      created_by: CreatedBy;
      /** The mail in HTML, with variables. */
      body: string;
      preheader: PreheaderOfGetTemplateVersion;
      text_body: TextBodyOfGetTemplateVersion;
      inline_css: InlineCss;
      /** The template's design then; null: it had none. */
      design: Design | null;
      /** The template's Markdown then; null: it had none. */
      markdown: string | null;
    };
  };
  /** Restore a version of a template */
  restoreTemplateVersion: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** Number of the version. */
        version: number;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: SavedTemplate;
  };
  /** List saved blocks */
  listSavedBlocks: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name" | "updated_at" | "-updated_at";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: SavedBlock[];
      count_estimated?: CountEstimated;
    };
  };
  /** Save blocks for several designs */
  createSavedBlock: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        name: NameOfCreateSavedBlock;
        blocks: BlocksOfCreateSavedBlock;
      };
    };
    answer: SavedBlock;
  };
  /** Get a saved block */
  getSavedBlock: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: SavedBlock;
  };
  /** Change a saved block */
  updateSavedBlock: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: NameOfCreateSavedBlock;
        blocks?: BlocksOfCreateSavedBlock;
      };
    };
    answer: {
      id: Id;
      name: NameOfUpdateSavedBlock;
      blocks?: BlocksOfUpdateSavedBlock;
      created_at: CreatedAt;
      updated_at: UpdatedAt;
      /** Templates that refer to it, after the change. */
      templates: {
        updated: UpdatedOfUpdateDesigns;
        unchanged: Unchanged;
        failed: Failed;
      };
    };
  };
  /** Delete a saved block */
  removeSavedBlock: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Copies its blocks into the templates that refer to it. */
        detach?: boolean;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** List SMTP configurations */
  listSmtpConfigs: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. The 400 for any other value names the fields. */
        ordering?: string;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: SmtpConfiguration[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create an SMTP configuration */
  createSmtpConfig: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        name: Name;
        host: Host;
        port: Port;
        username: Username;
        password: Password;
        sender_email: SenderEmail;
        use_tls?: UseTls;
        tls_mode?: TlsMode;
        sender_name?: SenderName;
        reply_to_email?: ReplyToEmail;
        bounce_address?: BounceAddress;
        bounce_mailbox?: GivenBounceMailbox;
        dkim?: GivenDkimKeys;
        max_connections?: MaxConnections;
        max_per_second?: MaxPerSecond;
        warmup?: WarmUp;
        domain_limits?: GivenDomainLimits;
        is_default?: IsDefault;
      };
    };
    answer: SmtpConfiguration;
  };
  /** Get an SMTP configuration */
  getSmtpConfig: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: SmtpConfiguration;
  };
  /** Change an SMTP configuration */
  updateSmtpConfig: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        host?: Host;
        port?: Port;
        username?: Username;
        password?: Password;
        sender_email?: SenderEmail;
        use_tls?: UseTls;
        tls_mode?: TlsMode;
        sender_name?: SenderName;
        reply_to_email?: ReplyToEmail;
        bounce_address?: BounceAddress;
        bounce_mailbox?: GivenBounceMailbox;
        dkim?: GivenDkimKeys;
        max_connections?: MaxConnections;
        max_per_second?: MaxPerSecond;
        warmup?: WarmUp;
        domain_limits?: GivenDomainLimits;
        is_default?: IsDefault;
      };
    };
    answer: SmtpConfiguration;
  };
  /** Delete an SMTP configuration */
  deleteSmtpConfig: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Test an SMTP configuration */
  validateSmtpConfig: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ValidateSmtpConfigBody;
  };
  /** Create a DKIM key */
  createDkimKey: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        domain: Domain;
        selector: Selector;
        algorithm: Algorithm;
      };
    };
    answer: DkimKey;
  };
  /** Get the deliverability report */
  getDeliverability: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** One entry per check. */
      checks: {
        name: NameOfGetDeliverability;
        /** Result of the check. */
        status: "pass" | "warn" | "fail" | "unknown";
        /** Published value. */
        found:
          | string
          | string[]
          | {
              [name: string]: unknown;
            }
          | null;
        /** Value to publish. */
        expected:
          | string
          | string[]
          | {
              [name: string]: unknown;
            }
          | null;
        /** What to do if the check does not pass. */
        help: string | null;
      }[];
    };
  };
  /** Validate SMTP settings */
  validateSmtp: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        host: Host;
        port: Port;
        username: Username;
        /** Login name; empty for no login. */
        password: string;
        use_tls?: UseTls;
        tls_mode?: TlsMode;
        sender_email?: SenderEmail;
      };
    };
    answer: ValidateSmtpConfigBody;
  };
  /** List campaigns */
  listCampaigns: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "failed_count"
          | "-failed_count"
          | "name"
          | "-name"
          | "scheduled_for"
          | "-scheduled_for"
          | "sent_count"
          | "-sent_count"
          | "status"
          | "-status"
          | "total_emails"
          | "-total_emails"
          | "updated_at"
          | "-updated_at";
        /** Only entries with this status. Repeat it for several values. */
        status?:
          | "pending"
          | "sending"
          | "completed"
          | "partial"
          | "failed"
          | "scheduled"
          | "cancelled"
          | ("pending" | "sending" | "completed" | "partial" | "failed" | "scheduled" | "cancelled")[];
        /** Only entries of this type. Repeat it for several values. */
        campaign_type?: "to_list" | "to_receivers" | "custom" | ("to_list" | "to_receivers" | "custom")[];
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        created_after?: string;
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        created_before?: string;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: {
        id: Id;
        name: NameOfListCampaigns;
        campaign_type: CampaignType;
        status: Status;
        total_emails: TotalEmails;
        sent_count: SentCount;
        failed_count: FailedCount;
        suppressed_count: SuppressedCount;
        scheduled_for: ScheduledFor;
        timezone: Timezone;
        next_zone_at: NextZoneAt;
        error: ErrorOfListCampaigns;
        subject: Subject;
        template_id: TemplateId;
        list_id: ListId;
        segment_id: SegmentId;
        smtp_config_id: SmtpConfigId;
        is_transactional: IsTransactional;
        variants: Variants;
        winner: Winner;
        started_at: StartedAt;
        finished_at: FinishedAt;
        opens: Opens;
        clicks: Clicks;
        created_at: CreatedAt;
        updated_at: UpdatedAt;
      }[];
      count_estimated?: CountEstimated;
    };
  };
  /** Campaign details and status */
  getCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Campaign;
  };
  /** Edit a scheduled campaign */
  updateCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        /** New start time. */
        scheduled_for?: string;
        template_id?: TemplateIdOfSendToList;
        list_id?: ListIdOfSendToList;
        segment_id?: SegmentIdOfSendToList;
        subject?: SubjectOfSendToList;
        /** The mail in HTML, with variables. */
        body?: string;
        preheader?: Preheader;
        text_body?: TextBody;
        design?: Design;
        attachment_ids?: AttachmentIds;
      };
    };
    answer: Campaign;
  };
  /** Delete a finished campaign */
  deleteCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Watch a campaign's progress */
  watchCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** Resume a campaign */
  resumeCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ResumeCampaignBody;
  };
  /** Cancel a scheduled campaign */
  cancelCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ResumeCampaignBody;
  };
  /** Stop a campaign */
  stopCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ResumeCampaignBody;
  };
  /** Resend a campaign to people who did not open it */
  resendCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        /** People who got it and neither opened nor clicked. */
        to: "non_openers";
        /** Overrides the first campaign's value. */
        subject?: string;
        /** Name of the new campaign. Default: `Again: ` and the first one's name. */
        name?: string;
      };
    };
    answer: NewCampaign;
  };
  /** Copy a campaign to a draft */
  duplicateCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: CreateDraftBody;
  };
  /** Get a campaign's statistics */
  getCampaignAnalytics: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Analytics;
  };
  /** Get a campaign's content */
  getCampaignContent: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Index of an A/B test's variant, in the order of the request. 404 if there is none. */
        variant?: number;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Subject of the mail. Templates may contain variables. */
      subject: string;
      /** The HTML part. */
      html: string;
    };
  };
  /** Group a campaign's failures by reason */
  listCampaignFailures: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: CampaignFailure[];
  };
  /** Download a campaign's results as CSV */
  exportCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** List webhook endpoints */
  listWebhookEndpoints: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "url" | "-url";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: WebhookEndpoint[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create a webhook endpoint */
  createWebhookEndpoint: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        url: Url;
        events: Events;
      };
    };
    answer: {
      id: Id;
      url: UrlOfCreateWebhookEndpoint;
      events: EventsOfCreateWebhookEndpoint;
      failing_since: FailingSince;
      disabled_at: DisabledAt;
      created_at: CreatedAt;
      secret: Secret;
    };
  };
  /** Get a webhook endpoint */
  getWebhookEndpoint: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: WebhookEndpoint;
  };
  /** Replace a webhook endpoint */
  updateWebhookEndpoint: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        url: Url;
        events: Events;
        /** True disables delivery until the next update. */
        disabled?: boolean;
      };
    };
    answer: WebhookEndpoint;
  };
  /** Delete a webhook endpoint */
  deleteWebhookEndpoint: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Replace the signing secret */
  rotateWebhookSecret: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      secret: Secret;
    };
  };
  /** Send a test event */
  testWebhookEndpoint: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: WebhookDelivery;
  };
  /** List deliveries of a webhook endpoint */
  listWebhookDeliveries: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. The 400 for any other value names the fields. */
        ordering?: string;
        /** Only entries with this status. Repeat it for several values. */
        status?: "pending" | "succeeded" | "dead" | ("pending" | "succeeded" | "dead")[];
        /** Type of event. Repeat it for several values. */
        event_type?:
          | "delivered"
          | "opened"
          | "clicked"
          | "bounced"
          | "unsubscribed"
          | "complained"
          | "failed"
          | "campaign.completed"
          | "subscribed"
          | "confirmed"
          | (
              | "delivered"
              | "opened"
              | "clicked"
              | "bounced"
              | "unsubscribed"
              | "complained"
              | "failed"
              | "campaign.completed"
              | "subscribed"
              | "confirmed"
            )[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: WebhookDelivery[];
      count_estimated?: CountEstimated;
    };
  };
  /** Get a delivery with its payload */
  getWebhookDelivery: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The delivery's id. */
        delivery_id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      id: Id;
      event_id: EventId;
      event_type: EventType;
      status: StatusOfGetWebhookDelivery;
      attempts: Attempts;
      response_status: ResponseStatus;
      last_error: LastError;
      next_attempt_at: NextAttemptAt;
      created_at: CreatedAt;
      /** Request body of the delivery. */
      payload: {
        [name: string]: unknown;
      };
    };
  };
  /** Repeat a delivery */
  redeliverWebhook: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The delivery's id. */
        delivery_id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: WebhookDelivery;
  };
  /** List suppressions */
  listSuppressions: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "email" | "-email" | "domain" | "-domain";
        /** Only suppressions of this kind. Repeat it for several values. */
        kind?:
          | "manual"
          | "unsubscribed"
          | "bounced"
          | "complained"
          | ("manual" | "unsubscribed" | "bounced" | "complained")[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: Suppression[];
      count_estimated?: CountEstimated;
    };
  };
  /** Suppress an address or domain */
  createSuppression: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        /** Address to suppress. */
        email?: string | null;
        /** Domain to suppress. */
        domain?: string | null;
        /** Reason. */
        reason?: string;
        /** Default: manual. */
        kind?: "manual" | "unsubscribed" | "bounced" | "complained";
      };
    };
    answer: Suppression;
  };
  /** Suppress many addresses and domains */
  importSuppressions: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body:
        | {
            charset?: Charset;
            file: FileOfImportSubscribers;
          }
        | {
            /** Entries to suppress. */
            items?: {
              /** An email address. */
              email?: string | null;
              /** A domain. */
              domain?: string | null;
              /** Reason. */
              reason?: string | null;
              /** Reason for the suppression; the stronger kind wins. */
              kind?: string | null;
            }[];
          };
    };
    answer: {
      total: Total;
      created: Created;
      /** Number of entries that were already suppressed. */
      existing: number;
      /** The first 100 errors. */
      errors: {
        row: Row;
        email: EmailOfImportSuppressions;
        /** Domain as given in the request. */
        domain: string;
        error: ErrorOfImportSuppressions;
      }[];
    };
  };
  /** Download all suppressions as CSV */
  exportSuppressions: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** Get a suppression */
  getSuppression: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Suppression;
  };
  /** Delete a suppression */
  deleteSuppression: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** List segments */
  listSegments: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: SegmentDefinition[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create a segment */
  createSegment: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        name: Name;
        description?: Description;
        rules: SegmentRules;
      };
    };
    answer: Segment;
  };
  /** Count the subscribers of unsaved rules */
  previewSegment: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        rules: SegmentRules;
      };
    };
    answer: {
      subscriber_count: SubscriberCount;
      subscriber_count_is_estimate: SubscriberCountIsEstimate;
      not_dates: NotDates;
      /** Empty if they could not be found in time. */
      sample: Subscriber[];
    };
  };
  /** Get a segment with its current size */
  getSegment: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** `false`: skip counting; `subscriber_count` is null. */
        count?: boolean;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Segment;
  };
  /** Update a segment */
  updateSegment: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        description?: Description;
        rules?: SegmentRules;
      };
    };
    answer: Segment;
  };
  /** Delete a segment */
  deleteSegment: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** List the subscribers of a segment */
  listSubscribersOfSegment: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "email"
          | "-email"
          | "first_name"
          | "-first_name"
          | "last_name"
          | "-last_name";
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: ListSubscribersBody;
  };
  /** List media files */
  listMedia: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "filename"
          | "-filename"
          | "size"
          | "-size"
          | "content_type"
          | "-content_type";
        /** Only files of this type. Repeat it for several values. */
        content_type?: string | string[];
        /** Extension. Only files of this folder; empty: only files in no folder. Repeat it for several values. */
        folder?: string | string[];
        /** Extension. Only copies of other images, or only uploads. */
        is_copy?: boolean;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: MediaFile[];
      count_estimated?: CountEstimated;
    };
  };
  /** Upload a media file */
  uploadMedia: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        /** Extension. Folder of the file. */
        folder?: string;
        /** Extension. Description of an image. */
        alt?: string;
        file: FileOfImportSubscribers;
      };
    };
    answer: MediaFile;
  };
  /** List folders of media files */
  listMediaFolders: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Name of the folder. */
      folder: string;
      /** Number of files in it. */
      count: number;
    }[];
  };
  /** Get a media file */
  getMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: MediaFile;
  };
  /** Change a media file */
  updateMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        /** The file's name. */
        filename?: string;
        /** Folder of the file; empty: in no folder. */
        folder?: string;
        /** Description of an image. */
        alt?: string;
      };
    };
    answer: MediaFile;
  };
  /** Delete a media file */
  deleteMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Make a resized copy of an image */
  copyMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body?: {
        /** Part of the image to keep, in pixels of the upright image; unset: all of it. */
        crop?: {
          left: Left;
          top: Top;
          width: Width;
          height: Height;
        };
        /** Greatest width of the copy in pixels; a smaller image keeps its own. For mails: twice the shown width. */
        width?: number;
        /** Default: the image's own format; for AVIF and TIFF, JPEG or PNG. */
        format?: "jpeg" | "png" | "gif" | "webp";
      };
    };
    answer: MediaFile;
  };
  /** List where a media file is used */
  getMediaUsage: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Number of templates that use the file. */
      template_count: number;
      /** The newest templates or campaigns that use the file. */
      templates: {
        id: Id;
        name: NameOfListListsOfSubscriber;
      }[];
      /** Number of campaigns that use or attach the file. */
      campaign_count: number;
      /** The newest templates or campaigns that use the file. */
      campaigns: {
        id: Id;
        name: NameOfListListsOfSubscriber;
        /** Current state. */
        status: "pending" | "sending" | "completed" | "partial" | "failed" | "scheduled" | "cancelled";
      }[];
    };
  };
  /** List sent emails with their delivery status */
  listSentEmails: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "recipient" | "-recipient" | "sent_at" | "-sent_at";
        /** Only entries of this campaign. Repeat it for several values. */
        campaign?: string | string[];
        /** Only entries with this status. Repeat it for several values. */
        status?:
          | "queued"
          | "sending"
          | "sent"
          | "failed"
          | "bounced"
          | "suppressed"
          | "unknown"
          | ("queued" | "sending" | "sent" | "failed" | "bounced" | "suppressed" | "unknown")[];
        /** Only entries for this address. Repeat it for several values. */
        recipient?: string | string[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: SentEmail[];
      count_estimated?: CountEstimated;
    };
  };
  /** List opens, clicks, bounces, unsubscribes and complaints */
  listEvents: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "timestamp" | "-timestamp";
        /** Only of this type. Repeat it for several values. */
        type?:
          | "delivered"
          | "opened"
          | "clicked"
          | "bounced"
          | "unsubscribed"
          | "complained"
          | ("delivered" | "opened" | "clicked" | "bounced" | "unsubscribed" | "complained")[];
        /** Only entries of this campaign. Repeat it for several values. */
        campaign?: string | string[];
        /** Only entries for this address. Repeat it for several values. */
        recipient?: string | string[];
        /** Extension. Only bounces from this source; `smtp`: refused in the SMTP session. Repeat it for several values. */
        source?: "smtp" | "dsn" | "provider" | "api" | ("smtp" | "dsn" | "provider" | "api")[];
        /** Inclusive start. A date-time, or a date: the whole day in the company's time zone. */
        since?: string;
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        until?: string;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: EmailEvent[];
      count_estimated?: CountEstimated;
    };
  };
  /** Get the company's statistics */
  getStats: {
    request: {
      query?: {
        /** Number of days, counting back from today. */
        days?: number;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      /** Subscribers. */
      subscribers: {
        /** Subscribers of any status. */
        total: number;
        /** Subscribers who get mail. */
        active: number;
        /** Not confirmed yet. */
        unconfirmed: number;
        /** Get no more newsletters. */
        unsubscribed: number;
        /** Mailbox does not exist. */
        bounced: number;
        /** Reported a mail as spam. */
        complained: number;
      };
      /** One entry per day, oldest first, today last. */
      growth: {
        date: DateOfGetStats;
        /** Became active: new, confirmed, or reactivated. */
        subscribed: number;
        /** Unsubscribed or complained. */
        unsubscribed: number;
        /** Hard bounces. */
        bounced: number;
      }[];
      /** Mails on each of these days. */
      sending: {
        date: DateOfGetStats;
        /** Mails accepted by servers on this day. */
        sent: number;
        /** Accepted mails that have not bounced since. */
        delivered: number;
        /** Bounces on this day, at delivery or later. */
        bounced: number;
        /** Spam complaints on this day. */
        complained: number;
        /** Mails first opened by a person on this day. */
        opens: number;
        /** Mails first clicked by a person on this day. */
        clicks: number;
      }[];
      /** Number of campaigns by status. */
      campaigns: {
        /** Scheduled for later. */
        scheduled: number;
        /** Waiting for a sender. */
        pending: number;
        /** Being sent. */
        sending: number;
        /** Sent to all recipients. */
        completed: number;
        /** Sent to some recipients. */
        partial: number;
        /** Sent to no recipient. */
        failed: number;
        /** Cancelled, or stopped before the first mail. */
        cancelled: number;
      };
    };
  };
  /** Get delivery statistics by recipient domain */
  getDomainStats: {
    request: {
      query?: {
        /** Number of days, counting back from today. */
        days?: number;
        /** Only entries of this campaign. */
        campaign?: string;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      domain: DomainOfGetDomainStats;
      sent: Sent;
      delivered: Delivered;
      hard: Hard;
      soft: Soft;
      block: Block;
      complaints: Complaints;
      /** Mails opened by a person. */
      opens: number;
      /** Latest refusal by its servers. */
      last_refusal: string | null;
      /** Present only when `sent`, `delivered` and `opens` are estimates. */
      estimated?: boolean;
    }[];
  };
  /** List throttled recipient domains */
  listSlowDomains: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      smtp_config_id: SmtpConfigId;
      domain: DomainOfListSlowDomains;
      /** Current rate in mails per minute. */
      per_minute: number;
      /** Reply of its server. */
      says: string;
    }[];
  };
  /** Report a bounce or a complaint */
  reportBounce: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        /** The sent email. */
        sent_email_id?: string;
        /** Message-ID of the mail. */
        message_id?: string;
        email?: Email;
        /** Type of event. */
        type: "hard" | "soft" | "block" | "complaint";
        /** Reply of the server that refused the mail. */
        diagnostic?: string;
      };
    };
    answer: InboundMessage;
  };
  /** List received bounces and complaints */
  listInboundMessages: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "received_at" | "-received_at";
        /** Only entries with this result. Repeat it for several values. */
        result?:
          | "bounced"
          | "complained"
          | "ignored"
          | "unmatched"
          | ("bounced" | "complained" | "ignored" | "unmatched")[];
        /** Only entries received this way. Repeat it for several values. */
        via?:
          | "smtp"
          | "imap"
          | "api"
          | "ses"
          | "sendgrid"
          | "mailgun"
          | "postmark"
          | "sparkpost"
          | "brevo"
          | ("smtp" | "imap" | "api" | "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo")[];
        /** Only entries for this address. Repeat it for several values. */
        recipient?: string | string[];
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: InboundMessage[];
      count_estimated?: CountEstimated;
    };
  };
  /** Download a received message */
  downloadInboundMessage: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: Blob;
  };
  /** List inbound sources */
  listInboundSources: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. The 400 for any other value names the fields. */
        ordering?: string;
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: InboundSource[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create an inbound source */
  createInboundSource: {
    request: {
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
      body: {
        provider: Provider;
        /** SendGrid's verification key or Mailgun's HTTP signing key. For Postmark, SparkPost and Brevo: the basic authentication password or bearer token that their requests must carry. Write-only. */
        secret?: string;
        /** Configuration whose mail the reports concern. */
        smtp_config_id?: string;
      };
    };
    answer: InboundSource;
  };
  /** Delete an inbound source */
  deleteInboundSource: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token. Default: the API key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Receive a provider's report */
  receiveProviderReport: {
    request: {
      path: {
        /** Reporting provider. */
        provider: "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";
        /** The end of the source's `url`. */
        token: string;
      };
      body: unknown;
    };
    answer: {
      /** Number of bounces and complaints in the report. */
      accepted: number;
    };
  };
  /** Sign-up page (public) */
  subscribePage: {
    request: {
      path: {
        /** The company's id. */
        company_id: string;
      };
      query?: {
        /** List to join. */
        list?: string;
      };
    };
    answer: string;
  };
  /** Subscribe (public) */
  subscribePublicly: {
    request: {
      path: {
        /** The company's id. */
        company_id: string;
      };
      body: SubscribePubliclyBody;
    };
    answer: {
      /** The answer is the same for known and unknown addresses. */
      detail: string;
    };
  };
  /** Confirmation page (public) */
  showConfirmationPage: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: string;
  };
  /** Confirm a subscription */
  confirmSubscription: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: ConfirmSubscriptionBody;
  };
  /** Unsubscribe page */
  showUnsubscribePage: {
    request: {
      path: {
        /** Sent email's id, as in the mail's link. */
        sent_email_id: string;
      };
    };
    answer: string;
  };
  /** Unsubscribe */
  unsubscribeRecipient: {
    request: {
      path: {
        /** Sent email's id, as in the mail's link. */
        sent_email_id: string;
      };
      body?: UnsubscribeRecipientBody;
    };
    answer: {
      detail: Detail;
      email?: EmailOfConfirmSubscription;
    };
  };
  /** View an email in the browser */
  viewEmail: {
    request: {
      path: {
        /** Sent email's id, as in the mail's link. */
        sent_email_id: string;
      };
    };
    answer: string;
  };
  /** Public archive of a list */
  showArchive: {
    request: {
      path: {
        /** List to send to. */
        list_id: string;
      };
      query?: {
        /** From 1 to 500. */
        page?: number | string;
      };
    };
    answer: string;
  };
  /** Public archive of a list, as RSS 2.0 */
  getArchiveFeed: {
    request: {
      path: {
        /** List to send to. */
        list_id: string;
      };
    };
    answer: null;
  };
  /** A past newsletter */
  showArchivedCampaign: {
    request: {
      path: {
        /** List to send to. */
        list_id: string;
        /** The campaign. */
        campaign_id: string;
      };
    };
    answer: string;
  };
  /** Address change page (public) */
  showAddressChangePage: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: string;
  };
  /** Confirm a change of address */
  confirmAddressChange: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: ConfirmSubscriptionBody;
  };
  /** Preferences, as a page or JSON */
  getPreferences: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: Preferences;
  };
  /** Update preferences */
  updatePreferences: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
      body?: UpdatePreferencesJsonBody | UpdatePreferencesBody;
    };
    answer: Preferences;
  };
  /** Update preferences */
  updatePreferencesByForm: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
      body?: UpdatePreferencesJsonBody | UpdatePreferencesBody;
    };
    answer: Preferences;
  };
  /** Open pixel */
  trackOpen: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: Blob;
  };
  /** Tracked link */
  trackClick: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
    };
    answer: null;
  };
  /** Download a media file (public) */
  downloadMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** Name of the uploaded file. */
        filename: string;
      };
    };
    answer: Blob;
  };
  /** Register a user and a company */
  registerCompany: {
    request: {
      body: {
        email: Email;
        password: PasswordOfRegisterCompany;
        /** Company name; appears in mail headers. */
        company_name: string;
        first_name?: FirstNameOfRegisterCompany;
        last_name?: LastNameOfRegisterCompany;
      };
    };
    answer: {
      user: User;
      company: Company;
      access: Access;
      refresh: Refresh;
    };
  };
  /** Log in */
  logIn: {
    request: {
      body: {
        email: Email;
        /** The password. */
        password: string;
        code?: Code;
      };
    };
    answer: {
      access: Access;
      refresh: Refresh;
      user: User;
      /** Companies of the person. */
      companies: CompanyWithRole[];
      /** Set as the cookie `fm_device` instead. */
      device?: string;
    };
  };
  /** Exchange a refresh token for new tokens */
  refreshTokens: { request: { body: RefreshTokensBody }; answer: Tokens };
  /** Log out: end the session of a refresh token */
  logOut: { request: { body: RefreshTokensBody }; answer: null };
  /** Verify an email address by its mailed link */
  verifyEmail: {
    request: {
      body: {
        token: Token;
      };
    };
    answer: {
      email: EmailOfConfirmSubscription;
      email_verified: EmailVerified;
    };
  };
  /** Resend the verification mail */
  resendVerification: {
    request: Record<string, never>;
    answer: {
      [name: string]: unknown;
    };
  };
  /** Request a password reset */
  requestPasswordReset: {
    request: { body: ErasePersonBody };
    answer: {
      [name: string]: unknown;
    };
  };
  /** Reset a password */
  resetPassword: {
    request: {
      body: {
        token: Token;
        new_password: NewPassword;
      };
    };
    answer: {
      [name: string]: unknown;
    };
  };
  /** Accept an invitation */
  acceptInvitation: {
    request: {
      path: {
        /** Token from the link in the mail. */
        token: string;
      };
      body?: {
        password?: PasswordOfRegisterCompany;
        first_name?: FirstNameOfRegisterCompany;
        last_name?: LastNameOfRegisterCompany;
      };
    };
    answer: {
      user: User;
      company: CompanyWithRole;
      access: AccessOfAcceptInvitation;
      refresh: RefreshOfAcceptInvitation;
    };
  };
  /** Get the signed-in user and companies */
  getMe: {
    request: Record<string, never>;
    answer: {
      /** The user. */
      user: {
        id: Id;
        email: EmailOfConfirmSubscription;
        first_name: FirstNameOfGetMe;
        last_name: LastNameOfGetMe;
        email_verified: EmailVerified;
        /** Whether two-factor authentication is on. */
        totp_enabled: boolean;
      };
      /** Companies of the person. */
      companies: {
        id: Id;
        name: NameOfListListsOfSubscriber;
        role: Role;
        /** Extension. IANA time zone of the company. */
        timezone: string;
      }[];
    };
  };
  /** List active sessions */
  listSessions: {
    request: Record<string, never>;
    answer: {
      id: Id;
      created_at: CreatedAt;
      /** Time of the last use; null if never used. */
      last_used_at: string;
      ip: Ip;
      /** Browser and system of the session. */
      user_agent: string | null;
      /** Whether it is the current session. */
      current: boolean;
    }[];
  };
  /** End a session */
  endSession: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
    };
    answer: null;
  };
  /** Change the password */
  changePassword: {
    request: {
      body: {
        /** Current password. */
        current_password: string;
        new_password: NewPassword;
      };
    };
    answer: {
      access: AccessOfAcceptInvitation;
      refresh: RefreshOfAcceptInvitation;
    };
  };
  /** Start two-factor authentication */
  beginTotp: {
    request: Record<string, never>;
    answer: {
      /** Secret in base32, for the authenticator. */
      secret: string;
      /** QR code for the authenticator. */
      uri: string;
    };
  };
  /** Turn two-factor authentication off */
  disableTotp: {
    request: {
      body: {
        password: PasswordOfDisableTotp;
        code: Code;
      };
    };
    answer: null;
  };
  /** Turn two-factor authentication on */
  confirmTotp: {
    request: {
      body: {
        /** Code from the authenticator. */
        code: string;
      };
    };
    answer: {
      /** Recovery codes; each works once. */
      recovery_codes: string[];
    };
  };
  /** Create a company */
  createCompany: {
    request: {
      body: {
        name: Name;
      };
    };
    answer: CompanyWithRole;
  };
  /** Company settings */
  getCompany: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
    };
    answer: Company;
  };
  /** Change company settings */
  updateCompany: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      body?: {
        name?: Name;
        reply_to_email?: ReplyToEmail;
        /** Website. */
        website?: string | null;
        /** Shown at the foot of every marketing mail. */
        footer_text?: string;
        double_opt_in?: DoubleOptInOfUpdateCompany;
        default_smtp_config_id?: DefaultSmtpConfigId;
        tracking_enabled?: TrackingEnabled;
        individual_tracking?: IndividualTracking;
        /** Days to keep data; null: the installation's default. */
        retention_days?: {
          /** Opens, clicks, bounces and other events. Campaign counters stay. Null: as the installation says. */
          events?: number | null;
          /** Recipients of finished campaigns. Links in their mails stop working. Null: as the installation says. */
          sent_emails?: number | null;
          /** Received bounce messages. Null: as the installation says. */
          inbound?: number | null;
        } | null;
        /** Refuses sends while SPF, DKIM, DMARC or alignment of their SMTP configuration fails. */
        require_authentication?: boolean;
        /** Host of links, pixel and public pages in the company's mails. */
        tracking_domain?: string | null;
        /** Limits that stop a campaign automatically. */
        guard?: {
          /** Stops a campaign above this percentage of hard bounces. */
          hard_bounce_percent?: number | null;
          /** Stops a campaign above this percentage of complaints. */
          complaint_percent?: number | null;
          /** Number of recipients tried before a campaign can be stopped. */
          after?: number | null;
        } | null;
        /** IANA time zone, such as Europe/Berlin, that decides when days begin in filters, segments, statistics and warm-up. Default: UTC. */
        timezone?: string;
        /** Attributes accepted as fields of the public subscribe form, in any case. */
        form_attributes?: string[] | null;
        /** Hosts (with a port unless it is the default) that `redirect_url` of the public form may lead to. */
        form_hosts?: string[] | null;
        /** Look and language of public pages, confirmation mails and designs. Merged key by key; null resets. Dark mode colours are derived from these. */
        branding?: {
          name?: NameOfUpdateCompany;
          logo_url?: LogoUrl;
          color?: Color;
          background?: Background;
          text?: TextOfUpdateCompany;
          on_primary?: OnPrimary;
          heading_font?: HeadingFont;
          font?: Font;
          button_radius?: ButtonRadius;
          footer_text?: FooterText;
          language?: Language;
        } | null;
      };
    };
    answer: Company;
  };
  /** Delete a company and all its data */
  deleteCompany: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      body: {
        password: PasswordOfDisableTotp;
      };
    };
    answer: {
      detail: Detail;
    };
  };
  /** Plan, limits and usage */
  getPlan: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
    };
    answer: PlanUsage;
  };
  /** The company's sample data */
  getSampleData: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
    };
    answer: GetSampleDataBody;
  };
  /** Add sample data to look around with */
  addSampleData: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
    };
    answer: GetSampleDataBody;
  };
  /** Remove the sample data */
  deleteSampleData: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
    };
    answer: null;
  };
  /** List API keys */
  listApiKeys: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "name"
          | "-name"
          | "expires_at"
          | "-expires_at"
          | "last_used_at"
          | "-last_used_at";
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: ApiKey[];
      count_estimated?: CountEstimated;
    };
  };
  /** Create an API key */
  createApiKey: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      body: {
        /** Name. */
        name: string;
        expires_at?: ExpiresAt;
        /** Default: `full`. */
        scopes?: ("full" | "send" | "campaigns" | "subscribers" | "settings" | "read" | "export")[];
        /** IP addresses and networks (CIDR) that may use the key. Default: all. */
        allowed_ips?: string[];
      };
    };
    answer: {
      id: Id;
      name: NameOfCreateApiKey;
      prefix: Prefix;
      scopes: Scopes;
      allowed_ips: AllowedIps;
      created_by: CreatedByOfCreateApiKey;
      expires_at: ExpiresAt;
      last_used_at: LastUsedAt;
      created_at: CreatedAt;
      /** Shown only once; the service stores its hash. */
      key: string;
    };
  };
  /** Delete an API key */
  deleteApiKey: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The key's id. */
        key_id: string;
      };
    };
    answer: null;
  };
  /** List audit log entries */
  listAuditLog: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "at" | "-at" | "action" | "-action";
        /** Only entries by this user or key: an id, an address or a key's name. Repeat it for several values. */
        actor?: string | string[];
        /** Only entries with this action. Repeat it for several values. */
        action?:
          | "auth.login"
          | "auth.login_failed"
          | "api_key.created"
          | "api_key.deleted"
          | "member.invited"
          | "member.joined"
          | "member.role_changed"
          | "member.removed"
          | "company.updated"
          | "company.deleted"
          | "company.paused"
          | "company.unpaused"
          | "company.plan_changed"
          | "sample_data.added"
          | "sample_data.removed"
          | "smtp_config.created"
          | "smtp_config.updated"
          | "smtp_config.deleted"
          | "dkim_key.created"
          | "webhook.created"
          | "webhook.updated"
          | "webhook.deleted"
          | "webhook.secret_rotated"
          | "inbound_source.created"
          | "inbound_source.deleted"
          | "subscribers.imported"
          | "subscribers.import_undone"
          | "subscribers.exported"
          | "subscribers.deleted"
          | "subscribers.erased"
          | "list.deleted"
          | "segment.deleted"
          | "template.deleted"
          | "saved_block.deleted"
          | "suppression.deleted"
          | "suppressions.imported"
          | "suppressions.exported"
          | "campaign.sent"
          | "campaign.tested"
          | "campaign.updated"
          | "campaign.deleted"
          | "campaign.stopped"
          | "campaign.resumed"
          | "campaign.cancelled"
          | "campaign.exported"
          | (
              | "auth.login"
              | "auth.login_failed"
              | "api_key.created"
              | "api_key.deleted"
              | "member.invited"
              | "member.joined"
              | "member.role_changed"
              | "member.removed"
              | "company.updated"
              | "company.deleted"
              | "company.paused"
              | "company.unpaused"
              | "company.plan_changed"
              | "sample_data.added"
              | "sample_data.removed"
              | "smtp_config.created"
              | "smtp_config.updated"
              | "smtp_config.deleted"
              | "dkim_key.created"
              | "webhook.created"
              | "webhook.updated"
              | "webhook.deleted"
              | "webhook.secret_rotated"
              | "inbound_source.created"
              | "inbound_source.deleted"
              | "subscribers.imported"
              | "subscribers.import_undone"
              | "subscribers.exported"
              | "subscribers.deleted"
              | "subscribers.erased"
              | "list.deleted"
              | "segment.deleted"
              | "template.deleted"
              | "saved_block.deleted"
              | "suppression.deleted"
              | "suppressions.imported"
              | "suppressions.exported"
              | "campaign.sent"
              | "campaign.tested"
              | "campaign.updated"
              | "campaign.deleted"
              | "campaign.stopped"
              | "campaign.resumed"
              | "campaign.cancelled"
              | "campaign.exported"
            )[];
        /** Inclusive start. A date-time, or a date: the whole day in the company's time zone. */
        since?: string;
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        until?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: {
        id: Id;
        at: At;
        /** User or API key that acted. */
        actor: {
          /** Type of the actor. */
          type: "user" | "api_key" | "operator" | "system";
          /** User or key; null for the operator and the system. */
          id: string | null;
          /** A user's address or a key's name. */
          name: string;
        };
        /** Action. */
        action: string;
        /** Target of the action. */
        target: string | null;
        ip: Ip;
        /** Further details, depending on the action. */
        detail: {
          [name: string]: unknown;
        };
      }[];
      count_estimated?: CountEstimated;
    };
  };
  /** List the members of a company */
  listMembers: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Entries per page; default 20. */
        page_size?: number;
        /** Position in the list, as returned in `next` and `previous`; `page` only numbers the page then. */
        cursor?: string;
        /** Text to search for, case-insensitive. */
        search?: string;
        /** Field to sort by; prefix `-` for descending. Default: newest first. */
        ordering?: "created_at" | "-created_at" | "email" | "-email" | "role" | "-role" | "joined_at" | "-joined_at";
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: Member[];
      count_estimated?: CountEstimated;
    };
  };
  /** Invite a member */
  inviteMember: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      body: {
        email: Email;
        role: Role;
      };
    };
    answer: {
      id: Id;
      email: EmailOfConfirmSubscription;
      role: Role;
      /** Current state. */
      status: "invited";
      /** Expiry; null: never. */
      expires_at: string;
      /** Link to accept the invitation, if no mail is sent. */
      invite_url?: string;
    };
  };
  /** Change a member's role */
  updateMember: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** Id of the user or invitation. */
        user_id: string;
      };
      body: {
        role: Role;
      };
    };
    answer: Member;
  };
  /** Remove a member or withdraw an invitation */
  removeMember: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** Id of the user or invitation. */
        user_id: string;
      };
      query?: {
        /** Keep the API keys that the member created. */
        keep_keys?: boolean;
      };
    };
    answer: null;
  };
}

export interface OperationEntry {
  method: string;
  path: string;
  answer: "json" | "text" | "bytes" | "none";
  /** The body is form-data. */
  form?: boolean;
  /** Takes an Idempotency-Key. */
  takesKey?: boolean;
}

export const operations: { readonly [O in keyof Operations]: OperationEntry } = {
  sendToList: { method: "POST", path: "/api/emails/send/to-list/", answer: "json", takesKey: true },
  sendToReceivers: { method: "POST", path: "/api/emails/send/to-receivers/", answer: "json", takesKey: true },
  sendCustom: { method: "POST", path: "/api/emails/send/custom/", answer: "json", takesKey: true },
  sendTest: { method: "POST", path: "/api/emails/send/test/", answer: "json" },
  countAudience: { method: "GET", path: "/api/emails/send/audience/", answer: "json" },
  listDrafts: { method: "GET", path: "/api/emails/drafts/", answer: "json" },
  createDraft: { method: "POST", path: "/api/emails/drafts/", answer: "json" },
  getDraft: { method: "GET", path: "/api/emails/drafts/{id}/", answer: "json" },
  updateDraft: { method: "PATCH", path: "/api/emails/drafts/{id}/", answer: "json" },
  deleteDraft: { method: "DELETE", path: "/api/emails/drafts/{id}/", answer: "none" },
  checkDraft: { method: "GET", path: "/api/emails/drafts/{id}/check/", answer: "json" },
  previewDraft: { method: "POST", path: "/api/emails/drafts/{id}/preview/", answer: "json" },
  sendDraft: { method: "POST", path: "/api/emails/drafts/{id}/send/", answer: "json", takesKey: true },
  listSubscribers: { method: "GET", path: "/api/emails/subscribers/", answer: "json" },
  createSubscriber: { method: "POST", path: "/api/emails/subscribers/", answer: "json" },
  importSubscribers: { method: "POST", path: "/api/emails/subscribers/bulk/", answer: "json", form: true },
  listImports: { method: "GET", path: "/api/emails/imports/", answer: "json" },
  uploadImport: { method: "POST", path: "/api/emails/imports/", answer: "json", form: true },
  getImport: { method: "GET", path: "/api/emails/imports/{id}/", answer: "json" },
  deleteImport: { method: "DELETE", path: "/api/emails/imports/{id}/", answer: "none" },
  undoImport: { method: "POST", path: "/api/emails/imports/{id}/undo/", answer: "json" },
  importColumns: { method: "GET", path: "/api/emails/imports/{id}/columns/", answer: "json" },
  startImport: { method: "POST", path: "/api/emails/imports/{id}/start/", answer: "json" },
  downloadImportErrors: { method: "GET", path: "/api/emails/imports/{id}/errors/", answer: "text" },
  deleteSubscribers: { method: "POST", path: "/api/emails/subscribers/bulk-delete/", answer: "json" },
  suppressSubscribers: { method: "POST", path: "/api/emails/subscribers/bulk-suppress/", answer: "json" },
  updateListsOfSubscribers: { method: "POST", path: "/api/emails/subscribers/bulk-update-lists/", answer: "json" },
  exportSubscribers: { method: "GET", path: "/api/emails/subscribers/export/", answer: "text" },
  listAttributes: { method: "GET", path: "/api/emails/subscribers/attributes/", answer: "json" },
  erasePerson: { method: "POST", path: "/api/emails/subscribers/erase/", answer: "json" },
  getPersonData: { method: "GET", path: "/api/emails/subscribers/{id}/data/", answer: "json" },
  listListsOfSubscriber: { method: "GET", path: "/api/emails/subscribers/{id}/lists/", answer: "json" },
  getSubscriber: { method: "GET", path: "/api/emails/subscribers/{id}/", answer: "json" },
  updateSubscriber: { method: "PATCH", path: "/api/emails/subscribers/{id}/", answer: "json" },
  deleteSubscriber: { method: "DELETE", path: "/api/emails/subscribers/{id}/", answer: "none" },
  listLists: { method: "GET", path: "/api/emails/lists/", answer: "json" },
  createList: { method: "POST", path: "/api/emails/lists/", answer: "json" },
  getList: { method: "GET", path: "/api/emails/lists/{id}/", answer: "json" },
  updateList: { method: "PATCH", path: "/api/emails/lists/{id}/", answer: "json" },
  deleteList: { method: "DELETE", path: "/api/emails/lists/{id}/", answer: "none" },
  listSubscribersOfList: { method: "GET", path: "/api/emails/lists/{id}/subscribers/", answer: "json" },
  listTemplates: { method: "GET", path: "/api/emails/templates/", answer: "json" },
  createTemplate: { method: "POST", path: "/api/emails/templates/", answer: "json" },
  previewTemplateContent: { method: "POST", path: "/api/emails/templates/preview/", answer: "json" },
  checkTemplate: { method: "POST", path: "/api/emails/templates/check/", answer: "json" },
  updateDesigns: { method: "POST", path: "/api/emails/templates/update-designs/", answer: "json" },
  getTemplate: { method: "GET", path: "/api/emails/templates/{id}/", answer: "json" },
  updateTemplate: { method: "PATCH", path: "/api/emails/templates/{id}/", answer: "json" },
  deleteTemplate: { method: "DELETE", path: "/api/emails/templates/{id}/", answer: "none" },
  previewTemplate: { method: "POST", path: "/api/emails/templates/{id}/preview/", answer: "json" },
  listTemplateVersions: { method: "GET", path: "/api/emails/templates/{id}/versions/", answer: "json" },
  getTemplateVersion: { method: "GET", path: "/api/emails/templates/{id}/versions/{version}/", answer: "json" },
  restoreTemplateVersion: {
    method: "POST",
    path: "/api/emails/templates/{id}/versions/{version}/restore/",
    answer: "json",
  },
  listSavedBlocks: { method: "GET", path: "/api/emails/saved-blocks/", answer: "json" },
  createSavedBlock: { method: "POST", path: "/api/emails/saved-blocks/", answer: "json" },
  getSavedBlock: { method: "GET", path: "/api/emails/saved-blocks/{id}/", answer: "json" },
  updateSavedBlock: { method: "PATCH", path: "/api/emails/saved-blocks/{id}/", answer: "json" },
  removeSavedBlock: { method: "DELETE", path: "/api/emails/saved-blocks/{id}/", answer: "none" },
  listSmtpConfigs: { method: "GET", path: "/api/emails/smtp-configs/", answer: "json" },
  createSmtpConfig: { method: "POST", path: "/api/emails/smtp-configs/", answer: "json" },
  getSmtpConfig: { method: "GET", path: "/api/emails/smtp-configs/{id}/", answer: "json" },
  updateSmtpConfig: { method: "PATCH", path: "/api/emails/smtp-configs/{id}/", answer: "json" },
  deleteSmtpConfig: { method: "DELETE", path: "/api/emails/smtp-configs/{id}/", answer: "none" },
  validateSmtpConfig: { method: "POST", path: "/api/emails/smtp-configs/{id}/validate/", answer: "json" },
  createDkimKey: { method: "POST", path: "/api/emails/smtp-configs/{id}/dkim/", answer: "json" },
  getDeliverability: { method: "GET", path: "/api/emails/smtp-configs/{id}/deliverability/", answer: "json" },
  validateSmtp: { method: "POST", path: "/api/emails/smtp/validate/", answer: "json" },
  listCampaigns: { method: "GET", path: "/api/emails/campaigns/", answer: "json" },
  getCampaign: { method: "GET", path: "/api/emails/campaigns/{id}/", answer: "json" },
  updateCampaign: { method: "PATCH", path: "/api/emails/campaigns/{id}/", answer: "json" },
  deleteCampaign: { method: "DELETE", path: "/api/emails/campaigns/{id}/", answer: "none" },
  watchCampaign: { method: "GET", path: "/api/emails/campaigns/{id}/stream/", answer: "text" },
  resumeCampaign: { method: "POST", path: "/api/emails/campaigns/{id}/resume/", answer: "json" },
  cancelCampaign: { method: "POST", path: "/api/emails/campaigns/{id}/cancel/", answer: "json" },
  stopCampaign: { method: "POST", path: "/api/emails/campaigns/{id}/stop/", answer: "json" },
  resendCampaign: { method: "POST", path: "/api/emails/campaigns/{id}/resend/", answer: "json", takesKey: true },
  duplicateCampaign: { method: "POST", path: "/api/emails/campaigns/{id}/duplicate/", answer: "json" },
  getCampaignAnalytics: { method: "GET", path: "/api/emails/campaigns/{id}/analytics/", answer: "json" },
  getCampaignContent: { method: "GET", path: "/api/emails/campaigns/{id}/content/", answer: "json" },
  listCampaignFailures: { method: "GET", path: "/api/emails/campaigns/{id}/failures/", answer: "json" },
  exportCampaign: { method: "GET", path: "/api/emails/campaigns/{id}/export/", answer: "text" },
  listWebhookEndpoints: { method: "GET", path: "/api/emails/webhook-endpoints/", answer: "json" },
  createWebhookEndpoint: { method: "POST", path: "/api/emails/webhook-endpoints/", answer: "json" },
  getWebhookEndpoint: { method: "GET", path: "/api/emails/webhook-endpoints/{id}/", answer: "json" },
  updateWebhookEndpoint: { method: "PUT", path: "/api/emails/webhook-endpoints/{id}/", answer: "json" },
  deleteWebhookEndpoint: { method: "DELETE", path: "/api/emails/webhook-endpoints/{id}/", answer: "none" },
  rotateWebhookSecret: { method: "POST", path: "/api/emails/webhook-endpoints/{id}/rotate-secret/", answer: "json" },
  testWebhookEndpoint: { method: "POST", path: "/api/emails/webhook-endpoints/{id}/test/", answer: "json" },
  listWebhookDeliveries: { method: "GET", path: "/api/emails/webhook-endpoints/{id}/deliveries/", answer: "json" },
  getWebhookDelivery: {
    method: "GET",
    path: "/api/emails/webhook-endpoints/{id}/deliveries/{delivery_id}/",
    answer: "json",
  },
  redeliverWebhook: {
    method: "POST",
    path: "/api/emails/webhook-endpoints/{id}/deliveries/{delivery_id}/redeliver/",
    answer: "json",
  },
  listSuppressions: { method: "GET", path: "/api/emails/suppressions/", answer: "json" },
  createSuppression: { method: "POST", path: "/api/emails/suppressions/", answer: "json" },
  importSuppressions: { method: "POST", path: "/api/emails/suppressions/bulk/", answer: "json", form: true },
  exportSuppressions: { method: "GET", path: "/api/emails/suppressions/export/", answer: "text" },
  getSuppression: { method: "GET", path: "/api/emails/suppressions/{id}/", answer: "json" },
  deleteSuppression: { method: "DELETE", path: "/api/emails/suppressions/{id}/", answer: "none" },
  listSegments: { method: "GET", path: "/api/emails/segments/", answer: "json" },
  createSegment: { method: "POST", path: "/api/emails/segments/", answer: "json" },
  previewSegment: { method: "POST", path: "/api/emails/segments/preview/", answer: "json" },
  getSegment: { method: "GET", path: "/api/emails/segments/{id}/", answer: "json" },
  updateSegment: { method: "PATCH", path: "/api/emails/segments/{id}/", answer: "json" },
  deleteSegment: { method: "DELETE", path: "/api/emails/segments/{id}/", answer: "none" },
  listSubscribersOfSegment: { method: "GET", path: "/api/emails/segments/{id}/subscribers/", answer: "json" },
  listMedia: { method: "GET", path: "/api/emails/media/", answer: "json" },
  uploadMedia: { method: "POST", path: "/api/emails/media/", answer: "json", form: true },
  listMediaFolders: { method: "GET", path: "/api/emails/media/folders/", answer: "json" },
  getMedia: { method: "GET", path: "/api/emails/media/{id}/", answer: "json" },
  updateMedia: { method: "PATCH", path: "/api/emails/media/{id}/", answer: "json" },
  deleteMedia: { method: "DELETE", path: "/api/emails/media/{id}/", answer: "none" },
  copyMedia: { method: "POST", path: "/api/emails/media/{id}/copies/", answer: "json" },
  getMediaUsage: { method: "GET", path: "/api/emails/media/{id}/usage/", answer: "json" },
  listSentEmails: { method: "GET", path: "/api/emails/sent-emails/", answer: "json" },
  listEvents: { method: "GET", path: "/api/emails/events/", answer: "json" },
  getStats: { method: "GET", path: "/api/emails/stats/", answer: "json" },
  getDomainStats: { method: "GET", path: "/api/emails/stats/domains/", answer: "json" },
  listSlowDomains: { method: "GET", path: "/api/emails/stats/slow-domains/", answer: "json" },
  reportBounce: { method: "POST", path: "/api/emails/bounces/", answer: "json" },
  listInboundMessages: { method: "GET", path: "/api/emails/inbound/", answer: "json" },
  downloadInboundMessage: { method: "GET", path: "/api/emails/inbound/{id}/raw/", answer: "bytes" },
  listInboundSources: { method: "GET", path: "/api/emails/inbound-sources/", answer: "json" },
  createInboundSource: { method: "POST", path: "/api/emails/inbound-sources/", answer: "json" },
  deleteInboundSource: { method: "DELETE", path: "/api/emails/inbound-sources/{id}/", answer: "none" },
  receiveProviderReport: { method: "POST", path: "/api/emails/inbound/{provider}/{token}/", answer: "json" },
  subscribePage: { method: "GET", path: "/api/emails/public/subscribe/{company_id}/", answer: "text" },
  subscribePublicly: { method: "POST", path: "/api/emails/public/subscribe/{company_id}/", answer: "json" },
  showConfirmationPage: { method: "GET", path: "/api/emails/public/confirm/{token}/", answer: "text" },
  confirmSubscription: { method: "POST", path: "/api/emails/public/confirm/{token}/", answer: "json" },
  showUnsubscribePage: { method: "GET", path: "/api/emails/public/unsubscribe/{sent_email_id}/", answer: "text" },
  unsubscribeRecipient: { method: "POST", path: "/api/emails/public/unsubscribe/{sent_email_id}/", answer: "json" },
  viewEmail: { method: "GET", path: "/api/emails/public/view/{sent_email_id}/", answer: "text" },
  showArchive: { method: "GET", path: "/api/emails/public/archive/{list_id}/", answer: "text" },
  getArchiveFeed: { method: "GET", path: "/api/emails/public/archive/{list_id}/feed.xml", answer: "none" },
  showArchivedCampaign: { method: "GET", path: "/api/emails/public/archive/{list_id}/{campaign_id}/", answer: "text" },
  showAddressChangePage: { method: "GET", path: "/api/emails/public/address/{token}/", answer: "text" },
  confirmAddressChange: { method: "POST", path: "/api/emails/public/address/{token}/", answer: "json" },
  getPreferences: { method: "GET", path: "/api/emails/public/preferences/{token}/", answer: "json" },
  updatePreferences: { method: "PUT", path: "/api/emails/public/preferences/{token}/", answer: "json" },
  updatePreferencesByForm: { method: "POST", path: "/api/emails/public/preferences/{token}/", answer: "json" },
  trackOpen: { method: "GET", path: "/api/emails/public/open/{token}.gif", answer: "bytes" },
  trackClick: { method: "GET", path: "/api/emails/public/click/{token}/", answer: "none" },
  downloadMedia: { method: "GET", path: "/api/emails/public/media/{id}/{filename}", answer: "bytes" },
  registerCompany: { method: "POST", path: "/api/auth/register/", answer: "json" },
  logIn: { method: "POST", path: "/api/auth/login/", answer: "json" },
  refreshTokens: { method: "POST", path: "/api/auth/token/refresh/", answer: "json" },
  logOut: { method: "POST", path: "/api/auth/logout/", answer: "none" },
  verifyEmail: { method: "POST", path: "/api/auth/verify/", answer: "json" },
  resendVerification: { method: "POST", path: "/api/auth/verify/resend/", answer: "json" },
  requestPasswordReset: { method: "POST", path: "/api/auth/password/reset/", answer: "json" },
  resetPassword: { method: "POST", path: "/api/auth/password/reset/confirm/", answer: "json" },
  acceptInvitation: { method: "POST", path: "/api/auth/invitations/{token}/", answer: "json" },
  getMe: { method: "GET", path: "/api/auth/me/", answer: "json" },
  listSessions: { method: "GET", path: "/api/auth/sessions/", answer: "json" },
  endSession: { method: "DELETE", path: "/api/auth/sessions/{id}/", answer: "none" },
  changePassword: { method: "POST", path: "/api/auth/password/change/", answer: "json" },
  beginTotp: { method: "POST", path: "/api/auth/totp/", answer: "json" },
  disableTotp: { method: "DELETE", path: "/api/auth/totp/", answer: "none" },
  confirmTotp: { method: "POST", path: "/api/auth/totp/confirm/", answer: "json" },
  createCompany: { method: "POST", path: "/api/companies/", answer: "json" },
  getCompany: { method: "GET", path: "/api/companies/{id}/", answer: "json" },
  updateCompany: { method: "PATCH", path: "/api/companies/{id}/", answer: "json" },
  deleteCompany: { method: "DELETE", path: "/api/companies/{id}/", answer: "json" },
  getPlan: { method: "GET", path: "/api/companies/{id}/plan/", answer: "json" },
  getSampleData: { method: "GET", path: "/api/companies/{id}/sample-data/", answer: "json" },
  addSampleData: { method: "POST", path: "/api/companies/{id}/sample-data/", answer: "json" },
  deleteSampleData: { method: "DELETE", path: "/api/companies/{id}/sample-data/", answer: "none" },
  listApiKeys: { method: "GET", path: "/api/companies/{id}/api-keys/", answer: "json" },
  createApiKey: { method: "POST", path: "/api/companies/{id}/api-keys/", answer: "json" },
  deleteApiKey: { method: "DELETE", path: "/api/companies/{id}/api-keys/{key_id}/", answer: "none" },
  listAuditLog: { method: "GET", path: "/api/companies/{id}/audit-log/", answer: "json" },
  listMembers: { method: "GET", path: "/api/companies/{id}/members/", answer: "json" },
  inviteMember: { method: "POST", path: "/api/companies/{id}/members/", answer: "json" },
  updateMember: { method: "PATCH", path: "/api/companies/{id}/members/{user_id}/", answer: "json" },
  removeMember: { method: "DELETE", path: "/api/companies/{id}/members/{user_id}/", answer: "none" },
};
