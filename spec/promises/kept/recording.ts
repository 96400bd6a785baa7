import type { KeptPromise } from './kept-promise';

/** That a response is captured as it leaves, and replayed as it was. */
export const recording: readonly KeptPromise[] = [
  {
    promise: 'A replay has the bytes of the response, whatever they are.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: {
      file: 'lib/idempotency/stores/memory-responses.ts',
      find: "? whole : whole.toString('latin1');",
      replace: "? whole : whole.toString('utf8');",
    },
  },
  {
    promise: 'A replay has two Set-Cookie lines where the response had them.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: {
      file: 'lib/idempotency/run/recording.ts',
      find: 'Array.isArray(value) ? value.map(String) : String(value))',
      replace: 'String(value))',
    },
  },
  {
    promise: 'writeHead with an array of headers is recorded line for line.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'all lines of one name in an array of headers are sent, and replayed',
    mutant: {
      file: 'lib/idempotency/run/recording.ts',
      find: 'res.appendHeader(name, value);',
      replace: 'res.setHeader(name, value);',
    },
  },
  {
    promise: 'Trailers are replayed.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: '      recorder.recording.keepTrailers(trailers);\n',
      replace: '',
    },
  },
  {
    promise: 'The answer to HEAD is replayed without content, with its headers.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: {
      file: 'lib/idempotency/responses/recorded-response.ts',
      find: "return method !== 'HEAD' && status >= 200",
      replace: 'return status >= 200',
    },
  },
  {
    promise: '204 is replayed, sent in whatever way.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: { file: 'lib/idempotency/run/replay.ts', find: '  res.statusCode = status;\n', replace: '' },
  },
  {
    promise: 'A replay behind compression equals the original.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: {
      file: 'lib/idempotency/run/replay.ts',
      find: 'res.end(body.length > 0 ? body : undefined);',
      replace: "node.end.call(res, body, 'utf8');",
    },
  },
  {
    promise:
      'Headers that middlewares in front set for the request at hand stay as they are; those of the handler are replayed.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay has the lines of the handler, and those that middleware before us sets',
    mutant: {
      file: 'lib/idempotency/run/recording.ts',
      find: 'else if (String(value) !== String(earlier)) headers.push([name, value]);',
      replace: 'else headers.push([name, value]);',
    },
  },
  {
    promise: 'JSON text that the handler wrote is not serialised again.',
    spec: 'spec/idempotency/acceptance/replays.spec.ts',
    title: 'a replay equals the original byte for byte',
    mutant: {
      file: 'lib/idempotency/stores/memory-responses.ts',
      find: "Buffer.from(body, 'latin1')",
      replace: 'Buffer.from(JSON.stringify(JSON.parse(body)))',
    },
  },
  {
    promise: 'Date, Connection and Keep-Alive belong to one exchange: a replay has its own.',
    spec: 'spec/idempotency/acceptance/held-end.spec.ts',
    title: 'a replay has the date of its own exchange',
    mutant: {
      file: 'lib/idempotency/responses/recorded-response.ts',
      find: "  'date',\n",
      replace: '',
    },
  },
  {
    promise: 'A response under a transfer coding of its own is replayed with it or not kept, never as something else.',
    spec: 'spec/idempotency/run/recorder-transfer-coding.spec.ts',
    title: 'it is not kept under another framing',
    mutant: {
      file: 'lib/idempotency/run/recording.ts',
      find: "        coding.trim().toLowerCase() === 'chunked' &&\n",
      replace: '',
    },
  },
  {
    promise: 'A response over the cap goes out whole, is never made again, and each duplicate is told so.',
    spec: 'spec/idempotency/acceptance/bounds.spec.ts',
    title: 'the request is never run again, and each duplicate gets an answer that says why',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: "if (ending === 'nothing' || ending === 'record') return ending;",
      replace: "if (ending === 'nothing' || ending === 'record') return 'nothing';",
    },
  },
  {
    promise: 'Every response of a handler is stored, 5xx too: duplicates share the failure of the first.',
    spec: 'spec/idempotency/decide.spec.ts',
    title: 'share the failure of the first',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: '    return this.judge(ending);',
      replace: "    return ending.status >= 500 ? 'nothing' : this.judge(ending);",
    },
  },
  {
    promise: 'What a handler flushes or writes before its end is with the client at once.',
    spec: 'spec/idempotency/acceptance/held-end.spec.ts',
    title: 'are with the client before it goes on',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: 'if (!recorder.recording.isComplete() && !recorder.goesOnAlone) recorder.earlier.flushHeaders',
      replace: 'if (recorder.hasEnded) recorder.earlier.flushHeaders',
    },
  },
  {
    promise: 'While the end of a response is held back, headersSent is true and no client has seen the end.',
    spec: 'spec/idempotency/acceptance/held-end.spec.ts',
    title: 'is true while the end is held back, and the client has not seen the end',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: '    this.hasEnded = true;\n',
      replace: '    this.hasEnded = true;\n    this.finish();\n',
    },
  },
  {
    promise: 'What a handler does after the end of its response changes neither what is sent nor what is stored.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'neither what is sent nor what is stored is changed',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: '      if (recorder.isWaiting) return recorder.accept(done);\n',
      replace: '',
    },
  },
  {
    promise: 'A response that its handler breaks off is not stored as complete: the retry runs.',
    spec: 'spec/idempotency/acceptance/failures.spec.ts',
    title: 'a response is not stored as complete when its handler',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: 'recorder.settle(recorder.brokenOff);',
      replace: "recorder.settle(recorder.recording.response ?? 'record');",
    },
  },
  {
    promise: 'A handler goes on when its client leaves: its response is stored, and the retry replays it.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title:
      'the client is gone while the handler runs, which answers with > the response is stored, and the retry replays it',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: '    recording.keep(bytes);\n    this.hasEnded',
      replace: '    if (!this.goesOnAlone) recording.keep(bytes);\n    this.hasEnded',
    },
  },
  {
    promise: 'The response of a client that is gone after the handler has ended is stored.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'while the end of its response is held back: stored',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: '      if (!isOurs) this.lose();\n',
      replace:
        '      if (exchange.req.socket.readableEnded) await exchange.stores.release(exchange);\n      if (!isOurs) this.lose();\n',
    },
  },
  {
    promise: 'Nothing happens for a client that is gone before the handler runs: its retry is a first request.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'the client is gone before the handler runs: nothing happens',
    mutant: {
      file: 'lib/idempotency/idempotency.ts',
      find: 'const tooLate = exchange.outcomeIfUnanswerable();',
      replace: 'const tooLate = exchange.asked > 0 ? undefined : exchange.outcomeIfUnanswerable();',
    },
  },
  {
    promise:
      'A client that leaves while the end is held back: response stored, finish and close told, connection closed.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'while the end of its response is held back: stored',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: "this.res.emit('finish');",
      replace: "this.res.emit('close');",
    },
  },
  {
    promise:
      'The server closes the connection of a handler, before it writes or while it streams: what it writes is stored, ' +
      'and it runs once.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'the server closes the connection > before a handler writes or while it streams',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: 'if (this.hidesDeparture) withoutClient.add(res);',
      replace: "this.settle('record');",
    },
  },
  {
    promise: 'A handler that has begun, whose client has left, and that does not go on, has run: a retry gets 409.',
    spec: 'spec/idempotency/run/recorder-departure.spec.ts',
    title: 'and that never ends has run, > leaseDuration after it has written last',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "if (!response) return refused('unavailable');",
      replace: "if (!response) return refused('conflicted');",
    },
  },
  {
    promise: 'A handler that has written nothing, and whose client has left, has run when cacheDuration is over.',
    spec: 'spec/idempotency/run/recorder-departure.spec.ts',
    title: 'and that never ends has run, > cacheDuration after the departure if it has written nothing',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: 'this.recording.head ? leaseDuration : cacheDuration',
      replace: 'leaseDuration > 0 ? leaseDuration : cacheDuration',
    },
  },
  {
    promise: 'After forget(), a handler is told at once that its client has left.',
    spec: 'spec/idempotency/run/recorder-departure.spec.ts',
    title: 'and that calls forget() > that is told at once, as without us',
    mutant: {
      file: 'lib/idempotency/run/request-idempotency.ts',
      find: '    this.run.forgotten();\n',
      replace: '',
    },
  },
  {
    promise: 'Middlewares around idempotency() do to a response, and to its replay, what they do without it.',
    spec: 'spec/idempotency/acceptance/middlewares.spec.ts',
    title: 'and to its replay, what it does without idempotency()',
    mutant: {
      file: 'lib/idempotency/run/replay.ts',
      find: 'res.end(body.length > 0 ? body : undefined);',
      replace: "node.end.call(res, body, 'utf8');",
    },
  },
  {
    promise: 'morgan sees the true status and length.',
    spec: 'spec/idempotency/acceptance/middlewares.spec.ts',
    title: 'morgan logs what was sent, once for each request that it sees',
    mutant: {
      file: 'lib/idempotency/run/replay.ts',
      find: '  res.statusCode = status;\n',
      replace: '',
    },
  },
  {
    promise: 'on-finished is told when the response has been sent, and not before.',
    spec: 'spec/idempotency/acceptance/middlewares.spec.ts',
    title: 'on-finished is told when the response has been sent, and not before',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: '    this.hasEnded = true;\n',
      replace: "    this.hasEnded = true;\n    res.emit('finish');\n",
    },
  },
  {
    promise: 'A session is saved before the client has its answer.',
    spec: 'spec/idempotency/acceptance/middlewares.spec.ts',
    title: 'is saved before the client has its answer, and each caller has their own',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: 'this.earlier.end.call(res, held, this.heldEncoding);',
      replace: '(Object.getPrototypeOf(res) as ServerResponse).end.call(res, held, this.heldEncoding);',
    },
  },
  {
    promise:
      'When its client has left, a handler finds res.socket null, and hears no close until its response is stored.',
    spec: 'spec/idempotency/run/recorder-departure.spec.ts',
    title: 'goes on: res emits no close until its response is stored',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: '      res.detachSocket(req.socket);\n',
      replace: '',
    },
  },
  {
    promise: 'A pipelined response whose client has left before its turn is stored, too.',
    spec: 'spec/idempotency/acceptance/client-leaves.spec.ts',
    title: 'a client leaves while its response waits for its turn',
    mutant: {
      file: 'lib/idempotency/run/recorder.ts',
      find: 'if (this.hidesDeparture) withoutClient.add(res);',
      replace: "this.settle('record');",
    },
  },
];
