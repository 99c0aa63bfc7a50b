/** Types of `celosia_client.mjs`. */

/** Client parameters, as `celosia collect client PROTOCOL.toml -o parameters.json` writes them. */
export interface Parameters {
  readonly form: "celosia client 1";
  readonly protocol: string;
  readonly fingerprint: string;
  readonly report_bits: number;
  readonly price: string;
  readonly [name: string]: unknown;
}

/** A text, a whole number, bytes; any number for the mean of numbers. */
export type Value = string | number | bigint | Uint8Array;

/** Uniform random bytes; anything but WebCrypto's is for tests only. */
export type Raw = (count: number) => Uint8Array;

/** What a device keeps: `ProcessMemory` or `IndexedMemory`. */
export interface Memory {
  /** Runs one report; answers are kept and paid before it ends, or nothing is. */
  transaction(make: (recall: unknown) => Uint8Array): Promise<Uint8Array>;
  /** Epsilon of all answers so far, as a whole number or a fraction such as "5/2". */
  spent(): Promise<string>;
}

export class ClientError extends Error {}
export class BudgetSpent extends ClientError {}

export class Client {
  constructor(parameters: Parameters, options?: { memory?: Memory | null; raw?: Raw });
  readonly parameters: Parameters;
  /** One private report of a value: all that may leave the device. */
  report(value: Value): Promise<Uint8Array>;
  /** Reports as they travel: 24 bytes, then one report after the other. */
  batch(reports: Uint8Array[]): Uint8Array;
  /** Send reports to a collector; again with the same mark where an answer is lost. */
  send(address: string, reports: Uint8Array[], token?: string, mark?: string, tries?: number): Promise<void>;
}

export class ProcessMemory implements Memory {
  constructor(budget: string | number, secret?: Uint8Array);
  transaction(make: (recall: unknown) => Uint8Array): Promise<Uint8Array>;
  spent(): Promise<string>;
}

export class IndexedMemory implements Memory {
  /** The memory of a name; a new one begins with the budget. */
  static open(name: string, budget: string | number): Promise<IndexedMemory>;
  transaction(make: (recall: unknown) => Uint8Array): Promise<Uint8Array>;
  spent(): Promise<string>;
}

/** 64 bits of a text, bytes or a whole number. */
export function digest(value: Value): bigint;
/** The column of a digest by one hash function of a family. */
export function column(key: string, row: number, width: number, number: bigint): number;
export function blake2b(data: Uint8Array, size: number, key?: Uint8Array, person?: string): Uint8Array;
