/** One server of the benchmark: `node server.mjs <scenario> <subject>`. It answers the messages of its parent. */
import { Session } from 'node:inspector/promises';
import { scenarios } from './scenarios.mjs';

const [, , scenario, subject] = process.argv;
const app = await scenarios[scenario].subjects[subject].app();
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
server.keepAliveTimeout = 60_000;

const session = new Session();
session.connect();

const answers = {
  /** The CPU time that the process has taken until now, in microseconds. */
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  async 'start profile'() {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
  },
  'end profile': async () => (await session.post('Profiler.stop')).profile,
};

process.on('message', async question => process.send({ answer: await answers[question]() }));
process.on('disconnect', () => process.exit());
