import { dto, hasPermission, type BindingOptions, type Claims } from '../../lib';
import { bind } from '../support/one-endpoint';

const optionally = { required: false } as const;
class May extends dto({
  read: hasPermission('read', optionally),
  all: hasPermission('all', optionally),
  letter: hasPermission('r', optionally),
  both: hasPermission('read all', optionally),
}) {}
const NONE = { read: false, all: false, letter: false, both: false };
const ALL = { ...NONE, read: true, all: true };

it.each<[string, unknown, object]>([
  ['words', 'read all', ALL],
  ['words with more space between', ' read  all ', ALL],
  ['a list', ['read', 'all'], ALL],
  ['a Set', new Set(['read', 'all']), ALL],
  ['no words', '', NONE],
  ['nothing', undefined, NONE],
])('the result of permissions(req) may be %s', async (_what, said, held) => {
  const permissions = (() => said) as NonNullable<BindingOptions['permissions']>;
  expect((await bind(May, {}, { permissions })).dto).toEqual(held);
});

// Jest fails a test during which a rejection is left unhandled.
it.each<[string, () => unknown, string]>([
  ['a promise', async () => ['read'], 'not a promise. Look them up in an earlier middleware.'],
  [
    'a promise that is rejected',
    () => Promise.reject(new Error('no directory')),
    'not a promise. Look them up in an earlier middleware.',
  ],
  ['an object', () => ({ read: true }), 'not object.'],
  ['a number', () => 7, 'not number.'],
])('the result of permissions(req) that is %s is an error that says so', async (_what, say, text) => {
  const permissions = say as NonNullable<BindingOptions['permissions']>;
  const { status, response } = await bind(May, {}, { permissions });
  expect([status, response.text]).toEqual([
    500,
    `bindRequest: \`permissions\` must return the names of permissions, for example an array, ${text}`,
  ]);
});

it.each<[string, Claims, object]>([
  ['permissions', { permissions: ['read', 'all'] }, ALL],
  ['Permissions', { Permissions: ['read', 'all'] }, ALL],
  ['PERMISSIONS', { PERMISSIONS: ['read', 'all'] }, ALL],
  ['Scope', { Scope: 'read all' }, ALL],
  ['the exact one before another', { Permissions: ['all'], permissions: ['read'] }, { ...NONE, read: true }],
  ['a scope that is a list', { scope: ['read', 'all', 3] }, ALL],
  ['no permissions before a scope that is a list', { permissions: null, scope: ['read'] }, { ...NONE, read: true }],
  ['permissions before a scope that is a list', { permissions: [], scope: ['read'] }, NONE],
  ['one in another case before the scope', { PERMISSIONS: ['read'], scope: 'all' }, { ...NONE, read: true }],
  [
    'a getter',
    new (class {
      get permissions(): string[] {
        return ['read', 'all'];
      }
    })() as unknown as Claims,
    ALL,
  ],
])('the claim is found in any case: %s', async (_name, claims, held) => {
  expect((await bind(May, {}, { claims: () => claims })).dto).toEqual(held);
});
