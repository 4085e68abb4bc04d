/** Messages after a write. The redirect carries only the message's name, because a URL must not contain free text. */
export const notices = {
  saved: "Saved.",
  deleted: "Deleted.",
  uploaded: "Uploaded.",
  restored: "This is the version that you went back to, as the newest one.",
  duplicated: "This is the copy. Give it a name of its own.",
  verified: "Your address is confirmed.",
  resetMailed: "If there is an account for this address, a mail is on its way. Its link is good for an hour.",
  passwordSet: "The new password is set. Sign in with it.",
  passwordChanged: "Your password is changed. All your other sessions have ended.",
  linkMailed: "A mail with the link is on its way.",
  secondFactorOff: "The second factor is off.",
  companyDeleted: "The company is deleted. All that it had is being removed.",
  queued: "It is on its way.",
  campaignResumed: "Resumed. What had failed is tried again now.",
  campaignCancelled: "Cancelled. It will not be sent.",
  campaignMade: "This is the new campaign. It is on its way.",
  draftMade: "This draft was made. Nothing is sent before you send it.",
  campaignStopped: "The campaign is being stopped: no further mail leaves within 2 seconds.",
  requeued: "The deliveries are on their way again.",
  sessionEnded: "Ended.",
  importUndone: "Import undone. People who were edited, got an email, or joined another list since stay.",
  discarded: "The file is gone. Nothing of it was imported.",
  campaignSent: "It is on its way.",
  campaignScheduled: "It is scheduled. Until then you can change or cancel it.",
} as const;

export type NoticeName = keyof typeof notices;
