import type { KeptPromise } from './kept-promise';

/** That a request runs once, and what the store and the machine may do meanwhile. */
export const running: readonly KeptPromise[] = [
  {
    promise: 'Of 20 or 200 concurrent duplicates in one process, exactly one runs, and all get its answer.',
    spec: 'spec/idempotency/acceptance/runs-once.spec.ts',
    title: 'exactly one runs, and all get its answer',
    mutant: {
      file: 'lib/idempotency/leases/lease-store.ts',
      find: 'if (run && run.token !== token)\n',
      replace: 'if (run && run.token === token)\n',
    },
  },
  {
    promise: 'Of 20 or 200 concurrent duplicates in several processes on one Redis, exactly one runs.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'exactly one runs, and all get its answer',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: "if not held or isOwn and kind ~= 'd' then",
      replace: "if not held or kind == 'r' then",
    },
  },
  {
    promise: 'Of 20 or 200 concurrent duplicates of two services on one PostgreSQL, exactly one runs.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'exactly one runs, and all get its answer',
    mutant: {
      file: 'lib/idempotency/stores/postgres/statements.ts',
      find: '`${isFree} OR ${isOwn} AND NOT r.done`',
      replace: '`${isFree} OR $2::text IS NOT NULL AND NOT r.done`',
    },
  },
  {
    promise: 'Different requests run beside each other, and none waits for another.',
    spec: 'spec/idempotency/decide.spec.ts',
    title: 'of different requests do not wait for each other',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: "hash(['request', ...owner, ...request])",
      replace: "hash(['request', ...owner])",
    },
  },
  {
    promise: 'A handler that takes five leases runs once, with duplicates all the while.',
    spec: 'spec/idempotency/acceptance/runs-once.spec.ts',
    title: 'a handler takes five leases on',
    mutant: { file: 'lib/idempotency/leases/local-runs.ts', find: 'void run.renewOnce(now);', replace: 'void 0;' },
  },
  {
    promise: 'A handler that takes five leases runs once among processes, too.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'a handler takes five leases, with duplicates all the while',
    mutant: {
      file: 'lib/idempotency/leases/local-runs.ts',
      find: 'this.due = id.asked + leaseDuration / RENEWALS_PER_LEASE;',
      replace: 'this.due = id.asked + leaseDuration * RENEWALS_PER_LEASE;',
    },
  },
  {
    promise:
      'A key is handed on when the process that runs it is killed: when the lease has run out, and not long after.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'the process of a handler is killed',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: "redis.call('SET', KEYS[1], value, 'PX', ms)",
      replace: "redis.call('SET', KEYS[1], value)",
    },
  },
  {
    promise:
      'Of an owner that is stopped past its lease and comes back, and the one that took over, one result is published.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'a holder is stopped past its lease and resumed after a takeover',
    mutant: {
      file: 'lib/idempotency/run/publish.ts',
      find: ": held.kind === 'done' && held.token === id.token",
      replace: ": held.kind === 'done'",
    },
  },
  {
    promise: 'A late release of an owner that was overtaken has no effect.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'a holder is stopped past its lease and resumed after a takeover',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: 'return isOwn and finish(false) or 0',
      replace: 'return held and finish(false) or 0',
    },
  },
  {
    promise:
      'A late answer or release of an overtaken owner has no effect when the next one has released and a third has acquired.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'the next holder releases and a third acquires',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: 'return isOwn and finish(false) or 0',
      replace: 'return held and finish(false) or 0',
    },
  },
  {
    promise: 'A handler learns from its signal that the lease is lost.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'its signal says so',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: '    this.guard.endLease(LOST);\n',
      replace: '',
    },
  },
  {
    promise: 'An acquire that the store carried out, and whose answer was lost, is recognised by its token: one run.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'the store carries out an acquire and its answer is lost',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: "if not held or isOwn and kind ~= 'd' then",
      replace: 'if not held then',
    },
  },
  {
    promise:
      'A response whose end a client has seen is replayed by another process, also if the first ends in the next instant.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'server.close() and process.exit() right after a response',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: '      const kept = this.committed',
      replace:
        '      recorder.finish();\n      await new Promise(resolve => setTimeout(resolve, 500));\n      const kept = this.committed',
    },
  },
  {
    promise: 'When cacheDuration ends under load, one request runs, in one process.',
    spec: 'spec/idempotency/acceptance/runs-once.spec.ts',
    title: 'the cacheDuration ends under load on',
    mutant: {
      file: 'lib/idempotency/leases/memory-leases.ts',
      find: 'expires > performance.now() ||',
      replace: 'expires > performance.now() + 100 ||',
    },
  },
  {
    promise: 'forget() leaves the key free: the next request runs.',
    spec: 'spec/idempotency/run/run.spec.ts',
    title: 'lets the next request run when the handler calls forget()',
    mutant: { file: 'lib/idempotency/run/request-idempotency.ts', find: '    this.isForgotten = true;\n', replace: '' },
  },
  {
    promise: 'A process that stands still for longer than a lease in memory loses none: each request runs once.',
    spec: 'spec/idempotency/acceptance/processes.spec.ts',
    title: 'runs each request once: nobody else could have taken over',
    mutant: {
      file: 'lib/idempotency/leases/memory-leases.ts',
      find: ' || (!isDone && localRun(key, this)?.token === token)',
      replace: '',
    },
  },
  {
    promise: 'A process that stands still for storeTimeout while the store answers has the answer.',
    spec: 'spec/idempotency/store-calls/store-call.spec.ts',
    title: 'has the answer that has come meanwhile',
    mutant: {
      file: 'lib/idempotency/store-calls/store-call.ts',
      find: 'setTimeout(setImmediate, Math.max(0, ms), giveUp)',
      replace: 'setTimeout(giveUp, ms)',
    },
  },
  {
    promise: 'A process that stands still for storeTimeout just after its handler runs the request once.',
    spec: 'spec/idempotency/run/publish.spec.ts',
    title: 'runs the request once: the client has its answer, and a retry the replay',
    mutant: {
      file: 'lib/idempotency/run/publish.ts',
      find: 'void run.keepUntil(storeLater(), ',
      replace: 'void run.keepUntil(stores.releaseQuietly(id), ',
    },
  },
  {
    promise:
      'A Redis that is away when the handler ends costs no second run: the client gets its answer, a later retry the replay.',
    spec: 'spec/idempotency/run/publish.spec.ts',
    title: 'a retry meanwhile 409, and a retry afterwards the replay',
    mutant: {
      file: 'lib/idempotency/run/publish.ts',
      find: 'void run.keepUntil(storeLater(), ',
      replace: 'void run.keepUntil(Promise.resolve(), ',
    },
  },
  {
    promise: 'While a response cannot be stored, its lease is kept from others.',
    spec: 'spec/idempotency/run/publish.spec.ts',
    title: 'keeps the lease from others for as long as it takes',
    mutant: {
      file: 'lib/idempotency/run/publish.ts',
      find: '        const held = await stores.acquireAgain(id);\n',
      replace: "        const held = { kind: 'acquired' } as Awaited<ReturnType<typeof stores.acquireAgain>>;\n",
    },
  },
  {
    promise: 'While a process stores a response in the background, no duplicate runs in it, whatever the store says.',
    spec: 'spec/idempotency/store-calls/store-call.spec.ts',
    title: 'while a response is being stored here does not run its duplicate, even if it is configured to run',
    mutant: {
      file: 'lib/idempotency/store-calls/timed-stores.ts',
      find: "if (earlier?.phase === 'storing')",
      replace: "if (earlier?.token === '')",
    },
  },
  {
    promise: 'A silent store is offered a response once a second at most.',
    spec: 'spec/idempotency/run/publish-background.spec.ts',
    title: 'is offered to a silent store once a second at most',
    mutant: {
      file: 'lib/idempotency/run/publish.ts',
      find: 'await pause(Math.min(LONGEST_PAUSE, ',
      replace: 'await pause(Math.min(1, ',
    },
  },
  {
    promise: 'While too many responses wait to be stored, no handler runs.',
    spec: 'spec/idempotency/run/publish-background.spec.ts',
    title: 'no handler runs; then all is as before: > of them',
    mutant: { file: 'lib/idempotency/leases/local-runs.ts', find: 'responses >= MOST.responses ||', replace: '' },
  },
  {
    promise: 'A store that is down or hangs at acquire or read is a bounded 503, and nothing runs.',
    spec: 'spec/idempotency/acceptance/store-faults.spec.ts',
    title: 'a bounded 503, on a connection that goes on; nothing runs twice',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "!waited && options.whenStoreFails === 'run'",
      replace: '!waited',
    },
  },
  {
    promise: 'With whenStoreFails: run, a request runs although the store is away, within the bound.',
    spec: 'spec/idempotency/acceptance/store-faults.spec.ts',
    title: 'at acquire, and so configured: it runs, within the bound',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "!waited && options.whenStoreFails === 'run'",
      replace: '!waited && options.storeTimeout < 0',
    },
  },
  {
    promise: 'A handler whose lease cannot be renewed learns that it is over, and is answered all the same.',
    spec: 'spec/idempotency/acceptance/store-faults.spec.ts',
    title: 'at renew: the handler learns that its lease is over',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: '    this.guard.endLease(LOST);\n',
      replace: '',
    },
  },
  {
    promise: 'Where a response cannot be stored in time it goes out all the same, and onEvent says not-stored.',
    spec: 'spec/idempotency/acceptance/store-faults.spec.ts',
    title: 'the answer goes out within the bound, and onEvent says that it is not stored',
    mutant: {
      file: 'lib/idempotency/run/publish.ts',
      find: '    throw error;\n',
      replace: '    return true;\n',
    },
  },
  {
    promise:
      'A real Redis that is down is a 503 with Retry-After in time, runs nothing, and works again when it is back.',
    spec: 'spec/idempotency/acceptance/store-outages.spec.ts',
    title: 'while it is down, runs nothing, and works again when it is back',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "{ headers: { 'Retry-After': '1' }, cause: error }",
      replace: '{ cause: error }',
    },
  },
  {
    promise: 'A lease that the store grants late, after its request was refused, is given back.',
    spec: 'spec/idempotency/acceptance/store-outages.spec.ts',
    title: 'gives back what it acquires late',
    mutant: {
      file: 'lib/idempotency/store-calls/timed-stores.ts',
      find: 'const releaseAgain = this.releaseQuietly.bind(this, run);',
      replace: 'const releaseAgain = async (): Promise<void> => undefined;',
    },
  },
  {
    promise: 'A Keyv on which no lease can be held is refused when the middleware is made, unless leases are passed.',
    spec: 'spec/idempotency/options/resolved-options-leases.spec.ts',
    title: 'with a store that other processes may share are refused',
    mutant: {
      file: 'lib/idempotency/options/resolved-options.ts',
      find: ': redisLeasesFor(store, namespace));',
      replace: ': (redisLeasesFor(store, namespace) ?? memoryLeases()));',
    },
  },
  {
    promise: 'A Redis client that mixes up its answers runs nothing: such an answer is an error.',
    spec: 'spec/idempotency/stores/redis/client.spec.ts',
    title: 'an answer to another command > is not a lease: each request gets 503, and nothing runs',
    mutant: {
      file: 'lib/idempotency/stores/redis/leases.ts',
      find: 'if (!answer.startsWith(named))',
      replace: "if (!answer.includes(' '))",
    },
  },
  {
    promise: 'A Redis client that mixes up its answers shows no response of another request.',
    spec: 'spec/idempotency/stores/keyv-like-responses.spec.ts',
    title: 'that is of another key gets 503',
    mutant: {
      file: 'lib/idempotency/stores/store.ts',
      find: 'if (own !== key)',
      replace: 'if (own === undefined)',
    },
  },
  {
    promise: '100,000 live keys in memory do not slow an acquire.',
    spec: 'spec/idempotency/acceptance/bounds.spec.ts',
    title: '100,000 live keys > in memory do not slow an acquire',
    mutant: {
      file: 'lib/idempotency/leases/memory-leases.ts',
      find: '    const found = this.leases.get(key);\n',
      replace:
        '    if (this.leases.size >= 100_000) [...this.leases.keys()].sort();\n    const found = this.leases.get(key);\n',
    },
  },
  {
    promise: '100 waiters on a response of 5 MB on Redis cost one read, and no one a 503.',
    spec: 'spec/idempotency/stores/keyv-like-responses.spec.ts',
    title: 'cost one read of Redis',
    mutant: {
      file: 'lib/idempotency/stores/store.ts',
      find: '    if (pending && now - pending.at < ms / 2) return pending.result;\n',
      replace: '',
    },
  },
  {
    promise: 'A duplicate waits at most waitTimeout, and then gets 409.',
    spec: 'spec/idempotency/decide.spec.ts',
    title: 'gets a 409 when waitTimeout is over',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "while (answer.kind === 'running' && performance.now() < deadline) {",
      replace: "while (answer.kind === 'running' && performance.now() < deadline + 60_000) {",
    },
  },
  {
    promise: 'With whenInFlight: reject, a duplicate gets 409 at once, with Retry-After.',
    spec: 'spec/idempotency/decide.spec.ts',
    title: 'gets a 409 at once, with Retry-After, when whenInFlight is reject',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "refused('conflicted', { 'Retry-After': wholeSeconds(answer.msLeft) })",
      replace: "refused('conflicted')",
    },
  },
  {
    promise: 'A client whose run was overtaken has its connection closed, and its retry gets the published response.',
    spec: 'spec/idempotency/overtaken.spec.ts',
    title: 'has its connection closed when its own response > and its retry gets the published one',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: "const isWhole = ending !== 'nothing' && recorder.hasEnded && isOurs;",
      replace: "const isWhole = ending !== 'nothing' && recorder.hasEnded;",
    },
  },
  {
    promise: 'A Redis client belongs to the application: one that is closed is an error, and stays closed.',
    spec: 'spec/idempotency/stores/redis/client.spec.ts',
    title: 'one that was not connected is an error that says so, until it is connected',
    mutant: {
      file: 'lib/idempotency/stores/redis/client.ts',
      find: '    if (this.isClosed || !client.isOpen)\n',
      replace:
        '    if (!client.isOpen) await (client as unknown as { connect(): Promise<void> }).connect();\n    if (!client.isOpen)\n',
    },
  },
  {
    promise: 'Keyv 5 and 6 give what is stored the same names.',
    spec: 'spec/idempotency/stores/keyv-like.spec.ts',
    title: 'names what it stores the same in both versions',
    mutant: {
      file: 'lib/idempotency/stores/keyv-like.ts',
      find: '(adapter.createKeyPrefix?.(name, DEFAULT_NAMESPACE) ?? name)',
      replace: 'name',
    },
  },
  {
    promise:
      'A service that passes a key on to another one, which has a namespace of its own, does not wait for itself.',
    spec: 'spec/idempotency/nested-services.spec.ts',
    title: 'does not wait for itself if each has a namespace of its own',
    mutant: {
      file: 'lib/idempotency/stores/keyv-like.ts',
      find: '  `${namespace}:bindonce:1::${kind}:`;',
      replace: '  `${DEFAULT_NAMESPACE || namespace}:bindonce:1::${kind}:`;',
    },
  },
  {
    promise: 'A Keyv whose responses Keyv 5 and 6 name differently is refused when the middleware is made.',
    spec: 'spec/idempotency/stores/keyv-like.spec.ts',
    title: 'is refused where Keyv 6 names responses otherwise than Keyv 5',
    mutant: {
      file: 'lib/idempotency/stores/keyv-like.ts',
      find: '    if (this.client) refuseOtherNames(keyv);\n',
      replace: '',
    },
  },
];
