import BigNumber = require('bignumber.js');
import type { Kinds, Row, RuledType } from './rules';
import { scalar } from './scalar';

const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ]((?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?)(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/i;

/** Reads a date, and its time if it has one; undefined for text that is neither, or a date that does not exist. */
function readDateTime(text: string): Date | undefined {
  const { 1: day = '', 2: clock = '00:00', 3: hours, 4: minutes = '00' } = DATE_TIME.exec(text.trim()) ?? [];
  // Of the offsets of ISO 8601, Date reads only those with a colon: +0200 and +02 are +02:00.
  const date = new Date(`${day}T${clock}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
  // Date turns February 30th into March 2nd.
  if ((hours === undefined ? date : new Date(day)).getUTCDate() !== Number(day.slice(8))) return undefined;
  // An offset can move the date out of the years with four digits.
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date : undefined;
}

/** Rules of `dateTime` and `date`. */
export interface DateRules {
  /** The earliest value: a Date, or the text of one. */
  minimum?: Date | string;
  /** The latest value: a Date, or the text of one. */
  maximum?: Date | string;
}

/** Makes the rules of a type of dates. @param read reads the text of a limit, which has this length for a Date. */
function dateRules(
  expects: string,
  length: number,
  read: (limit: string) => Date | string | undefined,
): Kinds<DateRules> {
  const textOf = (limit: unknown): string =>
    limit instanceof Date ? JSON.stringify(limit).slice(1, length + 1) : String(limit);
  const kind = (word: string, isKept: (sign: number) => boolean): Row => ({
    expects,
    accepts: limit => (typeof limit === 'string' || limit instanceof Date) && read(textOf(limit)) !== undefined,
    meaning(limit: Date | string) {
      const shown = typeof limit === 'string' ? limit : limit.toISOString();
      const edge = Number(new Date(read(textOf(limit)) ?? NaN));
      const holds = (value: Date | string): boolean => isKept(Number(new Date(value)) - edge);
      // JSON Schema has no keyword for the limits of dates.
      const schema = { description: `Not ${word} ${shown}.` };
      return { edge: new BigNumber(edge), says: `not be ${word} ${shown}`, holds, schema };
    },
  });
  return { minimum: kind('before', sign => sign >= 0), maximum: kind('after', sign => sign <= 0) };
}

/**
 * A point in time (RFC 3339, ISO 8601), as a Date. A time without an offset is UTC, so that it means the same on every
 * machine.
 */
export const dateTime: RuledType<Date, DateRules> = scalar(
  'dateTime',
  {
    described: 'a date and time, for example 2026-11-24T08:30:00Z',
    text: readDateTime,
    schema: { type: 'string', format: 'date-time' },
  },
  dateRules('a Date, or the text of a date and time', 24, readDateTime),
);

/** Returns a day of the calendar as text, `2026-11-28`; undefined for a text that names none. */
function readDate(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed.length === 10 && readDateTime(trimmed) ? trimmed : undefined;
}

/** A day (RFC 3339, full-date), as text: `2026-11-28`. It is the same day in every time zone. */
export const date: RuledType<string, DateRules> = scalar(
  'date',
  { described: 'a date, for example 2026-11-28', text: readDate, schema: { type: 'string', format: 'date' } },
  dateRules('a Date, or the text of a date', 10, readDate),
);

const TIME = '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$';
const WHOLE_TIME = new RegExp(TIME);

/** A time of day without a zone, as text: `08:30` or `08:30:00`. */
export const time: RuledType<string> = scalar('time', {
  described: 'a time, for example 08:30 or 08:30:00',
  text: text => WHOLE_TIME.exec(text.trim())?.[0],
  schema: { type: 'string', pattern: TIME, examples: ['08:30'] },
});

const CLOCK = /^(-)?(?:(\d{1,9})\.)?([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,7}))?)?$/;
const ISO_DURATION = /^(-)?P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?$/i;
/**
 * The first form for clients, whose regular expressions may know less. Seven digits of days are a safe number of
 * milliseconds in any case.
 */
const CLOCK_PATTERN = '^-?([0-9]{1,7}[.])?([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,7})?)?$';

/**
 * A duration in milliseconds: `[d.]hh:mm[:ss[.fff]]`, or days, hours, minutes and seconds in ISO 8601, of which only
 * seconds may have a fraction (`P1DT2H`, `PT1.5S`). Written in the first form.
 */
export const timeSpan: RuledType<number> = scalar('timeSpan', {
  described: 'a duration, for example 01:30:00 or PT1H30M',
  text(text) {
    const match = CLOCK.exec(text.trim()) ?? ISO_DURATION.exec(text.trim());
    if (!match) return undefined;
    const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0, fraction = '0'] = match;
    const whole = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
    const ms = whole * 1_000 + Number(`0.${fraction}`) * 1_000;
    if (!Number.isSafeInteger(Math.trunc(ms))) return undefined;
    return sign ? -ms : ms;
  },
  write: value => (typeof value === 'number' && Number.isFinite(value) ? clockOf(value) : value),
  schema: { type: 'string', pattern: CLOCK_PATTERN, examples: ['01:30:00'] },
});

/** Writes a duration, to the tenth of a microsecond. */
function clockOf(ms: number): string {
  const ticks = Math.round((Math.abs(ms) % 1) * 10_000);
  const whole = Math.floor(Math.abs(ms)) + Math.floor(ticks / 10_000);
  const days = Math.floor(whole / 86_400_000);
  const clock = new Date(whole % 86_400_000).toISOString().slice(11, 23) + String(ticks % 10_000).padStart(4, '0');
  return `${ms < 0 ? '-' : ''}${days > 0 ? `${days}.` : ''}${clock.replace(/\.?0+$/, '')}`;
}
