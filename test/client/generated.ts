// Written by `npm run client` from the OpenAPI document. Changes belong into the contracts.

/** What is wrong, as a sentence; `code` where a program needs to know which. */
export type Error = {
  detail: Detail;
  /** A word for programs. */
  code?: string;
};

/** Every fault of the request, by field. */
export type FieldErrors = {
  [name: string]: string[];
};

/** The company's plan does not include it. */
export type FeatureNotAvailable = {
  /** A sentence for people. */
  detail: {
    /** Which error it is. */
    code: "feature_not_available";
    /** A sentence for people. */
    message: string;
    /** The feature that is missing. */
    feature: string;
    /** The company's plan. */
    package: string;
  };
};

/** The API calls of the day are used up. */
export type DailyQuotaExceeded = {
  /** A sentence for people. */
  detail: {
    /** Which error it is. */
    code: "rate_limit_exceeded";
    /** A sentence for people. */
    message: string;
    /** Calls of a day. */
    limit: number;
    /** Calls of today. */
    current: number;
  };
};

/** The mails of the hour are used up. */
export type SmtpRateLimited = {
  /** A sentence for people. */
  detail: {
    /** Which error it is. */
    code: "smtp_rate_limited";
    /** A sentence for people. */
    message: string;
    /** Which limit it is. */
    limit_type: "hourly";
  };
};

/** Our fault; the log has it under `request_id`. */
export type InternalError = {
  detail: Detail;
  /** Id of this request in the service's log. */
  request_id: string;
};

/** Total number on all pages. */
export type Count = number;

/** True where `count` is an estimate, because counting takes more than 2 seconds; left out where it is exact. */
export type CountEstimated = boolean;

/** The next page, to be requested as it is; null on the last one. */
export type NextPage = string | null;

/** The page before; null on the first one. */
export type PreviousPage = string | null;

/** What an endpoint is posted. */
export type WebhookEvent = {
  /** The event's id. */
  id: string;
  /** Which event it is. */
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
  /** Whom it is about; null where it is about a campaign. */
  recipient: string | null;
  /** The mail; null where it is about none. */
  sent_email_id: string | null;
  /** The campaign; null where it is about none. */
  campaign_id: string | null;
  /** What else is known, by type. */
  metadata: {
    [name: string]: unknown;
  };
  /** Time of the event. */
  timestamp: string;
};

/** One send: what goes out, to whom, by which server, and how far it is. */
export type Campaign = {
  id: Id;
  name: NameOfCampaign;
  campaign_type: CampaignType;
  status: StatusOfCampaign;
  total_emails: TotalEmails;
  sent_count: SentCount;
  failed_count: FailedCount;
  suppressed_count: SuppressedCount;
  scheduled_for: ScheduledFor;
  timezone: Timezone;
  next_zone_at: NextZoneAt;
  error: ErrorOfCampaign;
  subject: SubjectOfCampaign;
  template_id: TemplateId;
  list_id: ListIdOfCampaign;
  segment_id: SegmentIdOfCampaign;
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

/** A campaign, with what it was made from. */
export type NewCampaign = {
  id: Id;
  name: NameOfCampaign;
  campaign_type: CampaignType;
  status: StatusOfCampaign;
  total_emails: TotalEmails;
  sent_count: SentCount;
  failed_count: FailedCount;
  suppressed_count: SuppressedCount;
  scheduled_for: ScheduledFor;
  timezone: Timezone;
  next_zone_at: NextZoneAt;
  error: ErrorOfCampaign;
  subject: SubjectOfCampaign;
  template_id: TemplateId;
  list_id: ListIdOfCampaign;
  segment_id: SegmentIdOfCampaign;
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
  /** The template that it was made from. */
  template: string | null;
  /** The lists that it goes to. */
  lists: string[];
  /** For clients that expect it; nothing takes it. */
  worker_task_id: string;
  /** Extension. Sentences about what the sender should know of this send, which is accepted all the same, and about a body that came with it: placeholders of other products, MJML, several lines without tags. A sender in a reserved domain (`.test`, `.example`, `.invalid`, `.localhost`) gets none on deliverability. */
  warnings: string[];
};

/** One reason why recipients failed. */
export type CampaignFailure = {
  /** Unique; where texts differ by an address alone it is `<address>`. */
  reason: string;
  /** The refusing server's code. */
  smtp_code: number | null;
  /** Its enhanced code (RFC 3463). */
  enhanced_code: string | null;
  bounce_type: BounceType;
  /** Recipients that failed for this reason. */
  count: number;
  /** An address of those recipients; null where they have no rows. */
  example: string | null;
  /** How to fix it. */
  help: string;
  /** Present only when `count` is an estimate. */
  estimated?: boolean;
};

/** A person who can get campaigns. */
export type Subscriber = {
  id: Id;
  email: Email;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  /** Only who is `active` gets campaigns. */
  status: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
  attributes: SubscriberAttributes;
  /** Lists that the subscriber is on. */
  lists: string[];
  created_at: CreatedAt;
};

/** What else is known: template variables and fields of segments. */
export type SubscriberAttributes = {
  [name: string]: string | number | boolean | string[];
};

/** A list that subscribers are on. */
export type SubscriberList = {
  id: Id;
  /** Name; recipients see it when the list is public. */
  name: string;
  description: DescriptionOfSubscriberList;
  visibility: Visibility;
  /** What subscribers see of a public list; empty: its name. */
  public_name: string;
  /** What subscribers read about a public list. */
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
  template_mode: TemplateMode;
  template_type: TemplateType;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** A template, with what its author should know. */
export type SavedTemplate = {
  id: Id;
  name: NameOfEmailTemplate;
  subject: SubjectOfEmailTemplate;
  body: BodyOfEmailTemplate;
  preheader: PreheaderOfGetTemplateVersion;
  text_body: TextBodyOfGetTemplateVersion;
  inline_css: InlineCss;
  template_mode: TemplateMode;
  template_type: TemplateType;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  warnings: Warnings;
};

/** A mail server, and how mail leaves by it. */
export type SmtpConfiguration = {
  id: Id;
  name: NameOfListListsOfSubscriber;
  host: HostOfSmtpConfiguration;
  port: PortOfSmtpConfiguration;
  /** TLS is required. */
  use_tls: boolean;
  tls_mode: TlsMode;
  /** Name in From. */
  sender_name: string;
  /** Address in From. */
  sender_email: string;
  /** Address for replies. */
  reply_to_email: string | null;
  /** Where bounces go; each mail's envelope sender is this with a token. */
  bounce_address: string | null;
  /** A mailbox that bounces arrive in, read by IMAP; null: none. */
  bounce_mailbox: {
    host: HostOfSmtpConfiguration;
    port: PortOfSmtpConfiguration;
    /** For the login; empty: none. */
    username: string;
    /** TLS is required. */
    use_tls: boolean;
    /** The folder that is read. */
    folder: string;
    /** Where mails go that were read. */
    processed_folder: string;
    last_error: LastErrorOfSmtpConfiguration;
    last_error_at: LastErrorAt;
  } | null;
  /** The keys that sign: one, or an array of two (RSA and Ed25519); null: nothing is signed. */
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
  /** Keys that were made here and wait for their record to be seen. */
  dkim_waiting: DkimKey[];
  max_connections: MaxConnectionsOfSmtpConfiguration;
  /** Mails a second, at most; null: no limit. */
  max_per_second: number | null;
  /** Daily limits while the reputation of a new sender builds up; null: no limit. */
  warmup: {
    /** Mails on the first day. */
    start_per_day: number;
    /** Times what it was on the day before. */
    factor: number;
    /** Never more than this. */
    until_per_day: number;
  } | null;
  /** Limits for recipient domains. */
  domain_limits: {
    /** The recipients' domain. */
    domain: string;
    /** Mails in any 60 seconds, at most; null: no limit. */
    max_per_minute?: number;
    max_connections?: MaxConnectionsOfSmtpConfiguration;
  }[];
  is_default: IsDefault;
  /** False while the server takes no mail. */
  working: boolean;
  last_error: LastErrorOfSmtpConfiguration;
  last_error_at: LastErrorAt;
  /** Time of the next attempt with this server. */
  backing_off_until: string | null;
  /** When the DNS was last asked what receivers would find wrong; null: not since the last change. */
  checked_at: string | null;
  /** What failed then: the `fail`s of the deliverability report. */
  check_failures: {
    name: NameOfGetDeliverability;
    /** How to fix it. */
    help: string;
  }[];
  created_at: CreatedAt;
};

/** A DKIM key that was made here. */
export type DkimKey = {
  domain: DomainOfListSlowDomains;
  selector: SelectorOfSmtpConfiguration;
  algorithm: Algorithm;
  record: RecordOfSmtpConfiguration;
  active: Active;
};

/** Keys to sign with; null: nothing is signed. */
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

/** A mailbox that bounces arrive in, read by IMAP; null removes it. */
export type GivenBounceMailbox = {
  host?: Host;
  /** Port. */
  port?: number | null;
  username?: Username;
  /** For the login. Write-only. */
  password?: string;
  /** TLS is required. */
  use_tls?: boolean | null;
  /** The folder that is read. */
  folder?: string | null;
  /** Where mails go that were read. */
  processed_folder?: string | null;
} | null;

/** Daily limits while the reputation of a new sender builds up; null: no limit. */
export type WarmUp = {
  /** Mails on the first day. */
  start_per_day: number;
  /** Times what it was on the day before. */
  factor: number;
  /** More than this it never becomes; `warmup: null` ends it. */
  until_per_day: number;
} | null;

/** Limits for recipient domains. */
export type GivenDomainLimits =
  | {
      domain: Domain;
      /** Mails in any 60 seconds, at most; null: no limit. */
      max_per_minute?: number | null;
      /** Connections at a time, at most. */
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

/** One event on its way to one endpoint. */
export type WebhookDelivery = {
  id: Id;
  event_id: EventId;
  event_type: EventType;
  status: Status;
  attempts: Attempts;
  response_status: ResponseStatus;
  last_error: LastError;
  next_attempt_at: NextAttemptAt;
  created_at: CreatedAt;
};

/** A bounce, a complaint or another message that came in. */
export type InboundMessage = {
  id: Id;
  /** Time of arrival. */
  received_at: string;
  /** `smtp`: the listener, `imap`: a mailbox, `api`, or the provider. */
  via: "smtp" | "imap" | "api" | "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";
  sent_email_id: SentEmailId;
  /** The address that it goes to. */
  recipient: string | null;
  /** `unmatched`: it belongs to no mail of the company, and has changed nothing. */
  result: "bounced" | "complained" | "ignored" | "unmatched";
  bounce_type: BounceType;
  /** Reply of the server that refused the mail. */
  diagnostic: string | null;
  /** The message as it came, for 30 days. */
  raw_url: string | null;
};

/** An address that a provider reports to. */
export type InboundSource = {
  id: Id;
  provider: Provider;
  /** Where the provider posts to. It holds a token: keep it secret. */
  url: string;
  created_at: CreatedAt;
};

/** An address or a domain that gets no mail. */
export type Suppression = {
  id: Id;
  /** The address that gets no mail; null where it is a domain. */
  email: string | null;
  /** The domain that gets no mail; null where it is an address. */
  domain: string | null;
  /** Why it gets no mail; the stronger kind stays. */
  kind: "manual" | "unsubscribed" | "bounced" | "complained";
  /** Reason. */
  reason: string;
  created_at: CreatedAt;
};

/** Subscribers by rules, with their number now. */
export type Segment = {
  id: Id;
  name: NameOfSegment;
  description: DescriptionOfSubscriberList;
  rules: SegmentRules;
  created_at: CreatedAt;
  /** Number of subscribers; null where nobody was counted. */
  subscriber_count: number | null;
  subscriber_count_is_estimate: SubscriberCountIsEstimate;
  not_dates: NotDates;
};

/** Subscribers by rules. */
export type SegmentDefinition = {
  id: Id;
  name: NameOfSegment;
  description: DescriptionOfSubscriberList;
  rules: SegmentRules;
  created_at: CreatedAt;
};

/** Whom a segment holds. */
export type SegmentRules = {
  /** Whether all conditions must hold, or any. */
  match?: "all" | "any";
  /** What is asked of each subscriber: a field, how it is compared, and with what. */
  conditions: (
    | {
        field: "email";
        operator: Operator;
        value: string;
      }
    | {
        field: "email";
        operator: "in" | "not_in";
        value: ValueOfSegmentRules;
      }
    | {
        field: "domain";
        operator: Operator;
        value: string;
      }
    | {
        field: "domain";
        operator: "in" | "not_in";
        value: ValueOfSegmentRules;
      }
    | {
        field: "first_name" | "last_name";
        operator: Operator;
        value: string;
      }
    | {
        field: "first_name" | "last_name";
        operator: "in" | "not_in";
        value: ValueOfSegmentRules;
      }
    | {
        field: "first_name" | "last_name";
        operator: "is_empty" | "is_not_empty";
        /** Means nothing here. */
        value?: unknown;
      }
    | {
        field: "status";
        operator: "equals" | "not_equals";
        value: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
      }
    | {
        field: "status";
        operator: "in" | "not_in";
        value: ("active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained")[];
      }
    | {
        field: "created_at";
        operator: "before" | "after" | "lt" | "lte" | "gt" | "gte";
        value: Value2;
      }
    | {
        field: "created_at";
        operator: "in_last_days";
        value: number;
      }
    | {
        field: FieldOfSegmentRules;
        operator: "before" | "after" | "lt" | "lte" | "gt" | "gte";
        value: Value2;
      }
    | {
        field: FieldOfSegmentRules;
        operator: "in_last_days";
        value: number;
      }
    | {
        field: FieldOfSegmentRules;
        operator: "is_empty" | "is_not_empty";
        /** Means nothing here. */
        value?: unknown;
      }
    | {
        field: "complained";
        operator: "equals" | "not_equals";
        value: boolean;
      }
    | {
        field: "list";
        operator: "equals" | "not_equals";
        value: string;
      }
    | {
        field: "list";
        operator: "in" | "not_in";
        value: Value3;
      }
    | {
        field: "list";
        operator: "is_empty" | "is_not_empty";
        /** Means nothing here. */
        value?: unknown;
      }
    | {
        field: "opened_campaign";
        operator: "equals" | "not_equals";
        value: string;
      }
    | {
        field: "opened_campaign";
        operator: "in" | "not_in";
        value: Value3;
      }
    | {
        field: "clicked_campaign";
        operator: "equals" | "not_equals";
        value: string;
      }
    | {
        field: "clicked_campaign";
        operator: "in" | "not_in";
        value: Value3;
      }
    | {
        field: Field;
        operator: "equals" | "not_equals";
        value: string | number | boolean;
      }
    | {
        field: Field;
        operator: "contains" | "not_contains" | "starts_with" | "ends_with";
        value: string;
      }
    | {
        field: Field;
        operator: "in" | "not_in";
        value: (string | number | boolean)[];
      }
    | {
        field: Field;
        operator: "gt" | "gte" | "lt" | "lte";
        value: number;
      }
    | {
        field: Field;
        operator: "before" | "after";
        value: Value2;
      }
    | {
        field: Field;
        operator: "in_last_days";
        value: number;
      }
    | {
        field: Field;
        operator: "is_empty" | "is_not_empty";
        /** Means nothing here. */
        value?: unknown;
      }
  )[];
};

/** What an import has done. */
export type ImportReport = {
  import_id: ImportId;
  total: Total;
  created: Created;
  updated: Updated;
  skipped: Skipped;
  errors: Errors;
  errors_count: ErrorsCount;
  errors_url: ErrorsUrl;
  columns: Columns;
  decoded_cells: DecodedCells;
};

/** A file that waits for its import, or is imported in the background. */
export type Import = {
  id: Id;
  /** State. */
  status: "waiting" | "running" | "done" | "failed";
  /** Of the file. */
  bytes: number;
  /** How much of it is read. */
  bytes_read: number;
  import_id: ImportId;
  total: Total;
  created: Created;
  updated: Updated;
  skipped: Skipped;
  errors: Errors;
  errors_count: ErrorsCount;
  errors_url: ErrorsUrl;
  columns: Columns;
  decoded_cells: DecodedCells;
  /** Why it failed; nothing was imported. */
  error: string | null;
  /** As the upload called the file. */
  filename: string;
  list_id: ListIdOfCampaign;
  /** As it was asked for. */
  mapping: {
    [name: string]: string | null;
  };
  /** How the file's characters are written. */
  charset: string | null;
  /** What becomes of known subscribers. */
  on_conflict: "update" | "skip";
  /** How days such as 03/04/2000 are read. Without it a column decides by its own cells (31/12 can only be one); else they stay text. */
  date_order: "dmy" | "mdy" | null;
  header: Header;
  /** It counts and reports, and writes nothing. */
  dry_run: boolean;
  /** Its file is kept: it can be started, also after a dry run or a failure. */
  startable: boolean;
  created_at: CreatedAt;
  /** Then it is gone, with its file and its errors. */
  kept_until: string;
};

/** An image of mails, or an attachment. */
export type MediaFile = {
  id: Id;
  /** The file's name. */
  filename: string;
  /** Found in the file's own bytes, whatever the upload said. */
  content_type: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of its bytes, hexadecimal. */
  sha256: string;
  /** Serves the file to anybody. */
  url: string;
  created_at: CreatedAt;
};

/** What became of a campaign's mails, and what their readers did. */
export type Analytics = {
  campaign_id: CampaignId;
  /** Recipients of the campaign. */
  total_emails: number;
  sent: Sent;
  /** Recipients without a mail. */
  failed: number;
  delivered: Delivered;
  /** Mails that came back. */
  bounced: number;
  /** Mails that came back, by kind. */
  bounces: {
    hard: Hard;
    soft: Soft;
    block: Block;
  };
  complaints: Complaints;
  /** Recipients who unsubscribed by it. */
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
  /** Shares between 0 and 1. */
  rates: {
    /** Null for a campaign without individual tracking. */
    open: number | null;
    /** Null for a campaign without individual tracking. */
    click: number | null;
    /** Null for a campaign without individual tracking. */
    click_to_open: number | null;
    /** Mails that came back, of those that servers took or sent back. */
    bounce: number;
    /** Unsubscribed, of those delivered. */
    unsubscribe: number;
  };
  /** Its links, the most clicked first. */
  links: {
    /** An address (URL). */
    url: string;
    /** Clicks of people, each time. */
    total: number;
    unique: Unique;
  }[];
  /** Opens and clicks over time. */
  timeline: {
    /** Begin of the interval. */
    at: string;
    /** Opens of people in it. */
    opens: number;
    /** Clicks of people in it. */
    clicks: number;
  }[];
  /** Extension. Of an A/B test, in the order of the request; empty where there is none. */
  variants: {
    index: Index;
    /** Its share of the recipients, as it was asked for. */
    percent: number;
    /** Mails with this variant that mail servers took; of the winner also those to the rest of the recipients. */
    sent: number;
    /** People who opened one of these; machines are not counted. */
    opens: number;
    /** People who clicked in one of these; machines are not counted. */
    clicks: number;
  }[];
};

/** One mail to one recipient. */
export type SentEmail = {
  id: Id;
  campaign_id: CampaignId;
  /** The subscriber; null where it was deleted, or never was one. */
  subscriber_id: string | null;
  recipient: Recipient;
  /** Others who get a copy and are seen in it. */
  cc: string[];
  /** Others who get a copy and are not seen in it. */
  bcc: string[];
  /** What became of each address of cc and bcc. */
  copies: {
    email: EmailOfConfirmSubscription;
    /** Which of the two it stands in. */
    kind: "cc" | "bcc";
    /** What became of this copy; it changes nothing for the mail itself. */
    status: "queued" | "sending" | "sent" | "failed" | "bounced" | "suppressed" | "unknown";
    error: ErrorOfSentEmail;
    sent_at: SentAt;
  }[];
  /** Subject as the recipient has it. */
  subject: string;
  /** `unknown`: handed over, and no answer came; `suppressed`: left out, `error` says why. The others are what they say. */
  status: "queued" | "sending" | "sent" | "failed" | "bounced" | "suppressed" | "unknown";
  attempts: Attempts;
  error: ErrorOfSentEmail;
  /** Reply of the mail server that accepted it. */
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

/** Something that happened to a mail. */
export type EmailEvent = {
  id: Id;
  /** Type of event. */
  type: "opened" | "clicked" | "bounced" | "unsubscribed" | "complained";
  recipient: Recipient;
  sent_email_id: SentEmailId;
  /** The campaign. */
  campaign_id: string | null;
  /** What else is known of it, by type. */
  metadata: {
    [name: string]: unknown;
  };
  timestamp: At;
};

/** What a subscriber wants to get. */
export type Preferences = {
  email: EmailOfConfirmSubscription;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  /** Whether mail is wanted. */
  subscribed: boolean;
  /** Lists that the subscriber is on. */
  lists: {
    id: Id;
    /** What subscribers see of it. */
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
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** A company, with the person's role there. */
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

/** The tokens of a session. */
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

/** Somebody who may act for a company, or is invited to. */
export type Member = {
  id: Id;
  /** The user; null while invited. */
  user_id: string | null;
  email: EmailOfConfirmSubscription;
  first_name: FirstNameOfGetMe;
  last_name: LastNameOfGetMe;
  role: Role;
  /** State. */
  status: "active" | "invited";
  /** When the invitation was accepted. */
  joined_at: string | null;
  expires_at: ExpiresAt;
};

/** The company's plan, and what is used of it. */
export type PlanUsage = {
  /** Name. */
  plan: string;
  /** Features of the plan. */
  features: string[];
  /** Limits of the plan; null: no limit. */
  limits: {
    /** API calls of a day (UTC). */
    api_calls_per_day: number | null;
    /** Subscribers. */
    subscribers: number | null;
    /** Mails of a month (UTC). */
    emails_per_month: number | null;
    /** Mails of any 60 minutes. */
    smtp_per_hour: number | null;
    /** Bytes of media files. */
    media_bytes: number | null;
  };
  /** Usage in this period. */
  usage: {
    /** API calls of a day (UTC). */
    api_calls_per_day: number;
    /** Subscribers. */
    subscribers: number;
    /** Mails of a month (UTC). */
    emails_per_month: number;
    /** Mails of any 60 minutes. */
    smtp_per_hour: number;
    /** Bytes of media files. */
    media_bytes: number;
  };
  /** The month that mails are counted in. */
  period: {
    /** Start. */
    start: string;
    /** End. */
    end: string;
  };
};

/** The company that it belongs to. */
export type CompanyOfSendToList = string;

/** Name. */
export type Name = string;

/** The SMTP configuration that it leaves by. */
export type SmtpConfigId = string;

/** Media files that are attached. */
export type AttachmentIds = string[];

/** True: a receipt, a password reset and the like. It goes before newsletters, also to those who unsubscribed, and again where it is in doubt. */
export type IsTransactional = boolean;

/** Added to the addresses of tracked links that lack them, behind their own query, which stays as it is, and before the fragment. Links that are not tracked (where the company tracks none, in copies, in the text part) get none. Clicks are reported by the address without them. */
export type Utm = {
  source?: Source;
  medium?: Medium;
  campaign?: CampaignOfSendToList;
  term?: Term;
  content?: Content;
} | null;

/** `utm_source`: where the visit comes from. */
export type Source = string;

/** `utm_medium`: by which kind of channel. */
export type Medium = string;

/** `utm_campaign`: of which campaign. */
export type CampaignOfSendToList = string;

/** `utm_term`: for which word or audience. */
export type Term = string;

/** `utm_content`: which of several links or versions. */
export type Content = string;

/** The template that it is made from. */
export type TemplateIdOfSendToList = string;

/** The list that it goes to. */
export type ListIdOfSendToList = string;

/** The segment that it goes to. */
export type SegmentId = string;

/** Start time; null: at once. */
export type ScheduledFor = string | null;

/** The variant's share of the recipients, at most two decimals. The number of its recipients differs from the exact share by less than one. */
export type Percent = number;

/** What is compared: people who opened, or clicked, for each mail that was sent. Machines are not counted. Of two alike the first variant wins. */
export type Metric = "opens" | "clicks";

/** How long opens and clicks are waited for, from when each recipient of the test has been tried once. */
export type AfterMinutes = number;

/** Recipients, each with values for the variables. */
export type Receivers = {
  email: Email;
  cc?: Cc;
  bcc?: Bcc;
  [name: string]: unknown;
}[];

/** An email address. */
export type Email = string;

/** Others who get a copy and are seen in it. */
export type Cc = string[] | null;

/** Others who get a copy and are not seen in it. */
export type Bcc = string[] | null;

/** Subject of the mail; variables allowed in what is to be sent. */
export type SubjectOfSendCustom = string;

/** The mail in HTML, with variables. */
export type BodyOfSendCustom = string;

/** Text that mail programs show behind the subject in their lists, hidden in the mail itself. Takes variables; what they hold is text, never HTML. Not in the text part. */
export type Preheader = string | null;

/** The text part, in place of the one that is derived from the HTML. Takes variables, nothing is escaped; without a link to unsubscribe it gets the footer. Null or blank: derived. */
export type TextBody = string | null;

/** Writes the rules of the style sheets into the `style` of the elements they apply to, when it is saved or sent. An element's own style wins, unless a rule is `!important`. Media queries, other at-rules and rules for states such as `:hover` stay in the sheets, and so do sheets with a `media` attribute, `data-embed`, or conditions or loops within. Where a variable stands in a `class` or `id`, the sheets stay whole, and properties that it may set are left to them. Nothing is fetched: linked and imported sheets stay links. */
export type InlineCss = boolean;

/** Id. */
export type Id = string;

/** The campaign's, where the body has none. */
export type NameOfListDrafts = string;

/** The send whose request the body is: `POST /api/emails/send/{kind}/`. */
export type Kind = "to-list" | "to-receivers" | "custom";

/** Time of creation. */
export type CreatedAt = string;

/** Time of the last change. */
export type UpdatedAt = string;

/** The request of that send, kept as given. It may be incomplete: what is wrong with it is reported when it is sent. */
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

export type PreviewDraftBody = {
  subject: SubjectOfPreviewDraft;
  html: Html;
  text: Text;
  warnings: Warnings;
};

/** The subject with these values. */
export type SubjectOfPreviewDraft = string;

/** The HTML part. */
export type Html = string;

/** The text part. */
export type Text = string;

/** Extension. Sentences on placeholders of other products and MJML, which are sent as they stand; on addresses that open nothing, such as those without a scheme; on a body of several lines without tags; on variables that neither are built in nor any subscriber has, and those that subscribers lack, with their number; on HTML over 102 KB; and on a missing visible way to unsubscribe. */
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

/** Lists that the subscriber is added to. */
export type Lists = string[];

/** All of them are added to this list. */
export type ListIdOfImportSubscribers = string;

/** Default utf-8; a byte order mark wins. Any label of the Encoding Standard, such as windows-1252. */
export type Charset = string;

/** Counts and reports (200), and writes nothing. */
export type DryRun = boolean;

/** `skip`: known subscribers stay as they are, also on their lists, and count as skipped; a more careful status holds all the same, and counts as updated. */
export type OnConflict = "update" | "skip";

/** How days such as 03/04/2000 are read. Without it a column decides by its own cells (31/12 can only be one); else they stay text. */
export type DateOrder = "dmy" | "mdy";

/** False: the first line is a person, and `mapping` names columns by their numbers, `{"1": "email"}`; those that it does not name are left out. Default true. */
export type Header = boolean;

/** The file, as a part of form-data with a file name. */
export type FileOfImportSubscribers = Blob;

/** Subscribers. */
export type SubscriberIds = string[];

/** Number changed. */
export type Updated = number;

export type ErasePersonBody = {
  email: Email;
};

/** Name. */
export type NameOfListListsOfSubscriber = string;

/** For those who work with it; recipients do not see it. */
export type Description = string;

/** `public` lists are shown to subscribers on the preferences page. */
export type Visibility = "private" | "public";

/** What subscribers see of a public list; empty: its name. */
export type PublicName = string;

/** What subscribers read about a public list. */
export type PublicDescription = string;

/** What was sent to the list may be read by anybody, as a page and an RSS feed at `/api/emails/public/archive/{list_id}/`. Has an effect on public lists alone. */
export type Archive = boolean;

/** Whoever asks for this list by the public form is on it once they confirm by the link that is mailed to them. Null: as the company's `double_opt_in` says. */
export type DoubleOptIn = boolean | null;

/** Subject of the mail; variables allowed in what is to be sent. */
export type Subject = string;

/** The mail in HTML, with variables. */
export type BodyOfCreateTemplate = string;

/** `mjml` is an extension: the body is MJML, which is compiled when it is saved. `basic` and `visual` bodies are HTML, and differ for editors alone. */
export type TemplateMode = "basic" | "visual" | "mjml";

/** Purpose. */
export type TemplateType = "marketing" | "transactional";

/** Values of the template's variables. */
export type Variables = {
  [name: string]: unknown;
};

/** Numbered from 1 for each template, without gaps. */
export type Version = number;

/** Subject of the mail; variables allowed in what is to be sent. */
export type SubjectOfListTemplateVersions = string;

/** When it was saved. */
export type CreatedAtOfListTemplateVersions = string;

/** Who saved it; null where that is unknown, or the person or key is gone. */
export type CreatedBy = {
  id: Id;
  name: NameOfListTemplateVersions;
} | null;

/** A person's address, or an API key's name. */
export type NameOfListTemplateVersions = string;

/** Text that mail programs show behind the subject in their lists, hidden in the mail itself. Takes variables; what they hold is text, never HTML. Not in the text part. */
export type PreheaderOfGetTemplateVersion = string | null;

/** The text part, in place of the one that is derived from the HTML. Takes variables, nothing is escaped; without a link to unsubscribe it gets the footer. Null or blank: derived. */
export type TextBodyOfGetTemplateVersion = string | null;

/** Host of the server. */
export type Host = string;

/** Port. */
export type Port = number;

/** For the login; empty: none. */
export type Username = string;

/** For the login; empty: none. Write-only. */
export type Password = string;

/** Address in From. */
export type SenderEmail = string;

/** `auto` goes by the port: 465 is `implicit`, others `starttls` where `use_tls` is set. */
export type TlsMode = "auto" | "implicit" | "starttls" | "none";

/** Name in From. */
export type SenderName = string;

/** Address for replies. */
export type ReplyToEmail = string | null;

/** Where bounces go; each mail's envelope sender is this with a token. */
export type BounceAddress = string | null;

/** Connections at a time, at most. */
export type MaxConnections = number;

/** Mails a second, at most; null: no limit. */
export type MaxPerSecond = number | null;

/** Confirmations leave by it where the company names no other. */
export type IsDefault = boolean;

export type ValidateSmtpConfigBody = {
  valid: Valid;
  stage: Stage;
  message: Message;
  duration_ms: DurationMs;
};

/** Whether the configuration can send. */
export type Valid = boolean;

/** Stage that failed; `ok` if none did. */
export type Stage = "dns" | "connect" | "tls" | "auth" | "ok";

/** Reply of the server, or the network error. */
export type Message = string;

/** Duration in milliseconds. */
export type DurationMs = number;

/** A domain. */
export type Domain = string;

/** The key's selector in the DNS. */
export type Selector = string;

/** Of the key. */
export type Algorithm = "rsa" | "ed25519";

/** Name of the check. */
export type NameOfGetDeliverability = "spf" | "dkim" | "dmarc" | "alignment" | "mx" | "links" | "bounce_address";

/** https, without credentials. */
export type Url = string;

/** `campaign.completed`: it has ended, as `metadata.status` says (completed, partial, failed). `subscribed`: somebody became active, or joined a list, by the public form; `confirmed`: by the link in a mail. These name no mail; `metadata` of the latter two has the subscriber and the lists. */
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

/** Types of events that are sent. */
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

/** Since when every attempt has failed; after three days the endpoint is disabled. */
export type FailingSince = string | null;

/** Since when nothing is delivered: somebody wished it (`failing_since` is null), or three days of nothing but failures. */
export type DisabledAt = string | null;

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks has it. */
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

/** `dead`: it was tried for the last time. */
export type Status = "pending" | "succeeded" | "dead";

/** Number of attempts. */
export type Attempts = number;

/** The status that the receiver answered with. */
export type ResponseStatus = number | null;

/** Why the last attempt failed; of a refusal also how its body began. */
export type LastError = string | null;

/** Time of the next attempt. */
export type NextAttemptAt = string | null;

/** Rows of the file. */
export type Total = number;

/** Number created. */
export type Created = number;

/** Line of the file, or place in the array from 1. */
export type Row = number;

/** The address as it was given. */
export type EmailOfImportSuppressions = string;

/** Error message. */
export type ErrorOfImportSuppressions = string;

/** Number of subscribers. */
export type SubscriberCount = number;

/** The number is an estimate from a part of the subscribers. */
export type SubscriberCountIsEstimate = boolean;

/** For each attribute that the rules compare with a date. Nobody with such a value fits. */
export type NotDates = {
  field: FieldOfPreviewSegment;
  count: CountOfPreviewSegment;
}[];

/** The attribute. */
export type FieldOfPreviewSegment = string;

/** Filled values that are no dates; null where counting took too long. */
export type CountOfPreviewSegment = number | null;

/** A day in the company's time zone. */
export type DateOfGetStats = string;

/** Mails that mail servers took. */
export type Sent = number;

/** Mails that have not come back since. */
export type Delivered = number;

/** The mailbox does not exist. */
export type Hard = number;

/** The mailbox could not take it. */
export type Soft = number;

/** The server refused us. */
export type Block = number;

/** Recipients who called it spam. */
export type Complaints = number;

/** A domain. */
export type DomainOfListSlowDomains = string;

/** Email provider that sends the reports. */
export type Provider = "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";

export type SubscribePubliclyBody = {
  email: Email;
  first_name?: FirstName;
  last_name?: LastName;
  list_id?: ListId;
  redirect_url?: RedirectUrl;
  website?: Website;
  contact_url_2?: ContactUrl2;
};

/** The list that is joined. */
export type ListId = string;

/** Where a form leads afterwards (303): http or https, on a host of the company's `form_hosts`. */
export type RedirectUrl = string;

/** Hidden in the form. Filled in, the answer is the same and nothing happens. */
export type Website = unknown;

/** As `website`, under a name that password managers leave alone. */
export type ContactUrl2 = unknown;

export type ConfirmSubscriptionBody = {
  detail: Detail;
  email: EmailOfConfirmSubscription;
};

/** A sentence for people. */
export type Detail = string;

/** An email address. */
export type EmailOfConfirmSubscription = string;

export type UnsubscribeRecipientBody = {
  "List-Unsubscribe"?: ListUnsubscribe;
  from?: From;
  only_this_list?: OnlyThisList;
};

/** As mailbox providers send it (RFC 8058). */
export type ListUnsubscribe = unknown;

/** Set by the page's own form. */
export type From = unknown;

/** `true`: leave the list that the mail came through, and no other. */
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

/** Whether mail is wanted. */
export type Subscribed = boolean | "on" | "true" | "false";

/** Public lists that are joined or left. */
export type ListsOfUpdatePreferences =
  | {
      id: Id;
      subscribed: SubscribedOfUpdatePreferences;
    }[]
  | null;

/** Whether the person is on it. */
export type SubscribedOfUpdatePreferences = boolean;

/** Public lists that are joined; those of the page that are not named are left. */
export type List = string | string[];

export type UpdatePreferencesBody = {
  first_name?: FirstName;
  last_name?: LastName;
  email?: Email;
  subscribed?: Subscribed;
  list?: List;
  from?: From;
};

/** At least 10 characters, and not easy to guess. */
export type PasswordOfRegisterCompany = string;

/** First name. */
export type FirstNameOfRegisterCompany = string;

/** Last name. */
export type LastNameOfRegisterCompany = string;

/** Bearer token, good for 15 minutes. */
export type Access = string;

/** Good once, for 7 days. */
export type Refresh = string;

export type RefreshTokensBody = {
  refresh: RefreshOfRefreshTokens;
};

/** Good once, for 7 days. */
export type RefreshOfRefreshTokens = string;

/** The token of the link. */
export type Token = string;

/** Whether the address was proved by a mailed link. */
export type EmailVerified = boolean;

/** The password from now on. */
export type NewPassword = string;

/** Bearer token, good for 15 minutes. */
export type AccessOfAcceptInvitation = string;

/** Good once, for 7 days. */
export type RefreshOfAcceptInvitation = string;

/** First name. */
export type FirstNameOfGetMe = string;

/** Last name. */
export type LastNameOfGetMe = string;

/** Role of the person in the company. */
export type Role = "viewer" | "member" | "admin" | "owner";

/** The address that it came from. */
export type Ip = string | null;

/** At least 10 characters, and not easy to guess. */
export type PasswordOfDisableTotp = string;

/** Who comes by the public form must confirm by a mailed link. */
export type DoubleOptInOfUpdateCompany = boolean;

/** SMTP configuration that sends confirmation mails. */
export type DefaultSmtpConfigId = string | null;

/** Opens and clicks are recorded. */
export type TrackingEnabled = boolean;

/** False: opens and clicks are counted for each campaign and link, and nobody knows or keeps whose they are. It holds for campaigns that start from then on; of those nothing becomes known when it is true again. */
export type IndividualTracking = boolean;

export type NameOfUpdateCompany = string | null;

export type LogoUrl = string | null;

export type Color = string | null;

export type Background = string | null;

export type FooterText = string | null;

export type Language = "en" | "de" | "fr" | "es" | "ar" | null;

/** When it ends; null: never. */
export type ExpiresAt = string | null;

/** Name. */
export type NameOfCreateApiKey = string;

/** How the key begins, to distinguish keys. */
export type Prefix = string;

/** Scopes of the key. */
export type Scopes = ("full" | "send" | "campaigns" | "subscribers" | "settings" | "read" | "export")[];

/** Addresses and networks that may use it; none: all. */
export type AllowedIps = string[];

/** User who created it; null after that user was deleted. */
export type CreatedByOfCreateApiKey = {
  id: Id;
  name: Name2;
} | null;

/** Name or address of that user. */
export type Name2 = string;

/** When it was used last; null: never. */
export type LastUsedAt = string | null;

/** Time of the event. */
export type At = string;

/** What the mail server said. */
export type SmtpResponse = string | null;

/** Message-ID of the mail. */
export type MessageId = string;

/** Of the program that asked. */
export type UserAgent = string | null;

/** The address that it came from. */
export type IpOfOnOpened = string | null;

/** A scanner or a proxy, not the person. */
export type Machine = boolean;

/** What is known of it. */
export type Metadata = {
  subscriber_id?: SubscriberId;
  lists?: ListsOfOnSubscribed;
};

/** The subscriber. */
export type SubscriberId = string;

/** The lists that were joined. */
export type ListsOfOnSubscribed = string[];

/** Name; recipients do not see it. */
export type NameOfCampaign = string;

/** Which of the three sends it came by. */
export type CampaignType = "to_list" | "to_receivers" | "custom";

/** `scheduled`, `pending` (its recipients are being written), `sending`, and then `completed`, `partial`, `failed` or `cancelled`. */
export type StatusOfCampaign = "pending" | "sending" | "completed" | "partial" | "failed" | "scheduled" | "cancelled";

/** Recipients that it has mails for. */
export type TotalEmails = number;

/** Mails that a mail server took. */
export type SentCount = number;

/** Recipients without a mail: refused, in doubt, or not tried. */
export type FailedCount = number;

/** Receivers who were suppressed or unsubscribed, or had not confirmed, when the campaign started. Not part of `total_emails`. Those that a request named are sent emails with the status `suppressed`; of a list or segment they are only counted. */
export type SuppressedCount = number;

/** `recipient`: the clock of `scheduled_for` is each recipient's own. Null: it is one instant for all. */
export type Timezone = "recipient" | null;

/** While a campaign goes by the recipients' timezones: when the hour of the next recipients comes. As long as it is scheduled, the earliest time at which it may begin. Null where nobody's hour is ahead. */
export type NextZoneAt = string | null;

/** Why the campaign stopped by itself, for how many recipients the monthly quota left no room, or what it waits for: what its SMTP server said last, limits that cannot be counted while Redis is away, warm-up, or the winner of its variants. */
export type ErrorOfCampaign = string | null;

/** As it was at the send, with its variables. */
export type SubjectOfCampaign = string;

/** The template that it is made from. */
export type TemplateId = string | null;

/** The list that it goes to. */
export type ListIdOfCampaign = string | null;

/** The segment that it goes to. */
export type SegmentIdOfCampaign = string | null;

/** Extension. Of an A/B test; empty where there is none. */
export type Variants = {
  index: Index;
  subject: Subject2;
  template_id: TemplateId;
  percent: Percent;
}[];

/** From 0, in the order of the request. */
export type Index = number;

/** With its variables. */
export type Subject2 = string;

/** Extension. What the other recipients wait for, or got; null without a winner. */
export type Winner = {
  metric: Metric;
  after_minutes: AfterMinutes;
  index: IndexOfCampaign;
  due_at: DueAt;
  decided_at: DecidedAt;
} | null;

/** The variant that won; null while that is not decided. */
export type IndexOfCampaign = number | null;

/** When it is decided; null until each recipient of the test has been tried. */
export type DueAt = string | null;

/** When it was decided; null until then. */
export type DecidedAt = string | null;

/** When the first recipients were written. */
export type StartedAt = string | null;

/** Time of the end of sending. */
export type FinishedAt = string | null;

/** How many of the recipients opened it; machines are not counted. Null for a campaign without individual tracking. */
export type Opens = number | null;

/** How many of the recipients clicked; machines are not counted. Null for a campaign without individual tracking. */
export type Clicks = number | null;

/** `hard`: no such mailbox; `soft`: it cannot take this mail now; `block`: the server refuses us. */
export type BounceType = "hard" | "soft" | "block" | null;

/** For those who work with it; recipients do not see it. */
export type DescriptionOfSubscriberList = string;

/** Name; recipients do not see it. */
export type NameOfEmailTemplate = string;

/** Subject of the mail; variables allowed in what is to be sent. */
export type SubjectOfEmailTemplate = string;

/** The mail in HTML, with variables. */
export type BodyOfEmailTemplate = string;

/** Host of the server. */
export type HostOfSmtpConfiguration = string;

/** Port. */
export type PortOfSmtpConfiguration = number;

/** Last error. */
export type LastErrorOfSmtpConfiguration = string | null;

/** Time of the last error. */
export type LastErrorAt = string | null;

/** The key's selector in the DNS. */
export type SelectorOfSmtpConfiguration = string;

/** The TXT record to publish. */
export type RecordOfSmtpConfiguration = {
  name: NameOfSmtpConfiguration;
  value: Value;
};

/** Name. */
export type NameOfSmtpConfiguration = string;

/** Its value, one text. */
export type Value = string;

/** False: it signs once its record is seen. */
export type Active = boolean;

/** Connections at a time, at most. */
export type MaxConnectionsOfSmtpConfiguration = number;

/** The key (PEM). Write-only. */
export type PrivateKey = string;

/** The sent email; null where it belongs to none. */
export type SentEmailId = string | null;

/** Name. */
export type NameOfSegment = string;

export type Operator = "equals" | "not_equals" | "contains" | "not_contains" | "starts_with" | "ends_with";

export type ValueOfSegmentRules = string[];

/** A date (the whole day in the company's time zone) or a date-time, within the years 1 to 9999 in UTC. */
export type Value2 = string;

export type FieldOfSegmentRules = "last_opened_at" | "last_clicked_at" | "last_bounced_at";

export type Value3 = string[];

export type Field = string;

/** Names the import, for `POST /api/emails/imports/{id}/undo/`. */
export type ImportId = string;

/** Rows that were left out. */
export type Skipped = number;

/** The first 100 errors. */
export type Errors = {
  row: Row;
  email: EmailOfImportSuppressions;
  error: ErrorOfImportSuppressions;
}[];

/** Number of errors. */
export type ErrorsCount = number;

/** All errors as CSV, for 24 hours; null without any. */
export type ErrorsUrl = string | null;

/** Attribute columns that are not text. */
export type Columns = {
  name: NameOfImportReport;
  type: Type;
  read: Read;
  unread: Unread;
  date_order?: DateOrderOfImportReport;
}[];

/** The attribute. */
export type NameOfImportReport = string;

/** What more than half of the filled cells are. Columns of text are not listed. */
export type Type = "boolean" | "number" | "date";

/** Cells that are stored as this type. */
export type Read = number;

/** Cells that stay text. */
export type Unread = number;

/** Where cells such as 03/04/2000 occur: the order in which they were read; null if nothing decided it and they stay text (give `date_order`). */
export type DateOrderOfImportReport = "dmy" | "mdy" | null;

/** Cells in which HTML entities such as `&amp;` were decoded. */
export type DecodedCells = number;

/** The campaign. */
export type CampaignId = string;

/** By people, each time. */
export type TotalOfAnalytics = number;

/** How many people; null for a campaign without individual tracking. */
export type Unique = number | null;

/** By scanners and proxies. */
export type MachineOfAnalytics = number;

/** The address that it goes to. */
export type Recipient = string;

/** Why there is no mail. */
export type ErrorOfSentEmail = string | null;

/** Time at which a mail server accepted it. */
export type SentAt = string | null;

/** Name; it stands in the headers of mails. */
export type NameOfCompany = string;

/** Address for replies, unless the SMTP configuration has one. */
export type ReplyToEmailOfCompany = string | null;

/** Website. */
export type WebsiteOfCompany = string | null;

/** At the foot of every marketing mail. */
export type FooterTextOfCompany = string;

/** How many days rows are kept; null: as the installation says. */
export type RetentionDays = {
  events: EventsOfCompany;
  sent_emails: SentEmails;
  inbound: Inbound;
};

/** Opens, clicks, bounces and the like. */
export type EventsOfCompany = number | null;

/** Recipients of campaigns at rest. */
export type SentEmails = number | null;

/** Mail that came back. */
export type Inbound = number | null;

/** Sends are refused while SPF, DKIM, DMARC or alignment fails. */
export type RequireAuthentication = boolean;

/** Host of links, pixel and public pages in its mails. */
export type TrackingDomain = string | null;

/** `active` once it is proved. */
export type TrackingDomainStatus = "pending" | "active" | null;

/** Served at /.well-known/flockmail, it proves the domain. */
export type TrackingDomainToken = string | null;

/** When a campaign stops by itself. */
export type Guard = {
  hard_bounce_percent: HardBouncePercent;
  complaint_percent: ComplaintPercent;
  after: After;
};

/** More hard bounces than this stop a campaign. */
export type HardBouncePercent = number;

/** More complaints than this stop a campaign. */
export type ComplaintPercent = number;

/** Nothing is stopped before so many recipients were tried. */
export type After = number;

/** An IANA name: when the company's days begin. */
export type TimezoneOfCompany = string;

/** Attributes that the public form takes as fields. */
export type FormAttributes = string[];

/** Hosts that `redirect_url` of that form may lead to. */
export type FormHosts = string[];

/** How public pages and confirmation mails look and speak. Merged key by key; null resets. Readers who prefer dark pages get dark colours derived from these. */
export type Branding = {
  name: NameOfUpdateCompany;
  logo_url: LogoUrl;
  color: Color;
  background: Background;
  footer_text: FooterText;
  language: Language;
};

/** What each operation takes and answers. */
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
        template_id: TemplateIdOfSendToList;
        list_id?: ListIdOfSendToList;
        segment_id?: SegmentId;
        scheduled_for?: ScheduledFor;
        /** Needs `scheduled_for`, whose clock (`09:00`, whatever its offset) is then local time in each recipient's timezone: the attribute `timezone` of the subscriber (an IANA name such as `Europe/Berlin`), else the company's. Where it is past already the mail goes at once. The campaign is `sending` from the first timezone in which somebody is; recipients and their timezones are fixed then, so that who joins the list later does not get it, and nobody gets it twice. A clock that a change to summer time leaves out is moved on by the hour left out; of one that comes twice the second counts. */
        timezone?: "recipient" | null;
        /** Extension. An A/B test: each variant goes to its share of the recipients, chosen at random. What a variant does not give is the campaign's. Without a `winner` the shares make 100 percent; with one the others wait for it. */
        variants?:
          | {
              /** In place of the template's. */
              subject?: string;
              /** In place of the campaign's template. */
              template_id?: string;
              percent: Percent;
            }[]
          | null;
        /** Extension. Who is in no variant's share gets the one that won, as soon as it is decided. The campaign is `sending` until then. */
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
        subject: SubjectOfSendCustom;
        body: BodyOfSendCustom;
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
        /** Each gets a mail of its own; an address that comes twice gets one. */
        to: string[];
        /** In place of `subject` and `body`. */
        template_id?: string;
        /** With `body`, in place of a template. */
        subject?: string;
        /** HTML, in the language of templates. */
        body?: string;
        /** The same for all addresses. */
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
        /** As it was given. */
        email: string;
        /** `sent`: the server took it; `bounced`: it says that there is no such mailbox; `failed`: it did not take it, for whatever other reason; `unknown`: it did not confirm it; `suppressed`: it was not asked. */
        status: "sent" | "failed" | "bounced" | "unknown" | "suppressed";
        /** What the SMTP server answered; null where it was not asked, or did not answer. */
        smtp_response: string | null;
        /** A sentence; null for `sent`. */
        error: string | null;
      }[];
      /** Sentences on variables that neither are built in nor any subscriber has, on HTML over 102 KB, on a missing visible way to unsubscribe, and those of a send. */
      warnings: string[];
    };
  };
  /** Whom a send to a list or segment would reach now */
  countAudience: {
    request: {
      query?: {
        /** The list that it goes to. */
        list_id?: string;
        /** The segment that it goes to. */
        segment_id?: string;
        /** True: a receipt, a password reset and the like. It goes before newsletters, also to those who unsubscribed, and again where it is in doubt. */
        is_transactional?: boolean;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** People of the list or segment. */
      total: number;
      /** Those who would get it. */
      recipients: number;
      /** Those who would not, by why. */
      left_out: {
        /** Have not confirmed that they want mail. */
        unconfirmed: number;
        /** Have unsubscribed; transactional mail reaches them. */
        unsubscribed: number;
        /** Their mailbox does not exist. */
        bounced: number;
        /** Have called a mail spam. */
        complained: number;
        /** Their address or its domain is suppressed. */
        suppressed: number;
      };
      /** The numbers come from a part of the people. */
      is_estimate: boolean;
    };
  };
  /** List drafts */
  listDrafts: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name" | "updated_at" | "-updated_at";
        /** Required with a bearer token, else the key's company. */
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
        /** Null where it has more than 100000 bytes; the draft by itself has it. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        kind?: Kind;
        body?: Body;
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** What sending a draft now would be refused for */
  checkDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
  /** What a draft would send to somebody */
  previewDraft: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        email?: Email;
        /** Its index, from 0. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "email"
          | "-email"
          | "first_name"
          | "-first_name"
          | "last_name"
          | "-last_name";
        /** Only those in this state. */
        status?: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
        /** Only those on this list. */
        list?: string;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: ListSubscribersBody;
  };
  /** Create a subscriber */
  createSubscriber: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        list_id?: ListIdOfImportSubscribers;
        /** JSON: column → email, first_name, last_name, name, status, attributes, or the name of an attribute; null leaves it out. `{"Ort": "city"}` */
        mapping?: string;
        charset?: Charset;
        dry_run?: DryRun;
        /** Answers (202) once the file is here, and goes on: `GET /api/emails/imports/{id}/` says how far it is. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at";
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        file: FileOfImportSubscribers;
      };
    };
    answer: Import;
  };
  /** Get a background import */
  getImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: Import;
  };
  /** Delete a background import */
  deleteImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** People who were deleted. */
      deleted: number;
      /** People of the import who stay. */
      kept: number;
      /** People who can still be deleted: a very large import takes several requests. */
      remaining: number;
    };
  };
  /** Look into a file that waits for its import */
  importColumns: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Default utf-8; a byte order mark wins. Any label of the Encoding Standard, such as windows-1252. */
        charset?: string;
        /** Which column is what. */
        mapping?: string;
        /** Whether the first line names the columns; unset: false where it has an address. */
        header?: boolean;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** That the file was read in: the one asked for, else the one that its bytes look like. */
      charset: string;
      /** Whether the first line names the columns. False: they are named by their numbers. */
      header: boolean;
      /** What separates its cells. */
      delimiter: string | null;
      /** In the file's order. */
      columns: {
        /** In the header. */
        name: string;
        /** In the first rows. */
        values: string[];
        /** What it is read as. `unsubscribed`, `bounced`, `complained`: whoever has a value there is. */
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
      /** Why it cannot be imported like this. */
      problem: string | null;
    };
  };
  /** Import a file that waits */
  startImport: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        list_id?: ListIdOfImportSubscribers;
        /** Column → email, first_name, last_name, name, status, attributes, or the name of an attribute; null leaves it out. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** Delete subscribers */
  deleteSubscribers: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        subscriber_ids: SubscriberIds;
      };
    };
    answer: {
      /** How many were deleted. */
      deleted: number;
    };
  };
  /** Add subscribers to lists and remove them from lists */
  updateListsOfSubscribers: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        subscriber_ids: SubscriberIds;
        /** Lists that they join. */
        add_to_lists?: string[];
        /** Lists that they leave. */
        remove_from_lists?: string[];
      };
    };
    answer: {
      updated: Updated;
      /** Memberships that are new. */
      added: number;
      /** Memberships that ended. */
      removed: number;
    };
  };
  /** Download subscribers as CSV */
  exportSubscribers: {
    request: {
      query?: {
        /** Only those on this list. */
        list?: string;
        /** Only those in this state. */
        status?: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
        /** Only those whom this segment holds now. */
        segment?: string;
        /** Begins with a byte order mark, as Excel wants it. */
        bom?: boolean;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: string;
  };
  /** List the names of attributes */
  listAttributes: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: ErasePersonBody;
    };
    answer: {
      /** What is gone, by kind. */
      erased: {
        /** Memberships of lists. */
        lists: number;
        /** Rows of the subscriber. */
        subscribers: number;
        /** Mails that no longer name the person. */
        sent_emails: number;
        /** Copies (cc, bcc) that no longer name the person. */
        copies: number;
        /** Events that no longer name the person. */
        events: number;
        /** Bounces, complaints and the messages they came in. */
        inbound: number;
        /** Receivers of sends that wait. */
        receivers: number;
        /** Suppressions, kept as a hash. */
        suppressions: number;
        /** Deliveries that no longer name the person. */
        webhook_deliveries: number;
        /** Answers kept for repeated requests. */
        idempotency_keys: number;
        /** Invitations. */
        invitations: number;
        /** Entries of the audit log that no longer name the person. */
        audit_log: number;
        /** Texts of servers that quoted the address. */
        quotations: number;
      };
      /** False: the rest goes in the background. */
      complete: boolean;
    };
  };
  /** Everything kept about a person */
  getPersonData: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** When this was read. */
      exported_at: string;
      subscriber: Subscriber;
      /** Memberships of lists. */
      lists: {
        [name: string]: unknown;
      }[];
      /** Addresses that the person had before. */
      former_addresses: {
        [name: string]: unknown;
      }[];
      /** Mails to the person. */
      sent_emails: {
        [name: string]: unknown;
      }[];
      /** Copies to the person. */
      copies: {
        [name: string]: unknown;
      }[];
      /** What happened to these mails. */
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
      /** Deliveries about the person. */
      webhook_deliveries: {
        [name: string]: unknown;
      }[];
      /** Kinds of which there are more than 10,000 rows. */
      truncated: string[];
    };
  };
  /** The lists of a subscriber, with their dates */
  listListsOfSubscriber: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      id: Id;
      name: NameOfListListsOfSubscriber;
      /** `waiting`: asked for, and not confirmed yet. */
      state: "on" | "left" | "waiting";
      /** Null while it waits. */
      joined_at: string | null;
      /** When it was left on the preferences page. */
      left_at: string | null;
      /** When the public form asked for what is not confirmed yet. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        first_name?: FirstName;
        last_name?: LastName;
        /** What else is known: template variables and fields of segments. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name";
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "email"
          | "-email"
          | "first_name"
          | "-first_name"
          | "last_name"
          | "-last_name";
        /** Only those in this state. */
        status?: "active" | "unconfirmed" | "unsubscribed" | "bounced" | "complained";
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name" | "updated_at" | "-updated_at";
        /** `mjml` is an extension: the body is MJML, which is compiled when it is saved. `basic` and `visual` bodies are HTML, and differ for editors alone. */
        template_mode?: "basic" | "visual" | "mjml";
        /** Only those of this type. */
        template_type?: "marketing" | "transactional";
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        name: Name;
        subject: Subject;
        body?: BodyOfCreateTemplate;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        template_mode?: TemplateMode;
        template_type?: TemplateType;
      };
    };
    answer: SavedTemplate;
  };
  /** Render what is not saved as a template */
  previewTemplateContent: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        subject: Subject;
        body?: BodyOfCreateTemplate;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        template_mode?: TemplateMode;
        template_type?: TemplateType;
        variables?: Variables;
      };
    };
    answer: PreviewDraftBody;
  };
  /** Check a template before it is used */
  checkTemplate: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        subject: Subject;
        body: BodyOfCreateTemplate;
      };
    };
    answer: {
      /** As saving it would answer with. */
      warnings: string[];
      /** Bytes of the HTML. */
      size: number;
      /** The http and https addresses of the body, each once and without those that have variables: first its links, then its images and backgrounds; the first 100. */
      links: {
        /** An address (URL). */
        url: string;
        /** Of the last answer, redirects followed; null where none came in time. */
        status: number | null;
        /** What the address is in the mail. */
        kind: "link" | "image";
        /** The last answer, behind at most five redirects, is a success. */
        ok: boolean;
      }[];
      /** What rspamd says of the mail to a sample recipient; null where this installation has none (`SPAM_CHECK_URL`), or it did not answer. */
      spam: {
        /** The sum of what the rules add; filters refuse from about 15 on. */
        score: number;
        /** The rules that apply, by name, with what each adds. */
        symbols: {
          [name: string]: unknown;
        };
      } | null;
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        subject?: Subject;
        body?: BodyOfCreateTemplate;
        preheader?: Preheader;
        text_body?: TextBody;
        inline_css?: InlineCss;
        template_mode?: TemplateMode;
        template_type?: TemplateType;
        /** Extension. The template's `updated_at` as it was read: where it was saved after that, the answer is 409 and nothing changes. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Render a template with given variables */
  previewTemplate: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Its number. */
        version: number;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
    };
  };
  /** Restore a version of a template */
  restoreTemplateVersion: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** Its number. */
        version: number;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: SavedTemplate;
  };
  /** List SMTP configurations */
  listSmtpConfigs: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. The 400 for another names the fields. */
        ordering?: string;
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        name: Name;
        host: Host;
        port: Port;
        username: Username;
        password: Password;
        sender_email: SenderEmail;
        /** TLS is required. */
        use_tls?: boolean;
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        host?: Host;
        port?: Port;
        username?: Username;
        password?: Password;
        sender_email?: SenderEmail;
        /** TLS is required. */
        use_tls?: boolean;
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Try the server of an SMTP configuration */
  validateSmtpConfig: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: ValidateSmtpConfigBody;
  };
  /** Make a DKIM key for an SMTP configuration */
  createDkimKey: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
  /** What receivers would find wrong with its mail */
  getDeliverability: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** One for each thing that receivers look at. */
      checks: {
        name: NameOfGetDeliverability;
        /** Whether receivers accept it. */
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
        /** What to do, where the check does not pass. */
        help: string | null;
      }[];
    };
  };
  /** Try an SMTP server without saving anything */
  validateSmtp: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        host: Host;
        port: Port;
        username: Username;
        /** For the login; empty: none. */
        password: string;
        /** TLS is required. */
        use_tls?: boolean;
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
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
        /** Only those in this state. */
        status?: "pending" | "sending" | "completed" | "partial" | "failed" | "scheduled" | "cancelled";
        /** Only those of this type. */
        campaign_type?: "to_list" | "to_receivers" | "custom";
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        created_after?: string;
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        created_before?: string;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      count: Count;
      next: NextPage;
      previous: PreviousPage;
      /** The entries of this page. */
      results: Campaign[];
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        name?: Name;
        /** The new time. */
        scheduled_for?: string;
        template_id?: TemplateIdOfSendToList;
        list_id?: ListIdOfSendToList;
        segment_id?: SegmentId;
        subject?: SubjectOfSendCustom;
        body?: BodyOfSendCustom;
        attachment_ids?: AttachmentIds;
      };
    };
    answer: Campaign;
  };
  /** Delete a campaign that is over */
  deleteCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Watch a campaign */
  watchCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: Campaign;
  };
  /** Cancel a scheduled campaign */
  cancelCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: Campaign;
  };
  /** Stop a campaign that is being sent */
  stopCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: Campaign;
  };
  /** Send a campaign again to those who did not open it */
  resendCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        /** Who got it and neither opened nor clicked. */
        to: "non_openers";
        /** In place of the first campaign's. */
        subject?: string;
        /** Of the new campaign; else `Again: ` and the first one's. */
        name?: string;
      };
    };
    answer: NewCampaign;
  };
  /** Make a draft of a campaign */
  duplicateCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: CreateDraftBody;
  };
  /** Opens, clicks and bounces of a campaign */
  getCampaignAnalytics: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: Analytics;
  };
  /** What a campaign says */
  getCampaignContent: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Of an A/B test, in the order of the request. 404 where there is none. */
        variant?: number;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** Subject of the mail; variables allowed in what is to be sent. */
      subject: string;
      /** The HTML part. */
      html: string;
    };
  };
  /** Why recipients failed */
  listCampaignFailures: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: CampaignFailure[];
  };
  /** Results of a campaign as CSV */
  exportCampaign: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "url" | "-url";
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        url: Url;
        events: Events;
        /** True: nothing is delivered until the next PUT. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. The 400 for another names the fields. */
        ordering?: string;
        /** Only those in this state. */
        status?: "pending" | "succeeded" | "dead";
        /** Type of event. */
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
          | "confirmed";
        /** Required with a bearer token, else the key's company. */
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
  /** Get a delivery with what is posted */
  getWebhookDelivery: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The delivery's id. */
        delivery_id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      id: Id;
      event_id: EventId;
      event_type: EventType;
      status: Status;
      attempts: Attempts;
      response_status: ResponseStatus;
      last_error: LastError;
      next_attempt_at: NextAttemptAt;
      created_at: CreatedAt;
      /** The body that is posted. */
      payload: {
        [name: string]: unknown;
      };
    };
  };
  /** Deliver an event again */
  redeliverWebhook: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The delivery's id. */
        delivery_id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "email" | "-email" | "domain" | "-domain";
        /** Only of this kind. */
        kind?: "manual" | "unsubscribed" | "bounced" | "complained";
        /** Required with a bearer token, else the key's company. */
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
  /** Block an address or a domain */
  createSuppression: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body?: {
        /** The address that is to get no mail. */
        email?: string | null;
        /** The domain that is to get no mail. */
        domain?: string | null;
        /** Reason. */
        reason?: string;
        /** Default manual. */
        kind?: "manual" | "unsubscribed" | "bounced" | "complained";
      };
    };
    answer: Suppression;
  };
  /** Block many addresses and domains */
  importSuppressions: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body:
        | {
            charset?: Charset;
            file: FileOfImportSubscribers;
          }
        | {
            /** Addresses and domains. */
            items?: {
              /** An email address. */
              email?: string | null;
              /** A domain. */
              domain?: string | null;
              /** Reason. */
              reason?: string | null;
              /** Why it gets no mail; the stronger kind stays. */
              kind?: string | null;
            }[];
          };
    };
    answer: {
      total: Total;
      created: Created;
      /** How many were there before. */
      existing: number;
      /** The first 100 errors. */
      errors: {
        row: Row;
        email: EmailOfImportSuppressions;
        /** The domain as it was given. */
        domain: string;
        error: ErrorOfImportSuppressions;
      }[];
    };
  };
  /** Download all suppressions as CSV */
  exportSuppressions: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "name" | "-name";
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
  /** Count whom rules hold for, without saving them */
  previewSegment: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
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
      /** Empty also where they could not be found in time. */
      sample: Subscriber[];
    };
  };
  /** Get a segment, with its size now */
  getSegment: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** `false`: nobody is counted, and `subscriber_count` is null. */
        count?: boolean;
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** List the subscribers that a segment holds now */
  listSubscribersOfSegment: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "email"
          | "-email"
          | "first_name"
          | "-first_name"
          | "last_name"
          | "-last_name";
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?:
          | "created_at"
          | "-created_at"
          | "filename"
          | "-filename"
          | "size"
          | "-size"
          | "content_type"
          | "-content_type";
        /** Only files of this type. */
        content_type?: string;
        /** Required with a bearer token, else the key's company. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        file: FileOfImportSubscribers;
      };
    };
    answer: MediaFile;
  };
  /** One media file */
  getMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Where a media file is used */
  getMediaUsage: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** Templates whose body names the file. */
      template_count: number;
      /** The newest of them. */
      templates: {
        id: Id;
        name: NameOfListListsOfSubscriber;
      }[];
      /** Campaigns whose mails name or attach the file. */
      campaign_count: number;
      /** The newest of them. */
      campaigns: {
        id: Id;
        name: NameOfListListsOfSubscriber;
        /** State. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "recipient" | "-recipient" | "sent_at" | "-sent_at";
        /** Only those of this campaign. */
        campaign?: string;
        /** Only those in this state. */
        status?: "queued" | "sending" | "sent" | "failed" | "bounced" | "suppressed" | "unknown";
        /** Only those to this address. */
        recipient?: string;
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "timestamp" | "-timestamp";
        /** Only of this type. */
        type?: "delivered" | "opened" | "clicked" | "bounced" | "unsubscribed" | "complained";
        /** Only those of this campaign. */
        campaign?: string;
        /** Only those to this address. */
        recipient?: string;
        /** Only from this on. A date-time, or a date: the whole day in the company's time zone. */
        since?: string;
        /** Exclusive. A date-time, or a date: the whole day in the company's time zone. */
        until?: string;
        /** Required with a bearer token, else the key's company. */
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
  /** People, mail and campaigns at a glance */
  getStats: {
    request: {
      query?: {
        /** How many days back it looks. */
        days?: number;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** Subscribers. */
      subscribers: {
        /** In all statuses. */
        total: number;
        /** Who gets mail. */
        active: number;
        /** Who has not confirmed yet. */
        unconfirmed: number;
        /** Who gets no newsletters any more. */
        unsubscribed: number;
        /** Whose mailbox does not exist. */
        bounced: number;
        /** Who reported a mail as unwanted. */
        complained: number;
      };
      /** One for each day, the oldest first, today last. */
      growth: {
        date: DateOfGetStats;
        /** Became active: new, confirmed, or back again. */
        subscribed: number;
        /** Unsubscribed or complained. */
        unsubscribed: number;
        /** Their addresses turned out to be dead. */
        bounced: number;
      }[];
      /** The same days. */
      sending: {
        date: DateOfGetStats;
        /** Mails that were taken by servers on this day. */
        sent: number;
        /** Of these, what has not come back since. */
        delivered: number;
        /** Bounces of this day, at the delivery or later. */
        bounced: number;
        /** Reports of this day that a mail was unwanted. */
        complained: number;
        /** Mails that a person opened for the first time. */
        opens: number;
        /** Mails in which a person clicked for the first time. */
        clicks: number;
      }[];
      /** By status. */
      campaigns: {
        /** Wait for their time. */
        scheduled: number;
        /** Wait for a sender. */
        pending: number;
        /** Are being sent. */
        sending: number;
        /** Were sent to everybody. */
        completed: number;
        /** Were sent to some. */
        partial: number;
        /** Were sent to nobody. */
        failed: number;
        /** Were cancelled, or stopped before the first mail. */
        cancelled: number;
      };
    };
  };
  /** What becomes of mail, by the domain of its recipients */
  getDomainStats: {
    request: {
      query?: {
        /** How many days back it looks. */
        days?: number;
        /** Only those of this campaign. */
        campaign?: string;
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      /** Domain of the recipients. */
      domain: string;
      sent: Sent;
      delivered: Delivered;
      hard: Hard;
      soft: Soft;
      block: Block;
      complaints: Complaints;
      /** Mails that a person opened. */
      opens: number;
      /** What its servers said when they refused last. */
      last_refusal: string | null;
      /** Present only when `sent`, `delivered` and `opens` are estimates. */
      estimated?: boolean;
    }[];
  };
  /** Recipient domains that get less mail for now */
  listSlowDomains: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: {
      smtp_config_id: SmtpConfigId;
      domain: DomainOfListSlowDomains;
      /** Mails a minute that it gets at the moment. */
      per_minute: number;
      /** What its server says. */
      says: string;
    }[];
  };
  /** Report a bounce or a complaint */
  reportBounce: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
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
  /** List bounces, complaints and other messages that came in */
  listInboundMessages: {
    request: {
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "received_at" | "-received_at";
        /** Only with this result. */
        result?: "bounced" | "complained" | "ignored" | "unmatched";
        /** Only what came in this way. */
        via?: "smtp" | "imap" | "api" | "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";
        /** Only those to this address. */
        recipient?: string;
        /** Required with a bearer token, else the key's company. */
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
  /** Get a message as it came in */
  downloadInboundMessage: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Required with a bearer token, else the key's company. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. The 400 for another names the fields. */
        ordering?: string;
        /** Required with a bearer token, else the key's company. */
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
  /** Create an address for a provider's reports */
  createInboundSource: {
    request: {
      query?: {
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
      body: {
        provider: Provider;
        /** SendGrid's verification key or Mailgun's HTTP signing key; of Postmark, SparkPost and Brevo the password of basic authentication, or the bearer token, that their requests must have. Write-only. */
        secret?: string;
        /** Reports are about mail of this configuration. */
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
        /** Required with a bearer token, else the key's company. */
        company?: string;
      };
    };
    answer: null;
  };
  /** Take in a provider's report */
  receiveProviderReport: {
    request: {
      path: {
        /** The provider that reports. */
        provider: "ses" | "sendgrid" | "mailgun" | "postmark" | "sparkpost" | "brevo";
        /** The end of the source's `url`. */
        token: string;
      };
      body: unknown;
    };
    answer: {
      /** Bounces and complaints in it. */
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
        /** The list that is joined. */
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
      /** The same for everybody. */
      detail: string;
    };
  };
  /** Confirmation page of a double opt-in */
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
        /** The sent email's id, as the link in the mail has it. */
        sent_email_id: string;
      };
    };
    answer: string;
  };
  /** Unsubscribe */
  unsubscribeRecipient: {
    request: {
      path: {
        /** The sent email's id, as the link in the mail has it. */
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
        /** The sent email's id, as the link in the mail has it. */
        sent_email_id: string;
      };
    };
    answer: string;
  };
  /** Public archive of a list */
  showArchive: {
    request: {
      path: {
        /** The list that it goes to. */
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
        /** The list that it goes to. */
        list_id: string;
      };
    };
    answer: null;
  };
  /** A past newsletter */
  showArchivedCampaign: {
    request: {
      path: {
        /** The list that it goes to. */
        list_id: string;
        /** The campaign. */
        campaign_id: string;
      };
    };
    answer: string;
  };
  /** Confirmation page of a change of address */
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
  /** The bytes of a media file */
  downloadMedia: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The file's name, as it was uploaded. */
        filename: string;
      };
    };
    answer: Blob;
  };
  /** Register a user and her company */
  registerCompany: {
    request: {
      body: {
        email: Email;
        password: PasswordOfRegisterCompany;
        /** Company name; it stands in the headers of mails. */
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
        /** The second factor: of the authenticator, or a recovery code. */
        code?: string;
      };
    };
    answer: {
      access: Access;
      refresh: Refresh;
      user: User;
      /** Companies that the person is a member of. */
      companies: CompanyWithRole[];
      /** Sent as the cookie `fm_device` instead. */
      device?: string;
    };
  };
  /** Exchange a refresh token for new tokens */
  refreshTokens: { request: { body: RefreshTokensBody }; answer: Tokens };
  /** End the session that a refresh token belongs to */
  logOut: { request: { body: RefreshTokensBody }; answer: null };
  /** Verify an address by the link that was mailed to it */
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
  /** Mail the link that verifies the own address once more */
  resendVerification: {
    request: Record<string, never>;
    answer: {
      [name: string]: unknown;
    };
  };
  /** Mail a link that sets a new password */
  requestPasswordReset: {
    request: { body: ErasePersonBody };
    answer: {
      [name: string]: unknown;
    };
  };
  /** Set a new password by a link */
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
  /** Who is signed in, and the companies with the role in each */
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
        /** Whether a second factor is asked for. */
        totp_enabled: boolean;
      };
      /** Companies that the person is a member of. */
      companies: {
        id: Id;
        name: NameOfListListsOfSubscriber;
        role: Role;
      }[];
    };
  };
  /** Sessions that are still good */
  listSessions: {
    request: Record<string, never>;
    answer: {
      id: Id;
      created_at: CreatedAt;
      /** When it was used last; null: never. */
      last_used_at: string;
      ip: Ip;
      /** The browser. */
      user_agent: string | null;
      /** Whether it is the session of this request. */
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
        /** The password until now. */
        current_password: string;
        new_password: NewPassword;
      };
    };
    answer: {
      access: AccessOfAcceptInvitation;
      refresh: RefreshOfAcceptInvitation;
    };
  };
  /** Begin two-factor authentication */
  beginTotp: {
    request: Record<string, never>;
    answer: {
      /** For the authenticator, in base32. */
      secret: string;
      /** For the authenticator, as a QR code. */
      uri: string;
    };
  };
  /** Switch two-factor authentication off */
  disableTotp: {
    request: {
      body: {
        password: PasswordOfDisableTotp;
        /** What the authenticator shows, or a recovery code. */
        code: string;
      };
    };
    answer: null;
  };
  /** Switch two-factor authentication on */
  confirmTotp: {
    request: {
      body: {
        /** What the authenticator shows. */
        code: string;
      };
    };
    answer: {
      /** Each replaces a code once. */
      recovery_codes: string[];
    };
  };
  /** Add a company of one's own */
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
        /** At the foot of every marketing mail. */
        footer_text?: string;
        double_opt_in?: DoubleOptInOfUpdateCompany;
        default_smtp_config_id?: DefaultSmtpConfigId;
        tracking_enabled?: TrackingEnabled;
        individual_tracking?: IndividualTracking;
        /** How many days rows are kept; null: as the installation says. */
        retention_days?: {
          /** Opens, clicks, bounces and the like. What campaigns count of them stays. Null: as the installation says. */
          events?: number | null;
          /** Recipients of campaigns at rest. Links in their mails end with them. Null: as the installation says. */
          sent_emails?: number | null;
          /** Mail that came back. Null: as the installation says. */
          inbound?: number | null;
        } | null;
        /** Sends are refused while SPF, DKIM, DMARC or alignment of their SMTP configuration fails. */
        require_authentication?: boolean;
        /** Host of links, pixel and public pages in its mails. */
        tracking_domain?: string | null;
        /** When a campaign stops by itself. */
        guard?: {
          /** More hard bounces than this stop a campaign. */
          hard_bounce_percent?: number | null;
          /** More complaints than this stop a campaign. */
          complaint_percent?: number | null;
          /** Nothing is stopped before so many recipients were tried. */
          after?: number | null;
        } | null;
        /** An IANA name, such as Europe/Berlin: when the company's days begin, in filters, segments, statistics and warm-up. Default: UTC. */
        timezone?: string;
        /** Attributes that the public subscribe form takes as fields. */
        form_attributes?: string[] | null;
        /** Hosts (with a port, where it is not the usual one) that `redirect_url` of that form may lead to. */
        form_hosts?: string[] | null;
        /** How public pages and confirmation mails look and speak. Merged key by key; null resets. Readers who prefer dark pages get dark colours derived from these. */
        branding?: {
          name?: NameOfUpdateCompany;
          logo_url?: LogoUrl;
          color?: Color;
          background?: Background;
          footer_text?: FooterText;
          language?: Language;
        } | null;
      };
    };
    answer: Company;
  };
  /** Delete a company with all that it has */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
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
        /** Default: `full`, all of them. */
        scopes?: ("full" | "send" | "campaigns" | "subscribers" | "settings" | "read" | "export")[];
        /** Addresses and networks (CIDR) that may use it. Default: all. */
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
      /** Shown this once; only its hash is stored. */
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
  /** Who did what */
  listAuditLog: {
    request: {
      path: {
        /** Id. */
        id: string;
      };
      query?: {
        /** Page number, from 1. */
        page?: number;
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
        ordering?: "created_at" | "-created_at" | "at" | "-at" | "action" | "-action";
        /** Only by this user or key: an id, an address, or a key's name. */
        actor?: string;
        /** Only this action. */
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
          | "campaign.exported";
        /** Only from this on. A date-time, or a date: the whole day in the company's time zone. */
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
        /** User or API key that did it. */
        actor: {
          /** Type of caller. */
          type: "user" | "api_key" | "operator" | "system";
          /** The user or key; null for the operator and the system. */
          id: string | null;
          /** An address, or a key's name. */
          name: string;
        };
        /** Action. */
        action: string;
        /** Target of the action. */
        target: string | null;
        ip: Ip;
        /** What else is known of it. */
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
        /** Rows on a page; default 20. */
        page_size?: number;
        /** The place in the list that `next` and `previous` lead to. Take it from them; `page` only numbers the page then. */
        cursor?: string;
        /** Part of a text, without regard to case. */
        search?: string;
        /** A field, or `-` and a field for descending. Without it: newest first. */
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
  /** Invite somebody into a company */
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
      /** State. */
      status: "invited";
      /** When it ends; null: never. */
      expires_at: string;
      /** The link to accept by, where no mail is sent. */
      invite_url?: string;
    };
  };
  /** Change a member's role */
  updateMember: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The user's id, or the invitation's. */
        user_id: string;
      };
      body: {
        role: Role;
      };
    };
    answer: Member;
  };
  /** Remove a member, or withdraw an invitation */
  removeMember: {
    request: {
      path: {
        /** Id. */
        id: string;
        /** The user's id, or the invitation's. */
        user_id: string;
      };
      query?: {
        /** The API keys that the member made stay. */
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
  /** It takes an Idempotency-Key. */
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
  getMedia: { method: "GET", path: "/api/emails/media/{id}/", answer: "json" },
  deleteMedia: { method: "DELETE", path: "/api/emails/media/{id}/", answer: "none" },
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
  listApiKeys: { method: "GET", path: "/api/companies/{id}/api-keys/", answer: "json" },
  createApiKey: { method: "POST", path: "/api/companies/{id}/api-keys/", answer: "json" },
  deleteApiKey: { method: "DELETE", path: "/api/companies/{id}/api-keys/{key_id}/", answer: "none" },
  listAuditLog: { method: "GET", path: "/api/companies/{id}/audit-log/", answer: "json" },
  listMembers: { method: "GET", path: "/api/companies/{id}/members/", answer: "json" },
  inviteMember: { method: "POST", path: "/api/companies/{id}/members/", answer: "json" },
  updateMember: { method: "PATCH", path: "/api/companies/{id}/members/{user_id}/", answer: "json" },
  removeMember: { method: "DELETE", path: "/api/companies/{id}/members/{user_id}/", answer: "none" },
};
