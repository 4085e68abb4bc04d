import {
  band,
  button,
  card,
  centred,
  column,
  columns,
  HELLO,
  heading,
  list,
  marketing,
  ON_BAND,
  type Starter,
  section,
  small,
  spacer,
  table,
  text,
  when,
} from "./build.ts";

const SITE = "https://example.com";

export const campaigns: Starter[] = [
  {
    id: "sale",
    kind: "marketing",
    name: "Sale",
    about: "A large number, the code, the end date, and two products.",
    subject: "20 % off until Sunday",
    preheader: "Use the code SUMMER20 at the till.",
    design: marketing(
      band(
        heading("20 % off everything", "1", { align: "center", ...ON_BAND }),
        { ...centred("Until Sunday at midnight, with the code **SUMMER20**."), ...ON_BAND },
        button("To the shop", `${SITE}/shop`, {
          align: "center",
          color: "brand.primary",
          background: "brand.on_primary",
        }),
      ),
      columns([
        column(
          card("A favourite", "People come back for this one.", "€ 19 instead of € 24", "Have a look", `${SITE}/1`),
        ),
        column(card("Another one", "Just right for summer.", "€ 28 instead of € 35", "Have a look", `${SITE}/2`)),
      ]),
      section(small("The code can be used once for each person and not together with other offers.")),
    ),
  },
  {
    id: "event",
    kind: "marketing",
    name: "Event invitation",
    about: "What, when and where in a table, and a button to say yes.",
    subject: "You are invited: open evening on 12 June",
    preheader: "Thursday, 6 pm. Free of charge.",
    design: marketing(
      section(
        heading("You are invited"),
        text(HELLO, "Come and see how we work. There will be something to eat, and time for questions."),
        {
          ...table(
            ["When", "Thursday, 12 June, 6 to 9 pm"],
            ["Where", "Harbour Street 1, Springfield"],
            ["Price", "Free of charge"],
          ),
          header: false,
        },
        button("I will come", `${SITE}/event`),
        small("You cannot come? Then forward this mail to somebody who might."),
      ),
    ),
  },
  {
    id: "survey",
    kind: "marketing",
    name: "Survey",
    about: "One question with five answers to press; every answer is a link.",
    subject: "One question, one click",
    preheader: "How did we do?",
    design: marketing(
      section(
        heading("How did we do?", "1", { align: "center" }),
        centred("One click is enough: would you recommend us?"),
        button("Yes, very much", `${SITE}/survey?answer=5`, { wide: true }),
        button("Yes", `${SITE}/survey?answer=4`, { wide: true }),
        button("Perhaps", `${SITE}/survey?answer=3`, { wide: true }),
        button("Rather not", `${SITE}/survey?answer=2`, { wide: true }),
        button("Not at all", `${SITE}/survey?answer=1`, { wide: true }),
        { ...small("Your answer is stored without your name."), align: "center" },
      ),
    ),
  },
  {
    id: "win-back",
    kind: "lifecycle",
    name: "Win-back",
    about: "For people who have not read you for a long time: stay, get less, or leave.",
    subject: "Shall we stay in touch?",
    preheader: "You decide, with one click.",
    design: marketing(
      section(
        heading("Shall we stay in touch?"),
        text(
          HELLO,
          "You have not opened a mail of ours for some time. That is fine. We only want to write to people who like to read us.",
        ),
        button("Yes, keep writing", `${SITE}/stay`),
        text("Once a month is enough? [Choose what you get]([[preferences_url]])."),
        text("No more mails? [Unsubscribe]([[unsubscribe_url]]), and thank you for the time that you were with us."),
      ),
    ),
  },
  {
    id: "thank-you",
    kind: "lifecycle",
    name: "Thank you",
    about: "A short thank-you after an order, a donation or a year together.",
    subject: "Thank you",
    preheader: "Three lines that come from the heart.",
    design: marketing(
      band(heading("Thank you, [[first_name|default:friend]]", "1", { align: "center", ...ON_BAND })),
      section(
        spacer(8),
        centred(
          "Say what their help made possible. A number or a name makes it real: **212 books** found a new home this year.",
        ),
        button("See what you helped to do", `${SITE}/thanks`, { align: "center" }),
      ),
    ),
  },
  {
    id: "welcome",
    kind: "lifecycle",
    name: "Welcome",
    about: "The first mail after somebody signed up: what they will get, and how often.",
    subject: "Welcome to [[company.name]]",
    preheader: "This is what you will get from us.",
    design: marketing(
      section(
        heading("Welcome"),
        text(HELLO, "It is good to have you here. This is what you will get from us:"),
        list(
          "checks",
          "One letter a month, on the first Friday",
          "News before anybody else reads them",
          "No advertising of others",
        ),
        button("Read the latest letter", `${SITE}/latest`),
        small("Add our address to your contacts, so that our letters do not end among spam."),
      ),
    ),
  },
  {
    id: "welcome-start",
    kind: "lifecycle",
    name: "Welcome: first steps",
    about: "Three numbered steps for people who have just opened an account.",
    subject: "Your first steps",
    preheader: "Three steps, five minutes.",
    design: marketing(
      section(
        heading("Your first steps"),
        text(HELLO, "Your account is ready. Three steps take you to your first result, in about five minutes."),
        list(
          "numbers",
          "Tell us your name and your time zone",
          "Bring in what you have: a file is enough",
          "Invite somebody to work with you",
        ),
        button("Begin with step 1", `${SITE}/start`),
      ),
      when("has_trial", [section(small("Your trial ends in 14 days. You need no card until then."))]),
    ),
  },
];
