/**
 * A text as a QR code (ISO/IEC 18004): bytes, error correction M (15 % of it may be unreadable), versions 1 to 20. What cameras
 * read of a screen needs no more.
 */

/** By version from 1: codewords for correction in each block, and how many blocks there are. */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

/** Of level M, in the bits that name level and mask. */
const LEVEL = 0;

const sizeOf = (version: number): number => 17 + 4 * version;

/** Centres of the small squares, in both directions. */
function alignments(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((4 * version + 4) / (2 * count - 2)) * 2;
  const last = sizeOf(version) - 7;
  return [6, ...Array.from({ length: count - 1 }, (_, n) => last - n * step).reverse()];
}

/** GF(256) with the polynomial of the standard. */
function multiply(x: number, y: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    if ((y >>> bit) & 1) product ^= x;
  }
  return product;
}

function generator(degree: number): number[] {
  const coefficients = [...Array(degree - 1).fill(0), 1] as number[];
  let root = 1;
  for (let n = 0; n < degree; n++) {
    for (let at = 0; at < degree; at++) {
      coefficients[at] = multiply(coefficients[at]!, root) ^ (coefficients[at + 1] ?? 0);
    }
    root = multiply(root, 2);
  }
  return coefficients;
}

function remainder(data: readonly number[], divisor: readonly number[]): number[] {
  const rest = Array(divisor.length).fill(0) as number[];
  for (const byte of data) {
    const factor = byte ^ rest.shift()!;
    rest.push(0);
    for (const [at, coefficient] of divisor.entries()) rest[at] = rest[at]! ^ multiply(coefficient, factor);
  }
  return rest;
}

/** Bits with those of their division by a polynomial behind them. */
function withCheck(value: number, polynomial: number, bits: number): number {
  let rest = value << bits;
  for (let at = 31 - Math.clz32(rest); at >= bits; at = 31 - Math.clz32(rest)) rest ^= polynomial << (at - bits);
  return (value << bits) | rest;
}

/** Dark is true; undefined is free for data. */
type Modules = (boolean | undefined)[][];

function frameOf(version: number): Modules {
  const size = sizeOf(version);
  const modules: Modules = Array.from({ length: size }, () => Array(size).fill(undefined));
  const square = (x: number, y: number, radius: number) => {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const row = modules[y + dy];
        if (!row || x + dx < 0 || x + dx >= size) continue;
        const ring = Math.max(Math.abs(dx), Math.abs(dy));
        row[x + dx] = ring !== 4 && ring !== radius - (radius === 2 ? 1 : 2);
      }
    }
  };
  for (let at = 0; at < size; at++) modules[6]![at] = modules[at]![6] = at % 2 === 0;
  const centres = alignments(version);
  for (const y of centres) {
    for (const x of centres) {
      const isCorner = (x === 6 && y === 6) || (x === 6 && y === size - 7) || (x === size - 7 && y === 6);
      if (!isCorner) square(x, y, 2);
    }
  }
  // With their light edges; the ring next to the edge is the light one.
  for (const [x, y] of [[3, 3] as const, [size - 4, 3] as const, [3, size - 4] as const]) square(x, y, 4);
  if (version >= 7) {
    const bits = withCheck(version, 0x1f25, 12);
    for (let n = 0; n < 18; n++) {
      const [near, far] = [Math.floor(n / 3), size - 11 + (n % 3)];
      modules[near]![far] = modules[far]![near] = ((bits >>> n) & 1) === 1;
    }
  }
  writeFormat(modules, 0);
  return modules;
}

/** Level and mask, twice, and the module that is always dark. */
function writeFormat(modules: Modules, mask: number): void {
  const size = modules.length;
  const bits = withCheck((LEVEL << 3) | mask, 0x537, 10) ^ 0x5412;
  for (let n = 0; n < 15; n++) {
    const dark = ((bits >>> n) & 1) === 1;
    modules[n < 6 ? n : n < 8 ? n + 1 : size - 15 + n]![8] = dark;
    modules[8]![n < 8 ? size - 1 - n : n < 9 ? 7 : 14 - n] = dark;
  }
  modules[size - 8]![8] = true;
}

/** Free places, in the order in which data fills them: two columns at a time, up and down in turn, from the right. */
function* freePlaces(frame: Modules): Generator<[x: number, y: number]> {
  const size = frame.length;
  let isUpward = true;
  for (let right = size - 1; right > 0; right -= 2, isUpward = !isUpward) {
    // The column of the timing pattern holds none.
    if (right === 6) right--;
    for (let n = 0; n < size; n++) {
      const y = isUpward ? size - 1 - n : n;
      for (const x of [right, right - 1]) if (frame[y]![x] === undefined) yield [x, y];
    }
  }
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Long runs of one colour, and squares of four: what makes a code hard to read. */
function badness(modules: Modules): number {
  let sum = 0;
  for (const [y, row] of modules.entries()) {
    for (const at of [(n: number) => row[n], (n: number) => modules[n]![y]]) {
      for (let from = 0, to = 1; from < row.length; from = to++) {
        while (to < row.length && at(to) === at(from)) to++;
        if (to - from >= 5) sum += to - from - 2;
      }
    }
    for (let x = 1; x < row.length && y > 0; x++) {
      const above = modules[y - 1]!;
      if (row[x] === row[x - 1] && row[x] === above[x] && row[x] === above[x - 1]) sum += 3;
    }
  }
  return sum;
}

function codewordsIn(frame: Modules): number {
  const free = frame.reduce((count, row) => count + row.filter((one) => one === undefined).length, 0);
  return Math.floor(free / 8);
}

/** Mode, length, bytes, the end, and filling in turn. */
function dataOf(bytes: Uint8Array, version: number, capacity: number): number[] | undefined {
  const length = version < 10 ? 8 : 16;
  if (4 + length + 8 * bytes.length > 8 * capacity) return undefined;
  const text = [
    "0100",
    bytes.length.toString(2).padStart(length, "0"),
    ...[...bytes].map((byte) => byte.toString(2).padStart(8, "0")),
  ].join("");
  const ended = text.padEnd(Math.min(8 * capacity, text.length + 4), "0");
  const whole = ended.padEnd(Math.ceil(ended.length / 8) * 8, "0");
  const data = (whole.match(/.{8}/g) ?? []).map((bits) => Number.parseInt(bits, 2));
  for (let n = 0; data.length < capacity; n++) data.push(n % 2 === 0 ? 0xec : 0x11);
  return data;
}

/** Data and correction of all blocks, a codeword of each in turn; the last blocks may have one of data more. */
function interleaved(data: readonly number[], version: number): number[] {
  const [correction, blocks] = [CORRECTION[version - 1]!, BLOCKS[version - 1]!];
  const short = Math.floor(data.length / blocks);
  const longer = data.length % blocks;
  const divisor = generator(correction);
  const parts = Array.from({ length: blocks }, (_, n) => {
    const from = n * short + Math.max(0, n - (blocks - longer));
    const part = data.slice(from, from + short + (n >= blocks - longer ? 1 : 0));
    return { part, check: remainder(part, divisor) };
  });
  const columns = (of: (block: (typeof parts)[number]) => number[], length: number) =>
    Array.from({ length }, (_, at) => parts.map((block) => of(block)[at])).flat();
  return [...columns(({ part }) => part, short + 1), ...columns(({ check }) => check, correction)].filter(
    (codeword) => codeword !== undefined,
  );
}

/** Rows of modules, dark ones true; undefined where the text is too long. */
export function qrCode(text: string): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text);
  for (let version = 1; version <= BLOCKS.length; version++) {
    const frame = frameOf(version);
    const capacity = codewordsIn(frame) - CORRECTION[version - 1]! * BLOCKS[version - 1]!;
    const data = dataOf(bytes, version, capacity);
    if (!data) continue;
    const codewords = interleaved(data, version);
    const candidates = MASKS.map((isFlipped, mask) => {
      const modules = frame.map((row) => [...row]);
      let bit = 0;
      for (const [x, y] of freePlaces(frame)) {
        const dark = (((codewords[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1) === 1;
        modules[y]![x] = dark !== isFlipped(x, y);
        bit++;
      }
      writeFormat(modules, mask);
      return modules as boolean[][];
    });
    return candidates.reduce((best, one) => (badness(one) < badness(best) ? one : best));
  }
  return undefined;
}

/** Modules of light around a code, without which cameras do not find it. */
const MARGIN = 4;

/** As one path of an SVG in units of modules, a stroke for each run of dark ones. */
export function qrPath(modules: readonly (readonly boolean[])[]): { size: number; path: string } {
  const runs = modules.flatMap((row, y) => {
    const found: string[] = [];
    for (let from = 0, to = 1; from < row.length; from = to++) {
      while (to < row.length && row[to] === row[from]) to++;
      if (row[from]) found.push(`M${from + MARGIN} ${y + MARGIN}h${to - from}v1h${from - to}z`);
    }
    return found;
  });
  return { size: modules.length + 2 * MARGIN, path: runs.join("") };
}
