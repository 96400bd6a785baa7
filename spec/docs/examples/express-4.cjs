// Loaded before an example: its `express` is Express 4, which has another name in this repository.
const { Module } = require('node:module');

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  return resolve.call(this, request === 'express' ? 'express4' : request, ...rest);
};

console.log(`Express ${require('express4/package.json').version}`);
