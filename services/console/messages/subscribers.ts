/** Subscribers, one by one and in bulk. */
const plural = (n: number, one: string, many: string) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const others = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "was" : "were"}`;
const people = (n: number) => plural(n, "subscriber", "subscribers");

/** What the pages of subscribers and of a list have in common. */
export const peopleMessages = {
  undo: "Undo",
  pick: "Select",
  pickOne: (email: string) => `Select ${email}`,
  pickPage: "Select this page",
  pickAll: (n: string) => `Select all ${n}`,
  allPicked: (n: string) => `All subscribers that match are selected, on every page: ${n}.`,
  pickNone: "Clear selection",
  bulkTitle: "Selected subscribers",
  toList: "List",
  add: "Add to list",
  remove: "Remove from list",
  export: "Export",
  suppress: "Suppress …",
  delete: "Delete …",
  /** `{n}`: how many are selected. */
  ofMany: {
    add: "Add {n} to list",
    remove: "Remove {n} from list",
    export: "Export {n}",
    suppress: "Suppress {n} …",
    delete: "Delete {n} …",
  },
  unfinished: "There are more than fit into one request: select all again and repeat it for the others.",
  nobodyPicked: "Nobody is selected. Tick the boxes beside the subscribers first.",
  noListChosen: "Choose a list.",
  added: (n: number, of: number, list: string) =>
    n === of
      ? `${people(n)} added to ${list}.`
      : `${people(n)} added to ${list}; ${others(of - n)} on it already.`,
  removed: (n: number, of: number, list: string) =>
    n === of
      ? `${people(n)} removed from ${list}.`
      : `${people(n)} removed from ${list}; ${others(of - n)} not on it.`,
  deleted: (n: number) => `${people(n)} deleted.`,
  suppressedMany: (n: number, existing: number) =>
    existing === 0
      ? `${people(n)} suppressed.`
      : `${people(n)} suppressed; ${others(existing)} suppressed already.`,
  questions: {
    delete: {
      title: (n: string, count: number) => `Delete ${n} ${count === 1 ? "subscriber" : "subscribers"}?`,
      hint: "They are deleted permanently and removed from all lists. Emails that were sent stay in their campaigns’ reports. This can’t be undone.",
      button: (n: string) => `Delete ${n} permanently`,
      back: "Cancel",
    },
    suppress: {
      title: (n: string, count: number) => `Suppress ${n} ${count === 1 ? "subscriber" : "subscribers"}?`,
      hint: "Their addresses get no more campaigns, whatever list they are on. You can lift each suppression on the Suppressions page.",
      button: (n: string) => `Suppress ${n}`,
      back: "Cancel",
    },
  },
  statuses: {
    active: "Subscribed",
    unconfirmed: "Unconfirmed",
    unsubscribed: "Unsubscribed",
    bounced: "Bounced",
    complained: "Complained",
  },
  suppressed: "Suppressed",
} as const;

export const subscribers = {
  title: "Subscribers",
  search: "Search by email or name",
  status: "Status",
  all: "All",
  list: "List",
  anyList: "Any list",
  filter: "Search",
  clear: "Clear filters",
  found: people,
  about: (n: string) => `About ${n} subscribers. Narrow the search to see an exact number.`,
  export: (n: string) => `Export ${n}`,
  email: "Email address",
  firstName: "First name",
  lastName: "Last name",
  name: "Name",
  since: "Added",
  lead: "Everyone on file, with status and lists.",
  noneFitsTitle: "Nobody matches",
  noneFits: "Try part of the address or name, or another status.",
  emptyTitle: "No subscribers yet",
  empty: "Import a file from your previous email tool or a spreadsheet, or add the first person by hand.",
  addTitle: "Add subscriber",
  add: "Add",
  noList: "No list",
} as const;

const suppressedBecause = {
  manual: "Suppressed by hand: no mail is sent to this address",
  unsubscribed: "Suppressed after an unsubscribe: no newsletter is sent to this address",
  bounced: "Suppressed after a bounce: no mail is sent to this address",
  complained: "Suppressed after a spam complaint: no mail is sent to this address",
} as const;

export const person = {
  noMail: (status: string) =>
    status === "unconfirmed"
      ? "Gets no newsletter before the link in the confirmation mail is followed."
      : "Gets no newsletter in this status.",
  suppressed: (kind: "manual" | "unsubscribed" | "bounced" | "complained", since: string) =>
    `${suppressedBecause[kind]} since ${since}.`,
  suppression: "Show the suppression",
  details: "Details",
  attributes: "Attributes",
  attributesHint: "Variables of templates and fields of segments. The kind of a value stays as it is.",
  number: "a number",
  yes: "Yes",
  no: "No",
  oneEach: "one on each line",
  remove: (name: string) => `Remove ${name}`,
  newAttribute: "New attribute",
  newName: "Name",
  newKind: "Kind",
  newValue: "Value",
  kinds: { text: "Text", number: "Number", boolean: "Yes or no", date: "Date", texts: "Several texts" },
  notNumber: "Enter a number, such as 12 or 3.5.",
  notBoolean: "Enter yes or no.",
  notDate: "Enter a date as 2026-01-31.",
  noName: "Give the attribute a name.",
  nameTaken: (name: string) => `There is an attribute ${name} already; change it above.`,
  save: "Save",
  lists: "Lists and consent",
  list: "List",
  consent: "Consent",
  on: (since: string) => `On the list since ${since}`,
  left: (at: string, since: string) => `Left by the preferences page on ${at}; on the list since ${since}`,
  waiting: (at: string) => `Asked for by the public form on ${at}; waits for the confirmation`,
  notConfirmed: "the confirmation is outstanding",
  onNoList: "On no list.",
  addToList: "Add to a list",
  noList: "Choose a list",
  addButton: "Add",
  takeOff: "Take off",
  history: "Mails and events",
  counts: (mails: number, events: number) => `${plural(mails, "mail", "mails")}, ${plural(events, "event", "events")}`,
  noHistory: "No mail was sent to this address.",
  when: "When",
  what: "What",
  about: "About",
  campaign: "Campaign",
  openCampaign: "Campaign",
  newest: "Newest",
  older: "Older",
  machine: "by a program, not a person",
  events: {
    delivered: "delivered",
    opened: "opened",
    clicked: "clicked",
    bounced: "bounced",
    unsubscribed: "unsubscribed",
    complained: "complained",
  },
  mails: {
    queued: "mail waits",
    sending: "mail on its way",
    sent: "mail sent",
    failed: "mail failed",
    bounced: "mail bounced",
    suppressed: "mail held back",
    unknown: "mail in doubt",
  },
  data: "Their data",
  dataHint: "Everything that is kept about this person, for a person who asks.",
  download: "Download as JSON",
  endTitle: "Delete or erase",
  delete: "Delete",
  deleteHint: (lists: number) =>
    `Removes the subscriber for good, from ${plural(lists, "list", "lists")}. Mails and events stay, without a link to the person, and the address can be added again. This cannot be undone.`,
  erase: "Erase",
  eraseHint: (mails: number, events: number) =>
    `Removes everything that is kept about this address, for good: ${plural(mails, "mail", "mails")}, ${plural(events, "event", "events")}, variables, suppressions. Counts of campaigns stay. The address is neither mailed nor imported again until the person subscribes anew. This cannot be undone.`,
  eraseType: "Type the address to confirm",
  eraseOther: "This is another address. Type the one of this page.",
  erased: (mails: number, events: number, complete: boolean) =>
    `Erased: ${plural(mails, "mail", "mails")}, ${plural(events, "event", "events")}.${complete ? "" : " The rest goes in the background."}`,
  deleted: (email: string) => `${email} was deleted.`,
  takenOff: (list: string) => `Taken off ${list}.`,
  putOn: (list: string) => `Added to ${list}.`,
} as const;
