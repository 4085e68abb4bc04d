import type { Catalogue } from "./en.ts";

export const es: Catalogue = {
  code: "es",
  dir: "ltr",
  unsubscribe: {
    title: "Cancelar la suscripción",
    question: "¿Ya no quiere recibir correos de {company} en {email}?",
    button: "Cancelar la suscripción",
    allButton: "Cancelar todos los correos",
    listButton: "Solo esta lista: {list}",
  },
  leftList: {
    title: "Ya no está en esta lista",
    done: "{company} ya no enviará {list} a {email}.",
  },
  unsubscribed: {
    title: "Su suscripción está cancelada",
    done: "{company} ya no enviará boletines a {email}.",
  },
  subscribe: {
    title: "Suscribirse",
    intro: "Reciba los correos de {company}.",
    introList: "Reciba {list} de {company}.",
    button: "Suscribirse",
    noAddress: "Escriba su dirección de correo.",
    wrongAddress: "Esto no es una dirección de correo. Debe parecerse a name@example.com.",
    wrong: "Este valor no se puede usar. Revíselo.",
    busy: "Han llegado demasiadas suscripciones desde su red. Espere un minuto y envíe el formulario otra vez.",
    leaveEmpty: "Deje este campo vacío",
  },
  subscribed: {
    title: "Gracias",
    done: "{company} ha recibido su suscripción para {email}.",
    confirm: "Ya casi está: confirme con el enlace del correo que {company} envía a {email}.",
  },
  confirm: {
    title: "Confirme su suscripción",
    question: "¿Quiere recibir los correos de {company} en {email}?",
    button: "Sí, suscribirme",
    ignore: "Si no lo ha pedido, cierre esta página. No se le enviará nada.",
  },
  confirmed: {
    title: "Su suscripción está confirmada",
    done: "{company} envía ahora sus correos a {email}.",
  },
  confirmationMail: {
    subject: "Confirme su suscripción a {company}",
    hello: "Hola{name}:",
    asked:
      "Alguien, esperamos que usted, ha pedido recibir los correos de {company} en {email}. Confirme que los quiere:",
    button: "Confirmar mi suscripción",
    address: "Si el botón no funciona, abra esta dirección:",
    ignore: "El enlace es válido durante 7 días. Si no lo ha pedido, no haga nada: no recibirá más correos.",
  },
  changeAddress: {
    title: "Confirme su nueva dirección",
    question: "¿Quiere que los correos de {company} lleguen a {email} a partir de ahora?",
    button: "Sí, usar esta dirección",
    ignore: "Si no lo ha pedido, cierre esta página. No cambiará nada.",
  },
  changedAddress: {
    title: "Su dirección ha cambiado",
    done: "{company} envía ahora sus correos a {email}.",
  },
  changeAddressMail: {
    subject: "Confirme su nueva dirección para {company}",
    hello: "Hola{name}:",
    asked:
      "Alguien, esperamos que usted, ha pedido que los correos de {company} lleguen a {email} a partir de ahora. Confirme que es su dirección:",
    button: "Usar esta dirección",
    address: "Si el botón no funciona, abra esta dirección:",
    ignore: "El enlace es válido durante 7 días. Si no lo ha pedido, no haga nada: no recibirá más correos.",
  },
  preferences: {
    title: "Sus preferencias de correo",
    intro: "Lo que {company} envía a {email}.",
    saved: "Sus preferencias se han guardado.",
    name: "Su nombre",
    firstName: "Nombre",
    lastName: "Apellidos",
    address: "Dirección de correo",
    addressHint: "Si la cambia, enviamos un enlace a la nueva dirección. La actual vale hasta que se use ese enlace.",
    addressAsked:
      "Dirección: use el enlace del correo que {company} envía a la nueva dirección. Hasta entonces los correos llegan a {email}.",
    emails: "Correos",
    subscribed: "Quiero recibir correos",
    lists: "Temas",
    listsHint: "Solo se le envía lo que está marcado.",
    button: "Guardar preferencias",
  },
  problem: {
    missingTitle: "Esta página no existe",
    missing: "El enlace está incompleto o su destino ya no existe. Vuelva a abrir el enlace de su correo.",
    expiredTitle: "Este enlace ha caducado",
    expired: "Suscríbase de nuevo para recibir otro.",
  },
  mailFooter: { unsubscribe: "Cancelar la suscripción", preferences: "Preferencias" },
  archive: {
    nothing: "Todavía no se ha enviado nada a esta lista.",
    newer: "Más recientes",
    older: "Más antiguos",
    feed: "Canal RSS",
  },
  footer: { sentBy: "Esta página pertenece a los correos que envía {company}." },
};
