/**
 * Declared features: what is known of a case and of each arm becomes vectors, to the last bit as in Python.
 *
 *     const features = Features.fromJson(await (await fetch("features.json")).text());
 *     const vectors = features.encode({ segment: "gold" }, [{ price: 120 }, { price: 35 }]);
 *
 * `fedbandit features features.toml > features.json` writes the file.
 */

import { placeOf } from "./hash.js";
import { featureOf, lengthOf, numbered, shown } from "./kinds.js";
import type { Declared, Feature } from "./kinds.js";
import type { Values } from "./site.js";

/** What stands in the file. */
interface Told {
  declaration: Declaration;
  /** What all vectors are divided by. */
  divisor: number;
  fingerprint: string;
}

interface Declaration {
  context: Record<string, Declared>;
  arm: Record<string, Declared>;
  cross: Record<string, { of: [string, string]; size?: number; weight: number }>;
  features: { constant: boolean; length: "bound" | "unit"; main: string[]; personal: string[]; hash_to?: number };
  order: { context: string[]; arm: string[]; cross: string[] };
}

/** A feature, and where its coordinates begin in z: one long vector of all features, after the constant 1. */
interface Placed {
  feature: Feature;
  at: number;
}

/** A part of the vectors: a feature by itself, a cross, or the constant. */
interface Block {
  name: string;
  /** Of its coordinates. */
  names: string[];
  terms: Term[];
  /** The length at which it is cut; a cross that is hashed may be longer, all others never are. */
  longest: number;
}

/** Adds factor · z[left] · z[right] to a coordinate of its block. */
interface Term {
  to: number;
  left: number;
  right: number;
  factor: number;
}

export class Features {
  /** By which a federation knows that all its sites have the same features. */
  readonly fingerprint: string;
  /** How many numbers a vector has. */
  readonly dimension: number;
  private readonly context: Placed[];
  private readonly arm: Placed[];
  private readonly coordinates: number; // of z
  private readonly blocks: Block[];
  private readonly width: number; // of a vector before `hash_to`
  private readonly isUnit: boolean;
  /** Where `hash_to` puts each coordinate, and with which sign. */
  private readonly folded: [number, 1 | -1][];

  private constructor({ declaration, divisor, fingerprint }: Told) {
    const { order, features: options } = declaration;
    this.fingerprint = fingerprint;
    this.isUnit = options.length === "unit";
    let at = 1;
    const place = (names: string[], tables: Record<string, Declared>): Placed[] =>
      names.map((name) => {
        const placed = { feature: featureOf(name, tables[name]!), at };
        at += placed.feature.names.length;
        return placed;
      });
    this.context = place(order.context, declaration.context);
    this.arm = place(order.arm, declaration.arm);
    this.coordinates = at;
    const blocks = blocksOf(declaration, [...this.context, ...this.arm], divisor);
    const isPersonal = ({ name }: Block): boolean => options.personal.includes(name);
    this.blocks = [...blocks.filter((block) => !isPersonal(block)), ...blocks.filter(isPersonal)];
    const names = this.blocks.flatMap((block) => block.names);
    const size = options.hash_to;
    this.width = names.length;
    this.folded = size === undefined ? [] : names.map((name) => placeOf(name, size, 1));
    this.dimension = size ?? this.width;
  }

  /** Take the text that `fedbandit features features.toml` prints. */
  static fromJson(text: string): Features {
    const told = JSON.parse(text) as Partial<Told> | null;
    if (!told?.declaration || !told.divisor || !told.fingerprint) {
      throw new Error("this JSON declares no features: write it with `fedbandit features features.toml`");
    }
    return new Features(told as Told);
  }

  /** Return a vector for each arm in a context, or the one that all share where arms have no features of their own. */
  encode(context?: Values, arms?: readonly Values[]): Float64Array[] {
    if (!this.arm.length && arms !== undefined) {
      throw new Error("arms were given, but these features have no [arm]: leave arms out, or declare them");
    }
    const rows = this.arm.length ? arms : [{}];
    if (!rows?.length) {
      throw new Error(`arms must be a list of at least one table, not ${shown(arms)}: give one for each arm`);
    }
    const z = new Float64Array(this.coordinates);
    z[0] = 1;
    spread(this.context, context ?? {}, "context", z);
    return Array.from(rows, (row, k) => {
      spread(this.arm, row, `arms[${k}]`, z);
      return this.folding(this.combined(z));
    });
  }

  /** Return the vector of what stands in z. */
  private combined(z: Float64Array): Float64Array {
    const x = new Float64Array(this.width);
    let first = 0;
    for (const { names, terms, longest } of this.blocks) {
      const block = x.subarray(first, first + names.length);
      for (const { to, left, right, factor } of terms) block[to]! += factor * (z[left]! * z[right]!);
      const length = longest < Infinity ? lengthOf(block) : 0;
      if (length > longest) block.forEach((each, i) => (block[i] = each * (longest / length)));
      first += names.length;
    }
    return this.isUnit ? divided(x, lengthOf(x)) : x;
  }

  /** Hash a whole vector into fewer coordinates, where that is declared. */
  private folding(x: Float64Array): Float64Array {
    if (!this.folded.length) return x;
    const out = new Float64Array(this.dimension);
    this.folded.forEach(([place, sign], i) => (out[place]! += sign * x[i]!));
    return divided(out, Math.max(1, lengthOf(out)));
  }
}

/** Return the blocks of a declaration in their order; all but the personal ones stand where they will. */
function blocksOf({ features: options, cross, order }: Declaration, all: Placed[], divisor: number): Block[] {
  const placed = new Map(all.map((each) => [each.feature.name, each]));
  const constant = { to: 0, left: 0, right: 0, factor: 1 / divisor };
  const blocks: Block[] = options.constant ? [{ name: "", names: ["1"], terms: [constant], longest: Infinity }] : [];
  for (const name of [...options.main, ...order.arm]) {
    const { feature, at } = placed.get(name)!;
    const factor = feature.weight / divisor;
    const terms = feature.names.map((_, i) => ({ to: i, left: at + i, right: 0, factor }));
    blocks.push({ name, names: feature.names, terms, longest: Infinity });
  }
  for (const name of order.cross) {
    const { of, size, weight } = cross[name]!;
    const [one, other] = [placed.get(of[0])!, placed.get(of[1])!];
    const pairs: string[] = [];
    const terms: Term[] = [];
    one.feature.names.forEach((a, i) => {
      other.feature.names.forEach((b, j) => {
        const [to, sign] = size === undefined ? [pairs.length, 1] : placeOf(`${a}*${b}`, size);
        terms.push({ to, left: one.at + i, right: other.at + j, factor: (sign * weight) / divisor });
        pairs.push(`${a}*${b}`);
      });
    });
    if (size === undefined) blocks.push({ name, names: pairs, terms, longest: Infinity });
    else blocks.push({ name, names: numbered(name, size), terms, longest: weight / divisor });
  }
  return blocks;
}

/** Write the coordinates of the values of a row. */
function spread(features: Placed[], row: Values, place: string, z: Float64Array): void {
  if (row === null || typeof row !== "object" || Array.isArray(row)) {
    throw new Error(`${place} must be a table of values, not ${shown(row)}: give an object of names and values`);
  }
  for (const { feature, at } of features) {
    const block = z.subarray(at, at + feature.names.length).fill(0);
    try {
      feature.write(Object.hasOwn(row, feature.name) ? row[feature.name] : null, block);
    } catch (error) {
      throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
    }
  }
}

function divided(x: Float64Array, by: number): Float64Array {
  return by > 0 ? x.map((each) => each / by) : x;
}
