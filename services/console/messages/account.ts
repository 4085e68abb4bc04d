/** Texts for sign-in, sign-up and the user's own account. */
export const signIn = {
  title: "Sign in",
  email: "Email address",
  password: "Password",
  code: "Code of your authenticator, or a recovery code",
  button: "Sign in",
  codeNeeded: "Your password is right. Now the code of your authenticator.",
  toAccept: "Sign in with the account that you have to accept the invitation.",
  signOut: "Sign out",
  forgotten: "Forgotten your password?",
  signUp: "Create an account",
} as const;

const newPasswordHint = "At least 10 characters. Three or four words that do not belong together are good.";

export const signUp = {
  title: "Create an account",
  intro: "For you and your company. Invite others later.",
  name: "Your name",
  noName: "Enter your name.",
  companyOf: (name: string) => `${name}’s company`,
  company: "Name of your company",
  companyHint: "Your subscribers see it. It can be changed.",
  names: { first_name: "First name", last_name: "Last name" },
  password: "Password",
  passwordHint: newPasswordHint,
  button: "Create the account",
  toSignIn: "You have an account? Sign in",
} as const;

export const forgotten = {
  title: "Forgotten your password?",
  intro: "Enter your address. If there is an account for it, you get a mail with a link that is good for an hour.",
  noMail: "This service sends no mail itself. Ask whoever runs it for a new password.",
  button: "Mail me the link",
} as const;

export const reset = {
  title: "Set a new password",
  intro: "You are signed out everywhere when you do.",
  password: "New password",
  passwordHint: newPasswordHint,
  button: "Set the password",
  another: "Ask for another link",
} as const;

export const signInLink = { intro: "This link signs you in once." } as const;

export const verify = {
  title: "Confirm your address",
  intro: "Does this mailbox belong to you?",
  button: "Confirm",
  another: "Sign in, and ask for another link under Account.",
} as const;

export const invitation = {
  title: "Accept the invitation",
  intro: "Choose a password for your new account.",
  signedIn: (email: string) => `You are signed in as ${email}. Was it that address that was invited?`,
  password: "Password",
  passwordHint: newPasswordHint,
  button: "Accept",
  haveAccount: "I have an account",
  notMe: "If not, sign out, and open the link once more.",
  nowhere: "This link leads nowhere. It may have been cut off: copy all of it.",
  another: "Ask whoever invited you for another invitation.",
} as const;

export const newCompany = {
  title: "A new company",
  intro: "Another one, with subscribers, campaigns and people of its own. You are its owner.",
  button: "Create the company",
} as const;

export const companies = {
  title: "Your companies",
  noCompany: "You are a member of no company. Ask the owner of yours for an invitation.",
} as const;

export const account = {
  section: "Account",
  title: "Your account",
  name: "Name",
  email: "Email address",
  confirmed: "confirmed",
  notConfirmed: "not confirmed",
  confirmHint: "Only whoever reads this mailbox can set a new password. Open the link in the mail that you got, or:",
  mailAgain: "Mail me the link again",
  companies: "Companies",
} as const;

export const password = {
  title: "Password",
  intro: "All your other sessions end when you change it, here and in programs.",
  current: "Current password",
  new: "New password",
  newHint: newPasswordHint,
  button: "Change the password",
} as const;

export const twoFactor = {
  title: "Second factor",
  intro:
    "With a second factor nobody gets in with your password alone: sign-in also asks for a code of an app on your phone.",
  off: "It is off.",
  on: "It is on. Sign-in asks for a code of your authenticator.",
  begin: "Set it up",
  step1: "Scan this with an authenticator app, such as the one of your password manager.",
  picture: "QR code of the link below, for the camera of your phone",
  byHand: "No camera? Enter this secret by hand:",
  link: "On this device: open in the authenticator",
  step2: "Then enter the code that the app shows.",
  code: "Code of the app",
  confirm: "Switch it on",
  codesTitle: "Your recovery codes",
  codes:
    "Keep these where you find them without your phone. Each replaces a code of the app once. They are shown this once, and only their hashes are stored.",
  codesDone: "I have kept them",
  switchOff: "Switch it off",
  switchOffIntro: "Sign-in asks for the password alone then, and the recovery codes are void.",
  switchOffCode: "Code of the app, or a recovery code",
} as const;

export const sessions = {
  title: "Sessions",
  intro: "Where you are signed in. End what you do not know, then change your password.",
  began: "Since",
  used: "Last used",
  from: "From",
  end: "End",
  current: "this one",
} as const;
