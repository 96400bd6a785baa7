import { dateRules, type DateRules } from './rule-kinds';
import type { RuledType } from './rules';
import { scalar } from './scalar';

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?$/i;
/**
 * A date as JSON.stringify writes it, from the year 1000 on: `Date.UTC` takes years below 100 as those of the last
 * century.
 */
const WRITTEN_DATE = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const CLOCK = /^(-)?(?:(\d{1,9})\.)?(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?$/;
/**
 * Writes the pattern of the same forms for clients, whose regular expressions may know less. Durations of up to seven
 * digits of days are safe integers in any case; one that is written may have more days.
 */
const clockPattern = (digitsOfDays: number): string =>
  `^-?([0-9]{1,${digitsOfDays}}[.])?([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,7})?)?$`;
const [DAYS, HOURS, MINUTES, SECONDS] = ['[0-9]{1,7}D', '[0-9]{1,9}H', '[0-9]{1,9}M', '[0-9]{1,9}([.][0-9]{1,9})?S'];
const CLOCK_OF_DURATION = `T${HOURS}(${MINUTES})?(${SECONDS})?|T${MINUTES}(${SECONDS})?|T${SECONDS}`;
const DURATION_PATTERN = `^-?P(${DAYS})?(${CLOCK_OF_DURATION})$|^-?P${DAYS}$`;
const ISO_DURATION = /^(-)?P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?$/i;

/**
 * A point in time (RFC 3339, ISO 8601), as a Date. A time without an offset is UTC, so that it means the same on every
 * machine.
 */
export const dateTime: RuledType<Date, DateRules> = scalar(
  'dateTime',
  {
    described: 'a date and time, for example 2026-11-24T08:30:00Z',
    text: readDateTime,
    // Half the time of `toJSON`, which does the same for a valid date.
    write: value => (isValidDate(value) && value.toJSON === Date.prototype.toJSON ? value.toISOString() : value),
    schema: { type: 'string', format: 'date-time' },
  },
  dateRules(
    'a Date, or the text of a date and time',
    limit => (typeof limit === 'string' ? readDateTime(limit) : limit)?.getTime(),
    (value: Date) => value.getTime(),
  ),
);

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Returns a day of the calendar as text, `2026-11-28`; undefined for a text that names none. */
function readDate(text: string): string | undefined {
  const trimmed = text.trim();
  return DAY.test(trimmed) && readDateTime(trimmed) ? trimmed : undefined;
}

/** A day (RFC 3339, full-date), as text: `2026-11-28`. It is the same day in every time zone. */
export const date: RuledType<string, DateRules> = scalar(
  'date',
  {
    described: 'a date, for example 2026-11-28',
    text: readDate,
    json: value => (typeof value === 'string' ? readDate(value) : undefined),
    schema: { type: 'string', format: 'date' },
  },
  dateRules(
    'a Date, or the text of a date',
    limit => (typeof limit === 'string' ? readDate(limit) : readDate(limit.toISOString().slice(0, 10))),
    (value: string) => value,
  ),
);

const TIME = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?';
const WHOLE_TIME = new RegExp(`^${TIME}$`);

/** A time of day without a zone, as text: `08:30` or `08:30:00`. */
export const time: RuledType<string> = scalar('time', {
  described: 'a time, for example 08:30 or 08:30:00',
  text(text) {
    const trimmed = text.trim();
    return WHOLE_TIME.test(trimmed) ? trimmed : undefined;
  },
  schema: { type: 'string', pattern: `^${TIME}$`, examples: ['08:30'] },
});

function readDateTime(text: string): Date | undefined {
  // Fast path for the most common form, what JSON.stringify writes: half the time of `new Date(text)` plus the day
  // check.
  if (WRITTEN_DATE.test(text)) {
    const [year, month, day] = [digitsAt(text, 0) * 100 + digitsAt(text, 2), digitsAt(text, 5), digitsAt(text, 8)];
    const milliseconds = digitsAt(text, 20) * 10 + (digitsAt(text, 21) % 10);
    return ifOnDay(
      day,
      new Date(
        Date.UTC(year, month - 1, day, digitsAt(text, 11), digitsAt(text, 14), digitsAt(text, 17), milliseconds),
      ),
    );
  }
  const match = DATE_TIME.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match;
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  if (!ifOnDay(Number(day), new Date(`${wall}Z`))) return undefined;
  const date = new Date(`${wall}.${fraction.padEnd(3, '0').slice(0, 3)}${offset.toUpperCase()}`);
  // An offset can move the date out of the years with four digits.
  return Number.isNaN(date.getTime()) || date.toISOString().length !== 24 ? undefined : date;
}

const isValidDate = (value: unknown): value is Date => value instanceof Date && !Number.isNaN(value.getTime());

/**
 * Returns undefined for a date that does not exist: Date turns February 30th into March 2nd, and 24:00 into the next
 * day.
 */
function ifOnDay(day: number, date: Date): Date | undefined {
  return date.getUTCDate() === day ? date : undefined;
}

/** Reads a number of two digits. */
const digitsAt = (text: string, at: number): number => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;

/**
 * A duration in milliseconds: `[d.]hh:mm[:ss[.fff]]`, or days, hours, minutes and seconds in ISO 8601, of which only
 * seconds may have a fraction (`P1DT2H`, `PT1.5S`). Written in the first form.
 */
export const timeSpan: RuledType<number> = scalar('timeSpan', {
  described: 'a duration, for example 01:30:00 or PT1H30M',
  text(text) {
    const trimmed = text.trim();
    const clock = CLOCK.exec(trimmed);
    if (clock && !(Number(clock[3]) < 24 && Number(clock[4]) < 60 && Number(clock[5] ?? 0) < 60)) return undefined;
    return total(clock ?? ISO_DURATION.exec(trimmed));
  },
  write: value => (typeof value === 'number' && Number.isFinite(value) ? clockOf(value) : value),
  schema: { type: 'string', pattern: `${clockPattern(7)}|${DURATION_PATTERN}`, examples: ['01:30:00', 'PT1H30M'] },
  writtenSchema: { type: 'string', pattern: clockPattern(9), examples: ['01:30:00'] },
});

function total(match: RegExpExecArray | null): number | undefined {
  if (!match) return undefined;
  const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0, fraction = '0'] = match;
  const ms =
    (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 +
    Number(`0.${fraction}`) * 1_000;
  if (!Number.isSafeInteger(Math.trunc(ms))) return undefined;
  return sign ? -ms : ms;
}

/** Writes a duration, to the tenth of a microsecond. */
function clockOf(ms: number): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const ticks = Math.round((Math.abs(ms) % 1) * 10_000);
  const whole = Math.floor(Math.abs(ms)) + Math.floor(ticks / 10_000);
  const seconds = Math.floor(whole / 1_000);
  const days = Math.floor(seconds / 86_400);
  const clock = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  const fraction = `.${String(whole % 1_000).padStart(3, '0')}${String(ticks % 10_000).padStart(4, '0')}`.replace(
    /\.?0+$/,
    '',
  );
  return `${ms < 0 ? '-' : ''}${days > 0 ? `${days}.` : ''}${clock}${fraction}`;
}
