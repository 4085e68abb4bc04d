/** The double opt-in mail in the template language. Its variables: company_name, confirm_url. */

export const subject = "Please confirm your subscription to [[company_name]]";

export const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Confirm your subscription</title></head>
<body style="margin:0;padding:32px 16px;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a;background:#ffffff">
<div style="max-width:480px;margin:0 auto">
<p>Hello[[#if first_name]] [[first_name]][[/if]],</p>
<p>somebody, we hope you, asked for emails from <strong>[[company_name]]</strong> to be sent to [[email]]. Please confirm that you want them:</p>
<p style="margin:32px 0"><a href="[[confirm_url]]" style="display:inline-block;padding:12px 24px;border-radius:6px;color:#ffffff;background:#1d4ed8;text-decoration:none">Confirm my subscription</a></p>
<p>If the button does not work, open this address:<br><a href="[[confirm_url]]" style="color:#1d4ed8;word-break:break-all">[[confirm_url]]</a></p>
<p style="color:#595959">The link is good for 7 days. If you did not ask for this, do nothing: you will get no further emails.</p>
</div>
</body>
</html>
`;
