import { FLUSHED } from './faults';
import type { Answer, Breach, Entry, Execution, Fault, Phase, Row, Stall, Told } from './journal';

/** What the journal of a storm comes to. */
export interface Verdict {
  /** In plain words; none when every promise was kept. */
  readonly violations: readonly string[];
  /** How often a handler was started. */
  readonly executions: number;
  /** Executions after the first of their key, by what explains them. */
  readonly repeated: Readonly<Record<string, number>>;
  /** Pairs of executions of one key that ran at the same time, by what explains them. */
  readonly overlapping: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly stalls: number;
  /** Milliseconds from the end of the faults until every key had its answer. */
  readonly settledMs: number;
}

export interface Bounds {
  /** Milliseconds that a fault is felt after it has ended: reconnecting, and what was queued meanwhile. */
  readonly aftermath: number;
  /** True if handlers commit their orders with their response: then any number of runs may be rolled back. */
  readonly exactlyOnce?: boolean;
  /** True with `whenOwnerDies: 'refuse'`: then nothing runs again, unless the store has forgotten it. */
  readonly refuse?: boolean;
}

/** One run of the handler. */
interface Run {
  readonly run: string;
  readonly request: string;
  readonly pid: number;
  readonly from: number;
  /** When it ended, or its process was killed. */
  until: number;
}

/** Milliseconds in which a process that was stopped does what it was about to do. */
const JUST_RESUMED = 150;

/** Milliseconds that a timer may be late in a process that did not stall. */
const IN_TIME = 120;

/** Everything about one key. */
interface History {
  readonly runs: Run[];
  readonly told: Told[];
  readonly answers: Answer[];
  readonly rows: Row[];
}

/** Reads the journal and says which promises were broken. */
export function judge(entries: readonly Entry[], bounds: Bounds): Verdict {
  return new Judge(entries, bounds).verdict();
}

class Judge {
  private readonly violations: string[] = [];
  private readonly histories = new Map<string, History>();
  private readonly faults: Fault[];
  private readonly flushes: Fault[];
  private readonly stalls: Stall[];
  private readonly kills = new Map<number, number>();
  private readonly repeated: Record<string, number> = {};
  private readonly overlapping: Record<string, number> = {};
  /** When each phase began. */
  private readonly phases = new Map<Phase['name'], number>();

  constructor(
    private readonly entries: readonly Entry[],
    private readonly bounds: Bounds,
  ) {
    this.faults = entries.filter(entry => entry.what === 'fault');
    this.stalls = entries.filter(entry => entry.what === 'stalled');
    this.flushes = this.faults.filter(({ kind }) => kind === FLUSHED);
    for (const entry of entries) if (entry.what === 'phase') this.phases.set(entry.name, entry.at);
    for (const { kind, pid, at } of this.faults)
      if (kind.startsWith('server killed') && pid !== undefined) this.kills.set(pid, at);
  }

  verdict(): Verdict {
    this.gather();
    for (const [key, history] of this.histories) {
      if (this.bounds.exactlyOnce) this.judgeRows(key, history);
      else this.judgeExecutions(key, history);
      this.judgePublications(key, history);
      this.judgeAnswers(key, history);
    }
    this.judgeEnd();
    for (const entry of this.entries) if (entry.what === 'breach') this.judgeBreach(entry);
    const histories = [...this.histories.values()];
    return {
      violations: this.violations,
      executions: histories.reduce((sum, { runs }) => sum + runs.length, 0),
      repeated: this.repeated,
      overlapping: this.overlapping,
      answers: histories.reduce((sum, { answers }) => sum + answers.length, 0),
      faults: countBy(this.faults, ({ kind }) => kind),
      stalls: this.stalls.length,
      settledMs: (this.phases.get('settled') ?? Infinity) - (this.phases.get('calm') ?? 0),
    };
  }

  /** Sorts the journal by key. */
  private gather(): void {
    const keyOf = new Map<string, string>();
    for (const entry of this.entries) {
      if (entry.what === 'started') this.addRun(entry, keyOf);
      else if (entry.what === 'ended') {
        const run = this.history(entry.key).runs.find(({ run: name }) => name === entry.run);
        if (run) run.until = entry.at;
      } else if (entry.what === 'answered') this.history(entry.key).answers.push(entry);
      else if (entry.what === 'row') this.history(entry.key).rows.push(entry);
    }
    for (const entry of this.entries) {
      const key = entry.what === 'told' ? keyOf.get(entry.cacheKey) : undefined;
      if (entry.what === 'told' && key !== undefined) this.history(key).told.push(entry);
    }
  }

  private addRun({ key, cacheKey, run, request, pid, at }: Execution, keyOf: Map<string, string>): void {
    const known = keyOf.get(cacheKey);
    if (known !== undefined && known !== key) this.violations.push(`${key} and ${known} share one cache key`);
    keyOf.set(cacheKey, key);
    this.history(key).runs.push({ run, request, pid, from: at, until: this.kills.get(pid) ?? Infinity });
  }

  private history(key: string): History {
    const history = this.histories.get(key) ?? { runs: [], told: [], answers: [], rows: [] };
    this.histories.set(key, history);
    return history;
  }

  /** A handler runs again only for a reason that the README names. */
  private judgeExecutions(key: string, { runs, told }: History): void {
    runs.sort((a, b) => a.from - b.from);
    for (const [index, next] of runs.entries()) {
      const run = runs[index - 1];
      if (!run) continue;
      const reason = this.reasonFor(run, next, told);
      if (reason === undefined)
        this.violations.push(
          `${key} ran again for no reason: ${describe(run)}, then ${describe(next)}. ${this.happenings(run.from - 2_000, next.from + 1_000, told)}`,
        );
      else {
        this.repeated[reason] = (this.repeated[reason] ?? 0) + 1;
        if (reason === 'lease lost' && run.until > next.from && !this.wasToldInTime(run, next, told))
          this.violations.push(
            `${key} ran on, and its signal did not say that another may run: ${describe(run)}, then ${describe(next)}. ${this.happenings(run.from - 2_000, next.from + 1_000, told)}`,
          );
        if (run.until > next.from) this.overlapping[reason] = (this.overlapping[reason] ?? 0) + 1;
      }
    }
  }

  /** There is one order for each key that was answered, that of the answer, and none or one for any other. */
  private judgeRows(key: string, { runs, answers, rows, told }: History): void {
    const what = (): string => `${runs.map(describe).join(', then ')}. ${this.happenings(0, Infinity, told)}`;
    if (rows.length > 1) this.violations.push(`${key} has ${rows.length} orders: ${what()}`);
    for (const { status, run } of answers)
      if (status === 201 && this.phases.get('settled') !== undefined && rows[0]?.run !== run)
        this.violations.push(`${key} was answered with ${run}, and its order is ${rows[0]?.run ?? 'none'}: ${what()}`);
  }

  /** A handler learns by its own clock that its lease is over, unless its process does not run. */
  private wasToldInTime(run: Run, next: Run, told: readonly Told[]): boolean {
    return (
      this.kills.has(run.pid) ||
      this.wasStopped(run.pid, run.from, next.from + IN_TIME) ||
      told.some(({ kind, request, at }) => kind === 'aborted' && request === run.request && at <= next.from + IN_TIME)
    );
  }

  private reasonFor(run: Run, next: Run, told: readonly Told[]): string | undefined {
    const ofRun = told.filter(({ request }) => request === run.request);
    const tells = (kind: string, before = Infinity): boolean => ofRun.some(one => one.kind === kind && one.at < before);
    const tellsOfNext = (kind: string): boolean => told.some(one => one.request === next.request && one.kind === kind);
    // A run does not learn that its lease was lost while the store is out of reach, and then stores nothing.
    const isNextLost = tellsOfNext('lease-lost') || tellsOfNext('not-stored');
    // The right to run comes some time before the handler; and a run whose lease was flushed away is published at its end if
    // nobody has the key then.
    if (this.flushedBetween(run.from - this.bounds.aftermath, Math.max(next.from, ...ofRun.map(({ at }) => at))))
      return 'data flushed';
    if (this.bounds.refuse) return undefined;
    // What was published stays published.
    if (!tells('executed', next.from)) {
      if ((this.kills.get(run.pid) ?? Infinity) <= next.from) return 'process killed';
      // A process that was stopped learns late that its lease was lost, or never, if it is killed before.
      if (this.troubled(run.pid, run.from, next.from)) {
        if (tells('lease-lost') || this.kills.has(run.pid)) return 'lease lost';
        if (tells('not-stored')) return 'response not stored';
        // One that was stopped publishes its response if the other run has lost the lease in turn by then.
        if (this.wasStopped(run.pid, run.from, next.from) && isNextLost) return 'lease lost';
      }
    }
    // A process can be stopped between its right to run and its handler, and begin after others have run.
    return (this.kills.has(next.pid) || isNextLost) && this.wasStopped(next.pid, next.from - JUST_RESUMED, next.from)
      ? 'lease lost before the handler began'
      : undefined;
  }

  /**
   * At most one run of a key is published, unless the store has lost it meanwhile. A run is published between the end of
   * its handler and the time when it is told: a process can be stopped in between.
   */
  private judgePublications(key: string, { runs, told }: History): void {
    const published = told.filter(({ kind }) => kind === 'executed').sort((a, b) => a.at - b.at);
    const endOf = ({ request, at }: Told): number =>
      Math.min(at, ...runs.filter(run => run.request === request).map(({ until }) => until));
    for (const [index, next] of published.entries()) {
      const before = published[index - 1];
      if (!before) continue;
      const from = Math.min(endOf(before), endOf(next));
      if (!this.flushedBetween(from - this.bounds.aftermath, next.at))
        this.violations.push(
          `${key} was published twice: ${runs.map(describe).join(', then ')}. ${this.happenings(from - 2_000, next.at + 1_000, told)}`,
        );
    }
  }

  /** Everybody who asks for a key gets the same answer, and it is that key's own. */
  private judgeAnswers(key: string, { runs, told, answers }: History): void {
    answers.sort((a, b) => a.at - b.at);
    const names = new Map(runs.map(run => [run.run, run]));
    const digests = new Map<string, string>();
    const firsts = new Set<string>();
    for (const [index, answer] of answers.entries()) {
      const run = names.get(answer.run);
      if (answer.status === 409) {
        // A record without a response is what a flush between the two leaves.
        const isUnknown = this.bounds.refuse && !told.some(({ kind, at }) => kind === 'executed' && at < answer.at);
        if (!isUnknown && !this.flushedBetween((runs[0]?.from ?? 0) - this.bounds.aftermath, answer.at))
          this.violations.push(`${key} was answered with 409`);
        continue;
      }
      if (answer.status !== 201) this.violations.push(`${key} was answered with ${answer.status}`);
      else if (answer.owner !== key) this.violations.push(`${key} was answered with the data of ${answer.owner}`);
      else if (!run) this.violations.push(`${key} was answered with a response of no run of it`);
      if ((digests.get(answer.run) ?? answer.digest) !== answer.digest)
        this.violations.push(`${key} was answered in two ways by one run: ${answer.run}`);
      if (!answer.replayed && firsts.has(answer.run))
        this.violations.push(`${key} was answered twice as if for the first time: ${answer.run}`);
      if (!answer.replayed) firsts.add(answer.run);
      digests.set(answer.run, answer.digest);
      const before = answers
        .slice(0, index)
        .reverse()
        .find(({ status }) => status === 201);
      if (before && before.run !== answer.run && !this.mayDiffer(names.get(before.run), run, answer.at, told))
        this.violations.push(`${key} was answered in two ways: ${before.run}, then ${answer.run}`);
    }
  }

  /** Two runs may both have been answered with when the first was forgotten, or one could not be stored. */
  private mayDiffer(before: Run | undefined, run: Run | undefined, at: number, told: readonly Told[]): boolean {
    if (this.flushedBetween(Math.min(before?.from ?? at, run?.from ?? at) - this.bounds.aftermath, at)) return true;
    return [before, run].some(one =>
      told.some(({ kind, request }) => kind === 'not-stored' && request === one?.request),
    );
  }

  /** What was answered once and was not flushed since is there when it is asked for at the end. */
  private judgeEnd(): void {
    const settled = this.phases.get('settled');
    if (settled === undefined) return;
    const lastFlush = Math.max(0, ...this.flushes.map(({ until }) => until));
    for (const [key, { runs, answers }] of this.histories) {
      // It may have been refused before its first run.
      const begun = Math.min(runs[0]?.from ?? 0, answers[0]?.at ?? Infinity);
      const wasFlushed = begun <= lastFlush + this.bounds.aftermath;
      if (!wasFlushed && !answers.some(({ at }) => at > settled))
        this.violations.push(`${key} was not answered when it was asked for once more`);
    }
  }

  /** What was told and done meanwhile, for whoever looks into a violation. */
  private happenings(from: number, to: number, told: readonly Told[]): string {
    const faults = this.faults.filter(({ at, until }) => until >= from && at <= to);
    return [
      ...told.map(({ kind, pid, at }) => ({ at, text: `${kind} by ${pid}` })),
      ...faults.map(({ kind, pid, at, until }) => ({
        at,
        text: `${kind}${pid === undefined ? '' : ` (${pid})`} until ${until.toFixed(1)}`,
      })),
    ]
      .sort((a, b) => a.at - b.at)
      .map(({ at, text }) => `${at.toFixed(1)} ${text}`)
      .join('; ');
  }

  /** A machine that stood still for more than half of the time has kept the request from being answered. */
  private judgeBreach({ detail, key, from, at }: Breach): void {
    const stoodStill = from === undefined ? 0 : this.stoodStill(from, at);
    if (from !== undefined && stoodStill * 2 > at - from) return;
    const meanwhile = from === undefined ? '' : `; unplanned pauses in that time: ${Math.round(stoodStill)} ms`;
    this.violations.push(`${detail}${key === undefined ? '' : ` (${key})`}${meanwhile}`);
  }

  /** Milliseconds between two times in which some process or the store did not get to run, although nobody had stopped it. */
  private stoodStill(from: number, to: number): number {
    let sum = 0;
    let counted = from;
    for (const { at, ms } of [...this.stalls].sort((a, b) => a.at - a.ms - (b.at - b.ms))) {
      const [begin, end] = [Math.max(at - ms, counted), Math.min(at, to)];
      if (end <= begin) continue;
      sum += end - begin;
      counted = end;
    }
    return sum;
  }

  private flushedBetween(from: number, to: number): boolean {
    return this.flushes.some(({ at, until }) => until >= from && at <= to);
  }

  private wasStopped(pid: number, from: number, to: number): boolean {
    return (
      this.faults.some(
        fault => fault.kind.startsWith('server stopped') && fault.pid === pid && fault.until >= from && fault.at <= to,
      ) || this.stalls.some(stall => stall.pid === pid && stall.at >= from && stall.at - stall.ms <= to)
    );
  }

  private stalled(pid: number, from: number, to: number): boolean {
    return this.stalls.some(
      stall =>
        (stall.pid === undefined || stall.pid === pid) &&
        stall.at + this.bounds.aftermath >= from &&
        stall.at - stall.ms <= to,
    );
  }

  /** Whether something that can cost a process its lease, or keep it from storing, happened to it between two times. */
  private troubled(pid: number, from: number, to: number): boolean {
    return (
      this.faults.some(
        fault =>
          (fault.pid === undefined || fault.pid === pid) &&
          fault.until + this.bounds.aftermath >= from &&
          fault.at <= to,
      ) || this.stalled(pid, from, to)
    );
  }
}

const describe = ({ run, pid, from, until }: Run): string =>
  `${run.slice(0, 8)} by ${pid} from ${from.toFixed(1)} to ${until.toFixed(1)}`;

function countBy<T>(items: readonly T[], name: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[name(item)] = (counts[name(item)] ?? 0) + 1;
  return counts;
}
