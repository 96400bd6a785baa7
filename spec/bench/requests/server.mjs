/** One server of the benchmark: `node server.mjs <scenario> <subject>`. Its parent asks for its CPU time by messages. */
import { scenarios } from './scenarios.mjs';

const [, , scenario, subject] = process.argv;
const app = await scenarios[scenario].subjects[subject].app();
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
server.keepAliveTimeout = 60_000;

/** The CPU time that the process has taken until now, in microseconds. */
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ micros: user + system });
});
process.on('disconnect', () => process.exit());
