import { client } from './client';
import { lowest } from './lowest';
import type { Project } from './project';
import { runTime } from './run-time';
import { testing } from './testing';
import { tools } from './tools';
import { types } from './types';

/** What others say of the package itself. */
const packaging: readonly Project[] = [
  {
    area: 'package',
    name: 'its own files',
    manager: 'npm',
    node: '24',
    files: {},
    packages: { express: '5', publint: '0.3', '@arethetypeswrong/cli': '0.18' },
    cells: [
      { name: 'publint', command: ['publint', '--strict', 'node_modules/bindonce'], prints: /All good!/ },
      { name: 'arethetypeswrong', command: ['attw', 'bindonce.tgz'], prints: /No problems found/ },
    ],
  },
];

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
