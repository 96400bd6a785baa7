import type { Project } from './project';

/** What others say of the package itself. */
export const packaging: readonly Project[] = [
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
