// Runs a conformance file with the JavaScript client; the list of what is wrong, which should be empty.

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

function scripted(text) {
  const all = bytes(text);
  let at = 0;
  const raw = (count) => {
    if (at + count > all.length) throw new Error("more was drawn than is there");
    return all.slice(at, (at += count));
  };
  raw.left = () => all.length - at;
  return raw;
}

async function compare(found, wrong, name, client, vector, raw) {
  found.reports += 1;
  const report = await client.report(vector.value).catch((error) => utf8(String(error)));
  if (hex(report) !== vector.report || raw.left()) wrong.push(`${name}: ${vector.randomness.slice(0, 8)}`);
}

const utf8 = (text) => new TextEncoder().encode(text);

export async function check(module, data) {
  const found = { reports: 0 }, wrong = [];
  for (const { value, digest } of data.digests) if (String(module.digest(value)) !== digest) wrong.push(`digest ${value}`);
  for (const { key, row, width, value, column } of data.columns) {
    if (module.column(key, row, width, module.digest(value)) !== column) wrong.push(`column ${key} ${row}`);
  }
  for (const { parameters, vectors, refused } of data.protocols) {
    for (const vector of vectors) {
      const raw = scripted(vector.randomness);
      await compare(found, wrong, parameters.protocol, new module.Client(parameters, { raw }), vector, raw);
    }
    for (const value of refused) {
      const said = await new module.Client(parameters).report(value).catch((error) => error);
      if (!(said instanceof module.ClientError)) wrong.push(`${parameters.protocol}: not refused`);
    }
  }
  for (const { parameters, secret, budget, vectors } of data.memory) {
    const memory = new module.ProcessMemory(budget, bytes(secret));
    for (const vector of vectors) {
      const raw = scripted(vector.randomness);
      await compare(found, wrong, `${parameters.protocol} with memory`, new module.Client(parameters, { memory, raw }), vector, raw);
      if ((await memory.spent()) !== vector.spent) wrong.push(`${parameters.protocol}: spent`);
    }
  }
  const { parameters, reports, batch } = data.batch;
  if (hex(new module.Client(parameters).batch(reports.map(bytes))) !== batch) wrong.push("batch");
  return { ...found, wrong };
}

/** Reports of values, all drawn from the system: for tests of how they are distributed. */
export async function manyReports(module, parameters, values) {
  const client = new module.Client(parameters), reports = [];
  for (const value of values) reports.push(await client.report(value));
  return hex(client.batch(reports));
}

/** How many reports a budget allows, and what is refused beyond it. */
export async function spendAll(module, parameters, memory, values) {
  const client = new module.Client(parameters, { memory });
  let reports = 0;
  for (const value of values) {
    try {
      await client.report(value);
      reports += 1;
    } catch (error) {
      return { reports, refused: error instanceof module.BudgetSpent, spent: await memory.spent() };
    }
  }
  return { reports, refused: false, spent: await memory.spent() };
}
