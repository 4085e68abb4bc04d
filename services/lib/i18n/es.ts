import type { Catalogue } from "./en.ts";

export const es: Catalogue = {
  code: "es",
  dir: "ltr",
  unsubscribe: {
    title: "Darse de baja",
    question: "¿Quiere dejar de recibir boletines de {company} en {email}?",
    button: "Darse de baja",
    allButton: "Darse de baja de todos los boletines",
    listButton: "Solo de esta lista: {list}",
  },
  leftList: {
    title: "Se ha dado de baja de esta lista",
    done: "Ya no recibirá {list} de {company} en {email}. Es posible que siga recibiendo otros boletines.",
  },
  unsubscribed: {
    title: "Se ha dado de baja",
    done: "Ya no recibirá boletines de {company} en {email}.",
  },
  subscribe: {
    title: "Suscribirse",
    intro: "Reciba los correos de {company}.",
    introList: "Reciba {list} de {company}.",
    button: "Suscribirse",
    noAddress: "Escriba su dirección de correo.",
    wrongAddress: "Escriba una dirección de correo válida, por ejemplo nombre@example.com.",
    wrong: "Este valor no es válido. Revíselo, por favor.",
    busy: "Demasiadas suscripciones desde su red. Espere un minuto e inténtelo de nuevo.",
    leaveEmpty: "Deje este campo vacío",
  },
  subscribed: {
    title: "Gracias",
    done: "{company} ha recibido su solicitud de suscripción para {email}.",
    confirm: "Solo falta un paso: abra el correo de {company} a {email} y haga clic en el enlace para confirmar.",
    noMail:
      "¿No le ha llegado? Mire en la carpeta de correo no deseado. No enviamos otro si esta dirección ya está suscrita o si ya se solicitó en las últimas 24 horas.",
  },
  confirm: {
    title: "Confirme su suscripción",
    question: "¿Quiere recibir los correos de {company} en {email}?",
    button: "Sí, suscribirme",
    ignore: "Si no lo ha solicitado, cierre esta página. No cambiará nada.",
  },
  confirmed: {
    title: "Su suscripción está confirmada",
    done: "A partir de ahora recibirá los correos de {company} en {email}.",
  },
  confirmationMail: {
    subject: "Confirme su suscripción a los correos de {company}",
    hello: "Hola{name}:",
    asked:
      "Usted (u otra persona con su dirección {email}) ha solicitado recibir los correos de {company}. Confirme su suscripción:",
    button: "Confirmar mi suscripción",
    address: "También puede copiar esta dirección en su navegador:",
    ignore: "El enlace es válido durante 7 días. Si no lo ha solicitado, ignore este correo. No cambiará nada.",
  },
  changeAddress: {
    title: "Confirme su nueva dirección",
    question: "¿Quiere que {company} utilice la dirección {email} a partir de ahora?",
    button: "Sí, usar esta dirección",
    ignore: "Si no lo ha solicitado, cierre esta página. No cambiará nada.",
  },
  changedAddress: {
    title: "Su dirección se ha cambiado",
    done: "A partir de ahora {company} utiliza la dirección {email}.",
  },
  changeAddressMail: {
    subject: "Confirme su nueva dirección para los correos de {company}",
    hello: "Hola{name}:",
    asked: "Se ha indicado {email} como su nueva dirección para los correos de {company}. Confirme que es suya:",
    button: "Usar esta dirección",
    address: "También puede copiar esta dirección en su navegador:",
    ignore: "El enlace es válido durante 7 días. Si no lo ha solicitado, ignore este correo. No cambiará nada.",
  },
  preferences: {
    title: "Sus preferencias de correo",
    intro: "Elija lo que {company} envía a {email}.",
    saved: "Sus preferencias se han guardado.",
    name: "Su nombre",
    firstName: "Nombre",
    lastName: "Apellidos",
    address: "Dirección de correo",
    addressHint:
      "Si la cambia, confirme la nueva dirección con el enlace que le enviamos allí. Hasta entonces usaremos la actual.",
    addressAsked:
      "Para confirmar la nueva dirección, abra el correo de {company} y haga clic en el enlace. Hasta entonces usaremos {email}. Si no llega ningún correo, la nueva dirección no se puede usar.",
    emails: "Correos",
    subscribed: "Quiero recibir boletines",
    lists: "Temas",
    listsHint: "Elija los temas que le interesan.",
    button: "Guardar preferencias",
  },
  problem: {
    missingTitle: "Esta página no existe",
    missing:
      "El enlace está incompleto o ya no es válido. Vuelva a abrirlo desde su correo o copie el enlace completo.",
    expiredTitle: "Este enlace ya no funciona",
    expired: "Ha caducado o ya se ha utilizado. Para recibir otro, rellene de nuevo el formulario.",
    busyTitle: "Inténtelo de nuevo en un momento",
    busy: "Esta página no está disponible ahora mismo. Espere un minuto e inténtelo de nuevo.",
    wrongTitle: "Se ha producido un error",
    wrong: "No se ha podido completar la solicitud. Vuelva atrás e inténtelo de nuevo.",
  },
  mailFooter: {
    unsubscribe: "Darse de baja",
    preferences: "Preferencias",
  },
  archive: {
    nothing: "Todavía no se ha enviado ningún correo a esta lista.",
    newer: "Más recientes",
    older: "Más antiguos",
    feed: "Canal RSS",
  },
  footer: {
    sentBy: "Esta página corresponde a los correos de {company}.",
  },
};
