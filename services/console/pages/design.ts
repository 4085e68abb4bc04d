/** Shows all components of the console on one page. Not available in production. */
import { notFound } from "../../lib/errors.ts";
import { plotOf } from "../plot.ts";
import type { Answer } from "../request.ts";

export function designPage(): Answer {
  if (process.env.NODE_ENV === "production") throw notFound();
  const dates = Array.from({ length: 24 }, (_, hour) => `${hour}:00`);
  const series = { Opened: dates.map((_, n) => 400 - n * 15), Clicked: dates.map((_, n) => 80 - n * 3) };
  return {
    view: "design",
    title: "Components",
    values: {
      plots: [
        plotOf("A day", dates, series, { unit: "Hour" }),
        plotOf("One hour", ["09:00"], { Opened: [12], Clicked: [3] }, { unit: "Hour" }),
        plotOf("Empty", dates, { Opened: dates.map(() => 0) }, { unit: "Hour" }),
      ],
      fields: [
        { name: "plain", label: "Subject", kind: "text", value: "", hint: "Shown in the inbox." },
        { name: "wrong", label: "Email address", kind: "email", value: "no address", hint: "Where replies go." },
        { name: "rtl", label: "الاسم", kind: "text", value: "محمد العربي" },
        { name: "off", label: "Plan", kind: "text", value: "Starter", attributes: { disabled: true } },
        { name: "choice", label: "List", kind: "choice", value: "b", options: [{ value: "b", label: "Newsletter" }] },
        { name: "lines", label: "Description", kind: "lines", value: "" },
        { name: "check", label: "Use as the default", kind: "check", value: true },
      ],
      errors: {
        wrong: ["Enter an email address, such as name@example.com."],
        events: ["Choose at least one event."],
      },
    },
  };
}
