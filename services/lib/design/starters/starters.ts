/** Designs to begin with, made by hand; they take the company's brand when they are compiled. */
import type { Starter } from "./build.ts";
import { campaigns } from "./campaigns.ts";
import { newsletters } from "./newsletters.ts";
import { serviceMails } from "./service-mails.ts";

export const STARTERS: readonly Starter[] = [...newsletters, ...campaigns, ...serviceMails];
