import { createRequire } from 'node:module';
import express from 'express';

// The alias has no types of its own; what the specs use of Express is the same in both.
const express4 = createRequire(__filename)('express4') as typeof express;

/** A table of the versions of Express that are supported: title and module. */
export const expressVersions: readonly [title: string, express: typeof express][] = [
  ['Express 5', express],
  ['Express 4', express4],
];
