/** Effects of a missing feature for readers, and advice on what to write instead. */
import { CLIENT_NAMES, type Finding, type MailClient } from "./finding.ts";

type Severity = Finding["severity"];
type Advice = readonly [severity: Severity, seen: string, fix: string];

const BELOW: Advice = [
  "error",
  "Parts that stand side by side appear below each other.",
  'Use columns of a section, or a table with role="presentation".',
];
const PLACED: Advice = [
  "error",
  "The element stays in the flow of the text.",
  "Place it with table cells and padding.",
];
const GAP: Advice = ["warning", "There is no space.", "Use padding of table cells instead."];
const NO_FORM: Advice = ["error", "The fields do not work, or are missing.", "Link to a page with the form."];
const STILL: Advice = [
  "warning",
  "Nothing moves.",
  "Make sure that the first state says everything, or use an animated GIF.",
];
const PLAYER: Advice = ["error", "The player is missing.", "Show a picture that links to the page with the recording."];
const FORMAT: Advice = ["error", "The image is missing.", "Use a PNG, JPEG or GIF."];
const GRADIENT: Advice = [
  "warning",
  "The gradient is missing.",
  "Set a background color of its own, too, on which the text is readable.",
];
const VALUE: Advice = ["warning", "The declaration is ignored.", "Write the value in px or %."];
const SELECTOR: Advice = ["warning", "The rule is ignored.", "Write the rule into the style attribute of the element."];
const OTHER: Advice = [
  "warning",
  "The mail is shown without it.",
  "Make sure that the mail is right without it, or remove it.",
];

const ADVICE: Record<string, Advice> = {
  "display:flex": BELOW,
  "display:grid": BELOW,
  float: BELOW,
  position: PLACED,
  top: PLACED,
  left: PLACED,
  right: PLACED,
  bottom: PLACED,
  inset: PLACED,
  transform: PLACED,
  gap: GAP,
  "column-gap": GAP,
  "row-gap": GAP,
  "margin-inline": GAP,
  "margin-block": GAP,
  "padding-inline": GAP,
  "padding-block": GAP,
  "<form>": NO_FORM,
  "<select>": NO_FORM,
  "<textarea>": NO_FORM,
  "<video>": PLAYER,
  "<audio>": PLAYER,
  "<object>": PLAYER,
  "<svg>": ["error", "The drawing is missing.", "Use a PNG."],
  "<picture>": ["warning", "The image of its <img> is shown.", "Make sure that this image fits everywhere."],
  animation: STILL,
  "@keyframes": STILL,
  "background-image": [
    "error",
    "The image is missing.",
    "Set a background color, too, on which the text is readable; put what the image says into the text.",
  ],
  "background-size": [
    "warning",
    "The background image has its own size.",
    "Save the image in the size that it is shown in.",
  ],
  "linear-gradient()": GRADIENT,
  "radial-gradient()": GRADIENT,
  "conic-gradient()": GRADIENT,
  "object-fit": ["warning", "The image is stretched.", "Crop the image before uploading it."],
  opacity: ["warning", "The element is fully visible.", "Choose a paler color instead."],
  visibility: ["error", "The element is visible.", "Remove the element."],
  "display:none": ["error", "The element is visible.", "Remove the element, or also set font-size:0 and max-height:0."],
  "var()": ["error", "The declaration is ignored, so the color or size is missing.", "Write the value itself."],
  "rgba()": ["warning", "The color is missing.", "Write the color as #rrggbb."],
  "text-shadow": ["warning", "The text has no shadow.", "Make sure that the text is readable without it."],
  "image/svg": FORMAT,
  "image/webp": FORMAT,
  "image/avif": FORMAT,
  "image/heif": FORMAT,
  "image/tiff": FORMAT,
  "image/mp4": FORMAT,
  "image/base64": ["error", "The image is missing.", "Upload the image and use its address."],
  "@import": ["warning", "The style sheet is not loaded.", "Write its rules into the mail."],
};

function general(feature: string): Advice {
  if (feature.endsWith("()") || feature.startsWith("unit ")) return VALUE;
  if (feature.startsWith(":")) return SELECTOR;
  return feature.startsWith("image/") ? FORMAT : OTHER;
}

const nameOf = (feature: string): string => {
  if (feature.startsWith("unit ")) return `the unit ${feature.slice("unit ".length)}`;
  if (feature.startsWith("image/")) return `${feature.slice("image/".length)} images`;
  return feature.startsWith("[") ? `the attribute ${feature.slice(1, -1)}` : feature;
};

const and = new Intl.ListFormat("en", { type: "conjunction" });

export function adviceFor(
  feature: string,
  clients: readonly MailClient[],
): Pick<Finding, "severity" | "message" | "fix"> {
  const [severity, seen, fix] = ADVICE[feature] ?? general(feature);
  const who = and.format(clients.map((client) => CLIENT_NAMES[client]));
  const verb = clients.length === 1 ? "does" : "do";
  return { severity, message: `${who} ${verb} not support ${nameOf(feature)}. ${seen}`, fix };
}
