/**
 * Reads the bytes in which fedbandit keeps states: a tag and what the tag calls for, little-endian throughout.
 *
 *     "FS" | version u8 | the fedbandit that wrote it: length u8, text | value | crc32 of all before it u32
 */

export interface RecordValue {
  name: string;
  fields: Record<string, Value>;
}

export interface ArrayValue {
  shape: number[];
  numbers: Float64Array;
}

export type Value = null | boolean | number | bigint | string | Uint8Array | ArrayValue | RecordValue | Value[];

const FORMAT = 2;
const DEEPEST = 32;
/** Bytes of one number of each type, and how a view reads it. */
const TYPES: [number, (view: DataView, at: number) => number][] = [
  [1, (view, at) => view.getUint8(at)],
  [8, (view, at) => Number(view.getBigInt64(at, true))],
  [8, (view, at) => view.getFloat64(at, true)],
  [4, (view, at) => view.getFloat32(at, true)],
  [4, (view, at) => view.getInt32(at, true)],
  [8, (view, at) => Number(view.getBigUint64(at, true))],
  [4, (view, at) => view.getUint32(at, true)],
  [2, (view, at) => view.getInt16(at, true)],
  [2, (view, at) => view.getUint16(at, true)],
  [1, (view, at) => view.getInt8(at)],
  [1, (view, at) => view.getUint8(at)],
];

export class FieldReader {
  private readonly view: DataView;
  private readonly end: number;
  private at = 0;

  constructor(private readonly data: Uint8Array) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    this.end = data.byteLength - 4;
    if (this.end < 4 || data[0] !== 0x46 || data[1] !== 0x53) throw new Error("these bytes are no state of fedbandit");
    if (data[2] !== FORMAT) throw new Error(`this state has format ${data[2]}, and ${FORMAT} is known here: save it anew`);
    if (this.view.getUint32(this.end, true) !== crc32(data.subarray(0, this.end))) {
      throw new Error("these bytes were changed or cut: their checksum does not fit");
    }
    this.at = 4 + data[3]!;
  }

  /** Return the record that the bytes stand for. */
  record(): RecordValue {
    const value = this.value(0);
    if (this.at !== this.end) throw new Error("there is more in these bytes than one state");
    if (value === null || typeof value !== "object" || !("fields" in value)) throw new Error("the state is no record");
    return value;
  }

  private value(depth: number): Value {
    if (depth > DEEPEST) throw new Error(`the state is nested more than ${DEEPEST} levels deep`);
    const tag = String.fromCharCode(this.byte());
    if (tag === "N") return null;
    if (tag === "T" || tag === "F") return tag === "T";
    if (tag === "D") return this.view.getFloat64(this.take(8), true);
    if (tag === "G") return this.numbers(1)[0]!;
    if (tag === "A") return this.array();
    if (tag === "R") return this.fields(depth);
    const length = this.length();
    if (tag === "I") return whole(this.bytes(length));
    if (tag === "S") return this.text(length);
    if (tag === "B") return this.bytes(length);
    if (!"LUEM".includes(tag)) throw new Error(`the state has an unknown tag ${tag}: was it written by a newer fedbandit?`);
    return Array.from({ length }, () => this.value(depth + 1));
  }

  private fields(depth: number): RecordValue {
    const name = this.text(this.length());
    const count = this.length();
    const fields: Record<string, Value> = {};
    for (let each = 0; each < count; each++) {
      const field = this.text(this.length());
      fields[field] = this.value(depth + 1);
    }
    return { name, fields };
  }

  private array(): ArrayValue {
    const order = String.fromCharCode(this.byte());
    const type = this.byte();
    const shape = Array.from({ length: this.byte() }, () => Number(this.view.getBigUint64(this.take(8), true)));
    const flat = this.numbers(shape.reduce((all, each) => all * each, 1), type);
    if (order === "F" && shape.length === 2) return { shape, numbers: turned(flat, shape[0]!, shape[1]!) };
    if (order === "F" && shape.length > 2) throw new Error("the state has an array in an order that is not known here");
    return { shape, numbers: flat };
  }

  private numbers(count: number, type = this.byte()): Float64Array {
    const known = TYPES[type];
    if (known === undefined) throw new Error(`the state has numbers of an unknown type ${type}`);
    const [bytes, read] = known;
    const start = this.take(bytes * count);
    return Float64Array.from({ length: count }, (_, each) => read(this.view, start + bytes * each));
  }

  private take(bytes: number): number {
    const start = this.at;
    if (!(bytes <= this.end - start)) throw new Error(`state cut short: ${bytes} bytes expected at byte ${start}`);
    this.at += bytes;
    return start;
  }

  private byte(): number {
    return this.data[this.take(1)]!;
  }

  private length(): number {
    const length = this.view.getUint32(this.take(4), true);
    if (length > this.end - this.at) throw new Error(`state cut short: ${length} items expected at byte ${this.at}`);
    return length;
  }

  private bytes(length: number): Uint8Array {
    const start = this.take(length);
    return this.data.subarray(start, start + length);
  }

  private text(length: number): string {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes(length));
  }
}

/** A whole number of any size, as a number where that is exact. */
function whole(bytes: Uint8Array): number | bigint {
  let value = 0n;
  for (let each = bytes.length - 1; each >= 0; each--) value = value * 256n + BigInt(bytes[each]!);
  const signed = BigInt.asIntN(8 * bytes.length, value);
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
}

function turned(flat: Float64Array, rows: number, columns: number): Float64Array {
  const numbers = new Float64Array(flat.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) numbers[row * columns + column] = flat[column * rows + row]!;
  }
  return numbers;
}

function crc32(data: Uint8Array): number {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
