/** Uploads an image to the company's files. */
import { visual as t } from "../messages/visual.ts";
import type { Boot } from "./boot.ts";

type Image = Boot["images"][number];

export async function uploadImage({ paths, formToken }: Boot, file: File): Promise<Image | { problem: string }> {
  const data = new FormData();
  data.append("form_token", formToken);
  data.append("file", file);
  try {
    const response = await fetch(paths.upload, { method: "POST", body: data });
    const answer = (await response.json()) as { url: string; filename: string; sentences: string[] };
    if (!response.ok) return { problem: answer.sentences.join(" ") };
    return { url: answer.url, filename: answer.filename, path: new URL(answer.url).pathname };
  } catch {
    return { problem: t.problems.upload };
  }
}
