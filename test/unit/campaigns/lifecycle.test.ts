import { finalStatus, mayMove, STATUSES, type Status } from "../../../models/campaign-lifecycle.ts";

const ALLOWED: [Status, Status][] = [
  ["scheduled", "pending"],
  ["scheduled", "cancelled"],
  ["pending", "sending"],
  ["pending", "completed"],
  ["pending", "partial"],
  ["pending", "failed"],
  ["pending", "cancelled"],
  ["sending", "completed"],
  ["sending", "partial"],
  ["sending", "failed"],
  ["sending", "cancelled"],
  ["partial", "pending"],
  ["partial", "completed"],
  ["failed", "pending"],
  ["failed", "completed"],
  ["failed", "partial"],
];
const isAllowed = (from: Status, to: Status) => ALLOWED.some(([a, b]) => a === from && b === to);

describe("the table of states allows exactly:", () => {
  const pairs = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const));
  test.each(pairs)("%s → %s", (from, to) => {
    expect(mayMove(from, to)).toBe(isAllowed(from, to));
  });
});

describe("the final status of a campaign", () => {
  test.each([
    [{ sent: 3, failed: 0, error: null }, "completed"],
    [{ sent: 0, failed: 0, error: null }, "completed"],
    [{ sent: 3, failed: 1, error: null }, "partial"],
    [{ sent: 0, failed: 4, error: null }, "failed"],
    [{ sent: 3, failed: 1, error: "Login refused." }, "failed"],
    [{ sent: 0, failed: 0, error: "The list was deleted." }, "failed"],
    [{ sent: 4, failed: 0, error: "Too late to stop anything." }, "completed"],
    [{ sent: 3, failed: 1, error: "Stopped.", stopped: { wasTried: false } }, "partial"],
    [{ sent: 0, failed: 4, error: "Stopped.", stopped: { wasTried: true } }, "partial"],
    [{ sent: 0, failed: 4, error: "Stopped.", stopped: { wasTried: false } }, "cancelled"],
    [{ sent: 0, failed: 0, error: "Stopped.", stopped: { wasTried: false } }, "cancelled"],
    [{ sent: 4, failed: 0, error: "Stopped too late.", stopped: { wasTried: false } }, "completed"],
  ])("with %j is %s", (counts, status) => {
    expect(finalStatus(counts)).toBe(status);
  });
});
