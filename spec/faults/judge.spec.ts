import { FLUSHED } from './faults';
import type { Entry } from './journal';
import { judge } from './judge';

type Line = Entry extends infer T ? (T extends Entry ? Omit<T, 'at'> & { readonly at?: number } : never) : never;

const fault = (kind: string, more: Partial<Extract<Entry, { what: 'fault' }>> = {}): Line => ({
  what: 'fault',
  kind,
  until: 10_000,
  ...more,
});
const execution =
  (what: 'started' | 'ended') =>
  (run: string, pid = '1', key = 'k', cacheKey = key): Line => ({
    what,
    run,
    pid: Number(pid),
    // Each process has one request here.
    request: `of ${pid}`,
    key,
    cacheKey: `cached ${cacheKey}`,
  });
const told =
  (kind: string) =>
  (pid = '1'): Line => ({ what: 'told', kind, pid: Number(pid), request: `of ${pid}`, cacheKey: 'cached k' });

/** The lines of a journal by their first word. The words behind it are a run, a process (1 by default), times. */
const lines: Readonly<Record<string, (...words: string[]) => Line>> = {
  started: execution('started'),
  ended: execution('ended'),
  executed: told('executed'),
  aborted: told('aborted'),
  'lease-lost': told('lease-lost'),
  'not-stored': told('not-stored'),
  answered: (run = '', digest = run, owner = 'k', status = '201', first = '') => ({
    ...{ what: 'answered', key: 'k', run, digest, owner },
    status: Number(status),
    replayed: first !== 'first',
  }),
  killed: () => fault('server killed (kill -9)', { pid: 1 }),
  stopped: (at, until, pid = '1') =>
    fault('server stopped past its lease (SIGSTOP)', { at: Number(at), until: Number(until), pid: Number(pid) }),
  flushed: at => fault(FLUSHED, { at: Number(at), until: Number(at) }),
  'store-killed': () => fault('store killed (kill -9)'),
  'store-paused': () => fault('store paused (SIGSTOP)'),
  dropped: pid => fault('answers of the store dropped', { pid: Number(pid) }),
  stalled: (ms, pid) => ({ what: 'stalled', ms: Number(ms), ...(pid !== undefined && { pid: Number(pid) }) }),
  settled: () => ({ what: 'phase', name: 'settled' }),
  unanswered: () => ({ what: 'breach', detail: 'no answer', key: 'k', from: 10_000 }),
  breach: (...words) => ({ what: 'breach', detail: words.join(' ') }),
};

/** What the judge says of a journal. Lines are a tenth of a second apart, unless they say when: `@11000 started a`. */
function verdictOf(text: string): ReturnType<typeof judge> {
  const journal = text.split(', ').map((line, index) => {
    const [, at = String(10_000 + 100 * index), name = '', words = ''] = /^(?:@(\d+) )?(\S+) ?(.*)$/.exec(line) ?? [];
    const made = lines[name]?.(...words.split(' ').filter(Boolean));
    if (!made) throw new Error(`There is no line ${name}`);
    return { at: Number(at), ...made } as Entry;
  });
  return judge(journal, { aftermath: 50 });
}

/** Pairs of lines: what comes of a journal, and the journal. */
const table = (text: string): [title: string, journal: string][] =>
  [...text.matchAll(/^(\S.*)\n {2}(\S.*)$/gm)].map(([, title = '', journal = '']) => [title, journal]);

const VIOLATIONS = `
k ran again for no reason | the first goes on
  started a 1, started b 2, ended b 2, ended a 1
k ran again for no reason | the first has ended
  started a 1, ended a 1, started b 2
k ran again for no reason | what was published is there, although its process was killed then
  started a, ended a, executed, killed, started b 2
k ran again for no reason | nothing explains that the lease was lost
  started a 1, started b 2, lease-lost 1
k ran again for no reason | nothing explains that the response was not stored
  started a 1, not-stored 1, started b 2
k ran again for no reason | a fault of the store hit another process
  started a 1, dropped 3, lease-lost 1, started b 2
k ran again for no reason | the process was stopped after the second run had begun
  started a 1, started b 2, stopped 10500 10900, lease-lost 1
k ran again for no reason | the process was killed after the second run had begun
  started a 1, started b 2, killed
k ran again for no reason | the process was stopped long before its handler began
  started a 1, ended a 1, executed 1, stopped 9000 9100 2, stopped 10150 10160 2, @11000 started b 2, @11100 lease-lost 2
k was answered in two ways by one run | although data was flushed
  started a, flushed 10100, answered a, answered a other
k was answered twice as if for the first time | by one run
  started a, answered a a k 201 first, answered a a k 201 first
k ran on, and its signal did not say | it was not told in time
  started a 1, store-paused, started b 2, executed 2, ended a 1, aborted 1, lease-lost 1
k was published twice | by two processes
  started a 1, started b 2, killed, executed 1, executed 2
k was answered in two ways | by two runs
  started a, killed, started b 2, answered a, answered b
k was answered in two ways by one run | it changes back
  started a, answered a, answered a other
k was answered with the data of other | of another key
  started a, answered a a other
k was answered with a response of no run of it | of nobody
  started a, answered b
k was answered with 409 | although nothing was flushed
  started a, answered a a k 409
k was answered with 500 | an error
  started a, answered a a k 500
k was answered in two ways | the flush came too late to explain it
  started a, answered a, answered b, flushed 20000
other and k share one cache key | of two requests
  started a, started b 1 other k
k was not answered when it was asked for once more | at the end
  started a, answered a, settled
unhandledRejection: no luck | a process reports it
  breach unhandledRejection: no luck
no answer (k); unplanned pauses in that time: 9500 ms | the machine stood still for less than half of the time
  @25000 stalled 6000, @28500 stalled 8000 1, @30000 unanswered
`;

const REASONS = `
process killed
  started a, killed, started b 2, ended b 2, executed 2, answered b
lease lost
  started a 1, stopped 10050 10900, started b 2, executed 2, ended a 1, lease-lost 1, answered b
lease lost
  started a 1, stopped 10050 10350, started b 2, killed, executed 2, answered b
lease lost
  started a 1, store-paused, aborted 1, lease-lost 1, started b 2, executed 2, answered b
lease lost
  started a 1, stalled 700 1, lease-lost 1, started b 2, executed 2, answered b
lease lost
  started a 1, stopped 10050 10350, started b 2, lease-lost 2, ended a 1, executed 1, answered a
lease lost
  started a 1, ended a 1, stopped 10150 10450, started b 2, ended b 2, not-stored 2, executed 1, answered a
lease lost before the handler began
  started a 1, ended a 1, executed 1, stopped 10000 10390 2, started b 2, lease-lost 2, answered a
lease lost before the handler began
  started a 1, ended a 1, executed 1, stopped 10000 10390 2, started b 2, not-stored 2, answered a
response not stored
  started a 1, store-killed, not-stored 1, answered a, started b 2, executed 2, answered b
data flushed
  started a 1, executed 1, answered a, flushed 10300, started b 2, executed 2, answered b
data flushed
  started a 1, ended a 1, stopped 10150 10650, flushed 10300, started b 2, ended b 2, executed 2, executed 1, answered b
`;

describe('the judge of a storm', () => {
  it('finds nothing in a run that was published, answered and replayed', () => {
    const { violations, executions, answers } = verdictOf('started a, ended a, executed, answered a, answered a');
    expect({ violations, executions, answers }).toEqual({ violations: [], executions: 1, answers: 2 });
  });

  it.each(table(VIOLATIONS))('finds %s', (title, journal) => {
    const [violation] = title.split(' | ', 1);
    expect(verdictOf(journal).violations.join('\n')).toContain(violation);
  });

  it.each(table(REASONS))('accepts "%s" as a reason: %s', (reason, journal) => {
    const { violations, repeated } = verdictOf(journal);
    expect({ violations, repeated }).toEqual({ violations: [], repeated: { [reason]: 1 } });
  });

  it('counts runs that overlap', () => {
    const overlap = 'started a 1, stopped 10050 10900, started b 2, ended a 1, lease-lost 1';
    const sequence = 'started a 1, ended a 1, stopped 10050 10900, lease-lost 1, started b 2';
    expect([overlap, sequence].map(one => verdictOf(one).overlapping)).toEqual([{ 'lease lost': 1 }, {}]);
  });

  it('forgives a request without an answer where the machine stood still for more than half of the time', () => {
    const { violations } = verdictOf('@25000 stalled 12000, @30000 unanswered');
    expect(violations.join()).not.toContain('no answer');
  });
});
