import { FLUSHED } from './faults';
import type { Answer, Entry, Execution, Fault, Phase, Stall, Told } from './journal';

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
}

/** One run of the handler. */
interface Run {
  readonly run: string;
  readonly pid: number;
  readonly from: number;
  /** When it ended, or its process was killed. */
  until: number;
}

/** Everything about one key. */
interface History {
  readonly runs: Run[];
  readonly told: Told[];
  readonly answers: Answer[];
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

  constructor(private readonly entries: readonly Entry[], private readonly bounds: Bounds) {
    this.faults = entries.filter(entry => entry.what === 'fault');
    this.stalls = entries.filter(entry => entry.what === 'stalled');
    this.flushes = this.faults.filter(({ kind }) => kind === FLUSHED);
    for (const { kind, pid, at } of this.faults) if (kind.startsWith('server killed') && pid !== undefined) this.kills.set(pid, at);
  }

  verdict(): Verdict {
    this.gather();
    for (const [key, history] of this.histories) {
      this.judgeExecutions(key, history);
      this.judgePublications(key, history);
      this.judgeAnswers(key, history);
    }
    this.judgeEnd();
    for (const entry of this.entries) if (entry.what === 'breach') this.violations.push(`${entry.detail}${entry.key === undefined ? '' : ` (${entry.key})`}`);
    const histories = [...this.histories.values()];
    return {
      violations: this.violations,
      executions: histories.reduce((sum, { runs }) => sum + runs.length, 0),
      repeated: this.repeated,
      overlapping: this.overlapping,
      answers: histories.reduce((sum, { answers }) => sum + answers.length, 0),
      faults: countBy(this.faults, ({ kind }) => kind),
      stalls: this.stalls.length,
      settledMs: (this.phase('settled') ?? Infinity) - (this.phase('calm') ?? 0),
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
    }
    for (const entry of this.entries) {
      const key = entry.what === 'told' ? keyOf.get(entry.cacheKey) : undefined;
      if (entry.what === 'told' && key !== undefined) this.history(key).told.push(entry);
    }
  }

  private addRun({ key, cacheKey, run, pid, at }: Execution, keyOf: Map<string, string>): void {
    const known = keyOf.get(cacheKey);
    if (known !== undefined && known !== key) this.violations.push(`${key} and ${known} share one cache key`);
    keyOf.set(cacheKey, key);
    this.history(key).runs.push({ run, pid, from: at, until: this.kills.get(pid) ?? Infinity });
  }

  private history(key: string): History {
    const history = this.histories.get(key) ?? { runs: [], told: [], answers: [] };
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
      if (reason === undefined) this.violations.push(`${key} ran again for no reason: ${describe(run)}, then ${describe(next)}. ${this.happenings(run.from - 2_000, next.from + 1_000, told)}`);
      else {
        this.repeated[reason] = (this.repeated[reason] ?? 0) + 1;
        if (run.until > next.from) this.overlapping[reason] = (this.overlapping[reason] ?? 0) + 1;
      }
    }
  }

  private reasonFor(run: Run, next: Run, told: readonly Told[]): string | undefined {
    // The right to run comes some time before the handler; and a run whose lease was flushed away is published at its end if
    // nobody has the key then.
    const last = Math.max(next.from, ...told.filter(({ pid, at }) => pid === run.pid && at >= run.from).map(({ at }) => at));
    if (this.flushedBetween(run.from - this.bounds.aftermath, last)) return 'data flushed';
    const tells = (kind: string, before: number, { pid, from }: Run = run): boolean => told.some(one => one.kind === kind && one.pid === pid && one.at >= from && one.at < before);
    // A process can be stopped between its right to run and its handler, and begin after others have run.
    if (this.wasStopped(next.pid, run.from, next.from) && tells('lease-lost', Infinity, next)) return 'lease lost before the handler began';
    // What was published stays published.
    if (tells('executed', next.from)) return undefined;
    if ((this.kills.get(run.pid) ?? Infinity) <= next.from) return 'process killed';
    if (!this.troubled(run.pid, run.from, next.from)) return undefined;
    // A process that was stopped learns late that its lease was lost, or never, if it is killed before.
    if (tells('lease-lost', Infinity) || this.kills.has(run.pid)) return 'lease lost';
    return tells('not-stored', Infinity) ? 'response not stored' : undefined;
  }

  /** At most one run of a key is published, unless the store has lost it meanwhile. */
  private judgePublications(key: string, { told }: History): void {
    const published = told.filter(({ kind }) => kind === 'executed').sort((a, b) => a.at - b.at);
    for (const [index, next] of published.entries()) {
      const before = published[index - 1];
      if (before && !this.flushedBetween(before.at - this.bounds.aftermath, next.at)) this.violations.push(`${key} was published twice`);
    }
  }

  /** Everybody who asks for a key gets the same answer, and it is that key's own. */
  private judgeAnswers(key: string, { runs, told, answers }: History): void {
    answers.sort((a, b) => a.at - b.at);
    const names = new Map(runs.map(run => [run.run, run]));
    for (const [index, answer] of answers.entries()) {
      const run = names.get(answer.run);
      const before = answers[index - 1];
      const firstRun = runs[0]?.from ?? 0;
      if (answer.status === 201 && answer.owner !== key) this.violations.push(`${key} was answered with the data of ${answer.owner}`);
      if (answer.status === 201 && !run) this.violations.push(`${key} was answered with a response of no run of it`);
      if (answer.status !== 201 && !(answer.status === 409 && this.flushedBetween(firstRun, answer.at))) this.violations.push(`${key} was answered with ${answer.status}`);
      if (!before || before.digest === answer.digest || this.flushedBetween(firstRun, answer.at)) continue;
      const wasNotStored = [before, answer].some(one => {
        const its = names.get(one.run);
        return its && told.some(({ kind, pid, at }) => kind === 'not-stored' && pid === its.pid && at >= its.from);
      });
      if (!wasNotStored) this.violations.push(`${key} was answered in two ways: ${before.run}, then ${answer.run}`);
    }
  }

  /** What was answered once and was not flushed since is there when it is asked for at the end. */
  private judgeEnd(): void {
    const settled = this.phase('settled');
    if (settled === undefined) return;
    const lastFlush = Math.max(0, ...this.flushes.map(({ until }) => until));
    for (const [key, { runs, answers }] of this.histories) {
      const wasFlushed = (runs[0]?.from ?? 0) <= lastFlush + this.bounds.aftermath;
      if (!wasFlushed && !answers.some(({ at }) => at > settled)) this.violations.push(`${key} was not answered when it was asked for once more`);
    }
  }

  private phase(name: Phase['name']): number | undefined {
    return this.entries.find(entry => entry.what === 'phase' && entry.name === name)?.at;
  }

  /** What was told and done meanwhile, for whoever looks into a violation. */
  private happenings(from: number, to: number, told: readonly Told[]): string {
    const faults = this.faults.filter(({ at, until }) => until >= from && at <= to);
    return [
      ...told.map(({ kind, pid, at }) => ({ at, text: `${kind} by ${pid}` })),
      ...faults.map(({ kind, pid, at, until }) => ({ at, text: `${kind}${pid === undefined ? '' : ` (${pid})`} until ${until.toFixed(1)}` })),
    ].sort((a, b) => a.at - b.at).map(({ at, text }) => `${at.toFixed(1)} ${text}`).join('; ');
  }

  private flushedBetween(from: number, to: number): boolean {
    return this.flushes.some(({ at, until }) => until >= from && at <= to);
  }

  private wasStopped(pid: number, from: number, to: number): boolean {
    return this.faults.some(fault => fault.kind.startsWith('server stopped') && fault.pid === pid && fault.until >= from && fault.at <= to) || this.stalled(pid, from, to);
  }

  private stalled(pid: number, from: number, to: number): boolean {
    return this.stalls.some(stall => stall.pid === pid && stall.at >= from && stall.at - stall.ms <= to);
  }

  /** Whether something that can cost a process its lease, or keep it from storing, happened to it between two times. */
  private troubled(pid: number, from: number, to: number): boolean {
    return this.faults.some(fault => (fault.pid === undefined || fault.pid === pid) && fault.until + this.bounds.aftermath >= from && fault.at <= to)
      || this.stalled(pid, from, to);
  }
}

const describe = ({ run, pid, from, until }: Run): string => `${run.slice(0, 8)} by ${pid} from ${from.toFixed(1)} to ${until.toFixed(1)}`;

function countBy<T>(items: readonly T[], name: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[name(item)] = (counts[name(item)] ?? 0) + 1;
  return counts;
}
