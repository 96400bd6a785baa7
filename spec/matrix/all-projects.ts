import { client } from './client';
import { lowest } from './lowest';
import { packaging } from './packaging';
import type { Project } from './project';
import { runTime } from './run-time';
import { testing } from './testing';
import { tools } from './tools';
import { types } from './types';

/** Every project of the matrix, in the order of its table. @param root of the repository. */
export const allProjects = (root: string): readonly Project[] => [
  ...runTime,
  ...types(root),
  ...tools(root),
  testing,
  client,
  ...lowest(root),
  ...packaging,
];
