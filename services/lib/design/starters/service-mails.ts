import {
  button,
  column,
  columns,
  divider,
  each,
  HELLO,
  heading,
  type Starter,
  section,
  small,
  text,
  transactional,
} from "./build.ts";

export const serviceMails: Starter[] = [
  {
    id: "double-opt-in",
    kind: "transactional",
    name: "Confirm a subscription",
    about: "Confirms a sign-up (double opt-in). Needs `confirm_url`.",
    subject: "Please confirm your subscription",
    preheader: "One click, and you are on the list.",
    design: transactional(
      section(
        heading("Please confirm your subscription"),
        text("Somebody, hopefully you, asked for our letters with this address. Press the button if it was you."),
        button("Yes, send me the letters", "[[confirm_url]]"),
        small("It was not you? Then do nothing: without the click you get no more mail from us."),
      ),
    ),
  },
  {
    id: "receipt",
    kind: "transactional",
    name: "Receipt",
    about: "What was bought, from a list of items with names and prices. Needs `order` and `items`.",
    subject: "Your receipt for order [[order.number]]",
    preheader: "Thank you for your order.",
    design: transactional(
      section(
        heading("Thank you for your order"),
        text(HELLO, "We have received your payment. This is your receipt for order **[[order.number]]**."),
        divider,
      ),
      each(
        "items",
        columns([column(text("[[this.name]]")), column({ ...text("[[this.price]]"), align: "right" })], {
          stack: false,
          padding: 0,
        }),
      ),
      section(
        divider,
        { ...heading("Total [[order.total]]", "2"), align: "right" },
        button("Look at your order", "[[order.url]]"),
      ),
    ),
  },
  {
    id: "invoice",
    kind: "transactional",
    name: "Invoice",
    about: "Amount, due date and number of an invoice; attach the PDF. Needs `invoice`.",
    subject: "Invoice [[invoice.number]]",
    preheader: "Due on [[invoice.due]].",
    design: transactional(
      section(
        heading("Invoice [[invoice.number]]"),
        text(HELLO, "Please find your invoice attached as a PDF file."),
        {
          type: "table",
          header: false,
          rows: [
            { cells: [{ text: "Amount" }, { text: "[[invoice.total]]" }] },
            { cells: [{ text: "Due on" }, { text: "[[invoice.due]]" }] },
            { cells: [{ text: "Reference" }, { text: "[[invoice.number]]" }] },
          ],
        },
        button("Pay now", "[[invoice.url]]"),
        small("Have you paid already? Then please ignore this mail."),
      ),
    ),
  },
  {
    id: "shipping",
    kind: "transactional",
    name: "Shipping notice",
    about: "The parcel is on its way, with its number and a link to follow it. Needs `parcel`.",
    subject: "Your parcel is on its way",
    preheader: "It should arrive on [[parcel.arrives]].",
    design: transactional(
      section(
        heading("Your parcel is on its way"),
        text(HELLO, "We have handed your order to **[[parcel.carrier]]**. It should arrive on **[[parcel.arrives]]**."),
        button("Follow the parcel", "[[parcel.url]]"),
        small("Number of the parcel: [[parcel.number]]"),
      ),
    ),
  },
  {
    id: "password-reset",
    kind: "transactional",
    name: "Password reset",
    about: "A link to set a new password, and what to do if nobody asked for it. Needs `reset_url`.",
    subject: "Set a new password",
    preheader: "The link works for one hour.",
    design: transactional(
      section(
        heading("Set a new password"),
        text(HELLO, "Somebody asked for a new password for your account. The link works once, and for one hour."),
        button("Set a new password", "[[reset_url]]"),
        small("It was not you? Then ignore this mail: your password stays as it is."),
      ),
    ),
  },
  {
    id: "verification",
    kind: "transactional",
    name: "Verification code",
    about: "A code to type in, large enough to read at a glance. Needs `code`.",
    subject: "Your code is [[code]]",
    preheader: "It is valid for ten minutes.",
    design: transactional(
      section(
        heading("Your code", "2", { align: "center" }),
        heading("[[code]]", "1", { align: "center", color: "brand.primary" }),
        { ...text("It is valid for ten minutes. Nobody of us will ever ask you for it."), align: "center" },
      ),
    ),
  },
];
