/** MurmurHash3 in its x86 form of 32 bits, which places texts among coordinates. */

/** Return where the hash of a text places it among `size` coordinates, and with which sign. */
export function placeOf(text: string, size: number, seed = 0): [number, 1 | -1] {
  const hash = murmur3(new TextEncoder().encode(text), seed);
  return [Math.abs(hash) % size, hash >= 0 ? 1 : -1];
}

/** Return the hash of bytes as a signed number of 32 bits. */
function murmur3(data: Uint8Array, seed: number): number {
  let state = seed;
  const whole = data.length - (data.length % 4);
  for (let i = 0; i < whole; i += 4) {
    state ^= mixed(data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24));
    state = (Math.imul((state << 13) | (state >>> 19), 5) + 0xe6546b64) | 0;
  }
  let word = 0;
  for (let i = data.length - 1; i >= whole; i--) word = (word << 8) | data[i]!;
  state ^= mixed(word) ^ data.length;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return state ^ (state >>> 16);
}

function mixed(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}
