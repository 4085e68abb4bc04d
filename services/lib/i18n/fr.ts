import type { Catalogue } from "./en.ts";

export const fr: Catalogue = {
  code: "fr",
  dir: "ltr",
  unsubscribe: {
    title: "Se désabonner",
    question: "Vous ne voulez plus recevoir d’e-mails de {company} à l’adresse {email} ?",
    button: "Se désabonner",
    allButton: "Se désabonner de tous les e-mails",
    listButton: "Seulement cette liste : {list}",
  },
  leftList: {
    title: "Vous avez quitté cette liste",
    done: "{company} n’enverra plus {list} à {email}.",
  },
  unsubscribed: {
    title: "Vous êtes désabonné",
    done: "{company} n’enverra plus de newsletters à {email}.",
  },
  subscribe: {
    title: "S’inscrire",
    intro: "Recevez les e-mails de {company}.",
    introList: "Recevez {list} de {company}.",
    button: "S’inscrire",
    noAddress: "Saisissez votre adresse e-mail.",
    wrongAddress: "Ce n’est pas une adresse e-mail. Elle ressemble à name@example.com.",
    wrong: "Cette valeur ne peut pas être utilisée. Veuillez la vérifier.",
    busy: "Trop d’inscriptions sont venues de votre réseau. Attendez une minute, puis envoyez de nouveau le formulaire.",
    leaveEmpty: "Laissez ce champ vide",
  },
  subscribed: {
    title: "Merci",
    done: "{company} a bien reçu votre inscription pour {email}.",
    confirm: "C’est presque fini : veuillez confirmer par le lien dans l’e-mail que {company} envoie à {email}.",
  },
  confirm: {
    title: "Confirmez votre abonnement",
    question: "Voulez-vous recevoir les e-mails de {company} à l’adresse {email} ?",
    button: "Oui, je m’abonne",
    ignore: "Si vous n’avez rien demandé, fermez cette page. Rien ne vous sera envoyé.",
  },
  confirmed: {
    title: "Votre abonnement est confirmé",
    done: "{company} envoie désormais ses e-mails à {email}.",
  },
  confirmationMail: {
    subject: "Veuillez confirmer votre abonnement à {company}",
    hello: "Bonjour{name},",
    asked:
      "quelqu’un, sans doute vous, a demandé que les e-mails de {company} soient envoyés à {email}. Veuillez confirmer que vous le souhaitez :",
    button: "Confirmer mon abonnement",
    address: "Si le bouton ne fonctionne pas, ouvrez cette adresse :",
    ignore:
      "Le lien est valable 7 jours. Si vous n’avez rien demandé, ne faites rien : vous ne recevrez pas d’autre e-mail.",
  },
  changeAddress: {
    title: "Confirmer votre nouvelle adresse",
    question: "Voulez-vous que les e-mails de {company} soient désormais envoyés à {email} ?",
    button: "Oui, utiliser cette adresse",
    ignore: "Si vous n’avez rien demandé, fermez cette page. Rien ne changera.",
  },
  changedAddress: {
    title: "Votre adresse est modifiée",
    done: "{company} envoie maintenant ses e-mails à {email}.",
  },
  changeAddressMail: {
    subject: "Veuillez confirmer votre nouvelle adresse pour {company}",
    hello: "Bonjour{name},",
    asked:
      "quelqu’un, sans doute vous, a demandé que les e-mails de {company} soient désormais envoyés à {email}. Veuillez confirmer qu’il s’agit de votre adresse :",
    button: "Utiliser cette adresse",
    address: "Si le bouton ne fonctionne pas, ouvrez cette adresse :",
    ignore:
      "Le lien est valable 7 jours. Si vous n’avez rien demandé, ne faites rien : vous ne recevrez pas d’autre e-mail.",
  },
  preferences: {
    title: "Vos préférences d’e-mail",
    intro: "Ce que {company} envoie à {email}.",
    saved: "Vos préférences sont enregistrées.",
    name: "Votre nom",
    firstName: "Prénom",
    lastName: "Nom",
    address: "Adresse e-mail",
    addressHint:
      "Si vous la modifiez, nous envoyons un lien à la nouvelle adresse. L’adresse actuelle reste valable jusqu’à ce que ce lien soit utilisé.",
    addressAsked:
      "Adresse : veuillez utiliser le lien dans l’e-mail que {company} envoie à la nouvelle adresse. D’ici là, les e-mails sont envoyés à {email}.",
    emails: "E-mails",
    subscribed: "Envoyez-moi des e-mails",
    lists: "Sujets",
    listsHint: "Seul ce qui est coché vous est envoyé.",
    button: "Enregistrer les préférences",
  },
  problem: {
    missingTitle: "Cette page n’existe pas",
    missing: "Le lien est incomplet, ou sa destination a disparu. Veuillez rouvrir le lien de votre e-mail.",
    expiredTitle: "Ce lien a expiré",
    expired: "Veuillez vous abonner à nouveau pour en recevoir un autre.",
  },
  mailFooter: { unsubscribe: "Se désabonner", preferences: "Préférences" },
  archive: {
    nothing: "Rien n’a encore été envoyé à cette liste.",
    newer: "Plus récents",
    older: "Plus anciens",
    feed: "Flux RSS",
  },
  footer: { sentBy: "Cette page fait partie des e-mails envoyés par {company}." },
};
