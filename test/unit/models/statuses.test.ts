import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS, SENT_EMAIL_STATUSES } from "../../../models/sent-email-status.ts";

// The numbers are stored in every row, and in the partial indexes of the schema.
test("the numbers of stored states are what they always were", () => {
  expect(SENT_EMAIL_STATUS).toEqual({
    queued: 0,
    sending: 1,
    sent: 2,
    failed: 3,
    bounced: 4,
    suppressed: 5,
    unknown: 6,
  });
  expect(SEND_CHUNK_STATE).toEqual({ ready: 0, leased: 1, done: 2, waiting: 3 });
});

test("a number's name is found by the number", () => {
  const named = Object.entries(SENT_EMAIL_STATUS).map(([name, n]) => [name, SENT_EMAIL_STATUSES[n]]);
  expect(named).toEqual(named.map(([name]) => [name, name]));
});
