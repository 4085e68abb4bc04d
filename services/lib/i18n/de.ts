import type { Catalogue } from "./en.ts";

export const de: Catalogue = {
  code: "de",
  dir: "ltr",
  unsubscribe: {
    title: "Abmelden",
    question: "Möchten Sie unter {email} keine Newsletter von {company} mehr erhalten?",
    button: "Abmelden",
    allButton: "Von allen Newslettern abmelden",
    listButton: "Nur von dieser Liste: {list}",
  },
  leftList: {
    title: "Sie sind von dieser Liste abgemeldet",
    done: "Sie erhalten {list} von {company} nicht mehr unter {email}. Andere Newsletter erhalten Sie möglicherweise weiterhin.",
  },
  unsubscribed: {
    title: "Sie sind abgemeldet",
    done: "Sie erhalten unter {email} keine Newsletter von {company} mehr.",
  },
  subscribe: {
    title: "Anmelden",
    intro: "Erhalten Sie E-Mails von {company}.",
    introList: "Erhalten Sie {list} von {company}.",
    button: "Anmelden",
    noAddress: "Geben Sie Ihre E-Mail-Adresse ein.",
    wrongAddress: "Geben Sie eine gültige E-Mail-Adresse ein, zum Beispiel name@example.com.",
    wrong: "Dieser Wert ist ungültig. Bitte prüfen Sie ihn.",
    busy: "Zu viele Anmeldungen aus Ihrem Netzwerk. Bitte versuchen Sie es in einer Minute noch einmal.",
    leaveEmpty: "Dieses Feld leer lassen",
  },
  subscribed: {
    title: "Vielen Dank",
    done: "Ihre Anmeldung für {email} ist bei {company} eingegangen.",
    confirm:
      "Nur noch ein Schritt: Öffnen Sie die E-Mail von {company} an {email} und klicken Sie zur Bestätigung auf den Link.",
    noMail:
      "Keine E-Mail erhalten? Sehen Sie im Spam-Ordner nach. Wir senden keine weitere, wenn diese Adresse schon angemeldet ist oder in den letzten 24 Stunden angemeldet wurde.",
  },
  confirm: {
    title: "Anmeldung bestätigen",
    question: "Möchten Sie unter {email} E-Mails von {company} erhalten?",
    button: "Ja, anmelden",
    ignore: "Wenn Sie das nicht angefordert haben, schließen Sie diese Seite. Es ändert sich nichts.",
  },
  confirmed: {
    title: "Ihre Anmeldung ist bestätigt",
    done: "Sie erhalten ab jetzt E-Mails von {company} unter {email}.",
  },
  confirmationMail: {
    subject: "Bitte bestätigen Sie Ihre Anmeldung bei {company}",
    hello: "Guten Tag{name},",
    asked:
      "Sie (oder jemand mit Ihrer Adresse {email}) haben sich für E-Mails von {company} angemeldet. Bitte bestätigen Sie die Anmeldung:",
    button: "Anmeldung bestätigen",
    address: "Oder kopieren Sie diese Adresse in Ihren Browser:",
    ignore:
      "Der Link gilt 7 Tage. Wenn Sie sich nicht angemeldet haben, ignorieren Sie diese E-Mail. Es ändert sich nichts.",
  },
  changeAddress: {
    title: "Neue Adresse bestätigen",
    question: "Soll {company} künftig die Adresse {email} verwenden?",
    button: "Ja, diese Adresse verwenden",
    ignore: "Wenn Sie das nicht angefordert haben, schließen Sie diese Seite. Es ändert sich nichts.",
  },
  changedAddress: {
    title: "Ihre Adresse wurde geändert",
    done: "{company} verwendet ab jetzt die Adresse {email}.",
  },
  changeAddressMail: {
    subject: "Bitte bestätigen Sie Ihre neue Adresse bei {company}",
    hello: "Guten Tag{name},",
    asked:
      "die Adresse {email} wurde als Ihre neue Adresse für E-Mails von {company} angegeben. Bitte bestätigen Sie, dass sie Ihnen gehört:",
    button: "Diese Adresse verwenden",
    address: "Oder kopieren Sie diese Adresse in Ihren Browser:",
    ignore:
      "Der Link gilt 7 Tage. Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Es ändert sich nichts.",
  },
  preferences: {
    title: "Ihre E-Mail-Einstellungen",
    intro: "Wählen Sie aus, was {company} an {email} sendet.",
    saved: "Ihre Einstellungen sind gespeichert.",
    name: "Ihr Name",
    firstName: "Vorname",
    lastName: "Nachname",
    address: "E-Mail-Adresse",
    addressHint:
      "Wenn Sie sie ändern, bestätigen Sie die neue Adresse über den Link, den wir dorthin senden. Bis dahin verwenden wir Ihre bisherige Adresse.",
    addressAsked:
      "Um die neue Adresse zu bestätigen, öffnen Sie die E-Mail von {company} und klicken Sie auf den Link. Bis dahin verwenden wir {email}. Wenn keine E-Mail ankommt, kann die neue Adresse nicht verwendet werden.",
    emails: "E-Mails",
    subscribed: "Ich möchte Newsletter erhalten",
    lists: "Themen",
    listsHint: "Wählen Sie die Themen aus, die Sie interessieren.",
    button: "Einstellungen speichern",
  },
  problem: {
    missingTitle: "Diese Seite gibt es nicht",
    missing:
      "Der Link ist unvollständig oder nicht mehr gültig. Öffnen Sie ihn noch einmal aus Ihrer E-Mail oder kopieren Sie den ganzen Link.",
    expiredTitle: "Dieser Link funktioniert nicht mehr",
    expired:
      "Er ist abgelaufen oder wurde bereits verwendet. Füllen Sie das Formular noch einmal aus, um einen neuen Link zu erhalten.",
    busyTitle: "Bitte versuchen Sie es gleich noch einmal",
    busy: "Diese Seite ist gerade nicht verfügbar. Warten Sie eine Minute und versuchen Sie es dann noch einmal.",
    wrongTitle: "Etwas ist schiefgegangen",
    wrong: "Die Anfrage konnte nicht ausgeführt werden. Bitte gehen Sie zurück und versuchen Sie es noch einmal.",
  },
  mailFooter: {
    unsubscribe: "Abmelden",
    preferences: "Einstellungen",
  },
  archive: {
    nothing: "An diese Liste wurden noch keine E-Mails gesendet.",
    newer: "Neuere",
    older: "Ältere",
    feed: "RSS-Feed",
  },
  footer: {
    sentBy: "Diese Seite gehört zu den E-Mails von {company}.",
  },
};
