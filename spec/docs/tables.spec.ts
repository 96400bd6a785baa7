import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageOf, pagesIn } from './pages';
import { tableFor } from './tables';

const root = join(__dirname, '../..');
const tables = pagesIn(root).flatMap(({ file, text }) =>
  [...text.matchAll(/^<!-- ([^>]+) -->\n\n?((?:[|-].*\n)*)/gm)].map(([, marker = '', table = '']) => ({
    file,
    marker,
    table: table.trim(),
  })),
);

it('the generated tables are there', () => {
  expect(tables.map(({ marker }) => marker)).toEqual(expect.arrayContaining(['failures', 'events', 'matrix']));
  expect(tables.length).toBeGreaterThanOrEqual(12);
});

it.each(tables)('$file: the table says what the code says: $marker', ({ file, marker, table }) => {
  const made = tableFor(marker);
  // `UPDATE=1 npx jest spec/docs/tables` writes them anew.
  if (process.env['UPDATE'])
    writeFileSync(
      join(root, file),
      pageOf(root, file).text.replace(
        new RegExp(`(<!-- ${marker} -->)\\n\\n?((?:[|-].*\\n)*)`),
        (_, comment: string) => `${comment}\n\n${made}\n${table === '' ? '\n' : ''}`,
      ),
    );
  else expect(table).toBe(made);
});

// The matrix has no sentences.
it.each(tables.filter(({ marker }) => marker !== 'matrix'))('$file: every meaning ends a sentence: $marker', one => {
  const rows = one.table.split('\n');
  expect(rows.filter(row => !/[\w`%)'}\]]\.\)?$/.test(row))).toEqual([]);
});

it('the page of errors has a row for the code of each warning', () => {
  const files = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.ts'),
  );
  const codes = files.flatMap(file => readFileSync(join(root, 'lib', file), 'utf8').match(/'BINDONCE_[A-Z_]+'/g) ?? []);
  const { text } = pageOf(root, 'docs/errors.md');
  expect(codes.length).toBeGreaterThan(5);
  expect(codes.filter(code => !text.includes(`\`${code.slice(1, -1)}\``))).toEqual([]);
});
