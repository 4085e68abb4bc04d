/** Limits of the plan, their usage, and when they reset. */

import { sizeText } from "../../lib/size-text.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn } from "../request.ts";
import { timeOf } from "../times.ts";

type Limit = keyof typeof messages.plan.limits;

const ALMOST = 0.9;

export async function planPage(visit: CompanyVisit): Promise<Answer> {
  const { plan, limits, usage, period } = await callIn(visit, "accounts.getPlan", { id: visit.company.id });
  const t = messages.plan;
  const end = timeOf(period.end, visit.company.timezone);
  const rows = (Object.keys(t.limits) as Limit[]).map((name) => {
    const text = name === "media_bytes" ? sizeText : formatted;
    const [used, limit] = [usage[name], limits[name]];
    const remaining = limit === null ? null : Math.max(0, limit - used);
    return {
      name,
      label: t.limits[name],
      used,
      limit,
      amount: text(used),
      whole: limit === null ? t.unlimited : t.of(text(limit)),
      left: remaining === null ? "" : remaining === 0 ? t.full : t.left(text(remaining)),
      isAlmost: limit !== null && used >= limit * ALMOST,
      resets: t.resets[name](end),
    };
  });
  return { view: "plan", title: t.title, values: { plan, rows } };
}
