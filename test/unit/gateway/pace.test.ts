import { isFinished } from "../../../models/campaign.ts";
import { type CampaignProgress, Pace } from "../../../services/gateway/pace.ts";

const sample = (given: Partial<CampaignProgress> = {}): CampaignProgress => ({
  status: "sending",
  total_emails: 1_000,
  sent_count: 0,
  failed_count: 0,
  opens: 0,
  clicks: 0,
  per_second: 0,
  seconds_left: null,
  retrying: 0,
  next_retry_at: null,
  ...given,
});

/** Records samples one second apart. */
function paceOf(samples: Partial<CampaignProgress>[]): Pace {
  const pace = new Pace();
  for (const [second, given] of samples.entries()) pace.note(sample(given), second * 1_000);
  return pace;
}

describe("the pace of a campaign", () => {
  test("is unknown from one sample, and while nothing happens", () => {
    const now = sample({ sent_count: 5 });
    expect(paceOf([now]).at(now)).toEqual({ ...now, per_second: 0, seconds_left: null });
    expect(paceOf([now, now]).at(now)).toMatchObject({ per_second: 0, seconds_left: null });
  });

  test("counts what was sent and what failed, over the last ten seconds", () => {
    const now = sample({ sent_count: 90, failed_count: 10 });
    expect(paceOf([{}, { sent_count: 45, failed_count: 5 }, now]).at(now)).toMatchObject({
      per_second: 50,
      seconds_left: 18,
    });
    const slowing = Array.from({ length: 21 }, (_, n) => ({ sent_count: n < 10 ? n * 50 : 500 + (n - 10) }));
    expect(paceOf(slowing).at(sample(slowing.at(-1)))).toMatchObject({ per_second: 1, seconds_left: 490 });
  });

  test("is never negative, and gives no end while none is foreseeable", () => {
    const now = sample({ sent_count: 10, failed_count: 0 });
    expect(paceOf([{ sent_count: 10, failed_count: 50 }, now]).at(now)).toMatchObject({
      per_second: 0,
      seconds_left: null,
    });
    const pending = sample({ status: "pending", sent_count: 20 });
    expect(paceOf([{}, pending]).at(pending)).toMatchObject({ per_second: 20, seconds_left: null });
  });

  test.each(["completed", "partial", "failed", "cancelled"] as const)("%s is final: nothing remains", (status) => {
    const now = sample({ status, sent_count: 5 });
    const pace = paceOf([{}, now]);
    expect([isFinished(now.status), pace.at(now)]).toEqual([true, { ...now, per_second: 0, seconds_left: 0 }]);
  });
});
