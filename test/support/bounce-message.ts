/** Builds bounce messages and complaints as mail servers and providers write them. */

interface Bounced {
  /** Recipient of the original mail. */
  recipient: string;
  status?: string;
  diagnostic?: string;
  messageId?: string;
  /** Size to which the whole message is padded. */
  bytes?: number;
}

const lines = (...text: string[]) => text.join("\r\n");

/** A delivery status notification (RFC 3464), as Postfix writes it. */
export function bounceMessage({ recipient, status = "5.1.1", diagnostic, messageId, bytes = 0 }: Bounced): string {
  const message = (filling: string) =>
    lines(
      "From: MAILER-DAEMON@mx.example (Mail Delivery System)",
      "To: bounces@b.example",
      "Subject: Undelivered Mail Returned to Sender",
      "Auto-Submitted: auto-replied",
      "MIME-Version: 1.0",
      'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
      "",
      "--B",
      "Content-Type: text/plain; charset=us-ascii",
      "",
      "I'm sorry to have to inform you that your message could not be delivered.",
      filling,
      "--B",
      "Content-Type: message/delivery-status",
      "",
      "Reporting-MTA: dns; mx.example",
      "",
      `Final-Recipient: rfc822; ${recipient}`,
      "Action: failed",
      `Status: ${status}`,
      `Diagnostic-Code: smtp; ${diagnostic ?? `550 ${status} <${recipient}>: User unknown`}`,
      "",
      "--B",
      "Content-Type: text/rfc822-headers",
      "",
      `Message-ID: <${messageId ?? "somebody@elsewhere.example"}>`,
      "Subject: News",
      "",
      "--B--",
    );
  const rest = Math.max(0, bytes - message("").length);
  return message(`${"x".repeat(76)}\r\n`.repeat(Math.floor(rest / 78)));
}

/** A complaint in the Abuse Reporting Format (RFC 5965). */
export function complaintMessage({ recipient, messageId }: Bounced): string {
  return lines(
    "From: feedback@provider.example",
    "To: bounces@b.example",
    "Subject: FW: News",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="B"',
    "",
    "--B",
    "Content-Type: text/plain",
    "",
    "This is an email abuse report.",
    "--B",
    "Content-Type: message/feedback-report",
    "",
    "Feedback-Type: abuse",
    "User-Agent: Provider/1.0",
    "Version: 1",
    `Original-Rcpt-To: ${recipient}`,
    "",
    "--B",
    "Content-Type: message/rfc822",
    "",
    `Message-ID: <${messageId ?? "somebody@elsewhere.example"}>`,
    `To: ${recipient}`,
    "Subject: News",
    "",
    "Hello",
    "--B--",
  );
}
