/** Members, their roles, and invitations. */
import { config } from "../../lib/config.ts";
import { ROLES } from "../../lib/rights.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";

interface ShowOptions {
  errors?: Errors;
  invited?: { email: string; invite_url?: string };
}

type Role = (typeof ROLES)[number];

async function show(visit: CompanyVisit, { errors = {}, invited }: ShowOptions = {}): Promise<Answer> {
  const { query, company } = visit;
  const { search: _, ...asked } = askedOf(query);
  const { results, ...paging } = await callIn(visit, "accounts.listMembers", { id: company.id, ...asked });
  const here = companyPath(visit, "settings/members");
  return {
    view: "members",
    title: messages.members.title,
    values: {
      members: results,
      roles: ROLES,
      errors,
      invited,
      typed: visit.form,
      sendsMail: config().SYSTEM_SMTP_URL !== undefined,
      here,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "accounts.addMember"),
    },
  };
}

export const membersPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

// Invalid values are passed to the action, which reports them.
const roleOf = ({ form }: CompanyVisit) => (form.role ?? "") as Role;

export const inviteMember = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { email = "" } = visit.form;
      const invited = await callIn(visit, "accounts.addMember", { id: visit.company.id, email, role: roleOf(visit) });
      return show({ ...visit, form: {} }, { invited });
    },
    (errors) => show(visit, { errors }),
  );

export const changeRole = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const user_id = visit.params.id!;
      await callIn(visit, "accounts.updateMember", { id: visit.company.id, user_id, role: roleOf(visit) });
      return { goTo: companyPath(visit, "settings/members") };
    },
    (errors) => show(visit, { errors }),
  );

export const removeMember = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const user_id = visit.params.id!;
      await callIn(visit, "accounts.removeMember", { id: visit.company.id, user_id });
      return { goTo: user_id === visit.user.id ? "/app/" : companyPath(visit, "settings/members") };
    },
    (errors) => show(visit, { errors }),
  );
