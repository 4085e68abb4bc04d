/** When work has to give way, and the metric of how long it did. */
import { counter } from "../metrics.ts";
import type { Owner } from "../turns.ts";
import { othersAreAtWork, othersMayComeBack } from "./others-at-work.ts";
import { ofThisMachine, type Shortage } from "./shortage.ts";

export const gaveWay = counter(
  "flockmail_gave_way_seconds_total",
  "Time for which work in the background rested, because CPU was short and other companies were at work.",
  ["work"],
);

export interface Circumstances {
  shortage: Pick<Shortage, "lasts" | "factor">;
  othersAreAtWork: (companyId: Owner) => boolean;
  othersMayComeBack: (companyId: Owner) => boolean;
}

export const here: Circumstances = { shortage: ofThisMachine, othersAreAtWork, othersMayComeBack };

/** Where nobody is to be given way to, both cost nothing. The shortage is asked first: it has to be looked at regularly. */
export const mustGiveWay = ({ shortage, othersAreAtWork: areThere }: Circumstances, companyId: Owner): boolean =>
  shortage.lasts() && areThere(companyId);
