/** One-time codes, as an authenticator app shows them. */
import { generateSync } from "otplib/functional";

const STEP_MS = 30_000;

export const totpStep = (ms = Date.now()): number => Math.floor(ms / STEP_MS);

export const totpCode = (secret: string, step = totpStep()): string =>
  generateSync({ secret, epoch: (step * STEP_MS) / 1_000, period: STEP_MS / 1_000 });
