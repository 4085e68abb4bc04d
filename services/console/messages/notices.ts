/** What a page says of the write that led to it, by the name that the redirect carries: the address holds no free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  uploaded: "Uploaded.",
  restored: "This is the version that you went back to, as the newest one.",
  duplicated: "This is the copy. Give it a name of its own.",
} as const;

export type NoticeName = keyof typeof notices;
