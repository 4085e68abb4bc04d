/**
 * Connection settings that fill the form of a new mail server, from each provider's SMTP documentation. `help` is the page
 * that explains where to find the password.
 */
interface MailProvider {
  label: string;
  host: string;
  username?: string;
  help: string;
}

export const MAIL_PROVIDERS: Record<string, MailProvider> = {
  ses: {
    label: "Amazon SES",
    host: "email-smtp.eu-west-1.amazonaws.com",
    help: "https://docs.aws.amazon.com/ses/latest/dg/smtp-credentials.html",
  },
  postmark: {
    label: "Postmark",
    host: "smtp.postmarkapp.com",
    help: "https://postmarkapp.com/developer/user-guide/send-email-with-smtp",
  },
  mailgun: {
    label: "Mailgun",
    host: "smtp.mailgun.org",
    help: "https://documentation.mailgun.com/docs/mailgun/user-manual/sending-messages/send-smtp",
  },
  sendgrid: {
    label: "SendGrid",
    host: "smtp.sendgrid.net",
    username: "apikey",
    help: "https://www.twilio.com/docs/sendgrid/for-developers/sending-email/integrating-with-the-smtp-api",
  },
  brevo: {
    label: "Brevo",
    host: "smtp-relay.brevo.com",
    help: "https://help.brevo.com/hc/en-us/articles/7924908994450",
  },
  gmail: { label: "Gmail", host: "smtp.gmail.com", help: "https://support.google.com/accounts/answer/185833" },
  microsoft365: {
    label: "Microsoft 365",
    host: "smtp.office365.com",
    help: "https://learn.microsoft.com/exchange/mail-flow-best-practices/how-to-set-up-a-multifunction-device-or-application-to-send-email-using-microsoft-365-or-office-365",
  },
};
