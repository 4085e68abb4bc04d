/** Computes the part of an image that is kept from its shape, size and position. */
import type { Crop } from "./images.ts";

export interface Size {
  width: number;
  height: number;
}

/** Width by height; null: the image's own. */
export const SHAPES = { original: null, "1:1": 1, "4:3": 4 / 3, "16:9": 16 / 9, "3:1": 3 } as const;
export type Shape = keyof typeof SHAPES;

export interface Framing {
  shape: Shape;
  /** From 1: as much as fits. */
  zoom: number;
  /** Share of the free room before the part, from 0 to 1. */
  x: number;
  y: number;
}

export const WHOLE: Framing = { shape: "original", zoom: 1, x: 0.5, y: 0.5 };
export const MAX_ZOOM = 4;

export function partOf({ width, height }: Size, { shape, zoom, x, y }: Framing): Crop {
  const ratio = SHAPES[shape] ?? width / height;
  const widest = Math.min(width, height * ratio);
  const part = {
    width: Math.max(1, Math.min(width, Math.round(widest / zoom))),
    height: Math.max(1, Math.min(height, Math.round(widest / ratio / zoom))),
  };
  return { left: Math.round(x * (width - part.width)), top: Math.round(y * (height - part.height)), ...part };
}

const share = (before: number, free: number) => (free > 0 ? before / free : 0.5);

/** The framing that gives about this part. */
export function framingOf({ width, height }: Size, { left, top, ...part }: Crop): Framing {
  const ratio = part.width / part.height;
  const isNear = (wanted: number) => Math.abs(wanted / ratio - 1) < 0.02;
  const shapes = Object.keys(SHAPES) as Shape[];
  const shape = shapes.find((name) => isNear(SHAPES[name] ?? width / height)) ?? "original";
  const zoom = Math.min(width, height * (SHAPES[shape] ?? width / height)) / part.width;
  return { shape, zoom: Math.max(1, zoom), x: share(left, width - part.width), y: share(top, height - part.height) };
}

export const isWhole = (crop: Crop, { width, height }: Size): boolean => crop.width === width && crop.height === height;
