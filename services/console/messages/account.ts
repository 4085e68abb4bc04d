/** Texts for sign-in, sign-up and the user's own account. */
export const signIn = {
  title: "Sign in",
  email: "Email address",
  password: "Password",
  code: "Code of your authenticator, or a recovery code",
  button: "Sign in",
  codeNeeded: "Your password is right. Now the code of your authenticator.",
  toAccept: "Sign in with the account that you have to accept the invitation.",
  wrong: "Wrong email or password",
  wrongCode: "Wrong email, password or code",
  signOut: "Sign out",
  forgotten: "Forgotten your password?",
  signUp: "Create an account",
} as const;

const newPasswordHint = "At least 10 characters. Three or four random words work well.";

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
  toSignIn: "Already have an account? Sign in",
} as const;

export const forgotten = {
  title: "Forgotten your password?",
  intro: "Enter your address. If there is an account for it, we send you an email with a link that works for an hour.",
  noMail: "This server can't send password emails. Ask your administrator to reset it.",
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
  noCompany: "You are not a member of any company. Ask an owner to invite you.",
} as const;

export const account = {
  section: "Account",
  title: "Your account",
  intro: "How you sign in, and the companies you belong to.",
  you: "Profile",
  youHint: "Other members see your name and email address.",
  name: "Name",
  email: "Email address",
  confirmed: "Confirmed",
  notConfirmed: "Not confirmed",
  confirmHint: "Open the link in the email we sent you. You need a confirmed address to reset your password.",
  noMail: "This server can't send emails, so your address can't be confirmed.",
  mailAgain: "Send the link again",
  safe: "Security",
  safeHint: "Keep others out of your account.",
  passwordHint: "Changing it signs you out everywhere else",
  twoFactorHint: "Sign-in also asks for a code from your phone",
  sessionsHint: "Browsers and programs that are signed in as you",
  change: "Change",
  open: "View",
  isOn: "On",
  isOff: "Off",
  companies: "Companies",
  companiesHint: "Each has its own subscribers, campaigns and members.",
} as const;

export const password = {
  title: "Password",
  intro: "Changing your password signs you out everywhere else, including programs.",
  current: "Current password",
  new: "New password",
  newHint: newPasswordHint,
  button: "Change password",
} as const;

export const twoFactor = {
  title: "Two-factor authentication",
  intro: "Sign-in asks for a code from an app on your phone, so a stolen password is not enough.",
  off: "It is off.",
  on: "Two-factor authentication is on.",
  begin: "Set up",
  step1: "1. Scan this with an authenticator app",
  picture: "QR code of the link beside it, for the camera of your phone",
  byHand: "No camera? Enter this secret in the app:",
  link: "On this device? Open in your authenticator",
  step2: "2. Enter the code that the app shows",
  code: "Code from the app",
  confirm: "Turn on",
  codesTitle: "Your recovery codes",
  codes:
    "Save these codes where you can find them without your phone. Each one replaces a code from the app once. They are shown only now.",
  codesDone: "I have saved them",
  switchOff: "Turn off",
  switchOffIntro:
    "To turn it off, enter your password and a code. Sign-in then only asks for the password, and your recovery codes stop working.",
  switchOffCode: "Code from the app, or a recovery code",
} as const;

export const sessions = {
  title: "Sessions",
  intro: "Where you are signed in. If you don't recognize one, end it and change your password.",
  began: "Signed in",
  used: "Last used",
  from: "Browser",
  end: "End session",
  current: "This session",
  on: (browser: string, system: string) => `${browser} on ${system}`,
  unknown: "Unknown browser",
} as const;
