import { notice, only, report } from "./mails.ts";

const PERSON = "From: Ann Reader <ann@shop.example>";

describe("vacation notes in many languages are not bounces:", () => {
  test.each([
    ["Out of office: Six books", "I am out of the office until Monday. If undeliverable, write to bob@shop.example."],
    ["Automatic reply: Six books", "I am away until May 5 and will answer then."],
    ["Abwesenheitsnotiz: Six books", "Ich bin bis zum 5. Mai nicht im Büro."],
    ["Automatische Antwort: Six books", "Ich bin im Urlaub."],
    ["Réponse automatique : Six books", "Je suis absente du bureau jusqu'au 5 mai."],
    ["Respuesta automática: Six books", "Estoy de vacaciones hasta el lunes."],
    ["Risposta automatica: Six books", "Sono in ferie fino al 5 maggio."],
    ["Resposta automática: Six books", "Estou de férias até segunda-feira."],
    ["Automatisch antwoord: Six books", "Ik ben afwezig tot 5 mei."],
    ["Odpowiedź automatyczna: Six books", "Jestem na urlopie do 5 maja."],
    ["Автоматический ответ: Six books", "Я в отпуске до 5 мая."],
    ["自動応答: Six books", "5月5日まで休暇です。"],
    ["自动回复: Six books", "我在休假，五月五日回来。"],
    ["Autosvar: Six books", "Jeg er på ferie indtil mandag."],
    ["Otomatik yanıt: Six books", "5 Mayıs'a kadar izindeyim."],
    ["Abwesend / Absence / Fuori ufficio", "Bis 5. Mai / jusqu'au 5 mai / fino al 5 maggio"],
  ])("%s", async (subject, text) => {
    const encoded = `Subject: =?utf-8?B?${Buffer.from(subject).toString("base64")}?=`;
    const read = await only(notice([PERSON, encoded, "Content-Type: text/plain; charset=utf-8"], text));
    expect(read.kind).toBe("ignored");
    expect(["vacation", "automatic-reply"]).toContain(read.reason);
  });
});

describe("automatic replies are recognised by headers (RFC 3834 and older ones):", () => {
  test.each([
    "Auto-Submitted: auto-replied",
    "Auto-Submitted: auto-generated",
    "X-Autoreply: yes",
    "X-Autorespond: Six books",
    "X-Autoresponder: vacation",
    "X-Auto-Response-Suppress: All",
    "X-MS-Exchange-Inbox-Rules-Loop: ann@shop.example",
    "X-Apple-Action: VACATION",
    "Precedence: auto_reply",
  ])("%s", async (header) => {
    const read = await only(
      notice(
        ["Return-Path: <>", PERSON, header, "Subject: Six books"],
        "Thank you, this address is read on Mondays. Not found? Try again.",
      ),
    );
    expect(read).toMatchObject({ kind: "ignored", reason: "automatic-reply" });
  });

  test("Auto-Submitted: no and a person's reply about failures are not bounces", async () => {
    const read = await only(
      notice(
        [PERSON, "Auto-Submitted: no", "Subject: Re: Undelivered Mail Returned to Sender"],
        "550 5.1.1 user unknown, what does ann@shop.example mean?",
      ),
    );
    expect(read).toMatchObject({ kind: "ignored", reason: "no-report" });
  });

  test("bounce notices with the same headers stay bounces", async () => {
    const read = await only(
      notice(
        [
          "Return-Path: <>",
          "From: MAILER-DAEMON@mx.example",
          "Auto-Submitted: auto-replied",
          "Subject: There was an error sending your mail",
        ],
        "The following recipients returned permanent errors: ann@shop.example. Reason: 550 no such user",
      ),
    );
    expect(read).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
  });
});

describe("challenges are not bounces:", () => {
  test.each([
    ["Re: Six books (Action Required)", "noreply@boxbe.com", "Click below to be added to my guest list."],
    [
      "Please confirm your message",
      "ann@shop.example",
      "To deliver your message, please reply to this one: confirm that you are a person.",
    ],
    [
      "Your message is waiting",
      "ann@shop.example",
      "Your message is held until you click the link and prove that you are human to be approved.",
    ],
  ])("%s", async (subject, from, text) => {
    expect(await only(notice([`From: ${from}`, `Subject: ${subject}`], text))).toMatchObject({
      kind: "ignored",
      reason: "challenge",
    });
  });

  test("a challenge in the format of a delivery status is not a bounce", async () => {
    const raw = report([
      "Final-Recipient: rfc822; ann@shop.example",
      "Action: failed",
      "Status: 4.7.0",
      "Diagnostic-Code: smtp; Sender not pre-approved",
    ]);
    const challenge = Buffer.from(raw.toString().replace("MAILER-DAEMON@mx.example", "noreply@boxbe.com"));
    expect(await only(challenge)).toMatchObject({ kind: "ignored", reason: "challenge" });
  });
});

describe("changes of address are not bounces:", () => {
  test.each([
    [
      "Auto-Submitted: auto-replied",
      "Six books",
      "My address has changed, please update your address book: ann@home.example",
    ],
    ["X-Autoreply: yes", "Adresse", "Meine neue E-Mail-Adresse lautet ann@home.example"],
    ["Auto-Submitted: auto-replied", "Nouvelle adresse", "Changement d'adresse : ann@home.example"],
  ])("%s, %s", async (header, subject, text) => {
    expect(await only(notice([PERSON, header, `Subject: ${subject}`], text))).toMatchObject({
      kind: "ignored",
      reason: "address-changed",
    });
  });
});

describe("a delayed message is not a bounce in the notice of", () => {
  test.each([
    [
      "Exim",
      ["From: Mail Delivery System <Mailer-Daemon@mx.example>", "Subject: Warning: message 1ab-2cd delayed 24 hours"],
      "A message that you sent has not yet been delivered to one or more of its recipients.\n\n  ann@shop.example\n    450 try later\n\nNo action is required on your part. Delivery attempts will continue for some time; eventually the software will give up.",
    ],
    [
      "Gmail",
      ["From: mailer-daemon@googlemail.com", "Subject: Delivery Status Notification (Delay)"],
      "THIS IS A WARNING MESSAGE ONLY.\n\nYOU DO NOT NEED TO RESEND YOUR MESSAGE.\n\nDelivery to the following recipient has been delayed:\n\n     ann@shop.example\n\nMessage will be retried for 2 more day(s)",
    ],
    [
      "sendmail",
      [
        "From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>",
        "Subject: Warning: could not send message for past 4 hours",
      ],
      "    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n\n   ----- Transcript of session follows -----\n<ann@shop.example>... Deferred: Connection timed out",
    ],
    [
      "a gateway",
      ["From: gateway@mx.example", "Subject: Delivery failure notification"],
      "could not be delivered to the following recipients:\nann@shop.example\nPlease do not resend your original message.\nDelivery attempts will continue to be made for 5 day(s).",
    ],
  ])("%s", async (_, headers, text) => {
    expect(await only(notice(headers, text))).toMatchObject({
      kind: "ignored",
      reason: "delayed",
      recipient: "ann@shop.example",
    });
  });

  test("an expired message is a bounce, even if reported as delayed", async () => {
    const read = await only(
      notice(
        [
          "From: Mail Delivery System <Mailer-Daemon@mx.example>",
          "X-Failed-Recipients: ann@shop.example",
          "Subject: Mail delivery failed",
        ],
        "This is a permanent error. The following address(es) failed:\n\n  ann@shop.example\n    retry timeout exceeded",
      ),
    );
    expect(read).toMatchObject({ kind: "soft", reason: "expired" });
  });
});

describe("other mail is not a bounce:", () => {
  test.each([
    [
      "a reader's question",
      [PERSON, "Subject: Your newsletter"],
      "The link to shop.example was not found and my order failed. Ann",
    ],
    [
      "a complaint about an order",
      [PERSON, "Subject: Delivery problem"],
      "My parcel was returned, the address was unknown, they said.",
    ],
    [
      "a desk's answer",
      ["From: Stock Exchange <desk@exchange.example>", "Subject: Your question"],
      "Your user account was not found: error 550",
    ],
    ["an unsubscribe by mail", [PERSON, "Subject: unsubscribe"], "Please remove ann@shop.example"],
    [
      "a newsletter",
      ["From: Spammer <win@prize.example>", "Subject: You won"],
      "Click http://prize.example now, 550 prizes",
    ],
    ["nothing", [], ""],
  ])("%s is not a report", async (_, headers, text) => {
    expect(await only(notice(headers, text))).toMatchObject({ kind: "ignored", reason: "no-report", dialect: "none" });
  });

  const receipt = (disposition: string, subject: string, text: string) =>
    notice(
      [
        PERSON,
        `Subject: ${subject}`,
        "Content-Type: multipart/report; report-type=disposition-notification; boundary=b",
      ],
      `--b\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b\r\nContent-Type: message/disposition-notification\r\n`,
      `Final-Recipient: rfc822; ann@shop.example\r\nDisposition: ${disposition}\r\n\r\n--b--`,
    );

  test("a read receipt", async () => {
    const read = receipt("manual-action/MDN-sent-manually; displayed", "Read: Six books", "Your message was read.");
    expect(await only(read)).toMatchObject({ kind: "ignored", reason: "read-receipt", recipient: "ann@shop.example" });
  });

  test("a receipt of Sieve's reject about a full mailbox is a bounce", async () => {
    const rejected = receipt(
      "automatic-action/MDN-sent-automatically; deleted",
      "Automatically rejected mail",
      "Your message to <ann@shop.example> was automatically rejected:\r\nQuota exceeded",
    );
    expect(await only(rejected)).toMatchObject({ kind: "soft", reason: "mailbox-full", recipient: "ann@shop.example" });
  });
});

test.each([
  "X-Mailer: Novell GroupWise 8",
  "X-Barracuda-Orig-Rcpt: bounce+token@news.example",
  "X-NAI-Header: Modified by McAfee Email Gateway",
  "X-MC-System: 1",
  "X-MLServer: fml [fml 4.0]",
  "X-Mailer: <SMTP32 v20040101>",
])("an answer that a gateway or program has marked with %s is not a bounce notice", async (header) => {
  const read = await only(
    notice(
      [PERSON, header, "Auto-Submitted: auto-replied", "Subject: Six books"],
      "I failed to answer in time: ann@shop.example",
    ),
  );
  expect(read).toMatchObject({ kind: "ignored", reason: "automatic-reply" });
});

test("report fields pasted into an ordinary message are not a report", async () => {
  const read = await only(
    notice(
      [PERSON, "Subject: What is this?"],
      "I got this from you:",
      "Final-Recipient: rfc822; ann@shop.example",
      "Action: failed",
      "Status: 5.1.1",
    ),
  );
  expect(read).toMatchObject({ kind: "ignored", reason: "no-report" });
});
