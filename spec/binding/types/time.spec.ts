import { dateTime, dto, list, queryParam, timeSpan } from '../../../lib';
import { bind } from '../../support/one-endpoint';

class At extends dto({ at: queryParam(dateTime) }) {}
class For extends dto({ for: queryParam(timeSpan) }) {}
class Json extends dto({ at: dateTime, for: timeSpan }) {}

describe('dateTime', () => {
  it.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T08:30', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21 08:30:15', '2026-11-21T08:30:15.000Z'],
    ['2026-11-21t08:30:15z', '2026-11-21T08:30:15.000Z'],
    ['2026-11-21T08:30:15+02:00', '2026-11-21T06:30:15.000Z'],
    ['2026-11-21T08:30:15.5-05:30', '2026-11-21T14:00:15.500Z'],
    ['2026-11-21T08:30:15+0200', '2026-11-21T06:30:15.000Z'],
    ['2026-11-21T08:30+02', '2026-11-21T06:30:00.000Z'],
    ['2026-11-21T08:30:15.25-0530', '2026-11-21T14:00:15.250Z'],
    ['2026-11-21T08:30:15+0000', '2026-11-21T08:30:15.000Z'],
    ['2026-11-21T08:30:15.123456789Z', '2026-11-21T08:30:15.123Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    [' 2026-11-21 ', '2026-11-21T00:00:00.000Z'],
  ])('reads %j', async (text, iso) => {
    const { dto: bound } = await bind(At, { method: 'GET', path: `/?at=${encodeURIComponent(text)}` });
    expect(bound?.at).toBeInstanceOf(Date);
    expect(bound?.at.toISOString()).toBe(iso);
  });

  it.each([
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-11-31T00:00',
    '2026-11-21T24:00',
    '2026-11-21T08:60',
    '2026-11-21T08:30+99:99',
    '2026-11-21T08:30+2',
    '2026-11-21T08:30+020',
    '2026-11-21T08:30+02:',
    '2026-11-21T08:30+24',
    '2026-11-21+02',
    '21.11.2026',
    '11/21/2026',
    '1700000000000',
    'today',
    '',
    '2026',
    '2026-11-21T08',
  ])('refuses %j', async text => {
    const { status, errors } = await bind(At, { method: 'GET', path: `/?at=${encodeURIComponent(text)}` });
    expect({ status, errors }).toEqual({
      status: 400,
      errors: [
        {
          name: 'at',
          in: 'query',
          detail: `The value "${text}" is not a date and time, for example 2026-11-24T08:30:00Z.`,
        },
      ],
    });
  });
});

describe('timeSpan', () => {
  it.each([
    ['00:01', 60_000],
    ['1:30:00', 5_400_000],
    ['00:00:01.5', 1_500],
    ['2.03:04:05', 183_845_000],
    ['-00:00:01', -1_000],
    ['9999999.00:00', 9_999_999 * 86_400_000],
    ['00:00:00.035', 35],
    ['00:00:00.0005', 0.5],
    ['PT1H30M', 5_400_000],
    ['P1D', 86_400_000],
    ['P1DT0.25S', 86_400_250],
    ['-PT1S', -1_000],
    ['pt2m', 120_000],
  ])('reads %j as %d ms', async (text, ms) => {
    const { dto: bound } = await bind(For, { method: 'GET', path: `/?for=${encodeURIComponent(text)}` });
    expect(bound?.for).toBe(ms);
  });

  it.each(['90', '1.5', '24:00', '00:60', '00:00:60', 'P', 'PT', 'P1Y', 'P1M', '1h', '00:00:00.', ''])(
    'refuses %j',
    async text => {
      const { status, errors } = await bind(For, { method: 'GET', path: `/?for=${encodeURIComponent(text)}` });
      expect({ status, errors }).toEqual({
        status: 400,
        errors: [
          {
            name: 'for',
            in: 'query',
            detail: `The value "${text}" is not a duration, for example 01:30:00 or PT1H30M.`,
          },
        ],
      });
    },
  );

  it('reads every millisecond of a second exactly', async () => {
    const milliseconds = Array.from({ length: 1_000 }, (_, ms) => ms);
    const { dto: bound } = await bind(list(timeSpan), {
      json: milliseconds.map(ms => `00:00:07.${String(ms).padStart(3, '0')}`),
    });
    expect(bound).toEqual(milliseconds.map(ms => 7_000 + ms));
  });
});

it('both are text in JSON, and nothing else', async () => {
  expect((await bind(Json, { json: { at: '2026-11-21', for: '00:01' } })).dto).toEqual({
    at: new Date('2026-11-21T00:00:00Z'),
    for: 60_000,
  });
  expect((await bind(Json, { json: { at: 1_700_000_000_000, for: 60_000 } })).errors.map(({ name }) => name)).toEqual([
    'at',
    'for',
  ]);
});
