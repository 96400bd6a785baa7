import { isDeepStrictEqual } from 'node:util';
import { PinnedServer } from './pinned-server.mjs';

async function ask({ url }, { path = '/', headers, body }) {
  const response = await fetch(new URL(path, url), { method: 'POST', headers, body });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

async function withServer(scenario, name, env, use) {
  const server = await PinnedServer.start(scenario.key, name, env);
  try {
    return await use(server);
  } finally {
    server.stop();
  }
}

/**
 * Asks each of the subjects before any is measured, so that all do the same work.
 * @throws Error for an answer that differs from the bare handler's, and for an invalid request that is not refused.
 */
export async function checkAnswers(scenario, names, env) {
  const { key: scenarioKey, request, status, invalid = {}, subjects } = scenario;
  const expected = await withServer(scenario, 'bare', env, server => ask(server, request()));
  if (expected.status !== status)
    throw new Error(`${scenarioKey}: the bare handler answers ${expected.status} instead of ${status}.`);
  for (const name of names.filter(one => one !== 'bare')) {
    await withServer(scenario, name, env, async server => {
      const first = request();
      const asked = subjects[name].replays ? [first, first] : [first];
      for (const one of asked) {
        const given = await ask(server, one);
        if (!isDeepStrictEqual(given, expected))
          throw new Error(
            `${scenarioKey}: "${name}" answers ${JSON.stringify(given)}, but the bare handler ${JSON.stringify(expected)}.`,
          );
      }
      for (const [fault, one] of Object.entries(invalid)) {
        const given = await ask(server, one);
        if (given.status < 400 || given.status > 499)
          throw new Error(`${scenarioKey}: "${name}" answers ${given.status} to ${fault}; it must refuse it with 4xx.`);
      }
    });
  }
}
