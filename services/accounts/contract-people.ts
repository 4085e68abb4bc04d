/** What people do with their own accounts. */
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
    "Bearer token, good for 15 minutes.",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTk5In0.c2ln",
  ),
  refresh: Described(Type.String(), "Good once, for 7 days.", "rt_9f86d081884c7d65"),
};
const Done = Type.Object({});

export const contract = {
  me: {
    summary: "Who is signed in, and the companies with the role in each",
    params: Type.Object({}),
    returns: Type.Object({
      user: Described(
        Type.Object({
          id: Id,
          email: Described(Type.String(), "An email address.", "ann@example.com"),
          first_name: Described(Type.String(), "First name.", "Ann"),
          last_name: Described(Type.String(), "Last name.", "Lee"),
          email_verified: Described(Bool, "Whether the address was proved by a mailed link."),
          totp_enabled: Described(Bool, "Whether a second factor is asked for."),
        }),
        "The user.",
      ),
      companies: Described(
        Type.Array(
          Type.Object({
            id: Id,
            name: Described(Type.String(), "Name.", "Readers"),
            role: RoleName,
          }),
        ),
        "Companies that the person is a member of.",
      ),
    }),
  },
  addCompany: {
    summary: "Add a company of one's own",
    description:
      "Whoever is signed in becomes its owner. Only where registration is open (`REGISTRATION`), else 403. Five an hour.",
    params: Type.Object({ name: Described(CompanyName, "Name.", "Readers") }),
    returns: Type.Object({ ...Company.properties, role: RoleName }),
    example: { name: "Lantern Books" },
  },
  logout: {
    summary: "End the session that a refresh token belongs to",
    params: Type.Object({ refresh: Described(Token, "Good once, for 7 days.", "rt_9f86d081884c7d65") }),
    returns: Nothing,
    example: { refresh: "the `refresh` of login, or of the refresh before" },
  },
  listSessions: {
    summary: "Sessions that are still good",
    params: Type.Object({}),
    returns: Type.Array(
      Type.Object({
        id: Id,
        created_at: CreatedAt,
        last_used_at: Described(Time, "When it was used last; null: never."),
        ip: Described(Nullable(Type.String()), "The address that it came from.", "192.0.2.7"),
        user_agent: Described(Nullable(Type.String()), "The browser.", "Mozilla/5.0"),
        current: Described(Bool, "Whether it is the session of this request."),
      }),
    ),
  },
  endSession: {
    summary: "End a session",
    description: "Its tokens are refused everywhere within a second.",
    params: ById,
    returns: Nothing,
  },
  verifyEmail: {
    summary: "Verify an address by the link that was mailed to it",
    params: Type.Object({ token: Described(Token, "The token of the link.", "vt_9f86d081884c7d65") }),
    returns: Type.Object({
      email: Described(Type.String(), "An email address.", "ann@example.com"),
      email_verified: Described(Bool, "Whether the address was proved by a mailed link."),
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
    summary: "Mail the link that verifies the own address once more",
    description: "Three an hour. Nothing is mailed where the address is verified already.",
    params: Type.Object({}),
    returns: Done,
  },
  changePassword: {
    summary: "Change the password",
    description: "All other sessions end; this one goes on with the tokens of the answer.",
    params: Type.Object({
      current_password: Described(GivenPassword, "The password until now.", "correct horse battery"),
      new_password: Described(Password, "The password from now on.", "even more correct horses"),
    }),
    returns: Type.Object(tokens),
    example: { current_password: "correct horse battery", new_password: "even more correct horses" },
  },
  askForReset: {
    summary: "Mail a link that sets a new password",
    description: "The same answer after the same time, whether there is such a user or not.",
    params: Type.Object({ email: Described(Email, "An email address.") }),
    returns: Done,
    example: { email: "ada@example.com" },
  },
  confirmReset: {
    summary: "Set a new password by a link",
    description: "All sessions end. The link is good for an hour, and once.",
    params: Type.Object({
      token: Described(Token, "The token of the link.", "vt_9f86d081884c7d65"),
      new_password: Described(Password, "The password from now on.", "even more correct horses"),
    }),
    returns: Done,
    example: { token: "the token of the link", new_password: "even more correct horses" },
  },
  beginTotp: {
    summary: "Begin two-factor authentication",
    description:
      "The secret goes into an authenticator (RFC 6238). Nothing is asked for at login before it is confirmed.",
    params: Type.Object({}),
    returns: Type.Object({
      secret: Described(Type.String(), "For the authenticator, in base32.", "JBSWY3DPEHPK3PXP"),
      uri: Described(
        Type.String(),
        "For the authenticator, as a QR code.",
        "otpauth://totp/Flockmail:ada%40example.com?secret=JBSWY3DPEHPK3PXP",
      ),
    }),
  },
  confirmTotp: {
    summary: "Switch two-factor authentication on",
    description: "The recovery codes are in this answer and nowhere else; each replaces a code once.",
    params: Type.Object({ code: Described(Code, "What the authenticator shows.", "123456") }),
    returns: Type.Object({
      recovery_codes: Described(Type.Array(Type.String()), "Each replaces a code once.", ["4f7a-9c21"]),
    }),
    example: { code: "123456" },
  },
  removeTotp: {
    summary: "Switch two-factor authentication off",
    params: Type.Object({
      password: Described(GivenPassword, "At least 10 characters, and not easy to guess.", "correct horse battery"),
      code: Described(Code, "What the authenticator shows, or a recovery code.", "123456"),
    }),
    returns: Nothing,
    example: { password: "correct horse battery", code: "123456" },
  },
  acceptInvitation: {
    summary: "Accept an invitation",
    description:
      "With the bearer token of the invited address, or with a password for a new account. Accepting by a mailed link takes over an account that somebody registered with this address and never verified.",
    params: Type.Object({
      token: Described(Token, "Token from the link in the mail.", "kJ3…"),
      password: Type.Optional(
        Described(Password, "At least 10 characters, and not easy to guess.", "correct horse battery"),
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
