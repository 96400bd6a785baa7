import type { KeptPromise } from './kept-promise';

/** That a response is captured as it leaves, and replayed as it was. */
export const recording: readonly KeptPromise[] = [
  {
    promise: 'A replay has the bytes of the response, whatever they are.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a Buffer by end, without a type',
    mutant: {
      file: 'lib/idempotency/stores/memory-responses.ts',
      find: "text: body.toString('latin1') }",
      replace: "text: body.toString('utf8') }",
    },
  },
  {
    promise: 'A replay has two Set-Cookie lines where the response had them.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'two Set-Cookie',
    mutant: {
      file: 'lib/idempotency/responses/head-snapshot.ts',
      find: 'Array.isArray(value) ? value.map(String) : String(value)',
      replace: 'String(value)',
    },
  },
  {
    promise: 'writeHead with an array of headers is recorded line for line.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'writeHead with an array',
    mutant: {
      file: 'lib/idempotency/responses/response-parts.ts',
      find: 'res.appendHeader(name, value);',
      replace: 'res.setHeader(name, value);',
    },
  },
  {
    promise: 'Trailers are replayed.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'trailers',
    mutant: {
      file: 'lib/idempotency/responses/written-response.ts',
      find: 'this.trailers = lines.filter(',
      replace: 'this.trailers = lines.slice(lines.length).filter(',
    },
  },
  {
    promise: 'The answer to HEAD is replayed without content, with its headers.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'HEAD of a stream',
    mutant: {
      file: 'lib/idempotency/responses/recorded-response.ts',
      find: "return method !== 'HEAD' && status >= 200",
      replace: 'return status >= 200',
    },
  },
  {
    promise: '204 is replayed, sent in whatever way.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: '204 by',
    mutant: { file: 'lib/idempotency/responses/replay.ts', find: '  res.statusCode = status;\n', replace: '' },
  },
  {
    promise: 'A replay behind compression equals the original.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte > behind compression',
    mutant: {
      file: 'lib/idempotency/responses/replay.ts',
      find: 'if (impliedBy === undefined) res.writeHead(status);',
      replace: 'res.writeHead(status);',
    },
  },
  {
    promise:
      'Headers that middlewares in front set for the request at hand stay as they are; those of the handler are replayed.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay has the lines of the handler, and those that middleware before us sets',
    mutant: {
      file: 'lib/idempotency/responses/head-snapshot.ts',
      find: 'return { line: name === before[0] && sameValue(value, before[1]) ? undefined : line, replaces: false };',
      replace: 'return { line, replaces: false };',
    },
  },
  {
    promise: 'JSON text that the handler wrote is not serialised again.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'JSON text that the handler wrote is not serialised again',
    mutant: {
      file: 'lib/idempotency/stores/memory-responses.ts',
      find: "body: Buffer.from(text, 'latin1') };",
      replace: 'body: Buffer.from(JSON.stringify(JSON.parse(text))) };',
    },
  },
  {
    promise: 'Date, Connection and Keep-Alive belong to one exchange: a replay has its own.',
    spec: 'spec/idempotency/acceptance/held-end.spec.ts',
    title: 'a replay has the date of its own exchange',
    mutant: {
      file: 'lib/idempotency/responses/recorded-response.ts',
      find: 'return PER_EXCHANGE.has(name.toLowerCase());',
      replace: 'return PER_EXCHANGE.has(name);',
    },
  },
  {
    promise: 'A response under a transfer coding of its own is replayed with it or not kept, never as something else.',
    spec: 'spec/idempotency/responses/recorder-transfer-coding.spec.ts',
    title: 'it is not kept under another framing',
    mutant: {
      file: 'lib/idempotency/responses/response-head.ts',
      find: 'if (!body || this.isCoded ||',
      replace: 'if (!body ||',
    },
  },
  {
    promise: 'A response over the cap goes out whole, is never made again, and each duplicate is told so.',
    spec: 'spec/idempotency/acceptance/bounds.spec.ts',
    title: 'the request is never run again, and each duplicate gets an answer that says why',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: "if (!response) return { kind: 'record' };",
      replace: "if (!response) return { kind: 'nothing' };",
    },
  },
  {
    promise: 'Every response of a handler is stored, 5xx too: duplicates share the failure of the first.',
    spec: 'spec/idempotency/decide.spec.ts',
    title: 'share the failure of the first',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: "if (ending.kind === 'cut-off' || run.verdict",
      replace: "if (ending.kind === 'cut-off' || (ending.response?.status ?? 0) >= 500 || run.verdict",
    },
  },
  {
    promise: 'What a handler flushes or writes before its end is with the client at once.',
    spec: 'spec/idempotency/acceptance/held-end.spec.ts',
    title: 'are with the client before it goes on',
    mutant: {
      file: 'lib/idempotency/responses/recorder.ts',
      find: 'return !this.runEnd.isClientGone && !this.written.isComplete;',
      replace: 'return this.outgoing.isEnding;',
    },
  },
  {
    promise: 'While the end of a response is held back, headersSent is true and no client has seen the end.',
    spec: 'spec/idempotency/acceptance/held-end.spec.ts',
    title: 'is true while the end is held back, and the client has not seen the end',
    mutant: {
      file: 'lib/idempotency/responses/recorder.ts',
      find: '    this.faked.pretendEnded();\n',
      replace: '    this.finish(true);\n',
    },
  },
  {
    promise: 'What a handler does after the end of its response changes neither what is sent nor what is stored.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'neither what is sent nor what is stored is changed',
    mutant: {
      file: 'lib/idempotency/responses/recorder.ts',
      find: 'if (this.hasEnded) return afterEnd(done, false);\n',
      replace: '',
    },
  },
  {
    promise: 'A response that its handler breaks off is not stored as complete: the retry runs.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'a response is not stored as complete when its handler',
    mutant: {
      file: 'lib/idempotency/responses/recorder.ts',
      find: 'if (this.written.isShort) this.runEnd.respondedInPart();',
      replace: 'if (this.written.isShort && this.runEnd.isOver) this.runEnd.respondedInPart();',
    },
  },
  {
    promise: 'A handler goes on when its client leaves: its response is stored, and the retry replays it.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'the client is gone while the handler runs, which answers with',
    mutant: {
      file: 'lib/idempotency/responses/departure.ts',
      find: '  isHidden = true;',
      replace: '  isHidden = false;',
    },
  },
  {
    promise: 'The response of a client that is gone after the handler has ended is stored.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'the client is gone after the handler has ended, before the response is stored',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: 'if (run.thrown) throwAtEnd(',
      replace: 'if (exchange.req.destroyed) await exchange.stores.release(attempt);\n    if (run.thrown) throwAtEnd(',
    },
  },
  {
    promise: 'Nothing happens for a client that is gone before the handler runs: its retry is a first request.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'the client is gone before the handler runs: nothing happens',
    mutant: {
      file: 'lib/idempotency/idempotency.ts',
      find: 'const unanswerable = outcomeIfUnanswerable(exchange);',
      replace: 'const unanswerable = decision ? undefined : outcomeIfUnanswerable(exchange);',
    },
  },
  {
    promise: 'Nothing happens for a client that is gone before its body has arrived.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'the client is gone before its body has arrived: nothing happens',
    mutant: {
      file: 'lib/body/stream/body-chunks.ts',
      find: 'if (req.destroyed) throw new ClientGone();',
      replace: 'if (req.destroyed) return;',
    },
  },
  {
    promise:
      'A client that leaves while the end is held back: response stored, finish and close told, connection closed.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'while the end of its response is held back: stored',
    mutant: {
      file: 'lib/idempotency/responses/run-end.ts',
      find: '    if (this.isStored) {\n',
      replace: '    if (this.isOver && this.isStored && !this.isRecordingOver) {\n',
    },
  },
  {
    promise: 'The server closes the connection of a handler that streams: what it writes is stored, and it runs once.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'the server closes the connection under a handler that streams',
    mutant: {
      file: 'lib/idempotency/responses/run-end.ts',
      find: '    if (departure.isHidden) this.faked.pretendOpen();\n    departure.clientLeft();',
      replace: '    departure.clientLeft();\n    this.giveUpOnEnd();',
    },
  },
  {
    promise: 'A handler that has begun, whose client has left, and that does not go on, has run: a retry gets 409.',
    spec: 'spec/idempotency/responses/recorder-abandoned.spec.ts',
    title: 'a handler that has begun and does not go on has run',
    mutant: {
      file: 'lib/idempotency/without-run.ts',
      find: "waited: decision.waited } : { kind: 'response-unavailable' };",
      replace: "waited: decision.waited } : { kind: 'in-flight', msLeft: 1 };",
    },
  },
  {
    promise: 'A handler that has not begun, whose client has left, keeps its key for cacheDuration, and no longer.',
    spec: 'spec/idempotency/responses/recorder-abandoned.spec.ts',
    title: 'a handler that has not begun and never answers keeps its key for cacheDuration, and no longer',
    mutant: {
      file: 'lib/idempotency/responses/departure.ts',
      find: 'this.end = this.since + this.times.cacheDuration;',
      replace: 'this.end = this.since + this.times.leaseDuration;',
    },
  },
  {
    promise:
      'The key of a handler that never answers is usable again when its client is gone and cacheDuration is over.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'a handler never answers: its key is usable again',
    mutant: {
      file: 'lib/idempotency/responses/run-end.ts',
      find: 'this.resolve(this.written.hasHead ? RAN : CUT_OFF);',
      replace: 'this.resolve(RAN);',
    },
  },
  {
    promise: 'After forget(), a handler is told at once that its client has left.',
    spec: 'spec/idempotency/responses/departure.spec.ts',
    title: 'is told at once when it calls forget()',
    mutant: {
      file: 'lib/idempotency/run/start-handler.ts',
      find: '    recording.stopHidingDeparture();\n  };\n  const refused',
      replace: '  };\n  const refused',
    },
  },
  {
    promise: 'Middlewares around idempotency() do to a response, and to its replay, what they do without it.',
    spec: 'spec/idempotency/acceptance/express.spec.ts',
    title: 'and to its replay, what it does without idempotency()',
    mutant: {
      file: 'lib/idempotency/responses/head-snapshot.ts',
      find: 'const added = [value].flat().filter(cookie => {',
      replace: 'const added = [value].flat().slice(1).filter(cookie => {',
    },
  },
  {
    promise: 'morgan sees the true status and length.',
    spec: 'spec/idempotency/acceptance/express.spec.ts',
    title: 'idempotency() logs what was sent, once for each request that it sees',
    mutant: { file: 'lib/idempotency/responses/outgoing.ts', find: '    this.res.statusCode = status;\n', replace: '' },
  },
  {
    promise: 'on-finished is told when the response has been sent, and not before.',
    spec: 'spec/idempotency/acceptance/express.spec.ts',
    title: 'idempotency() is told when the response has been sent, and not before',
    mutant: {
      file: 'lib/idempotency/responses/faked-progress.ts',
      find: '    this.progress.finished = true;\n',
      replace: "    this.progress.finished = true;\n    this.res.emit('finish');\n",
    },
  },
  {
    promise: 'A session is saved before the client has its answer.',
    spec: 'spec/idempotency/acceptance/express.spec.ts',
    title: 'is saved before the client has its answer, and each caller has their own',
    mutant: {
      file: 'lib/idempotency/responses/outgoing.ts',
      find: 'this.methods.end.call(this.res, ...contentFor(this.res, rest));',
      replace:
        '(Object.getPrototypeOf(Object.getPrototypeOf(this.res)) as { end(...args: unknown[]): void }).end.call(this.res, ...contentFor(this.res, rest));',
    },
  },
];
