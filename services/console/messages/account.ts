/** Signing in, and what belongs to the person. */
export const signIn = {
  title: "Sign in",
  email: "Email address",
  password: "Password",
  code: "Code of your authenticator, or a recovery code",
  button: "Sign in",
  codeNeeded: "Your password is right. Now the code of your authenticator.",
  signOut: "Sign out",
} as const;

export const companies = {
  title: "Your companies",
  short: "Companies",
  noCompany: "You are a member of no company. Ask an owner of yours for an invitation.",
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
