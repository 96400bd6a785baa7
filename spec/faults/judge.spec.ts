import { FLUSHED } from './faults';
import type { Entry } from './journal';
import { judge } from './judge';

type Line = Entry extends infer T ? (T extends Entry ? Omit<T, 'at'> & { readonly at?: number } : never) : never;

/** A journal whose lines are a tenth of a second apart, unless they say when. */
const journal = (...lines: readonly Line[]): Entry[] =>
  lines.map((line, index) => ({ at: 10_000 + 100 * index, ...line }) as Entry);
/** Each process has one request here. */
const started = (run: string, pid = 1, key = 'k'): Line => ({
  what: 'started',
  run,
  pid,
  request: `of ${pid}`,
  key,
  cacheKey: `cached ${key}`,
});
const ended = (run: string, pid = 1, key = 'k'): Line => ({
  what: 'ended',
  run,
  pid,
  request: `of ${pid}`,
  key,
  cacheKey: `cached ${key}`,
});
const told = (kind: string, pid = 1): Line => ({ what: 'told', kind, pid, request: `of ${pid}`, cacheKey: 'cached k' });
const answered = (run: string, more: Partial<Extract<Entry, { what: 'answered' }>> = {}): Line => ({
  what: 'answered',
  key: 'k',
  run,
  status: 201,
  digest: run,
  owner: 'k',
  replayed: true,
  ...more,
});
const fault = (kind: string, pid?: number): Line => ({
  what: 'fault',
  kind,
  until: 10_000,
  ...(pid !== undefined && { pid }),
});
const killed = fault('server killed (kill -9)', 1);
const stopped = (at: number, until: number, pid = 1): Line => ({
  what: 'fault',
  kind: 'server stopped past its lease (SIGSTOP)',
  at,
  until,
  pid,
});
const flushed = (at: number): Line => ({ what: 'fault', kind: FLUSHED, at, until: at });

const verdictOf = (...lines: readonly Line[]): ReturnType<typeof judge> => judge(journal(...lines), { aftermath: 50 });

describe('the judge of a storm', () => {
  it('finds nothing in a run that was published, answered and replayed', () => {
    const { violations, executions, answers } = verdictOf(
      started('a'),
      ended('a'),
      told('executed'),
      answered('a'),
      answered('a'),
    );
    expect({ violations, executions, answers }).toEqual({ violations: [], executions: 1, answers: 2 });
  });

  it.each<[string, RegExp, readonly Line[]]>([
    [
      'a second run while the first goes on',
      /k ran again for no reason/,
      [started('a', 1), started('b', 2), ended('b', 2), ended('a', 1)],
    ],
    [
      'a second run after the first ended',
      /k ran again for no reason/,
      [started('a', 1), ended('a', 1), started('b', 2)],
    ],
    [
      'a second run of what was published, although its process was killed then',
      /k ran again for no reason/,
      [started('a'), ended('a'), told('executed'), killed, started('b', 2)],
    ],
    [
      'a lost lease that nothing explains',
      /k ran again for no reason/,
      [started('a', 1), started('b', 2), told('lease-lost', 1)],
    ],
    [
      'a response that was not stored for no reason',
      /k ran again for no reason/,
      [started('a', 1), told('not-stored', 1), started('b', 2)],
    ],
    [
      'a store fault that hit another process',
      /k ran again for no reason/,
      [started('a', 1), fault('answers of the store dropped', 3), told('lease-lost', 1), started('b', 2)],
    ],
    [
      'a process that was stopped after the second run had begun',
      /k ran again for no reason/,
      [started('a', 1), started('b', 2), stopped(10_500, 10_900), told('lease-lost', 1)],
    ],
    [
      'a process that was killed after the second run had begun',
      /k ran again for no reason/,
      [started('a', 1), started('b', 2), killed],
    ],
    [
      'a process that was stopped long before its handler began',
      /k ran again for no reason/,
      [
        started('a', 1),
        ended('a', 1),
        told('executed', 1),
        stopped(9_000, 9_100, 2),
        stopped(10_150, 10_160, 2),
        { ...started('b', 2), at: 11_000 },
        { ...told('lease-lost', 2), at: 11_100 },
      ],
    ],
    [
      'two answers of one run, although data was flushed',
      /k was answered in two ways by one run/,
      [started('a'), flushed(10_100), answered('a'), answered('a', { digest: 'other' })],
    ],
    [
      'two answers that both pass for the first',
      /k was answered twice as if for the first time/,
      [started('a'), answered('a', { replayed: false }), answered('a', { replayed: false })],
    ],
    [
      'a handler that was not told of its lost lease in time',
      /k ran on, and its signal did not say/,
      [
        started('a', 1),
        fault('store paused (SIGSTOP)'),
        started('b', 2),
        told('executed', 2),
        ended('a', 1),
        told('aborted', 1),
        told('lease-lost', 1),
      ],
    ],
    [
      'two publications',
      /k was published twice/,
      [started('a', 1), started('b', 2), killed, told('executed', 1), told('executed', 2)],
    ],
    [
      'two answers',
      /k was answered in two ways/,
      [started('a'), killed, started('b', 2), answered('a'), answered('b')],
    ],
    [
      'one answer that changes back',
      /k was answered in two ways by one run/,
      [started('a'), answered('a'), answered('a', { digest: 'other' })],
    ],
    [
      'the data of another key',
      /k was answered with the data of other/,
      [started('a'), answered('a', { owner: 'other' })],
    ],
    ['a response of no run', /k was answered with a response of no run of it/, [started('a'), answered('b')]],
    [
      'a conflict although nothing was flushed',
      /k was answered with 409/,
      [started('a'), answered('a', { status: 409 })],
    ],
    ['an error', /k was answered with 500/, [started('a'), answered('a', { status: 500 })]],
    [
      'a flush that came too late to explain an answer',
      /k was answered in two ways/,
      [started('a'), answered('a'), answered('b', { digest: 'b' }), flushed(20_000)],
    ],
    [
      'one cache key for two requests',
      /other and k share one cache key/,
      [started('a'), { what: 'started', run: 'b', pid: 1, request: 'r', key: 'other', cacheKey: 'cached k' }],
    ],
    [
      'a key that was not asked for at the end',
      /k was not answered when it was asked for once more/,
      [started('a'), answered('a'), { what: 'phase', name: 'settled' }],
    ],
    [
      'what a process reports',
      /unhandledRejection: no luck/,
      [{ what: 'breach', detail: 'unhandledRejection: no luck' }],
    ],
    [
      'a request without an answer, and how long the machine stood still meanwhile',
      /no answer \(k\); unplanned pauses in that time: 9500 ms/,
      [
        { what: 'stalled', at: 25_000, ms: 6_000 },
        { what: 'stalled', at: 28_500, ms: 8_000, pid: 1 },
        { what: 'breach', detail: 'no answer', key: 'k', from: 10_000, at: 30_000 },
      ],
    ],
  ])('finds %s', (_title, violation, lines) => {
    expect(verdictOf(...lines).violations).toEqual(expect.arrayContaining([expect.stringMatching(violation)]));
  });

  it.each<[string, readonly Line[]]>([
    ['process killed', [started('a'), killed, started('b', 2), ended('b', 2), told('executed', 2), answered('b')]],
    [
      'lease lost',
      [
        started('a', 1),
        stopped(10_050, 10_900),
        started('b', 2),
        told('executed', 2),
        ended('a', 1),
        told('lease-lost', 1),
        answered('b'),
      ],
    ],
    [
      'lease lost',
      [started('a', 1), stopped(10_050, 10_350), started('b', 2), killed, told('executed', 2), answered('b')],
    ],
    [
      'lease lost',
      [
        started('a', 1),
        fault('store paused (SIGSTOP)'),
        told('aborted', 1),
        told('lease-lost', 1),
        started('b', 2),
        told('executed', 2),
        answered('b'),
      ],
    ],
    [
      'lease lost',
      [
        started('a', 1),
        { what: 'stalled', pid: 1, ms: 700 },
        told('lease-lost', 1),
        started('b', 2),
        told('executed', 2),
        answered('b'),
      ],
    ],
    [
      'lease lost',
      [
        started('a', 1),
        stopped(10_050, 10_350),
        started('b', 2),
        told('lease-lost', 2),
        ended('a', 1),
        told('executed', 1),
        answered('a'),
      ],
    ],
    [
      'lease lost',
      [
        started('a', 1),
        ended('a', 1),
        stopped(10_150, 10_450),
        started('b', 2),
        ended('b', 2),
        told('not-stored', 2),
        told('executed', 1),
        answered('a'),
      ],
    ],
    [
      'lease lost before the handler began',
      [
        started('a', 1),
        ended('a', 1),
        told('executed', 1),
        stopped(10_000, 10_390, 2),
        started('b', 2),
        told('lease-lost', 2),
        answered('a'),
      ],
    ],
    [
      'lease lost before the handler began',
      [
        started('a', 1),
        ended('a', 1),
        told('executed', 1),
        stopped(10_000, 10_390, 2),
        started('b', 2),
        told('not-stored', 2),
        answered('a'),
      ],
    ],
    [
      'response not stored',
      [
        started('a', 1),
        fault('store killed (kill -9)'),
        told('not-stored', 1),
        answered('a'),
        started('b', 2),
        told('executed', 2),
        answered('b'),
      ],
    ],
    [
      'data flushed',
      [
        started('a', 1),
        told('executed', 1),
        answered('a'),
        flushed(10_300),
        started('b', 2),
        told('executed', 2),
        answered('b'),
      ],
    ],
    [
      'data flushed',
      [
        started('a', 1),
        ended('a', 1),
        stopped(10_150, 10_650),
        flushed(10_300),
        started('b', 2),
        ended('b', 2),
        told('executed', 2),
        told('executed', 1),
        answered('b'),
      ],
    ],
  ])('accepts "%s" as a reason', (reason, lines) => {
    const { violations, repeated } = verdictOf(...lines);
    expect({ violations, repeated }).toEqual({ violations: [], repeated: { [reason]: 1 } });
  });

  it('counts runs that overlap', () => {
    expect(
      verdictOf(started('a', 1), stopped(10_050, 10_900), started('b', 2), ended('a', 1), told('lease-lost', 1))
        .overlapping,
    ).toEqual({ 'lease lost': 1 });
    expect(
      verdictOf(started('a', 1), ended('a', 1), stopped(10_050, 10_900), told('lease-lost', 1), started('b', 2))
        .overlapping,
    ).toEqual({});
  });

  it('forgives a request without an answer where the machine stood still for more than half of the time', () => {
    const lines: Line[] = [
      { what: 'stalled', at: 25_000, ms: 12_000 },
      { what: 'breach', detail: 'no answer', key: 'k', from: 10_000, at: 30_000 },
    ];
    expect(verdictOf(...lines).violations).not.toContainEqual(expect.stringMatching(/no answer/));
  });
});
