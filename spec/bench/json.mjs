/**
 * What reading and writing JSON costs: a serializer context beside `JSON.parse` and `JSON.stringify` for the same text,
 * fast-json-stringify and zod. All in one process, in turns; medians of the CPU time, as a ratio to the first of a table.
 * `node json.mjs [part of a table's title]`
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { serializerContext } from 'bindonce';
import { z } from 'zod';
import * as dtos from './json/dtos.mjs';
import { exactOrder, instances, order, page } from './json/values.mjs';

const peer = createRequire(new URL('./peers/package.json', import.meta.url));
const fastJsonStringify = peer('fast-json-stringify');

const ROUNDS = 15;
/** Milliseconds of CPU time that one subject gets in a round. */
const SHARE = 40;

const cpu = () => process.cpuUsage().user / 1_000;
const median = numbers => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

async function timeOf(work) {
  let count = 0;
  const begun = cpu();
  do {
    for (let index = 0; index < 20; index++) await work();
    count += 20;
  } while (cpu() - begun < SHARE);
  return (1_000 * (cpu() - begun)) / count;
}

/** Prints the CPU time of each subject as a ratio to that of the first. */
async function compare(title, subjects) {
  if (!title.includes(process.argv[2] ?? '')) return;
  const times = Object.fromEntries(Object.keys(subjects).map(name => [name, []]));
  for (const work of Object.values(subjects)) await timeOf(work);
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, work] of Object.entries(subjects)) times[name].push(await timeOf(work));
  const [first] = Object.values(times);
  console.log(`\n| ${title} | CPU time | from, to |\n|---|---|---|`);
  for (const [name, own] of Object.entries(times)) {
    const ratios = own.map((time, round) => time / first[round]);
    const figure = own === first ? `1 (${median(own).toFixed(1)} µs)` : median(ratios).toFixed(2);
    console.log(`| ${name} | ${figure} | ${Math.min(...ratios).toFixed(2)}, ${Math.max(...ratios).toFixed(2)} |`);
  }
}

/** A text must become bytes before it is sent: counting them makes every subject join its pieces. */
const sent = text => Buffer.byteLength(text);

const line = z.object({ sku: z.string(), quantity: z.int32(), unitPrice: z.number() });
const zodOrder = z.object({
  id: z.uuid(),
  email: z.string(),
  currency: z.enum(dtos.currencies),
  placedAt: z.iso.datetime().transform(text => new Date(text)),
  note: z.string().optional(),
  discount: z.number(),
  priority: z.int32(),
  gift: z.boolean(),
  express: z.boolean(),
  items: z.array(line),
});

for (const count of [1, 20, 100]) {
  const text = JSON.stringify(order(count));
  const read = types => {
    const context = serializerContext(types);
    return () => context.read(text);
  };
  await compare(`Reading an order of 10 properties, ${count} items, ${text.length} bytes`, {
    'JSON.parse': () => JSON.parse(text),
    'serializerContext().read()': read({ request: dtos.Order }),
    'JSON.parse and zod 4': () => zodOrder.parse(JSON.parse(text)),
  });
  const exact = JSON.stringify(exactOrder(count));
  const exactly = serializerContext({ request: dtos.ExactOrder });
  await compare(`Reading an order with decimals and a long, ${count} items, ${exact.length} bytes`, {
    'JSON.parse': () => JSON.parse(exact),
    'serializerContext().read()': () => exactly.read(exact),
  });
}

const string = { type: 'string' };
const rowSchema = dated => ({
  type: 'object',
  properties: {
    ...Object.fromEntries(['id', 'name', 'email', 'city', 'country', 'note'].map(name => [name, string])),
    age: { type: 'integer' },
    balance: { type: 'number' },
    active: { type: 'boolean' },
    ...(dated && { at: { type: 'string', format: 'date-time' } }),
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: { sku: string, quantity: { type: 'integer' }, unitPrice: { type: 'number' } },
      },
    },
  },
});

/** What a handler would write itself to leave undeclared properties out. */
const copyOf = ({ id, name, email, age, balance, active, city, country, note, lines, at }) => ({
  id,
  name,
  email,
  age,
  balance,
  active,
  city,
  country,
  note,
  lines: lines.map(({ sku, quantity, unitPrice }) => ({ sku, quantity, unitPrice })),
  ...(at && { at }),
});

for (const count of [1, 100]) {
  for (const [title, Row, rows, isDated] of [
    ['plain objects', dtos.Row, page(count), false],
    ['plain objects with a date each', dtos.DatedRow, page(count, { at: new Date(1_790_000_000_000) }), true],
    ['class instances', dtos.Row, instances(page(count), dtos), false],
    [
      'plain objects with three fields that are not declared',
      dtos.Row,
      page(count, { a: 'secret', b: 1, c: null }),
      false,
    ],
  ]) {
    const types = { responses: { 200: dtos.listOf(Row) } };
    const context = serializerContext(types);
    const stringify = fastJsonStringify({ type: 'array', items: rowSchema(isDated) });
    assert.deepEqual(JSON.parse(context.write(200, rows)), JSON.parse(stringify(rows)));
    await compare(`Writing ${count} rows, ${title}, ${context.write(200, rows).length} bytes`, {
      'JSON.stringify': () => sent(JSON.stringify(rows)),
      'JSON.stringify of copies by hand': () => sent(JSON.stringify(rows.map(copyOf))),
      'serializerContext().write()': () => sent(context.write(200, rows)),
      'fast-json-stringify': () => sent(stringify(rows)),
    });
  }
}
