import type { KeptPromise } from './kept-promise';

const spec = 'spec/idempotency/acceptance/exactly-once.spec.ts';
const unknown = 'spec/idempotency/acceptance/unknown-outcomes.spec.ts';

/** That the application's own data, the response and its record are committed together. */
export const exactlyOnce: readonly KeptPromise[] = [
  {
    promise: 'Of two runs of a key, one of which stalls past its lease, at most one commits.',
    spec,
    title: 'lets one of two commit where a run stalls past its lease',
    mutant: {
      file: 'lib/idempotency/stores/postgres/statements.ts',
      find: 'WHERE r.key = given.key AND r.token = given.token AND NOT r.done RETURNING r.key',
      replace: 'WHERE r.key = given.key AND given.token IS NOT NULL RETURNING r.key',
    },
  },
  {
    promise: 'A work that throws is rolled back, whatever it has written, and a retry runs.',
    spec,
    title: 'rolls back a work that',
    mutant: {
      file: 'lib/idempotency/stores/transactions.ts',
      find: "await client.query('ROLLBACK').catch",
      replace: "await client.query('COMMIT').catch",
    },
  },
  {
    promise: 'The record is written in the transaction of the application, before its COMMIT.',
    spec,
    title: 'gives twenty duplicates of two services one order and one answer',
    mutant: {
      file: 'lib/idempotency/run/commit-with.ts',
      find: 'const rows = statement ? await adapter.execute(tx, statement.text, statement.values) : [];',
      replace: 'const rows = statement ? [1] : await adapter.execute(tx, cacheKey, []);',
    },
  },
  {
    promise: 'Where COMMIT was carried out and its answer was lost, the response is sent.',
    spec,
    title: 'sends the response where COMMIT was carried out and its answer was lost',
    mutant: {
      file: 'lib/idempotency/run/commit-with.ts',
      find: 'return ended ? afterCommit(run, ended, error) :',
      replace: 'return ended && !afterCommit ? afterCommit(run, ended, error) :',
    },
  },
  {
    promise: 'Of a response nothing reaches the client before COMMIT.',
    spec,
    title: 'runs a work again that PostgreSQL rolls back',
    mutant: {
      file: 'lib/idempotency/run/commit-with.ts',
      find: '    draft.discard();\n  }\n}\n\nasync function transact',
      replace: '  }\n}\n\nasync function transact',
    },
  },
  {
    promise: 'derivedKey() is another for each name, key and caller.',
    spec,
    title: 'is the same in each attempt at a request, and another for each name, key and caller',
    mutant: {
      file: 'lib/idempotency/run/request-idempotency.ts',
      find: '.update(JSON.stringify([this.seed, name]))',
      replace: '.update(JSON.stringify([this.key, name]))',
    },
  },
  {
    promise: 'A key on Redis whose process has died with whenOwnerDies: "refuse" never runs again by itself.',
    spec: unknown,
    title: 'a key whose process has died is refused, and never runs again by itself',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: '  lease(ARGV[3], ARGV[4], ARGV[5])\n',
      replace: '  lease(ARGV[3], 0, ARGV[5])\n',
    },
  },
  {
    promise: 'A key in PostgreSQL whose process has died with whenOwnerDies: "refuse" never runs again by itself.',
    spec: unknown,
    title: 'a key whose process has died is refused, and never runs again by itself',
    mutant: {
      file: 'lib/idempotency/stores/postgres/statements.ts',
      find: 'ELSE greatest(l.expires, r.unknown_until) END',
      replace: 'ELSE l.expires END',
    },
  },
  {
    promise: 'An owner that comes back after all completes its run, where it is unknown.',
    spec: unknown,
    title: 'an owner that comes back after all completes its run',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: "if not held or isOwn and kind ~= 'd' then",
      replace: "if not held or isOwn and kind == 'r' then",
    },
  },
];
