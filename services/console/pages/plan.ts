/** The plan's limits, how much of each is used, and when it begins anew. */
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn } from "../request.ts";

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

/** In the largest unit of which there is at least one, as discs are sold. */
export function bytesText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const amount = bytes / 1_000 ** unit;
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : Number(amount.toFixed(1))} ${UNITS[unit]}`;
}

type Limit = keyof typeof messages.plan.limits;

const ALMOST = 0.9;

export async function planPage(visit: CompanyVisit): Promise<Answer> {
  const { plan, limits, usage, period } = await callIn(visit, "accounts.getPlan", { id: visit.company.id });
  const t = messages.plan;
  const end = `${period.end.slice(0, 16).replace("T", " ")} UTC`;
  const rows = (Object.keys(t.limits) as Limit[]).map((name) => {
    const text = name === "media_bytes" ? bytesText : formatted;
    const [used, limit] = [usage[name], limits[name]];
    const left = limit === null ? null : Math.max(0, limit - used);
    return {
      name,
      label: t.limits[name],
      used,
      limit,
      text: limit === null ? t.unlimited(text(used)) : t.of(text(used), text(limit)),
      left: left === null ? "" : left === 0 ? t.full : t.left(text(left)),
      isAlmost: limit !== null && used >= limit * ALMOST,
      resets: t.resets[name](end),
    };
  });
  return { view: "plan", title: t.title, values: { plan, rows } };
}
