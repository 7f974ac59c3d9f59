/**
 * A policy that a site has saved (`policy.bin`), to decide by in a browser or on a device, without any service.
 *
 *     const policy = Policy.fromBytes(new Uint8Array(await (await fetch("policy.bin")).arrayBuffer()));
 *     const arm = policy.choose([[1, 0], [0, 1]]);
 *
 * With the features of its federation it takes values, as a site does:
 *
 *     const policy = Policy.fromBytes(bytes, Features.fromJson(text));
 *     const arm = policy.choose({ context: { segment: "gold" }, arms: [{ price: 120 }, { price: 35 }] });
 *
 * It decides as the site would have decided when the policy was taken, to the last arm, and learns nothing.
 */

import type { Features } from "./features.js";
import type { Values } from "./site.js";
import { FieldReader } from "./state.js";
import type { ArrayValue, RecordValue } from "./state.js";

const TIE = 1e-9; // scores this close to the best, relative to max(1, |best|), count as equal

/** What is on offer: arms as vectors, or as values with what is known of the case. */
export type Offered = readonly ArrayLike<number>[] | { context?: Values; arms: readonly Values[] };

interface Charter {
  algorithm: string;
  parameters: Record<string, unknown>;
  setting: Record<string, number>;
  /** The fingerprint of the features, where there are some. */
  features?: string;
}

/** A part of an optimistic score: x·estimate + bonus·√(xᵀ inverse x), x being the coordinates from `first` on. */
interface Part {
  first: number;
  estimate: Float64Array;
  inverse: Float64Array;
  bonus: number;
}

export class Policy {
  /** The algorithm, its parameters and the sizes, as the federation has agreed on them. */
  readonly charter: Charter;
  /** The site's number. */
  readonly number: number;
  /** Of the shared model: it counts the coordinator's downloads. */
  readonly version: number;
  /** When it was taken, in seconds since 1970; 0 if the file does not say. */
  readonly taken: number;
  private readonly parts: Part[];
  private readonly explore: number;

  private constructor(file: RecordValue, private readonly features: Features | undefined) {
    if (file.name !== "PolicyFile") throw new Error("these bytes are a state, but not a policy");
    this.charter = JSON.parse(String(file.fields["charter"]));
    this.number = Number(file.fields["number"]);
    this.version = Number(file.fields["version"]);
    this.taken = Number(file.fields["taken"] ?? 0);
    this.parts = ((file.fields["parts"] ?? []) as RecordValue[]).map(partOf);
    this.explore = Number(this.charter.parameters["explore"] ?? 0);
    if (!this.parts.length) {
      throw new Error(
        `this policy of ${this.charter.algorithm} does not choose by optimistic scores, or an older fedbandit wrote it: ` +
          "save it anew, or ask `fedbandit site`",
      );
    }
    const agreed = this.charter.features;
    if (features !== undefined && features.fingerprint !== agreed) {
      throw new Error(
        agreed === undefined
          ? "features are given, and the policy has none: leave them out"
          : `the features have the fingerprint ${features.fingerprint}, and those of the policy ${agreed}: ` +
            "give those of its federation",
      );
    }
  }

  /** Read a policy; `features` are those of its federation, where it has some and values are to be handed in. */
  static fromBytes(data: Uint8Array, features?: Features): Policy {
    return new Policy(new FieldReader(data).record(), features);
  }

  /** How many numbers describe an arm. */
  get dimension(): number {
    return this.charter.setting["dimension"]!;
  }

  /**
   * Return the number of the arm to play, counted from 0. Where the policy explores, that share of choices is drawn with
   * `random`, which gives numbers from 0 to 1.
   */
  choose(offered: Offered, random: () => number = Math.random): number {
    const scores = this.scores(offered);
    if (this.explore > 0 && random() < this.explore) return Math.floor(random() * scores.length);
    let best = scores[0]!;
    for (const score of scores) best = Math.max(best, score);
    const enough = best - TIE * Math.max(1, Math.abs(best));
    return scores.findIndex((score) => score >= enough);
  }

  /** Return what the policy hopes for from each arm. */
  scores(offered: Offered): Float64Array {
    const arms = "arms" in offered ? this.encoded(offered.context, offered.arms) : offered;
    if (!arms.length) throw new Error("arms is empty: give at least one");
    const scores = new Float64Array(arms.length);
    arms.forEach((arm, k) => {
      if (arm.length !== this.dimension) {
        throw new Error(`arm ${k} has ${arm.length} numbers, but ${this.dimension} are needed`);
      }
      for (let i = 0; i < arm.length; i++) {
        if (!Number.isFinite(arm[i]!)) throw new Error(`arm ${k} has ${arm[i]} at place ${i}: give finite numbers`);
      }
      for (const part of this.parts) scores[k]! += hoped(part, arm);
    });
    return scores;
  }

  private encoded(context: Values | undefined, arms: readonly Values[]): Float64Array[] {
    if (this.features === undefined) {
      throw new Error("values were given, but no features: hand them to Policy.fromBytes, or give arms as vectors");
    }
    return this.features.encode(context, arms);
  }
}

/** Sums run from the first coordinate to the last, as in Python: so results are the same to the last bit. */
function hoped({ first, estimate, inverse, bonus }: Part, arm: ArrayLike<number>): number {
  const size = estimate.length;
  let score = 0;
  for (let i = 0; i < size; i++) score += arm[first + i]! * estimate[i]!;
  if (bonus === 0) return score;
  const product = new Float64Array(size);
  for (let j = 0; j < size; j++) {
    const weight = arm[first + j]!;
    for (let i = 0; i < size; i++) product[i]! += inverse[j * size + i]! * weight;
  }
  let square = 0;
  for (let i = 0; i < size; i++) square += arm[first + i]! * product[i]!;
  return score + bonus * Math.sqrt(Math.max(0, square));
}

function partOf({ fields }: RecordValue): Part {
  return {
    first: Number(fields["first"]),
    estimate: (fields["estimate"] as ArrayValue).numbers,
    inverse: (fields["inverse"] as ArrayValue).numbers,
    bonus: Number(fields["bonus"]),
  };
}
