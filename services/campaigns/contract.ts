import { CAMPAIGN_STATUSES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import {
  ById,
  CreatedAt,
  Described,
  Document,
  DownloadPage,
  Filter,
  Id,
  ListQuery,
  Nothing,
  OneOf,
  Page,
  Text,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { audiences } from "./contract-audience.ts";
import { Campaign, campaigns } from "./contract-campaigns.ts";
import { drafts } from "./contract-drafts.ts";
import { progress } from "./contract-progress.ts";
import { resending } from "./contract-resend.ts";
import { sending } from "./contract-sending.ts";
import { testSend } from "./contract-test-send.ts";
import { MAX_SEARCHED, SHOWN_USES } from "./media/media-uses.ts";

const Media = Type.Object({
  id: Id,
  filename: Described(Type.String(), "The file's name.", "books.png"),
  content_type: Type.String({
    description: "Detected from the file's content.",
    examples: ["image/png"],
  }),
  size: Described(Type.Integer(), "Bytes.", 20480),
  sha256: Described(
    Type.String(),
    "SHA-256 of the content, hexadecimal.",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ),
  url: Type.String({
    description: "Public URL of the file.",
    examples: ["https://mail.lantern.example/api/emails/public/media/0199f0a2/books.png"],
  }),
  created_at: CreatedAt,
});

const Use = Type.Object({ id: Id, name: Described(Type.String(), "Name.", "Readers") });
const MediaUsage = Type.Object({
  template_count: Type.Integer({ description: "Number of templates that use the file.", examples: [2] }),
  templates: Type.Array(Use, { description: "The newest templates or campaigns that use the file." }),
  campaign_count: Type.Integer({ description: "Number of campaigns that use or attach the file.", examples: [7] }),
  campaigns: Type.Array(
    Type.Composite([Use, Type.Object({ status: Described(OneOf(...CAMPAIGN_STATUSES), "Current state.") })]),
    {
      description: "The newest templates or campaigns that use the file.",
    },
  ),
});

const media = {
  listMedia: {
    summary: "List media files",
    description: "Searches the filename. Sortable: created_at, filename, size, content_type.",
    params: Type.Composite([
      ListQuery,
      Type.Object({ content_type: Filter(Text(255), "Only files of this type.", "image/png") }),
    ]),
    returns: Page(Media),
  },
  createMedia: {
    summary: "Upload a media file",
    description:
      "403 if the plan's storage (`media_bytes`) is full. Deleted files count until no campaign can send them any more.",
    params: Type.Object({ filename: Type.String(), content_type: Type.String(), size: Type.Integer() }),
    returns: Media,
  },
  getMedia: { summary: "Get a media file", params: ById, returns: Media },
  mediaUsage: {
    summary: "List where a media file is used",
    description: `Extension. Returns the templates that use the file, and of the newest ${MAX_SEARCHED} campaigns those that use or attach it: newest first, at most ${SHOWN_USES} of each; the counts include all found. Deleting the file leaves a gap in these mails, including delivered ones; unfinished campaigns that attach it still send it.`,
    params: ById,
    returns: MediaUsage,
  },
  removeMedia: {
    summary: "Delete a media file",
    description: "Unfinished campaigns that attach the file still send it.",
    params: ById,
    returns: Nothing,
  },
  downloadMedia: {
    summary: "Download a media file (public)",
    params: Type.Object({
      id: Id,
      filename: Described(Type.String(), "Name of the uploaded file.", "books.png"),
    }),
    returns: Document,
  },
  mediaBytes: {
    summary: "The bytes of a media file, page by page, for the gateway",
    visibility: "public",
    params: ById,
    returns: DownloadPage,
  },
} as const satisfies ServiceContract;

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
