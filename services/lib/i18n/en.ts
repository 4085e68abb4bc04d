/** English, and the shape of every other catalogue. `{…}` is replaced by a value, which is never markup. */
export const en = {
  code: "en",
  dir: "ltr",
  unsubscribe: {
    title: "Unsubscribe",
    question: "Do you want to stop getting newsletters from {company} at {email}?",
    button: "Unsubscribe",
    allButton: "Unsubscribe from all newsletters",
    listButton: "Only from this list: {list}",
  },
  leftList: {
    title: "You are unsubscribed from this list",
    done: "You’ll no longer get {list} from {company} at {email}. You may still get other newsletters.",
  },
  unsubscribed: {
    title: "You are unsubscribed",
    done: "You’ll no longer get newsletters from {company} at {email}.",
  },
  subscribe: {
    title: "Subscribe",
    intro: "Get emails from {company}.",
    introList: "Get {list} from {company}.",
    button: "Subscribe",
    noAddress: "Enter your email address.",
    wrongAddress: "Enter a valid email address, such as name@example.com.",
    wrong: "This value isn’t valid. Please check it.",
    busy: "Too many sign-ups from your network. Wait a minute and try again.",
    leaveEmpty: "Leave this field empty",
  },
  subscribed: {
    title: "Thank you",
    done: "{company} has received your sign-up for {email}.",
    confirm: "One more step: open the email from {company} to {email} and click the link to confirm.",
    noMail:
      "No email? Check your spam folder. We don’t send another one if this address is already subscribed or signed up in the last 24 hours.",
  },
  confirm: {
    title: "Confirm your subscription",
    question: "Do you want to get emails from {company} at {email}?",
    button: "Yes, subscribe me",
    ignore: "If you didn’t ask for this, close this page. Nothing will change.",
  },
  confirmed: {
    title: "Your subscription is confirmed",
    done: "You’ll now get emails from {company} at {email}.",
  },
  confirmationMail: {
    subject: "Please confirm your subscription to {company}",
    hello: "Hello{name},",
    asked:
      "You (or someone using your address {email}) signed up for emails from {company}. Please confirm your subscription:",
    button: "Confirm my subscription",
    address: "Or copy this address into your browser:",
    ignore: "The link works for 7 days. If you didn’t sign up, ignore this email. Nothing will change.",
  },
  changeAddress: {
    title: "Confirm your new address",
    question: "Do you want {company} to use the address {email} from now on?",
    button: "Yes, use this address",
    ignore: "If you didn’t ask for this, close this page. Nothing will change.",
  },
  changedAddress: {
    title: "Your address has been changed",
    done: "From now on, {company} uses the address {email}.",
  },
  changeAddressMail: {
    subject: "Please confirm your new address for {company}",
    hello: "Hello{name},",
    asked:
      "The address {email} was entered as your new one for emails from {company}. Please confirm that it is yours:",
    button: "Use this address",
    address: "Or copy this address into your browser:",
    ignore: "The link works for 7 days. If you didn’t ask for this, ignore this email. Nothing will change.",
  },
  preferences: {
    title: "Your email preferences",
    intro: "Choose what {company} sends to {email}.",
    saved: "Your preferences are saved.",
    name: "Your name",
    firstName: "First name",
    lastName: "Last name",
    address: "Email address",
    addressHint:
      "To change it, confirm the new address with the link that we send there. Until then we’ll use your current address.",
    addressAsked:
      "To confirm the new address, open the email from {company} and click the link. Until then we’ll use {email}. If no email arrives, the new address can’t be used.",
    emails: "Emails",
    subscribed: "Send me newsletters",
    lists: "Topics",
    listsHint: "Choose the topics that interest you.",
    button: "Save preferences",
  },
  problem: {
    missingTitle: "This page does not exist",
    missing: "The link is incomplete or no longer valid. Open it from your email again, or copy the whole link.",
    expiredTitle: "This link no longer works",
    expired: "It has expired or was already used. To get a new link, fill in the form again.",
    busyTitle: "Please try again shortly",
    busy: "This page is not available right now. Wait a minute and try again.",
    wrongTitle: "Something went wrong",
    wrong: "The request could not be completed. Please go back and try again.",
  },
  mailFooter: {
    unsubscribe: "Unsubscribe",
    preferences: "Preferences",
  },
  archive: {
    nothing: "No emails have been sent to this list yet.",
    newer: "Newer",
    older: "Older",
    feed: "RSS feed",
  },
  footer: {
    sentBy: "This page is about emails from {company}.",
  },
};

export type Catalogue = typeof en;
