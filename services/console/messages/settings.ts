/** Settings of a company. */
export const keys = {
  title: "API keys",
  intro: "A program that uses the API sends a key in the header X-API-Key.",
  made: "Copy this key now. It is shown this once, and only its hash is stored.",
  name: "Name",
  begins: "Begins with",
  scopes: "May do",
  scopesHint: "Without a choice the key may do everything.",
  expires: "Good until (the end of that day, UTC)",
  expiresShort: "Good until",
  forEver: "for ever",
  allowed: "Only from these addresses and networks",
  allowedHint: "For example 192.0.2.7 or 2001:db8::/32, with spaces between them. Empty: from everywhere.",
  used: "Last used",
  by: "Made by",
  make: "Make a key",
  makeTitle: "A new key",
  delete: "Delete",
  deleteHint: "Programs that use it are refused within a second.",
  noKeys: "There is no key yet.",
} as const;

export const members = {
  title: "Members",
  email: "Email address",
  name: "Name",
  role: "Role",
  state: "Since",
  invited: (until: string) => `invited until ${until}`,
  change: "Change",
  remove: "Remove",
  removeHint: "Removing a member deletes the API keys that the member made, and voids the member's invitations.",
  invite: "Invite",
  inviteTitle: "Invite somebody",
  sent: (email: string) => `${email} is invited; the link is in a mail.`,
  link: (email: string) => `${email} is invited. Pass this link on: it is shown this once.`,
  rolesHint:
    "A viewer reads. A member works with people, content and campaigns. An admin also changes servers, keys and members. An owner also makes owners.",
} as const;

export const plan = {
  title: "Plan and usage",
  name: "Plan",
  limit: "Limit",
  used: "Used",
  what: "What",
  unlimited: "no limit",
  period: "This month ends at",
  limits: {
    emails_per_month: "Mails a month",
    smtp_per_hour: "Mails an hour",
    subscribers: "Subscribers",
    api_calls_per_day: "API calls a day",
    media_bytes: "Bytes of media",
  },
} as const;
