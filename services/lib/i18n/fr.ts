import type { Catalogue } from "./en.ts";

export const fr: Catalogue = {
  code: "fr",
  dir: "ltr",
  unsubscribe: {
    title: "Se désabonner",
    question: "Voulez-vous ne plus recevoir les newsletters de {company} à l’adresse {email}\u00a0?",
    button: "Se désabonner",
    allButton: "Se désabonner de toutes les newsletters",
    listButton: "Seulement de cette liste\u00a0: {list}",
  },
  leftList: {
    title: "Vous n’êtes plus dans cette liste",
    done: "Vous ne recevrez plus {list} de {company} à l’adresse {email}. Vous recevrez peut-être encore d’autres newsletters.",
  },
  unsubscribed: {
    title: "Votre désabonnement est effectué",
    done: "Vous ne recevrez plus de newsletters de {company} à l’adresse {email}.",
  },
  subscribe: {
    title: "S’abonner",
    intro: "Recevez les e-mails de {company}.",
    introList: "Recevez {list} de {company}.",
    button: "S’abonner",
    noAddress: "Saisissez votre adresse e-mail.",
    wrongAddress: "Saisissez une adresse e-mail valide, par exemple nom@example.com.",
    wrong: "Cette valeur n’est pas valide. Veuillez la vérifier.",
    busy: "Trop de demandes d’abonnement depuis votre réseau. Attendez une minute, puis réessayez.",
    leaveEmpty: "Laissez ce champ vide",
  },
  subscribed: {
    title: "Merci",
    done: "{company} a bien reçu votre demande d’abonnement pour {email}.",
    confirm: "Plus qu’une étape\u00a0: ouvrez l’e-mail de {company} à {email} et cliquez sur le lien pour confirmer.",
    noMail:
      "Pas d’e-mail\u00a0? Regardez dans les courriers indésirables. Nous n’en envoyons pas d’autre si cette adresse est déjà abonnée ou a fait l’objet d’une demande dans les dernières 24\u00a0heures.",
  },
  confirm: {
    title: "Confirmez votre abonnement",
    question: "Voulez-vous recevoir les e-mails de {company} à l’adresse {email}\u00a0?",
    button: "Oui, je m’abonne",
    ignore: "Si vous n’avez rien demandé, fermez cette page. Rien ne changera.",
  },
  confirmed: {
    title: "Votre abonnement est confirmé",
    done: "Vous recevrez désormais les e-mails de {company} à l’adresse {email}.",
  },
  confirmationMail: {
    subject: "Veuillez confirmer votre abonnement aux e-mails de {company}",
    hello: "Bonjour{name},",
    asked:
      "Une demande d’abonnement aux e-mails de {company} a été faite avec votre adresse {email}, par vous ou par quelqu’un d’autre. Veuillez confirmer votre abonnement\u00a0:",
    button: "Confirmer mon abonnement",
    address: "Vous pouvez aussi copier cette adresse dans votre navigateur\u00a0:",
    ignore: "Ce lien est valable 7\u00a0jours. Si vous n’avez rien demandé, ignorez cet e-mail. Rien ne changera.",
  },
  changeAddress: {
    title: "Confirmez votre nouvelle adresse",
    question: "Voulez-vous que {company} utilise désormais l’adresse {email}\u00a0?",
    button: "Oui, utiliser cette adresse",
    ignore: "Si vous n’avez rien demandé, fermez cette page. Rien ne changera.",
  },
  changedAddress: {
    title: "Votre adresse a été modifiée",
    done: "{company} utilise désormais l’adresse {email}.",
  },
  changeAddressMail: {
    subject: "Veuillez confirmer votre nouvelle adresse pour les e-mails de {company}",
    hello: "Bonjour{name},",
    asked:
      "L’adresse {email} a été indiquée comme votre nouvelle adresse pour les e-mails de {company}. Veuillez confirmer qu’elle est bien la vôtre\u00a0:",
    button: "Utiliser cette adresse",
    address: "Vous pouvez aussi copier cette adresse dans votre navigateur\u00a0:",
    ignore: "Ce lien est valable 7\u00a0jours. Si vous n’avez rien demandé, ignorez cet e-mail. Rien ne changera.",
  },
  preferences: {
    title: "Vos préférences e-mail",
    intro: "Choisissez ce que {company} envoie à {email}.",
    saved: "Vos préférences sont enregistrées.",
    name: "Votre nom",
    firstName: "Prénom",
    lastName: "Nom de famille",
    address: "Adresse e-mail",
    addressHint:
      "Si vous la modifiez, confirmez la nouvelle adresse avec le lien que nous y envoyons. D’ici là, nous utilisons votre adresse actuelle.",
    addressAsked:
      "Pour confirmer la nouvelle adresse, ouvrez l’e-mail de {company} et cliquez sur le lien. D’ici là, nous utilisons {email}. Si aucun e-mail n’arrive, la nouvelle adresse ne peut pas être utilisée.",
    emails: "E-mails",
    subscribed: "Je souhaite recevoir les newsletters",
    lists: "Thèmes",
    listsHint: "Choisissez les thèmes qui vous intéressent.",
    button: "Enregistrer les préférences",
  },
  problem: {
    missingTitle: "Cette page n’existe pas",
    missing:
      "Le lien est incomplet ou n’est plus valable. Ouvrez-le de nouveau depuis votre e-mail, ou copiez-le en entier.",
    expiredTitle: "Ce lien ne fonctionne plus",
    expired: "Il a expiré ou a déjà été utilisé. Pour en recevoir un nouveau, remplissez de nouveau le formulaire.",
    busyTitle: "Veuillez réessayer dans un instant",
    busy: "Cette page n’est pas disponible pour le moment. Attendez une minute, puis réessayez.",
    wrongTitle: "Une erreur s’est produite",
    wrong: "La demande n’a pas pu aboutir. Veuillez revenir en arrière et réessayer.",
  },
  mailFooter: {
    unsubscribe: "Se désabonner",
    preferences: "Préférences",
  },
  archive: {
    nothing: "Aucun e-mail n’a encore été envoyé à cette liste.",
    newer: "Plus récents",
    older: "Plus anciens",
    feed: "Flux RSS",
  },
  footer: {
    sentBy: "Cette page concerne les e-mails de {company}.",
  },
};
