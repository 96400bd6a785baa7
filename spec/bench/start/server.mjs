/**
 * An application of 300 endpoints: `node server.mjs [generated]`. Tells its parent the CPU time in which they were made,
 * and its CPU time until now at each message.
 */
import express from 'express';
import { mount } from './endpoints.mjs';

const micros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const begun = micros();
const { registerContexts } = process.argv[2] === 'generated' ? await import('./contexts.mjs') : {};
const app = express();
mount(app, registerContexts?.({}, { whenStale: 'throw' }));
const made = micros() - begun;
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, made }));

process.on('message', () => process.send({ micros: micros() }));
process.on('disconnect', () => process.exit());
