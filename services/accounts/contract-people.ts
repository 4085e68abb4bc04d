/** What people do with their own accounts. */
import type { ServiceContract } from "../define.ts";
import { Bool, ById, Email, Line, Nothing, Nullable, Time, Type, Uuid } from "../lib/shapes.ts";
import { Company, CompanyName, RoleName, User } from "./contract-account-shapes.ts";

const Password = Type.String({ minLength: 10, maxLength: 1024 });
const GivenPassword = Type.String({ minLength: 1, maxLength: 1024 });
const Token = Type.String({ minLength: 1, maxLength: 255 });
const Code = Type.String({ minLength: 1, maxLength: 64 });

const tokens = { access: Type.String(), refresh: Type.String() };
const Done = Type.Object({});

export const contract = {
  me: {
    summary: "Who is signed in, and the companies with the role in each",
    params: Type.Object({}),
    returns: Type.Object({
      user: Type.Object({
        id: Uuid,
        email: Type.String(),
        first_name: Type.String(),
        last_name: Type.String(),
        email_verified: Bool,
        totp_enabled: Bool,
      }),
      companies: Type.Array(Type.Object({ id: Uuid, name: Type.String(), role: RoleName })),
    }),
  },
  addCompany: {
    summary: "Add a company of one's own",
    description:
      "Whoever is signed in becomes its owner. Only where registration is open (`REGISTRATION`), else 403. Five an hour.",
    params: Type.Object({ name: CompanyName }),
    returns: Type.Object({ ...Company.properties, role: RoleName }),
    example: { name: "Lantern Books" },
  },
  logout: {
    summary: "End the session that a refresh token belongs to",
    params: Type.Object({ refresh: Token }),
    returns: Nothing,
    example: { refresh: "the `refresh` of login, or of the refresh before" },
  },
  listSessions: {
    summary: "Sessions that are still good",
    params: Type.Object({}),
    returns: Type.Array(
      Type.Object({
        id: Uuid,
        created_at: Time,
        last_used_at: Time,
        ip: Nullable(Type.String()),
        user_agent: Nullable(Type.String()),
        current: Bool,
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
    params: Type.Object({ token: Token }),
    returns: Type.Object({ email: Type.String(), email_verified: Bool }),
    example: { token: "the token of the link" },
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
    params: Type.Object({ current_password: GivenPassword, new_password: Password }),
    returns: Type.Object(tokens),
    example: { current_password: "correct horse battery", new_password: "even more correct horses" },
  },
  askForReset: {
    summary: "Mail a link that sets a new password",
    description: "The same answer after the same time, whether there is such a user or not.",
    params: Type.Object({ email: Email }),
    returns: Done,
    example: { email: "ada@example.com" },
  },
  confirmReset: {
    summary: "Set a new password by a link",
    description: "All sessions end. The link is good for an hour, and once.",
    params: Type.Object({ token: Token, new_password: Password }),
    returns: Done,
    example: { token: "the token of the link", new_password: "even more correct horses" },
  },
  beginTotp: {
    summary: "Begin two-factor authentication",
    description:
      "The secret goes into an authenticator (RFC 6238). Nothing is asked for at login before it is confirmed.",
    params: Type.Object({}),
    returns: Type.Object({ secret: Type.String(), uri: Type.String() }),
  },
  confirmTotp: {
    summary: "Switch two-factor authentication on",
    description: "The recovery codes are in this answer and nowhere else; each replaces a code once.",
    params: Type.Object({ code: Code }),
    returns: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
    example: { code: "123456" },
  },
  removeTotp: {
    summary: "Switch two-factor authentication off",
    params: Type.Object({ password: GivenPassword, code: Code }),
    returns: Nothing,
    example: { password: "correct horse battery", code: "123456" },
  },
  acceptInvitation: {
    summary: "Accept an invitation",
    description:
      "With the bearer token of the invited address, or with a password for a new account. Accepting by a mailed link takes over an account that somebody registered with this address and never verified.",
    params: Type.Object({
      token: Token,
      password: Type.Optional(Password),
      first_name: Type.Optional(Line(150)),
      last_name: Type.Optional(Line(150)),
    }),
    returns: Type.Object({
      user: User,
      company: Type.Object({ ...Company.properties, role: RoleName }),
      ...tokens,
    }),
    example: { password: "correct horse battery", first_name: "Ada" },
  },
} as const satisfies ServiceContract;
