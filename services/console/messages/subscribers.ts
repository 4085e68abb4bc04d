/** Texts for single subscribers and bulk actions. */
const plural = (n: number, one: string, many: string) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const others = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "was" : "were"}`;
const people = (n: number) => plural(n, "subscriber", "subscribers");

/** Texts shared by the pages of subscribers and of one list. */
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
  /** `{n}`: number of selected subscribers. */
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
    n === of ? `${people(n)} added to ${list}.` : `${people(n)} added to ${list}; ${others(of - n)} on it already.`,
  removed: (n: number, of: number, list: string) =>
    n === of ? `${people(n)} removed from ${list}.` : `${people(n)} removed from ${list}; ${others(of - n)} not on it.`,
  deleted: (n: number) => `${people(n)} deleted.`,
  suppressedMany: (n: number, existing: number) =>
    existing === 0 ? `${people(n)} suppressed.` : `${people(n)} suppressed; ${others(existing)} suppressed already.`,
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
  manual: "Suppressed by hand: this address gets no email",
  unsubscribed: "Suppressed after an unsubscribe: this address gets no campaigns",
  bounced: "Suppressed after a bounce: this address gets no email",
  complained: "Suppressed after a spam complaint: this address gets no email",
} as const;

export const person = {
  since: "Added",
  noMail: (status: string) =>
    status === "unconfirmed"
      ? "Gets no campaigns until the link in the confirmation email is followed."
      : "Gets no campaigns in this status.",
  suppressed: (kind: "manual" | "unsubscribed" | "bounced" | "complained", since: string) =>
    `${suppressedBecause[kind]} since ${since}.`,
  suppression: "Show suppression",
  details: "Details",
  attributes: "Attributes",
  attributesHint: "Use them as variables in templates and as rules in segments. A value keeps its kind.",
  number: "a number",
  yes: "Yes",
  no: "No",
  oneEach: "one per line",
  remove: (name: string) => `Remove ${name}`,
  removeShort: "Remove",
  newAttribute: "New attribute",
  newName: "Name",
  newKind: "Kind",
  newValue: "Value",
  kinds: { text: "Text", number: "Number", boolean: "Yes or no", date: "Date", list: "List of texts" },
  notNumber: "Enter a number, such as 12 or 3.5.",
  notBoolean: "Enter yes or no.",
  notDate: "Enter a date as 2026-01-31.",
  noName: "Enter a name for the attribute.",
  nameTaken: (name: string) => `There is an attribute ${name} already; change it above.`,
  save: "Save",
  lists: "Lists and consent",
  on: (since: string) => `On the list since ${since}`,
  left: (at: string, since: string) => `Left on the preferences page on ${at}; on the list since ${since}`,
  waiting: (at: string) => `Signed up on ${at}; not confirmed yet`,
  notConfirmed: "not confirmed yet",
  onNoList: "On no list.",
  moreLists: (n: number) => `Show ${plural(n, "more list", "more lists")}`,
  addToList: "Add to a list",
  noList: "Choose a list",
  addButton: "Add",
  takeOff: "Remove",
  history: "Activity",
  counts: (mails: number, events: number) =>
    `${plural(mails, "email", "emails")}, ${plural(events, "event", "events")}`,
  noHistory: "No email was sent to this address yet.",
  when: "When",
  what: "What",
  about: "Details",
  openCampaign: "Open campaign",
  newest: "Newest",
  older: "Older",
  machine: "by a program, not a person",
  events: {
    delivered: "Delivered",
    opened: "Opened",
    clicked: "Clicked",
    bounced: "Bounced",
    unsubscribed: "Unsubscribed",
    complained: "Complained",
  },
  mails: {
    queued: "Waiting",
    sending: "Sending",
    sent: "Sent",
    failed: "Failed",
    bounced: "Bounced",
    suppressed: "Skipped",
    unknown: "No answer",
  },
  dataHint: "Everything on file about this person, as a JSON file",
  download: "Export data",
  endTitle: "Delete or erase",
  delete: "Delete subscriber",
  deleteTitle: (email: string) => `Delete ${email}?`,
  deleteHint: (lists: number) =>
    `Deletes the subscriber permanently${lists === 0 ? "" : `, also from ${plural(lists, "list", "lists")}`}. Emails and events stay in reports, and the address can be added again. This can’t be undone.`,
  eraseTitle: "Erase all data (privacy request)",
  erase: "Erase",
  eraseHint: (mails: number, events: number) =>
    `Erases everything on file about this address permanently: ${plural(mails, "email", "emails")}, ${plural(events, "event", "events")}, variables, suppressions. Totals of campaigns stay. The address is neither emailed nor imported until the person signs up again. This can’t be undone.`,
  eraseType: "Type the address to confirm",
  eraseOther: "This is another address. Type the one of this page.",
  erased: (mails: number, events: number, complete: boolean) =>
    `Erased: ${plural(mails, "email", "emails")}, ${plural(events, "event", "events")}.${complete ? "" : " The remaining data is being erased in the background."}`,
  deleted: (email: string) => `${email} was deleted.`,
  takenOff: (list: string) => `Removed from ${list}.`,
  putOn: (list: string) => `Added to ${list}.`,
} as const;
