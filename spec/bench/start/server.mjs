/**
 * An application of 300 endpoints. Tells its parent the CPU time in which they were made,
 * and its CPU time until now at each message.
 */
import express from 'express';
import { mount } from './endpoints.mjs';

const micros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const begun = micros();
const app = express();
mount(app);
const made = micros() - begun;
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, made }));

process.on('message', () => process.send({ micros: micros() }));
process.on('disconnect', () => process.exit());
