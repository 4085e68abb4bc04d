import type { Catalogue } from "./en.ts";

export const de: Catalogue = {
  code: "de",
  dir: "ltr",
  unsubscribe: {
    title: "Abmelden",
    question: "Möchten Sie keine E-Mails von {company} an {email} mehr erhalten?",
    button: "Abmelden",
    allButton: "Von allen E-Mails abmelden",
    listButton: "Nur diese Liste: {list}",
  },
  leftList: {
    title: "Sie stehen nicht mehr auf dieser Liste",
    done: "{company} schickt {list} nicht mehr an {email}.",
  },
  unsubscribed: {
    title: "Sie sind abgemeldet",
    done: "{company} schickt keine Newsletter mehr an {email}.",
  },
  subscribe: {
    title: "Anmelden",
    intro: "E-Mails von {company} erhalten.",
    introList: "{list} von {company} erhalten.",
    button: "Anmelden",
    noAddress: "Geben Sie Ihre E-Mail-Adresse ein.",
    wrongAddress: "Das ist keine E-Mail-Adresse. Sie sieht aus wie name@example.com.",
    wrong: "Dieser Wert kann nicht verwendet werden. Bitte prüfen Sie ihn.",
    busy: "Aus Ihrem Netz kamen zu viele Anmeldungen. Warten Sie eine Minute und senden Sie das Formular noch einmal.",
    leaveEmpty: "Bitte leer lassen",
  },
  subscribed: {
    title: "Vielen Dank",
    done: "{company} hat Ihre Anmeldung für {email} erhalten.",
    confirm:
      "Fast geschafft: Bitte bestätigen Sie Ihre Anmeldung über den Link in der E-Mail, die {company} an {email} schickt.",
  },
  confirm: {
    title: "Anmeldung bestätigen",
    question: "Möchten Sie E-Mails von {company} an {email} erhalten?",
    button: "Ja, anmelden",
    ignore: "Wenn Sie das nicht angefordert haben, schließen Sie diese Seite. Sie erhalten dann nichts.",
  },
  confirmed: {
    title: "Ihre Anmeldung ist bestätigt",
    done: "{company} schickt seine E-Mails nun an {email}.",
  },
  confirmationMail: {
    subject: "Bitte bestätigen Sie Ihre Anmeldung bei {company}",
    hello: "Guten Tag{name},",
    asked:
      "jemand, hoffentlich Sie, hat E-Mails von {company} an {email} angefordert. Bitte bestätigen Sie, dass Sie diese möchten:",
    button: "Anmeldung bestätigen",
    address: "Wenn die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:",
    ignore:
      "Der Link gilt 7 Tage. Wenn Sie das nicht angefordert haben, tun Sie nichts: Sie erhalten keine weiteren E-Mails.",
  },
  changeAddress: {
    title: "Neue Adresse bestätigen",
    question: "Sollen die E-Mails von {company} künftig an {email} gehen?",
    button: "Ja, diese Adresse verwenden",
    ignore: "Wenn Sie das nicht angefordert haben, schließen Sie diese Seite. Es ändert sich nichts.",
  },
  changedAddress: {
    title: "Ihre Adresse ist geändert",
    done: "{company} schickt seine E-Mails nun an {email}.",
  },
  changeAddressMail: {
    subject: "Bitte bestätigen Sie Ihre neue Adresse bei {company}",
    hello: "Guten Tag{name},",
    asked:
      "jemand, hoffentlich Sie, möchte die E-Mails von {company} künftig an {email} erhalten. Bitte bestätigen Sie, dass dies Ihre Adresse ist:",
    button: "Diese Adresse verwenden",
    address: "Wenn die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:",
    ignore:
      "Der Link gilt 7 Tage. Wenn Sie das nicht angefordert haben, tun Sie nichts: Sie erhalten keine weiteren E-Mails.",
  },
  preferences: {
    title: "Ihre E-Mail-Einstellungen",
    intro: "Was {company} an {email} schickt.",
    saved: "Ihre Einstellungen sind gespeichert.",
    name: "Ihr Name",
    firstName: "Vorname",
    lastName: "Nachname",
    address: "E-Mail-Adresse",
    addressHint:
      "Wenn Sie sie ändern, schicken wir einen Link an die neue Adresse. Die bisherige gilt, bis dieser Link benutzt wird.",
    addressAsked:
      "Adresse: Bitte benutzen Sie den Link in der E-Mail, die {company} an die neue Adresse schickt. Bis dahin gehen E-Mails an {email}.",
    emails: "E-Mails",
    subscribed: "Ich möchte E-Mails erhalten",
    lists: "Themen",
    listsHint: "Nur was angekreuzt ist, wird Ihnen geschickt.",
    button: "Einstellungen speichern",
  },
  problem: {
    missingTitle: "Diese Seite gibt es nicht",
    missing:
      "Der Link ist unvollständig, oder sein Ziel gibt es nicht mehr. Bitte öffnen Sie den Link in Ihrer E-Mail noch einmal.",
    expiredTitle: "Dieser Link ist abgelaufen",
    expired: "Bitte melden Sie sich noch einmal an, um einen neuen zu erhalten.",
  },
  mailFooter: { unsubscribe: "Abmelden", preferences: "Einstellungen" },
  archive: {
    nothing: "An diese Liste wurde noch nichts geschickt.",
    newer: "Neuere",
    older: "Ältere",
    feed: "RSS-Feed",
  },
  footer: { sentBy: "Diese Seite gehört zu E-Mails von {company}." },
};
