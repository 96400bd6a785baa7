const times = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const line = index => ({ sku: `sku-${index}`, quantity: index + 1, unitPrice: 4.5 + index });
const id = '0f8fad5b-d9cb-469f-a165-70867728950e';

export const order = items => ({
  id,
  email: 'someone@example.org',
  currency: 'EUR',
  placedAt: '2026-11-21T08:30:00.000Z',
  note: 'second floor',
  discount: 0.05,
  priority: 3,
  gift: false,
  express: true,
  items: times(items, line),
});

export const exactOrder = items => ({ number: 4711, email: 'someone@example.org', items: times(items, line) });

/** Rows of ten properties, one of them a list. */
export const page = (rows, more = {}) =>
  times(rows, index => ({
    id,
    name: `Someone Example ${index}`,
    email: `someone.${index}@example.org`,
    age: index,
    balance: index * 1.25,
    active: index % 2 === 0,
    city: 'Wien',
    country: 'AT',
    note: 'second floor',
    lines: [line(index)],
    ...more,
  }));

export const instances = (rows, { Row, Line }) =>
  rows.map(row => Object.assign(new Row(), { ...row, lines: row.lines.map(one => Object.assign(new Line(), one)) }));
