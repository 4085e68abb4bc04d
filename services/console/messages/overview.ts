/** The page after signing in. */
export const overview = {
  title: "Overview",
  inTheAir: "Campaigns in the air",
  allInTheAir: (n: string) => `All ${n}`,
  noneInTheAir: "No campaign is being sent.",
  warnings: "What needs a look",
  noWarnings: "Nothing needs your attention.",
  warningsOf: {
    silent: "it does not answer.",
    server: (name: string, says: string) =>
      `The server “${name}” takes no mail, which waits until it does. It said: ${says}`,
    dns: (name: string, checks: string) =>
      `Receivers will find something wrong with mail of the server “${name}”: ${checks} fails.`,
    mailbox: (name: string, says: string) =>
      `Bounces of the server “${name}” are not read. Their mailbox said: ${says}`,
    bounced: (rate: string) =>
      `${rate} of the mail of the last 30 days came back. Above 5 % providers begin to refuse a sender: look where the addresses come from.`,
    complained: (rate: string) =>
      `${rate} of the mail of the last 30 days was called spam. Above 0.3 % providers begin to refuse a sender: mail only those who asked for it.`,
    emails_per_month: (used: string, limit: string) => `${used} of this month’s ${limit} mails are used.`,
    subscribers: (used: string, limit: string) => `${used} of your plan’s ${limit} subscribers are used.`,
    resets: (at: string) => `They begin anew at ${at}.`,
    webhookFails: (url: string) => `Every delivery to ${url} fails at the moment. After three days it is switched off.`,
    webhookOff: (url: string) => `Events no longer go to ${url}: it failed for three days and is switched off.`,
    toServer: "To the server",
    toDns: "To the DNS records",
    toDomains: "By recipient domain",
    toComplaints: "To the complaints",
    toPlan: "To the plan",
    toWebhook: "To the webhook",
  },
  people: "Subscribers",
  peopleBy: {
    active: "Active",
    unconfirmed: "Not confirmed yet",
    unsubscribed: "Unsubscribed",
    bounced: "Bounced",
    complained: "Complained",
    total: "In all",
  },
  sending: "Mail of the last 30 days",
  sendingLines: {
    sent: "Sent",
    delivered: "Delivered",
    opens: "Opened",
    clicks: "Clicked",
    bounced: "Bounced",
    complained: "Complained",
  },
  growth: "Subscribers of the last 30 days",
  growthLines: { subscribed: "Came", unsubscribed: "Left", bounced: "Bounced" },
  plotLabel: (title: string, from: string, to: string, most: string) =>
    `${title}, ${from} to ${to}, at most ${most}. The numbers stand in the table below.`,
  asTable: "As a table",
  day: "Day",
  nothing: "Nothing happened in these days.",
  firstSteps: "First steps",
  done: "done",
  toDo: "to do",
} as const;
