/** Moves the keyboard's focus after the page is drawn. */
import type { Path } from "./tree.ts";

export const pathText = (path: Path): string => path.join("/");

export const pathOf = (element: Element): Path =>
  (element.getAttribute("data-path") ?? element.getAttribute("data-list") ?? "")
    .split("/")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));

export const blockElement = (path: Path): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-path="${pathText(path)}"]`);

export function focusBlock(path: Path | null): void {
  requestAnimationFrame(() => {
    const element = path && blockElement(path);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  });
}

/** Opens the library of the image block that was just selected. */
export const chooseImage = (): void =>
  void requestAnimationFrame(() => document.querySelector<HTMLElement>(".picture-buttons button")?.click());

export const focusPalette = (): void => document.querySelector<HTMLElement>(".palette button")?.focus();
