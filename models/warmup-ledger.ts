/** A daily warm-up ramp for a new server: `start_per_day`, times `factor` with each day, at most `until_per_day`. */
export interface Warmup {
  start_per_day: number;
  factor: number;
  until_per_day: number;
}
