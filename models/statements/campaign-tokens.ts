/**
 * Makes anonymous link tokens: they contain an id for the whole campaign, encoded like those of emails
 * (services/lib/tokens/mail-id.ts), with a number that no recipient has, so that no mail can be found by it.
 */
import type { MailNumber } from "../../services/lib/tokens/mail-id.ts";
import { mailIds } from "./mail-key.ts";

/** The campaign itself; the numbers above it are its variants. Recipients who were left out have some from -10,000 on. */
const CAMPAIGN = -(2 ** 31);
const MAX_VARIANTS = 1_000;

/** `variant`: index of the variant in an A/B test. */
export const campaignTokenId = async (campaignNo: number, variant: number | null = null): Promise<string> =>
  (await mailIds()).of([{ campaign_no: campaignNo, seq: variant === null ? CAMPAIGN : CAMPAIGN + 1 + variant }])[0]!;

export const isCampaignToken = ({ seq }: MailNumber): boolean => seq <= CAMPAIGN + MAX_VARIANTS;

export const variantOf = ({ seq }: MailNumber): number | null => (seq === CAMPAIGN ? null : seq - CAMPAIGN - 1);
