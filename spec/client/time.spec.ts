import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { answerIn } from '../../lib/client/answer.js';

const NOW = Date.UTC(2026, 10, 22, 12, 0, 0);

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW);
});
afterEach(() => {
  jest.restoreAllMocks();
});

it.each<[string | undefined, number, string?]>([
  ['0', 0],
  [' 7 ', 7_000],
  ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
  ['Sun, 22 Nov 2026 11:59:00 GMT', 0],
  ...['-1', '1.5', 'soon', undefined].map((value): [string | undefined, number] => [value, 0]),
  // Whatever the clock of the client says.
  ['Sun, 22 Nov 2026 18:00:30 GMT', 30_000, 'Sun, 22 Nov 2026 18:00:00 GMT'],
])('Retry-After: %s is %d ms', (...[value, ms, date]) => {
  const headers = { ...(value !== undefined && { 'Retry-After': value }), ...(date !== undefined && { Date: date }) };
  expect(answerIn(new Response(null, { status: 503, headers }), '', 'Replayed').pause).toBe(ms);
});

it('a limit holds although the garbage is collected meanwhile, which Node 20 would take it for', () => {
  const program = `
    const { within } = require('./dist/client/idempotent-fetch.js');
    const never = () => new Promise(() => {});
    within(200, new AbortController().signal, never).catch(error => {
      console.log(error.name);
      process.exit();
    });
    setInterval(gc, 5);`;
  const options = { cwd: join(__dirname, '../..'), encoding: 'utf8', timeout: 20_000 } as const;
  expect(execFileSync(process.execPath, ['--expose-gc', '--eval', program], options)).toBe('TimeoutError\n');
});
