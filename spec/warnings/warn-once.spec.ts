import { warned, warnOnce } from '../../lib/warnings/warn-once';

let emitWarning: jest.SpyInstance;
beforeEach(() => {
  warned.clear();
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => {
  emitWarning.mockRestore();
});

it('a warning is emitted once for each code, with the code', () => {
  warnOnce('BINDONCE_ONE', 'first');
  warnOnce('BINDONCE_ONE', 'again');
  warnOnce('BINDONCE_TWO', 'second');
  expect(emitWarning.mock.calls).toEqual([
    ['first', { code: 'BINDONCE_ONE' }],
    ['second', { code: 'BINDONCE_TWO' }],
  ]);
});

it('a warning about one of several subjects is emitted once for each of them', () => {
  for (const subject of ['id', 'ID', 'id']) warnOnce('BINDONCE_ONE', `There is no ${subject}.`, subject);
  expect(emitWarning.mock.calls.map(([text]: unknown[]) => text)).toEqual(['There is no id.', 'There is no ID.']);
});

it('a code has at most 100 warnings, so that what is remembered of them is bounded', () => {
  for (let index = 0; index < 150; index++) warnOnce('BINDONCE_ONE', `file ${index}`, `file ${index}`);
  warnOnce('BINDONCE_TWO', 'another');
  expect(emitWarning).toHaveBeenCalledTimes(101);
});

it('two copies of the package emit a warning once', () => {
  jest.isolateModules(() => {
    const copy = jest.requireActual<typeof import('../../lib/warnings/warn-once')>('../../lib/warnings/warn-once');
    expect(copy.warnOnce).not.toBe(warnOnce);
    copy.warnOnce('BINDONCE_ONE', 'first');
  });
  warnOnce('BINDONCE_ONE', 'first');
  expect(emitWarning).toHaveBeenCalledTimes(1);
});
