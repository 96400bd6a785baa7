import { warnOnce } from '../../lib/warnings/warn-once';

it('a warning is emitted once for each code, with the code', () => {
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  warnOnce('BINDONCE_ONE', 'first');
  warnOnce('BINDONCE_ONE', 'again');
  warnOnce('BINDONCE_TWO', 'second');
  expect(emitWarning.mock.calls).toEqual([
    ['first', { code: 'BINDONCE_ONE' }],
    ['second', { code: 'BINDONCE_TWO' }],
  ]);
});
