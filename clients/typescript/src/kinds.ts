/** The kinds of features: what each makes of a value. */

import { placeOf } from "./hash.js";
import { logarithm } from "./logarithm.js";

/** What a declaration says of one feature, with every default written out. */
export type Declared = { weight: number } & (
  | { kind: "number"; range: [number, number]; scale: "linear" | "log"; missing: "refuse" | "zero" | "indicator" }
  | { kind: "bins"; edges: number[]; missing: "refuse" | "zero" }
  | { kind: "category"; levels: string[]; unknown: "other" | "zero" | "refuse" }
  | { kind: "hashed" | "text"; size: number }
);

/** One feature of the context or of the arms. */
export interface Feature {
  name: string;
  weight: number;
  /** Of its coordinates. */
  names: string[];
  /** Write the coordinates of a value into `block`, which is 0 throughout; throw a sentence where it is refused. */
  write(value: unknown, block: Float64Array): void;
}

/** Return the feature that a table declares. */
export function featureOf(name: string, declared: Declared): Feature {
  const { names, write } = kindOf(name, declared);
  return { name, weight: declared.weight, names, write };
}

function kindOf(name: string, declared: Declared): Pick<Feature, "names" | "write"> {
  switch (declared.kind) {
    case "number": {
      const scaled = declared.scale === "log" ? logarithm : (value: number) => value;
      const [least, most] = declared.range;
      const [low, high] = [scaled(least), scaled(most)];
      return {
        names: declared.missing === "indicator" ? [name, `${name}?`] : [name],
        write(value, block) {
          const given = numberOf(name, value);
          if (given !== null) block[0] = (2 * scaled(Math.min(Math.max(given, least), most)) - low - high) / (high - low);
          else if (declared.missing === "indicator") block[1] = 1;
          else if (declared.missing === "refuse") throw missing(name);
        },
      };
    }
    case "bins":
      return {
        names: Array.from({ length: declared.edges.length + 1 }, (_, bin) => `${name}[${bin}]`),
        write(value, block) {
          const given = numberOf(name, value);
          if (given !== null) block[declared.edges.filter((edge) => edge <= given).length] = 1;
          else if (declared.missing === "refuse") throw missing(name);
        },
      };
    case "category": {
      const places = new Map(declared.levels.map((level, place) => [level, place]));
      const levels = declared.unknown === "other" ? [...declared.levels, "?"] : declared.levels;
      return {
        names: levels.map((level) => `${name}=${level}`),
        write(value, block) {
          const text = textOf(name, value);
          const place = text === null ? undefined : places.get(text);
          if (place !== undefined) block[place] = 1;
          else if (declared.unknown === "other") block[places.size] = 1;
          else if (declared.unknown === "refuse") throw text === null ? missing(name) : noLevel(name, value);
        },
      };
    }
    case "hashed":
    case "text":
      return {
        names: numbered(name, declared.size),
        write(value, block) {
          const isList = declared.kind === "hashed" && Array.isArray(value);
          for (const each of isList ? value : [value]) {
            const text = textOf(name, each);
            if (text === null) continue;
            if (/\p{Surrogate}/u.test(text)) throw noText(name, value); // half a character, which has no bytes
            for (const part of declared.kind === "text" ? tokens(text) : [text]) {
              const [place, sign] = placeOf(`${name}=${part}`, declared.size);
              block[place]! += sign;
            }
          }
          const length = lengthOf(block);
          if (length > 0) for (let i = 0; i < block.length; i++) block[i]! /= length;
        },
      };
    default:
      throw new Error(`${name} is of a kind that is not known here: was it declared by a newer fedbandit?`);
  }
}

/** Return the names of coordinates that a hash chooses among. */
export function numbered(name: string, size: number): string[] {
  return Array.from({ length: size }, (_, place) => `${name}#${place}`);
}

/** Return the length of a vector, or of its coordinates from `first` to before `last`. */
export function lengthOf(x: Float64Array, first = 0, last = x.length): number {
  let total = 0;
  for (let i = first; i < last; i++) total += x[i]! * x[i]!;
  return Math.sqrt(total);
}

/** Return the runs of ASCII letters, digits and all that is not ASCII, with A to Z in lower case. */
function tokens(text: string): string[] {
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return lower.match(/[a-z0-9\u{80}-\u{10ffff}]+/gu) ?? [];
}

/** Return a value as a number, null where it is missing. */
function numberOf(name: string, value: unknown): number | null {
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  if (typeof value !== "number" && typeof value !== "boolean") {
    throw new Error(`${name} is ${shown(value)}: give a number, or nothing where it is missing`);
  }
  if (!Number.isFinite(Number(value))) throw new Error(`${name} is ${value}: give a finite number`);
  return Number(value);
}

/** Return a value as the text that all languages agree on, null where it is missing. */
function textOf(name: string, value: unknown): string | null {
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") throw noText(name, value);
  if (Number.isInteger(value)) return BigInt(value).toString();
  throw new Error(
    `${name} is ${value}, whose text differs between languages: give a text or a whole number, or declare it a number`,
  );
}

function missing(name: string): Error {
  return new Error(`${name} is missing: give it, or declare what is to stand for it`);
}

function noLevel(name: string, value: unknown): Error {
  return new Error(`${name} is ${shown(value)}, which is none of its levels: add it, or allow others`);
}

function noText(name: string, value: unknown): Error {
  return new Error(`${name} is ${shown(value)}: give a text, a whole number, true or false`);
}

/** Return a value as an error shows it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}...`;
}
