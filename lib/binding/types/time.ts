import { failure, success, type ParseResult, type PropertyType } from './property-type';
import { scalar } from './scalar';

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?$/i;
const CLOCK = /^(-)?(?:(\d{1,7})\.)?(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?$/;
const ISO_DURATION = /^(-)?P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?$/i;

/** A point in time (RFC 3339, ISO 8601), as a Date. A time without an offset is UTC, so that it means the same on every machine. */
export const dateTime: PropertyType<Date> = scalar('dateTime', text => {
  const match = DATE_TIME.exec(text.trim());
  if (!match) return failure;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match;
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const utc = new Date(`${wall}Z`);
  // Date turns February 30th into March 2nd; what is not written back as it was read does not exist.
  if (Number.isNaN(utc.getTime()) || utc.toISOString().slice(0, 19) !== wall) return failure;
  const date = new Date(`${wall}.${fraction.padEnd(3, '0').slice(0, 3)}${offset.toUpperCase()}`);
  return Number.isNaN(date.getTime()) ? failure : success(date);
});

/** A length of time in milliseconds: `[d.]hh:mm[:ss[.fff]]`, or ISO 8601 without years and months (`PT1H30M`). */
export const timeSpan: PropertyType<number> = scalar('timeSpan', text => {
  const trimmed = text.trim();
  const clock = CLOCK.exec(trimmed);
  if (clock && !(Number(clock[3]) < 24 && Number(clock[4]) < 60 && Number(clock[5] ?? 0) < 60)) return failure;
  return total(clock ?? ISO_DURATION.exec(trimmed));
});

function total(match: RegExpExecArray | null): ParseResult<number> {
  if (!match) return failure;
  const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0, fraction = '0'] = match;
  const ms = (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 + Number(`0.${fraction}`) * 1_000;
  return Number.isSafeInteger(Math.trunc(ms)) ? success(sign ? -ms : ms) : failure;
}
