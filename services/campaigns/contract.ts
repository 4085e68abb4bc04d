import type { ServiceContract } from "../define.ts";
import { Type, Uuid } from "../lib/shapes.ts";
import { audiences } from "./contract-audience.ts";
import { Campaign, campaigns } from "./contract-campaigns.ts";
import { drafts } from "./contract-drafts.ts";
import { media } from "./contract-media.ts";
import { progress } from "./contract-progress.ts";
import { resending } from "./contract-resend.ts";
import { sending } from "./contract-sending.ts";
import { testSend } from "./contract-test-send.ts";

const None = Type.Object({});
const Done = Type.Object({ done: Type.Integer() });

/** Internal actions, called by timers, events and other services. */
const work = {
  retryable: {
    summary: "How many recipients a resume of each campaign would send to, counted up to a limit",
    visibility: "public",
    params: Type.Object({ ids: Type.Array(Uuid, { maxItems: 100 }), at_most: Type.Integer({ minimum: 1 }) }),
    returns: Type.Array(Type.Object({ id: Uuid, count: Type.Integer() })),
  },
  expandWaiting: {
    summary: "Write the recipients of waiting campaigns, one slice of each per round",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  startDue: {
    summary: "Start scheduled campaigns whose time has come, and send to recipients whose hour has",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  startByZone: {
    summary: "Start campaigns scheduled by the recipients' timezones of which somebody is due",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  decideWinners: {
    summary: "Decide which variant of a campaign has won, where its time has come",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  settleFinished: {
    summary: "Give campaigns whose recipients are all final their final status",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  tidy: {
    summary: "Delete old idempotency keys and unused files, recount stuck campaigns",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  removeOld: {
    summary: "Remove events and recipients that are older than their company keeps them",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  sendConfirmations: {
    summary: "Write the mails that ask for a confirmation",
    visibility: "protected",
    params: None,
    returns: Done,
  },
  stopAny: {
    summary: "Stop a campaign that is being sent, of whatever company",
    visibility: "public",
    params: Type.Object({ campaign_id: Uuid }),
    returns: Campaign,
  },
  settle: {
    summary: "Give one campaign its final status if all its recipients are final",
    visibility: "public",
    params: Type.Object({ campaign_id: Uuid }),
    returns: Type.Object({ settled: Type.Boolean() }),
  },
} as const satisfies ServiceContract;

export const contract = {
  ...sending,
  ...testSend,
  ...audiences,
  ...drafts,
  ...resending,
  ...campaigns,
  ...progress,
  ...media,
  ...work,
} as const satisfies ServiceContract;
