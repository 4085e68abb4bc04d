import {
  band,
  button,
  card,
  centred,
  column,
  columns,
  divider,
  HELLO,
  heading,
  list,
  marketing,
  ON_BAND,
  quote,
  type Starter,
  section,
  small,
  text,
} from "./build.ts";

const SITE = "https://example.com";

export const newsletters: Starter[] = [
  {
    id: "newsletter-letter",
    kind: "newsletter",
    name: "Newsletter: one story",
    about: "One topic, told from top to bottom, with one button at its end.",
    subject: "What we learned this month",
    preheader: "One story, three minutes to read.",
    design: marketing(
      section(
        heading("What we learned this month"),
        text(
          HELLO,
          "Open with the one thing that your readers should remember. Say it in two or three sentences, as you would to a friend across the table.",
          "Then tell how you found out. **One bold phrase** in each paragraph helps people who only skim.",
        ),
        quote("A short sentence from somebody who was there says more than a paragraph of yours.", "Maria, workshop"),
        text("Close with what comes next, and where to read the rest."),
        button("Read the whole story", `${SITE}/story`),
      ),
    ),
  },
  {
    id: "newsletter-digest",
    kind: "newsletter",
    name: "Newsletter: three topics",
    about: "A headline story and two shorter ones side by side.",
    subject: "Three things worth your time",
    preheader: "A story, a guide and a date for your calendar.",
    design: marketing(
      band(heading("Three things worth your time", "1", ON_BAND), {
        ...text("June: a story, a guide and a date for your calendar."),
        ...ON_BAND,
      }),
      section(
        heading("The story of the month", "2"),
        text("Two or three sentences that make people curious. The rest is on your site."),
        button("Read on", `${SITE}/story`),
        divider,
      ),
      columns([
        column(
          heading("A guide", "3"),
          text(`What readers ask you most, answered in five steps. [Open the guide](${SITE}/guide)`),
        ),
        column(
          heading("A date", "3"),
          text(
            `12 June, 6 pm: an open evening for everybody who likes to look behind the scenes. [Come along](${SITE}/date)`,
          ),
        ),
      ]),
    ),
  },
  {
    id: "newsletter-shop",
    kind: "newsletter",
    name: "Newsletter: new products",
    about: "Four products in two rows, each with its price and a button.",
    subject: "New in the shop this month",
    preheader: "Four things that have just arrived.",
    design: marketing(
      section(heading("New in the shop"), text("Four things that have just arrived. Add a picture to each card.")),
      columns([
        column(card("First product", "What it is good for, in one line.", "€ 24", "Look at it", `${SITE}/1`)),
        column(card("Second product", "What it is good for, in one line.", "€ 36", "Look at it", `${SITE}/2`)),
      ]),
      columns([
        column(card("Third product", "What it is good for, in one line.", "€ 18", "Look at it", `${SITE}/3`)),
        column(card("Fourth product", "What it is good for, in one line.", "€ 52", "Look at it", `${SITE}/4`)),
      ]),
      section(button("See everything", `${SITE}/shop`, { align: "center" })),
    ),
  },
  {
    id: "digest",
    kind: "newsletter",
    name: "Digest",
    about: "A list of links, each with a line about it: quick to write every week.",
    subject: "This week's reading list",
    preheader: "Five links, one line each.",
    design: marketing(
      section(
        heading("This week's reading list"),
        small("Five links, one line each."),
        text(`[The first headline](${SITE}/1)`, "One sentence on why it is worth reading."),
        divider,
        text(`[The second headline](${SITE}/2)`, "One sentence on why it is worth reading."),
        divider,
        text(`[The third headline](${SITE}/3)`, "One sentence on why it is worth reading."),
        divider,
        text(`[The fourth headline](${SITE}/4)`, "One sentence on why it is worth reading."),
        divider,
        text(`[The fifth headline](${SITE}/5)`, "One sentence on why it is worth reading."),
      ),
    ),
  },
  {
    id: "letter",
    kind: "newsletter",
    name: "Plain letter",
    about: "Looks like a mail from a person: no header, no button.",
    subject: "A quick question",
    preheader: "It takes one minute.",
    design: {
      ...marketing(),
      settings: { language: "en", background: "#ffffff" },
      blocks: [
        section(
          text(
            HELLO,
            "I write to you myself because I would like to know one thing: what made you sign up?",
            "Just press reply. I read every answer.",
            "Best wishes",
            "Your name",
          ),
        ),
        section({ type: "footer" }),
      ],
    },
  },
  {
    id: "announcement",
    kind: "marketing",
    name: "Announcement",
    about: "One piece of news on a coloured band, and one button.",
    subject: "We have news",
    preheader: "Something that we have worked on for a year.",
    design: marketing(
      band(heading("We have news", "1", { align: "center", ...ON_BAND }), {
        ...centred("Say in one sentence what is new, and for whom."),
        ...ON_BAND,
      }),
      section(
        centred(
          "What changes, from when on, and what people need to do. Most of the time the answer to the last one is: nothing.",
        ),
        button("Find out more", `${SITE}/news`, { align: "center" }),
      ),
    ),
  },
  {
    id: "product-update",
    kind: "marketing",
    name: "Product update",
    about: "What is new, what got better and what was fixed.",
    subject: "What's new in version 2.4",
    preheader: "Faster search, a calendar, and twelve fixes.",
    design: marketing(
      section(
        heading("What's new in version 2.4"),
        text("Three sentences at most on what this release is about."),
        heading("New", "2"),
        list("checks", "A calendar for everything with a date", "Search that forgives typing errors"),
        heading("Better", "2"),
        list("checks", "Lists open twice as fast", "Texts are easier to read on phones"),
        heading("Fixed", "2"),
        list("bullets", "Times were an hour off in one time zone", "A long name could hide the button"),
        button("Try it", `${SITE}/app`),
      ),
    ),
  },
];
