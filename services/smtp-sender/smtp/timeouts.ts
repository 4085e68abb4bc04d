/** How long each answer may take, in milliseconds; `block` is for a piece of the message to leave. */
export interface StageTimeouts {
  rset: number;
  mail: number;
  rcpt: number;
  data: number;
  block: number;
  dot: number;
  nothing: number;
  quit: number;
}

const MINUTE_MS = 60_000;

/** RFC 5321 4.5.3.2. Shorter ones double mail: a server that files a message slowly has accepted it all the same. */
export const RFC_TIMEOUTS: StageTimeouts = {
  rset: 5 * MINUTE_MS,
  mail: 5 * MINUTE_MS,
  rcpt: 5 * MINUTE_MS,
  data: 2 * MINUTE_MS,
  block: 3 * MINUTE_MS,
  dot: 10 * MINUTE_MS,
  nothing: 10 * MINUTE_MS,
  // Nobody needs the answer to QUIT.
  quit: 2_000,
};
