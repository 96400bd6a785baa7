import { exactlyOnce } from './kept/exactly-once';
import { identity } from './kept/identity';
import type { KeptPromise } from './kept/kept-promise';
import { recording } from './kept/recording';
import { requests } from './kept/requests';
import { running } from './kept/running';

/** What the package promises, and what may be trusted while everything else moves: `npm run mutants` breaks each. */
export const promises: readonly KeptPromise[] = [...identity, ...requests, ...recording, ...running, ...exactlyOnce];

export const titleParts = (title: string): readonly string[] => title.split(' > ');
