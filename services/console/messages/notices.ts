/** What a page says of the write that led to it, by the name that the redirect carries: the address holds no free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  campaignStopped: "The campaign is being stopped: no further mail leaves within 2 seconds.",
  requeued: "The deliveries are on their way again.",
  sessionEnded: "Ended.",
} as const;

export type NoticeName = keyof typeof notices;
