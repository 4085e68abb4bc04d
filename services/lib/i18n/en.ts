/** English, and the shape of every other catalogue. `{…}` is replaced by a value, which is never markup. */
export const en = {
  code: "en",
  dir: "ltr",
  unsubscribe: {
    title: "Unsubscribe",
    question: "Do you no longer want emails from {company} sent to {email}?",
    button: "Unsubscribe",
    allButton: "Unsubscribe from all emails",
    listButton: "Only this list: {list}",
  },
  leftList: {
    title: "You have left this list",
    done: "{company} will not send {list} to {email} any more.",
  },
  unsubscribed: {
    title: "You are unsubscribed",
    done: "{company} will not send newsletters to {email} any more.",
  },
  subscribe: {
    title: "Subscribe",
    intro: "Get emails from {company}.",
    introList: "Get {list} from {company}.",
    button: "Subscribe",
    noAddress: "Enter your email address.",
    wrongAddress: "This is not an email address. It looks like name@example.com.",
    wrong: "This value cannot be used. Please check it.",
    busy: "Too many sign-ups came from your network. Wait a minute and send the form again.",
    leaveEmpty: "Leave this empty",
  },
  subscribed: {
    title: "Thank you",
    done: "{company} has received your subscription for {email}.",
    confirm: "Nearly done: please confirm by the link in the email that {company} sends to {email}.",
  },
  confirm: {
    title: "Confirm your subscription",
    question: "Do you want to get emails from {company} at {email}?",
    button: "Yes, subscribe me",
    ignore: "If you did not ask for this, close this page. Nothing will be sent to you.",
  },
  confirmed: {
    title: "Your subscription is confirmed",
    done: "{company} now sends its emails to {email}.",
  },
  confirmationMail: {
    subject: "Please confirm your subscription to {company}",
    hello: "Hello{name},",
    asked:
      "somebody, we hope you, asked for emails from {company} to be sent to {email}. Please confirm that you want them:",
    button: "Confirm my subscription",
    address: "If the button does not work, open this address:",
    ignore: "The link is good for 7 days. If you did not ask for this, do nothing: you will get no further emails.",
  },
  changeAddress: {
    title: "Confirm your new address",
    question: "Do you want the emails from {company} to go to {email} from now on?",
    button: "Yes, use this address",
    ignore: "If you did not ask for this, close this page. Nothing will change.",
  },
  changedAddress: {
    title: "Your address is changed",
    done: "{company} now sends its emails to {email}.",
  },
  changeAddressMail: {
    subject: "Please confirm your new address for {company}",
    hello: "Hello{name},",
    asked:
      "somebody, we hope you, asked {company} to send its emails to {email} from now on. Please confirm that this is your address:",
    button: "Use this address",
    address: "If the button does not work, open this address:",
    ignore: "The link is good for 7 days. If you did not ask for this, do nothing: you will get no further emails.",
  },
  preferences: {
    title: "Your email preferences",
    intro: "What {company} sends to {email}.",
    saved: "Your preferences are saved.",
    name: "Your name",
    firstName: "First name",
    lastName: "Last name",
    address: "Email address",
    addressHint: "If you change it, we send a link to the new address. The present one holds until that link is used.",
    addressAsked:
      "Address: please use the link in the email that {company} sends to the new address. Until then emails go to {email}.",
    emails: "Emails",
    subscribed: "Send me emails",
    lists: "Topics",
    listsHint: "Only what is ticked is sent to you.",
    button: "Save preferences",
  },
  problem: {
    missingTitle: "This page does not exist",
    missing: "The link is not complete, or what it led to is gone. Please use the link in your email again.",
    expiredTitle: "This link has expired",
    expired: "Please subscribe again to get a new one.",
  },
  mailFooter: { unsubscribe: "Unsubscribe", preferences: "Preferences" },
  archive: { nothing: "Nothing has been sent to this list yet.", newer: "Newer", older: "Older", feed: "RSS feed" },
  footer: { sentBy: "This page belongs to emails sent by {company}." },
};

export type Catalogue = typeof en;
