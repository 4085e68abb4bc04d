/** The plan's limits, and how much of each is used. */
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn } from "../request.ts";

export async function planPage(visit: CompanyVisit): Promise<Answer> {
  const { plan, limits, usage, period } = await callIn(visit, "accounts.getPlan", { id: visit.company.id });
  const rows = Object.entries(messages.plan.limits).map(([name, label]) => ({
    label,
    used: usage[name as keyof typeof usage],
    limit: limits[name as keyof typeof limits],
  }));
  return { view: "plan", title: messages.plan.title, values: { plan, rows, period } };
}
