// Private reports from a browser or from Node: this one module is the whole client.
//
//   import { Client, IndexedMemory } from "./celosia_client.mjs";
//   const client = new Client(parameters, { memory: await IndexedMemory.open("emoji", "8") });
//   await client.send("https://collector.example", [await client.report("smile")], token);
//
// The parameters are public and come from `celosia collect client PROTOCOL.toml`. A value never
// leaves this module: only reports do. All draws compare whole numbers with random bits of WebCrypto,
// so every chance is exactly what the protocol states. With a memory, answers that must not be drawn
// twice are kept, and reports that would cost more than the budget are refused.

const WORD = 1n << 64n, PRIME = (1n << 61n) - 1n;
const u64 = (n) => BigInt.asUintN(64, n);

/** A value that the protocol has no report for, or parameters that are none. */
export class ClientError extends Error {}
/** A new answer would cost more than the device may still spend; nothing was drawn. */
export class BudgetSpent extends ClientError {}

// --- BLAKE2b (RFC 7693), with a key and a personal string

const IV = [0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n];
const SIGMA = ["0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8",
  "905724afe1bc683d", "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a",
  "6fe9b308c2d714a5", "a2847615fb9e3cd0"];

const utf8 = (text) => new TextEncoder().encode(text);
const little = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
function bytesOf(number, size) {
  const found = new Uint8Array(size);
  for (let at = 0; at < size; at++, number >>= 8n) found[at] = Number(number & 255n);
  return found;
}
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export function blake2b(data, size, key = new Uint8Array(0), person = "") {
  const h = [...IV];
  h[0] ^= BigInt(size | (key.length << 8)) | 0x1010000n;
  const personal = new Uint8Array(16);
  personal.set(utf8(person));
  h[6] ^= little(personal.slice(0, 8));
  h[7] ^= little(personal.slice(8));
  const start = key.length ? 128 : 0, total = start + data.length;
  const padded = new Uint8Array(Math.max(128, Math.ceil(total / 128) * 128));
  padded.set(key);
  padded.set(data, start);
  for (let at = 0; at < padded.length; at += 128) {
    const last = at + 128 >= padded.length;
    const m = Array.from({ length: 16 }, (_, i) => little(padded.slice(at + 8 * i, at + 8 * i + 8)));
    const v = [...h, ...IV];
    v[12] ^= BigInt(last ? total : at + 128);
    if (last) v[14] ^= WORD - 1n;
    const turn = (x, by) => u64((x >> by) | (x << (64n - by)));
    const g = (a, b, c, d, x, y) => {
      v[a] = u64(v[a] + v[b] + x); v[d] = turn(v[d] ^ v[a], 32n);
      v[c] = u64(v[c] + v[d]); v[b] = turn(v[b] ^ v[c], 24n);
      v[a] = u64(v[a] + v[b] + y); v[d] = turn(v[d] ^ v[a], 16n);
      v[c] = u64(v[c] + v[d]); v[b] = turn(v[b] ^ v[c], 63n);
    };
    for (let round = 0; round < 12; round++) {
      const s = SIGMA[round % 10], pick = (i) => m[parseInt(s[i], 16)];
      for (let i = 0; i < 4; i++) g(i, i + 4, i + 8, i + 12, pick(2 * i), pick(2 * i + 1));
      for (let i = 0; i < 4; i++) {
        g(i, 4 + ((i + 1) & 3), 8 + ((i + 2) & 3), 12 + ((i + 3) & 3), pick(8 + 2 * i), pick(9 + 2 * i));
      }
    }
    for (let i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
  }
  const found = new Uint8Array(64);
  h.forEach((word, i) => found.set(bytesOf(word, 8), 8 * i));
  return found.slice(0, size);
}

// --- Draws: whole numbers from uniform random bytes, in the order that the protocols state

const systemBytes = (count) => {
  const found = new Uint8Array(count);
  for (let at = 0; at < count; at += 65536) globalThis.crypto.getRandomValues(found.subarray(at, at + 65536));
  return found;
};

class Draws {
  constructor(raw) { this.raw = raw; }
  /** Words of 64 bits, all drawn at once, handed out one by one. */
  words(count) {
    const drawn = this.raw(8 * count);
    let at = 0;
    return () => (at < drawn.length ? little(drawn.subarray(at, (at += 8))) : null);
  }
  /** Exactly uniform below a bound: words beyond its last multiple are drawn again. */
  big(bound) {
    for (;;) {
      const word = this.words(1)();
      if (word < WORD - (WORD % bound)) return word % bound;
    }
  }
  below(bound) { return Number(this.big(BigInt(bound))); }
  /** Coins that show true with a chance of heads / 2^32, four bytes each. */
  tosses(heads, count = 1) {
    const drawn = this.raw(4 * count), view = new DataView(drawn.buffer, drawn.byteOffset);
    return Array.from({ length: count }, (_, at) => view.getUint32(4 * at, true) < heads);
  }
  toss(heads) { return this.tosses(heads)[0]; }
  /** The same from a byte each, and four more for those that the byte does not decide. */
  manyTosses(heads, count) {
    const top = Math.floor(heads / 2 ** 24), rest = heads % 2 ** 24;
    const first = this.raw(count), found = Array.from(first, (byte) => byte < top);
    const undecided = [...first.keys()].filter((at) => first[at] === top);
    const more = this.raw(4 * undecided.length);
    undecided.forEach((at, i) => { found[at] = Number(little(more.subarray(4 * i + 1, 4 * i + 4))) < rest; });
    return found;
  }
}

/** Draws that are the same for the same secret and case. */
function keptDraws(secret, tag) {
  const key = blake2b(tag, 64, secret, "celosia draws");
  let block = 0n, left = [];
  return new Draws((count) => {
    while (left.length < count) left.push(...blake2b(bytesOf(block++, 8), 64, key));
    return Uint8Array.from(left.splice(0, count));
  });
}

// --- Hashing

function mix(number) {
  let word = u64(number + 0x9e3779b97f4a7c15n);
  word = u64((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
  word = u64((word ^ (word >> 27n)) * 0x94d049bb133111ebn);
  return word ^ (word >> 31n);
}

const whole = (value) => typeof value === "bigint" || Number.isSafeInteger(value);

/** 64 bits of a text, bytes or a whole number, as a BigInt. */
export function digest(value) {
  if (whole(value) && BigInt(value) >= -(WORD >> 1n) && BigInt(value) < WORD) return mix(u64(BigInt(value)));
  if (typeof value === "string" && !/\p{Surrogate}/u.test(value)) return little(blake2b(utf8(value), 8, undefined, "celosia text"));
  if (value instanceof Uint8Array) return little(blake2b(value, 8, undefined, "celosia data"));
  throw new ClientError("a value must be a text, bytes or a whole number of 64 bits");
}

/** The column of a digest by one hash function of a family: a polynomial of degree 2. */
export function column(key, row, width, number) {
  const [low, middle, high] = [0, 1, 2].map((place) => little(blake2b(utf8(`${row},${place}`), 8, utf8(key))) % PRIME);
  return Number(((((high || 1n) * number + middle) * number + low) % PRIME) % BigInt(width));
}

// --- Protocols: a report is one number, its lowest bit the first; `recall` is null without a memory

const bitsFor = (options) => (options < 2 ? 0 : (options - 1).toString(2).length);
const numberOf = (bits) => (bits.length ? BigInt("0b" + bits.map(Number).reverse().join("")) : 0n);
const parity = (n) => { let odd = 0; for (; n; n = Math.floor(n / 2)) odd ^= n % 2; return odd; };
const range = (count) => Array.from({ length: count }, (_, at) => at);
const at = (number, start) => BigInt(number) << BigInt(start);

/** 64 tosses: four bits of all lanes at once, then lane by lane from a pool of bits. */
function lanes(next, bound, pool) {
  let undecided = WORD - 1n, found = 0n;
  const bits = bound.toString(2).padStart(32, "0");
  for (let place = 0; place < 4; place++) {
    const drawn = next();
    if (bits[place] === "1") { found |= undecided & ~drawn; undecided &= drawn; } else undecided &= ~drawn;
  }
  const rest = BigInt("0b" + [...bits.slice(4)].reverse().join(""));
  while (undecided) {
    const lane = undecided & -undecided;
    undecided ^= lane;
    if (pool.stock <= 28) { pool.bits = next(); pool.stock = 64; }
    let differs = (pool.bits ^ rest) | (1n << 28n);
    differs &= -differs;
    if (differs & rest) found |= lane;
    const used = differs.toString(2).length;
    pool.bits >>= BigInt(used);
    pool.stock -= used;
  }
  return found;
}

function countMean(p, number, draws) {
  const row = draws.below(p.hashes), groups = Math.ceil(p.width / 64), pool = { bits: 0n, stock: 0 };
  const next = draws.words(68 * groups + Math.min(2 ** 13, 5 * groups));
  let made = 0n;
  for (let group = 0; group < groups; group++) made |= lanes(next, 2 ** 32 - p.heads, pool) << BigInt(64 * group);
  made ^= at(1, column(p.key, row, p.width, number));
  return BigInt.asUintN(p.width, made) | at(row, p.width);
}

function hadamardCountMean(p, number, draws) {
  const row = draws.below(p.hashes), word = draws.words(1)();
  const place = Number((word >> 32n) & BigInt(p.width - 1)), lie = Number(word & 0xffffffffn) >= p.heads;
  const sign = parity(place & column(p.key, row, p.width, number)) ^ Number(lie);
  return BigInt(sign) | at(row, 1) | at(place, 1 + bitsFor(p.hashes));
}

function kary(size, heads, place, draws) {
  const step = 1 + draws.below(size - 1);
  return BigInt(draws.toss(heads) ? place : (place + step) % size);
}

function unary(p, place, size, draws) {
  const bits = draws.manyTosses(p.zero, size);
  bits[place] = draws.toss(p.one);
  return numberOf(bits);
}

function localHashing(p, number, draws) {
  let choice, place, width;
  if (p.pool) {
    choice = draws.below(p.pool);
    place = column(`${p.key}/olh`, choice, p.buckets, number);
    width = bitsFor(p.pool);
  } else {
    choice = little(draws.raw(4));
    width = 32;
    const start = digest(p.key) + 3n * choice, [a, b, c] = [0n, 1n, 2n].map((word) => mix(start + word));
    const found = u64((a + (number >> 32n)) * (b + (number & 0xffffffffn)) + c) >> 32n;
    place = Number((found * BigInt(p.buckets)) >> 32n);
  }
  return BigInt(choice) | (kary(p.buckets, p.heads, place, draws) << BigInt(width));
}

function hadamardResponse(p, own, draws) {
  const row = Math.floor(own / p.blocks) + 1, kept = draws.toss(p.heads);
  let block = own % p.blocks, place = draws.below(p.width);
  const half = draws.below(2 * p.blocks - 1);
  if (!kept && half > 0) block = (block + Math.floor((half + 1) / 2)) % p.blocks;
  else if (parity(row & place) === Number(kept)) place ^= row & -row;
  return BigInt(block * p.width + place);
}

/** So many of the values but one, all sets alike; null where the words do not suffice. */
function floyd(next, values, drawn, own) {
  const chosen = new Set();
  for (let last = values - 1 - drawn; last < values - 1; last++) {
    const bound = BigInt(last + 1);
    let word;
    do { if ((word = next()) === null) return null; } while (word < WORD % bound);
    let other = Number(word % bound);
    other += Number(other >= own);
    chosen.add(chosen.has(other) ? last + Number(last >= own) : other);
  }
  return chosen;
}

function subset(p, own, draws) {
  const values = p.domain.length, kept = draws.toss(p.heads), width = bitsFor(values);
  let chosen = null;
  while (!chosen) chosen = floyd(draws.words(p.size + 8), values, p.size - Number(kept), own);
  if (kept) chosen.add(own);
  const sorted = [...chosen].sort((a, b) => a - b);
  if (p.size * width < values) return sorted.reduce((sum, each, i) => sum | at(each, i * width), 0n);
  return sorted.reduce((sum, each) => sum | at(1, each), 0n);
}

function projective(p, own, draws) {
  const order = BigInt(p.order), size = p.coordinates, kept = draws.toss(p.heads);
  const vectors = order ** BigInt(size - 1), inside = 1n + draws.big(vectors - 1n), outside = draws.big(vectors);
  let free = kept ? inside : outside;
  const starts = range(size + 1).map((after) => (order ** BigInt(after) - 1n) / (order - 1n));
  const after = Math.max(...range(size).filter((each) => starts[each] <= BigInt(own))), first = size - 1 - after;
  const normal = Array(size).fill(0n), made = Array(size).fill(0n);
  let left = BigInt(own) - starts[after];
  normal[first] = 1n;
  for (let place = size - 1; place > first; place--) { normal[place] = left % order; left /= order; }
  for (let place = size - 1; place >= 0; place--) if (place !== first) { made[place] = free % order; free /= order; }
  const sum = made.reduce((all, each, i) => all + each * normal[i], 0n);
  made[first] = (((kept ? 0n : 1n) - sum) % order + order) % order;
  const lead = made.findIndex(Boolean);
  let scale = 1n; // the inverse, by Fermat: the order is prime
  for (let power = order - 2n, base = made[lead]; power > 0n; power >>= 1n, base = (base * base) % order) {
    if (power & 1n) scale = (scale * base) % order;
  }
  return made.slice(lead + 1).reduce((all, each) => all * order + ((each * scale) % order), 0n) + starts[size - 1 - lead];
}

const digits = (listed, base) => listed.reduce((all, each) => all * BigInt(base) + BigInt(each), 0n);

function fragments(p, value, draws) {
  if (typeof value !== "string") throw new ClientError("a value must be a text");
  const alphabet = [...p.alphabet], pad = alphabet[alphabet.length - 1], base = alphabet.length ** p.piece;
  const text = [...value].slice(0, p.length);
  const letters = range(p.length).map((i) => alphabet.indexOf(i < text.length && text[i] !== "\0" ? text[i] : pad));
  if (letters.includes(-1)) throw new ClientError("a value has letters that are not in the alphabet");
  const pieces = range(p.length / p.piece).map((i) => digits(letters.slice(i * p.piece, (i + 1) * p.piece), alphabet.length));
  const group = Math.max(1, Math.floor(63 / bitsFor(base)));
  let number = 0n;
  for (let start = 0; start < pieces.length; start += group) number = mix(number ^ digits(pieces.slice(start, start + group), base));
  const place = draws.below(pieces.length);
  const tagged = BigInt(column(p.tagging, 0, p.tags, number)) * BigInt(base) + pieces[place];
  const words = countMean(p.words, number, draws), tail = countMean(p.fragments, mix(tagged), draws);
  return words | at(tail, p.words.report_bits) | at(place, p.words.report_bits + p.fragments.report_bits);
}

const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const four = (number) => bytesOf(BigInt(number), 4);
const mirror = (byte) => range(8).reduce((sum, bit) => sum | (((byte >> bit) & 1) << (7 - bit)), 0);
/** Bits as they are kept: the first one is the highest of its byte. */
const written = (number, bits) => bytesOf(number, Math.ceil(bits / 8)).map(mirror);
const readBits = (bytes) => little(bytes.map(mirror));

const filter = (p, number, cohort) => range(p.hashes).reduce(
  (sum, row) => sum | at(1, column(`rappor ${p.key}`, cohort * p.hashes + row, p.bits, number)), 0n);
const permanent = (p, number, cohort, draws) => filter(p, number, cohort) ^ numberOf(draws.tosses(p.lies, p.bits));

function rappor(p, value, draws, recall) {
  const number = digest(value);
  let cohort, kept;
  if (!recall) {
    cohort = draws.below(p.cohorts);
    kept = permanent(p, number, cohort, draws);
  } else {
    cohort = Number(little(recall(p, utf8("cohort"), (own) => four(own.below(p.cohorts)), "0")));
    if (p.lasting === null) { // a filter that was not changed must not be kept
      recall(p, new Uint8Array(0), () => new Uint8Array(0), p.price);
      kept = filter(p, number, cohort);
    } else {
      kept = readBits(recall(p, joined(utf8("value"), bytesOf(number, 8)),
        (own) => written(permanent(p, number, cohort, own), p.bits), p.lasting));
    }
  }
  const raw = draws.raw(4 * p.bits), view = new DataView(raw.buffer, raw.byteOffset);
  const sent = range(p.bits).map((i) => view.getUint32(4 * i, true) < p.heads[Number((kept >> BigInt(i)) & 1n)]);
  return BigInt(cohort) | at(numberOf(sent), bitsFor(p.cohorts));
}

function rapporWords(p, value, draws, recall) {
  if (typeof value !== "string") throw new ClientError("a value must be a text");
  const count = p.length / p.gram, pairs = range(count).flatMap((i) => range(count - i - 1).map((j) => [i, i + j + 1]));
  const pair = recall ? Number(little(recall(p, utf8("positions"), (own) => four(own.below(pairs.length)), "0"))) : draws.below(pairs.length);
  const letters = [...value].slice(0, p.length), end = letters.findIndex((each) => ![...p.alphabet].includes(each));
  const known = range(p.length).map((i) => (i < letters.length && (end < 0 || i < end) ? letters[i] : "\0"));
  const [first, second] = pairs[pair].map((i) => known.slice(i * p.gram, (i + 1) * p.gram).join(""));
  const grams = rappor(p.grams, `${pair}:${first}${second}`, draws, recall), words = rappor(p.words, value, draws, recall);
  const head = bitsFor(pairs.length);
  return BigInt(pair) | at(grams, head) | at(words, head + p.grams.report_bits);
}

/** Different buckets: the beginning of a Fisher-Yates shuffle, in rising order. */
function deck(p, draws) {
  const cards = range(p.buckets);
  for (let i = 0; i < p.bits; i++) {
    const other = i + draws.below(p.buckets - i);
    [cards[i], cards[other]] = [cards[other], cards[i]];
  }
  return cards.slice(0, p.bits).sort((a, b) => a - b);
}

function bucketBits(p, value, draws, recall) {
  if (!Number.isSafeInteger(value) || value < 0 || value >= p.buckets) throw new ClientError("a value must be a bucket number of the protocol");
  const answersOf = (own, there) => own.tosses(p.heads, p.bits).map((truly, i) => truly === there[i]);
  let queried, answers;
  if (!recall) {
    queried = deck(p, draws);
    answers = answersOf(draws, queried.map((each) => each === value));
  } else {
    const kept = recall(p, utf8("buckets"), (own) => joined(...deck(p, own).map(four)), "0");
    queried = range(p.bits).map((i) => Number(little(kept.slice(4 * i, 4 * i + 4))));
    const there = queried.map((each) => each === value), found = there.indexOf(true);
    const answer = readBits(recall(p, joined(utf8("case"), four(found < 0 ? p.bits : found)),
      (own) => written(numberOf(answersOf(own, there)), p.bits), p.price));
    answers = range(p.bits).map((i) => (answer >> BigInt(i)) & 1n);
  }
  const width = bitsFor(p.buckets);
  return queried.reduce((sum, place, i) => sum | at(BigInt(place) | at(BigInt(answers[i]), width), i * (width + 1)), 0n);
}

/** To the nearest whole number, halves to the even one. */
function nearest(number) {
  const low = Math.floor(number), over = number - low;
  return over > 0.5 || (over === 0.5 && low % 2) ? low + 1 : low;
}

function oneBit(p, value, draws, recall) {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || Number.isNaN(number)) throw new ClientError("a value must be a number");
  const part = nearest(((Math.min(Math.max(number, p.lower), p.upper) - p.lower) / (p.upper - p.lower)) * 2 ** 32);
  const bit = (own, share, of) => own.below(of) < share === own.toss(p.heads);
  if (!recall) return BigInt(bit(draws, part, 2 ** 32));
  const alpha = little(recall(p, utf8("alpha"), (own) => bytesOf(own.big(1n << 32n), 8), "0"));
  const level = Number((BigInt(part) * BigInt(p.levels) + alpha) >> 32n);
  return BigInt(recall(p, joined(utf8("level"), four(level)), (own) => Uint8Array.of(Number(bit(own, level, p.levels))), p.price)[0]);
}

function prefixTree(p, value, draws) {
  const letters = typeof value === "string" ? [...value] : [], most = p.lengths[p.lengths.length - 1];
  if (p.bits) {
    if (!whole(value) || BigInt(value) < 0n || BigInt(value) >> BigInt(p.bits)) throw new ClientError("a value must be a whole number of the bits of the protocol");
  } else if (typeof value !== "string" || letters.length > most || !letters.every((each) => [...p.alphabet].includes(each))) {
    throw new ClientError("a value must be a text over the alphabet of the protocol");
  }
  const level = draws.below(p.lengths.length), length = p.lengths[level];
  const prefix = p.bits ? BigInt(value) >> BigInt(p.bits - length) : letters.slice(0, length).join("");
  return BigInt(level) | at(encoded(p.oracles[level], prefix, draws, null), 8);
}

function placeOf(p, value) {
  const found = p.domain.indexOf(typeof value === "bigint" ? Number(value) : value);
  if (found < 0) throw new ClientError("the value is not in the domain of the protocol");
  return found;
}

const REMEMBERING = { rappor, "rappor-words": rapporWords, dbitflip: bucketBits, "one-bit-mean": oneBit };
const OTHERS = {
  cms: (p, value, draws) => countMean(p, digest(value), draws),
  hcms: (p, value, draws) => hadamardCountMean(p, digest(value), draws),
  olh: (p, value, draws) => localHashing(p, digest(value), draws),
  sfp: fragments,
  pem: prefixTree,
  grr: (p, value, draws) => kary(p.domain.length, p.heads, placeOf(p, value), draws),
  oue: (p, value, draws) => unary(p, placeOf(p, value), p.domain.length, draws),
  sue: (p, value, draws) => unary(p, placeOf(p, value), p.domain.length, draws),
  hr: (p, value, draws) => hadamardResponse(p, placeOf(p, value), draws),
  ss: (p, value, draws) => subset(p, placeOf(p, value), draws),
  pgr: (p, value, draws) => projective(p, placeOf(p, value), draws),
  cardinality: (p, value, draws) => unary(p, column(`${p.key}/values`, 0, p.buckets, digest(value)), p.buckets, draws),
};
const encoded = (p, value, draws, recall) => (REMEMBERING[p.protocol] ?? OTHERS[p.protocol])(p, value, draws, recall);

/** The side of one device. */
export class Client {
  constructor(parameters, { memory = null, raw = systemBytes } = {}) {
    if (parameters?.form !== "celosia client 1") throw new ClientError("these are no client parameters");
    this.parameters = parameters;
    this.memory = memory;
    this.draws = new Draws(raw);
  }

  /** One private report of a value: all that may leave the device. */
  async report(value) {
    const p = this.parameters, size = Math.ceil(p.report_bits / 8);
    const make = (recall) => {
      if (recall && !(p.protocol in REMEMBERING)) recall(p, new Uint8Array(0), () => new Uint8Array(0), p.price);
      return bytesOf(encoded(p, value, this.draws, recall), size);
    };
    return this.memory ? this.memory.transaction(make) : make(null);
  }

  /** Reports as they travel: 24 bytes, then one report after the other. */
  batch(reports) {
    const p = this.parameters, size = Math.ceil(p.report_bits / 8);
    if (reports.some((each) => each.length !== size)) throw new ClientError("a report has another length than those of the protocol");
    return joined(utf8("CLR1"), four(size), fromHex(p.fingerprint), bytesOf(BigInt(reports.length), 8), ...reports);
  }

  /**
   * Send reports to a collector. Where it has no room (429, 503) or does not answer, they are sent again with the
   * same mark, after a random pause that doubles each time: a batch is never counted twice.
   */
  async send(address, reports, token = "", mark = toHex(systemBytes(16)), tries = 5) {
    const headers = { "Content-Type": "application/octet-stream", "Idempotency-Key": mark };
    if (token) headers.Authorization = `Bearer ${token}`;
    const body = this.batch(reports);
    for (let tried = 1; ; tried++) {
      const found = await fetch(`${address}/v1/reports`, { method: "POST", headers, body }).catch(() => null);
      if (found?.ok) return;
      if (tried >= tries || (found && ![429, 503].includes(found.status)))
        throw new ClientError(found ? `the collector refused the reports (status ${found.status})` : "the collector does not answer");
      const wait = Number(found?.headers.get("Retry-After")) || 5;
      await new Promise((done) => setTimeout(done, 1000 * wait * 2 ** (tried - 1) * (1 + systemBytes(1)[0] / 255)));
    }
  }
}

// --- Memory: kept answers and the budget of a device

const fraction = (text) => { const [top, bottom = "1"] = String(text).split("/"); return [BigInt(top), BigInt(bottom)]; };
function sumOf(one, two) {
  const [a, b] = fraction(one), [c, d] = fraction(two), top = a * d + c * b, bottom = b * d;
  let x = top, y = bottom;
  while (y) [x, y] = [y, x % y];
  return bottom === x ? `${top / x}` : `${top / x}/${bottom / x}`;
}
const exceeds = (one, two) => { const [a, b] = fraction(one), [c, d] = fraction(two); return a * d > c * b; };

function begin(budget, secret) {
  const [top, bottom] = fraction(budget);
  if (top <= 0n || bottom <= 0n) throw new ClientError("a budget is a number above 0, such as \"8\" or \"1/2\"");
  return { form: 1, secret: toHex(secret ?? systemBytes(32)), budget: String(budget), spent: "0", answers: {} };
}

/** Runs one report on a copy of the state; the state after it, or an error and nothing. */
function attempt(state, make) {
  const next = { ...state, answers: { ...state.answers } }, secret = fromHex(state.secret);
  const recall = (p, named, draw, price) => {
    const tag = blake2b(joined(fromHex(p.fingerprint), named), 16, secret, "celosia case"), name = toHex(tag);
    if (named.length && name in next.answers) return fromHex(next.answers[name]);
    next.spent = sumOf(next.spent, price);
    if (exceeds(next.spent, next.budget)) throw new BudgetSpent("the budget of the device does not allow a new answer");
    const answer = draw(keptDraws(secret, tag));
    if (named.length) next.answers[name] = toHex(answer); // without a name it is paid each time
    return answer;
  };
  return [make(recall), next];
}

/** For Node and for tests: it lasts as long as the process. */
export class ProcessMemory {
  constructor(budget, secret) { this.state = begin(budget, secret); }
  async transaction(make) {
    const [report, next] = attempt(this.state, make);
    this.state = next;
    return report;
  }
  async spent() { return this.state.spent; }
}

/** For browsers: one record of IndexedDB, whose transactions wait for one another across tabs. */
export class IndexedMemory {
  static async open(name, budget) {
    const database = await new Promise((done, failed) => {
      const wanted = indexedDB.open("celosia", 1);
      wanted.onupgradeneeded = () => wanted.result.createObjectStore("devices");
      wanted.onsuccess = () => done(wanted.result);
      wanted.onerror = () => failed(wanted.error);
    });
    const memory = new IndexedMemory();
    Object.assign(memory, { database, name });
    await memory.change((state) => {
      if (state && state.budget !== String(budget)) throw new ClientError("the memory has another budget");
      return [null, state ?? begin(budget)];
    });
    return memory;
  }
  /** Reads the record, changes it and writes it in one transaction, on the disk when this ends. */
  change(change) {
    return new Promise((done, failed) => {
      const work = this.database.transaction("devices", "readwrite", { durability: "strict" }), store = work.objectStore("devices");
      let found, reason;
      store.get(this.name).onsuccess = (event) => {
        try {
          const [result, next] = change(event.target.result);
          found = result;
          store.put(next, this.name);
        } catch (error) {
          reason = error;
          work.abort();
        }
      };
      work.oncomplete = () => done(found);
      work.onabort = work.onerror = () => failed(reason ?? work.error);
    });
  }
  transaction(make) { return this.change((state) => attempt(state, make)); }
  spent() { return this.change((state) => [state.spent, state]); }
}
