/** Contracts of people's own accounts. */
import type { ServiceContract } from "../define.ts";
import { Bool, ById, CreatedAt, Described, Email, Id, Line, Nothing, Nullable, Time, Type } from "../lib/shapes.ts";
import { Company, CompanyName, RoleName, User } from "./contract-account-shapes.ts";

const Password = Type.String({ minLength: 10, maxLength: 1024 });
const GivenPassword = Type.String({ minLength: 1, maxLength: 1024 });
const Token = Type.String({ minLength: 1, maxLength: 255 });
const Code = Type.String({ minLength: 1, maxLength: 64 });

const tokens = {
  access: Described(
    Type.String(),
    "Bearer token, valid for 15 minutes.",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTk5In0.c2ln",
  ),
  refresh: Described(Type.String(), "Valid once, for 7 days.", "rt_9f86d081884c7d65"),
};
const Done = Type.Object({});

export const contract = {
  me: {
    summary: "Get the signed-in user and companies",
    params: Type.Object({}),
    returns: Type.Object({
      user: Described(
        Type.Object({
          id: Id,
          email: Described(Type.String(), "An email address.", "ann@example.com"),
          first_name: Described(Type.String(), "First name.", "Ann"),
          last_name: Described(Type.String(), "Last name.", "Lee"),
          email_verified: Described(Bool, "Whether the address was verified by a mailed link."),
          totp_enabled: Described(Bool, "Whether two-factor authentication is on."),
        }),
        "The user.",
      ),
      companies: Described(
        Type.Array(
          Type.Object({
            id: Id,
            name: Described(Type.String(), "Name.", "Readers"),
            role: RoleName,
            timezone: Described(Type.String(), "Extension. IANA time zone of the company.", "Europe/Berlin"),
          }),
        ),
        "Companies of the person.",
      ),
    }),
  },
  addCompany: {
    summary: "Create a company",
    description:
      "The signed-in user becomes its owner. 403 unless registration is open (`REGISTRATION`). At most five an hour.",
    params: Type.Object({ name: Described(CompanyName, "Name.", "Readers") }),
    returns: Type.Object({ ...Company.properties, role: RoleName }),
    example: { name: "Lantern Books" },
  },
  logout: {
    summary: "Log out: end the session of a refresh token",
    params: Type.Object({ refresh: Described(Token, "Valid once, for 7 days.", "rt_9f86d081884c7d65") }),
    returns: Nothing,
    example: { refresh: "the `refresh` of login, or of the refresh before" },
  },
  listSessions: {
    summary: "List active sessions",
    params: Type.Object({}),
    returns: Type.Array(
      Type.Object({
        id: Id,
        created_at: CreatedAt,
        last_used_at: Described(Time, "Time of the last use; null if never used."),
        ip: Described(Nullable(Type.String()), "IP address.", "192.0.2.7"),
        user_agent: Described(Nullable(Type.String()), "Browser and system of the session.", "Mozilla/5.0"),
        current: Described(Bool, "Whether it is the current session."),
      }),
    ),
  },
  endSession: {
    summary: "End a session",
    description: "Its tokens stop working within a second.",
    params: ById,
    returns: Nothing,
  },
  verifyEmail: {
    summary: "Verify an email address by its mailed link",
    params: Type.Object({ token: Described(Token, "Token from the link.", "vt_9f86d081884c7d65") }),
    returns: Type.Object({
      email: Described(Type.String(), "An email address.", "ann@example.com"),
      email_verified: Described(Bool, "Whether the address was verified by a mailed link."),
    }),
    example: { token: "the token of the link" },
  },
  signInLink: {
    summary: "An address that signs a person in: good once, for 5 minutes",
    visibility: "public",
    params: Type.Object({ email: Type.String({ maxLength: 254 }) }),
    returns: Type.Array(Type.Object({ url: Type.String(), good_until: Type.String() })),
  },
  signInByLink: {
    summary: "Sign in by such an address",
    visibility: "public",
    params: Type.Object({ token: Token }),
    returns: Type.Object({ access: Type.String() }),
  },
  mailVerificationAgain: {
    summary: "Resend the verification mail",
    description: "At most three an hour. Nothing is mailed if the address is already verified.",
    params: Type.Object({}),
    returns: Done,
  },
  changePassword: {
    summary: "Change the password",
    description: "Ends all other sessions; this one continues with the tokens of the answer.",
    params: Type.Object({
      current_password: Described(GivenPassword, "Current password.", "correct horse battery"),
      new_password: Described(Password, "New password.", "even more correct horses"),
    }),
    returns: Type.Object(tokens),
    example: { current_password: "correct horse battery", new_password: "even more correct horses" },
  },
  askForReset: {
    summary: "Request a password reset",
    description: "Answers alike, and after the same time, whether or not the user exists.",
    params: Type.Object({ email: Described(Email, "An email address.") }),
    returns: Done,
    example: { email: "ada@example.com" },
  },
  confirmReset: {
    summary: "Reset a password",
    description: "Ends all sessions. The link works once, for an hour.",
    params: Type.Object({
      token: Described(Token, "Token from the link.", "vt_9f86d081884c7d65"),
      new_password: Described(Password, "New password.", "even more correct horses"),
    }),
    returns: Done,
    example: { token: "the token of the link", new_password: "even more correct horses" },
  },
  beginTotp: {
    summary: "Start two-factor authentication",
    description: "Enter the secret in an authenticator (RFC 6238). Login requires no code until this is confirmed.",
    params: Type.Object({}),
    returns: Type.Object({
      secret: Described(Type.String(), "Secret in base32, for the authenticator.", "JBSWY3DPEHPK3PXP"),
      uri: Described(
        Type.String(),
        "QR code for the authenticator.",
        "otpauth://totp/Flockmail:ada%40example.com?secret=JBSWY3DPEHPK3PXP",
      ),
    }),
  },
  confirmTotp: {
    summary: "Turn two-factor authentication on",
    description: "Only this answer contains the recovery codes; each replaces a code once.",
    params: Type.Object({ code: Described(Code, "Code from the authenticator.", "123456") }),
    returns: Type.Object({
      recovery_codes: Described(Type.Array(Type.String()), "Recovery codes; each works once.", ["4f7a-9c21"]),
    }),
    example: { code: "123456" },
  },
  removeTotp: {
    summary: "Turn two-factor authentication off",
    params: Type.Object({
      password: Described(GivenPassword, "At least 10 characters and not easily guessed.", "correct horse battery"),
      code: Described(Code, "Code from the authenticator, or a recovery code.", "123456"),
    }),
    returns: Nothing,
    example: { password: "correct horse battery", code: "123456" },
  },
  acceptInvitation: {
    summary: "Accept an invitation",
    description:
      "Use the bearer token of the invited address, or a password for a new account. Accepting by a mailed link takes over an unverified account with this address.",
    params: Type.Object({
      token: Described(Token, "Token from the link in the mail.", "kJ3…"),
      password: Type.Optional(
        Described(Password, "At least 10 characters and not easily guessed.", "correct horse battery"),
      ),
      first_name: Type.Optional(Described(Line(150), "First name.", "Ann")),
      last_name: Type.Optional(Described(Line(150), "Last name.", "Lee")),
    }),
    returns: Type.Object({
      user: User,
      company: Type.Object({ ...Company.properties, role: RoleName }),
      ...tokens,
    }),
    example: { password: "correct horse battery", first_name: "Ada" },
  },
} as const satisfies ServiceContract;
